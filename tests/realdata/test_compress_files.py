"""Every recorded conversation at a limit of 2,000 tokens, through the API and through the command line.

What comes out is judged by the independent checker and counter: legal, in order, nothing made up, all that is
protected there as it was, at or under the limit (unless what must stay is over it alone), and everything that left
comes back byte for byte (laws 1, 2, 3, 6).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage, message_to_dict
from langchain_core.messages.utils import convert_to_messages
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.storage import open_store
from tests.support import realdata
from tests.support.conversations import pinned
from tests.support.legality import (
    invented,
    is_pin,
    is_summary,
    mark_kind,
    newest_human,
    order_violations,
    protected,
    protected_missing,
    violations,
)
from tests.support.sizes import independent_tokens

pytestmark = realdata.needs_recordings

LIMIT = 2_000
Run = tuple[subprocess.CompletedProcess[str], Path, Path]
FILES = [pytest.param(path, id=path.stem) for path in realdata.files()]


def as_bytes(message: BaseMessage, *, with_id: bool = True) -> str:
    """Gives all that a message holds, as text; without its id where the input had none."""
    return json.dumps(message_to_dict(message if with_id else message.model_copy(update={"id": None})))


def judged(output: Sequence[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """Names all that is wrong with a compressed conversation, without asking who compressed it."""
    found = violations(output, original=original) + order_violations(output, original)
    found += protected_missing(output, original) + invented(output, original)
    before, after = independent_tokens(original), independent_tokens(output)
    if after > LIMIT and independent_tokens(protected(original, partners=True)) <= LIMIT:
        found.append(f"too-large: {after} tokens, and what must stay is under {LIMIT}")
    if after > before:
        found.append(f"grown: {before} tokens before, {after} after")
    return found


def some_pinned(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Gives the list with two pins in its middle third: a human message, and a tool result if there is one."""
    chosen: set[int] = set()
    middle = range(len(messages) // 3, 2 * len(messages) // 3)
    for kind in (HumanMessage, ToolMessage):
        chosen.update([index for index in middle if isinstance(messages[index], kind)][:1])
    return [pinned(message) if index in chosen else message for index, message in enumerate(messages)]


def unrecovered(compressor: ContextCompressor, output: Sequence[BaseMessage], original: list[BaseMessage]) -> list[str]:
    """Names every message that left, or was changed, and does not come back by its id byte for byte."""
    kept = {as_bytes(message) for message in output}
    found: list[str] = []
    for message in original:
        wanted = as_bytes(message)
        if wanted in kept:
            continue
        back = compressor.expand_message(message.id or "")
        if back is None or as_bytes(back) != wanted:
            found.append(f"lost: {message.id} comes back as {back!r:.200}")
    return found


def uncovered(
    compressor: ContextCompressor, history: SessionHistory, output: Sequence[BaseMessage], original: list[BaseMessage]
) -> list[str]:
    """Names every message that left and is covered by no checkpoint, and all that a checkpoint gives back wrongly."""
    places = {message.id: place for place, message in enumerate(original)}
    covered: set[str | None] = set()
    found: list[str] = []
    for checkpoint in history.checkpoints():
        expanded = compressor.expand(checkpoint.checkpoint_id) or []
        if not expanded:
            found.append(f"empty: checkpoint {checkpoint.checkpoint_id} gives nothing back")
        covered.update(message.id for message in expanded)
        given = [places.get(message.id, -1) for message in expanded]
        if given != sorted(set(given)) or -1 in given:
            found.append(f"expand: the messages stood at {given} in the input")
        elif [as_bytes(message) for message in expanded] != [as_bytes(original[place]) for place in given]:
            found.append("expand: a message came back changed")
    there = {message.id for message in output if not is_summary(message)}
    return found + [f"uncovered: {name}" for name in places if name not in there and name not in covered]


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize(
    ("pins", "each"),
    [
        pytest.param(False, 1, id="plain", marks=pytest.mark.slow),
        pytest.param(True, 1, id="pinned", marks=pytest.mark.slow),
        pytest.param(True, 4, id="a fourth of them, pinned"),
    ],
)
def test_every_conversation_through_the_api(path: Path, pins: bool, each: int) -> None:
    found: dict[str, list[str]] = {}
    smaller = 0
    for recording in realdata.load(path)[::each]:
        original = some_pinned(recording.with_ids()) if pins else recording.with_ids()
        before = [as_bytes(message) for message in original]
        store = InMemoryStore()
        compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT), store=store, session_id=recording.name)
        result = compressor.compress(original)
        wrong = judged(result.messages, original)
        wrong += unrecovered(compressor, result.messages, original)
        wrong += uncovered(compressor, SessionHistory(store, session_id=recording.name), result.messages, original)
        if [as_bytes(message) for message in original] != before:
            wrong.append("input: the list that was given was changed")
        if any(mark_kind(message) == "summary" for message in result.messages):
            expanded = compressor.expand(result.checkpoint.checkpoint_id) if result.checkpoint else None
            if not expanded:
                wrong.append("checkpoint: there is a summary, and the result's checkpoint gives nothing back")
        if wrong:
            found[recording.name] = wrong
        smaller += len(result.messages) < len(original)
    assert not found, _report(found)
    assert smaller, "nothing was compressed: this has shown nothing"


def test_pins_are_really_set_and_newest_humans_really_there() -> None:
    """The tests above would pass without them."""
    lists = [some_pinned(recording.with_ids()) for path in realdata.files() for recording in realdata.load(path)]
    assert sum(any(map(is_pin, messages)) for messages in lists) >= 0.9 * len(lists)
    assert all(newest_human(messages) for messages in lists)


EACH = [pytest.param(4, id="a fourth of them"), pytest.param(1, id="all of them", marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def runs() -> dict[tuple[Path, int], Run]:
    """Finished runs of the command line, one for each file, for all tests that look at them."""
    return {}


@pytest.fixture
def run(path: Path, each: int, runs: dict[tuple[Path, int], Run], tmp_path: Path) -> Run:
    """Gives the finished run over each so many of `path`, the file it wrote and the store it filled."""
    if (path, each) not in runs:
        given, out, store = tmp_path / path.name, tmp_path / "out.jsonl", tmp_path / "originals.sqlite"
        lines = [json.dumps(record) + "\n" for record in realdata.records(path)[::each]]
        given.write_text("".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "langchain_ctxcompress.cli", "compress", str(given), "--limit", str(LIMIT)]
        command += ["--out", str(out), "--store", f"sqlite:{store}"]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False)
        runs[path, each] = done, out, store
    return runs[path, each]


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("each", EACH)
def test_every_conversation_through_the_command_line(path: Path, each: int, run: Run) -> None:
    process, out, _ = run
    assert "Traceback" not in process.stderr
    recordings = realdata.load(path)[::each]
    fits = all(independent_tokens(protected(recording.messages)) <= LIMIT for recording in recordings)
    assert process.returncode in ({0} if fits else {0, 1}), process.stderr
    written = realdata.records(out)
    assert [record["id"] for record in written] == [record["id"] for record in realdata.records(path)[::each]]
    found = {
        recording.name: wrong
        for recording, record in zip(recordings, written, strict=True)
        if (wrong := judged_without_marks(convert_to_messages(record["messages"]), recording.messages))
    }
    assert not found, _report(found)
    assert any(len(record["messages"]) < len(r.messages) for r, record in zip(recordings, written, strict=True))


def judged_without_marks(output: list[BaseMessage], original: Sequence[BaseMessage]) -> list[str]:
    """As `judged`, for a format without ids and marks: the summary and what was shortened cannot be told from new."""
    new = [finding for finding in judged(output, original) if finding.startswith("invented")]
    system = [finding for finding in new if "(system" in finding]
    return system + [finding for finding in judged(output, original) if finding not in new]


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("each", EACH)
def test_every_original_comes_back_from_the_store_of_the_command_line(path: Path, each: int, run: Run) -> None:
    """Another process reads the file: what is missing in a conversation stands, in its order, in one session."""
    process, out, path_of_store = run
    assert "Traceback" not in process.stderr
    store = open_store(f"sqlite:{path_of_store}")
    names = [json.loads(item.value["session_id"]) for item in store.search(("ctxcompress", "sessions"), limit=10_000)]
    archives: list[list[str]] = []
    holding: dict[str, list[int]] = defaultdict(list)
    for number, name in enumerate(names):
        archives.append([as_bytes(m, with_id=False) for m in SessionHistory(store, session_id=name).messages()])
        for said in set(archives[-1]):
            holding[said].append(number)
    found: dict[str, list[str]] = {}
    for recording, record in zip(realdata.load(path)[::each], realdata.records(out), strict=True):
        left = Counter(as_bytes(message, with_id=False) for message in convert_to_messages(record["messages"]))
        missing: list[str] = []
        for message in recording.messages:
            said = as_bytes(message, with_id=False)
            left[said] -= 1
            if left[said] < 0:
                missing.append(said)
        rarest = min(missing, key=lambda said: len(holding[said]), default=None)
        if rarest is not None and not any(_in_order(missing, archives[number]) for number in holding[rarest]):
            found[recording.name] = [f"lost: no session holds all {len(missing)} messages that left, in order"]
    assert not found, _report(found)


def _in_order(wanted: list[str], archive: list[str]) -> bool:
    rest = iter(archive)
    return all(said in rest for said in wanted)


def _report(found: dict[str, list[str]]) -> str:
    lines = [f"{name}: {finding}" for name, findings in found.items() for finding in findings[:5]]
    return "\n".join([f"{len(found)} conversations are wrong:", *lines[:40]])
