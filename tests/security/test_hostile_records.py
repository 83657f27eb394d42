"""What is read from a store is data: nothing in it is executed, imported or made by its name."""

from __future__ import annotations

import base64
import json
import pickle
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.conversations import ConversationFile
from langchain_ctxcompress.errors import ConversationFileError, CtxCompressError
from langchain_ctxcompress.ledger import parse_goal_markers, split_reply
from langchain_ctxcompress.limits.reliability import get_model_size
from langchain_ctxcompress.messages import extract_text_content, is_pinned, is_summary
from langchain_ctxcompress.storage import CheckpointSummary, run, session_ids
from langchain_ctxcompress.storage.codec import BINARY_KEY, decode_message, encode_message
from tests.storage.stores import everything
from tests.support.conversations import exchanges
from tests.support.legality import violations


class Exploit:
    """Makes a file when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path(self.path),)


def record_of(content: Any, **more: Any) -> str:
    return json.dumps(
        {"type": "human", "data": {"content": "hello", "id": "a", "additional_kwargs": {"x": content}, **more}}
    )


def extension(code: int, *parts: Any) -> str:
    """LangGraph's serialised form of "import this module and call that name"."""
    data = ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(list(parts))))
    return base64.b64encode(data).decode()


def hostile(marker: Path) -> dict[str, str]:
    touch = f"open({str(marker)!r}, 'w')"
    constructor = {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": f"touch {marker}"}}
    made = {
        "constructor in arguments": record_of(constructor),
        "secret in arguments": record_of({"lc": 1, "type": "secret", "id": ["CTXCOMPRESS_TEST_SECRET"]}),
        "constructor as a message": json.dumps(constructor),
        "constructor for data": json.dumps({"type": "human", "data": constructor}),
        "class key": record_of({"__class__": "os.system", "__reduce__": [touch]}),
        "yaml tag": record_of(f"!!python/object/apply:os.system ['touch {marker}']"),
        "pickle": record_of({BINARY_KEY: ["pickle", base64.b64encode(pickle.dumps(Exploit(str(marker)))).decode()]}),
        "json of LangGraph": record_of(
            {BINARY_KEY: ["json", base64.b64encode(json.dumps(constructor).encode()).decode()]}
        ),
        "no such kind": record_of({BINARY_KEY: ["exec", base64.b64encode(touch.encode()).decode()]}),
        "message of no known type": json.dumps({"type": "os.system", "data": {"content": f"touch {marker}"}}),
        "pickle itself": pickle.dumps(Exploit(str(marker))).decode("latin-1"),
    }
    for code in range(8):
        for module, name, argument in (("os", "system", f"touch {marker}"), ("builtins", "eval", touch)):
            data = extension(code, module, name, argument, "")
            made[f"extension {code} of {module}"] = record_of({BINARY_KEY: ["msgpack", data]})
            data = extension(code, module, name, [argument], {})
            made[f"extension {code} of {module} with a list"] = record_of({BINARY_KEY: ["msgpack", data]})
    return made


@pytest.mark.parametrize("name", sorted(hostile(Path("x"))))
@pytest.mark.filterwarnings("ignore")  # LangGraph says in a warning what it refuses
def test_a_hostile_message_is_refused_or_read_as_data(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = tmp_path / "owned"
    monkeypatch.setenv("CTXCOMPRESS_TEST_SECRET", "the secret itself")
    try:
        message = decode_message(hostile(marker)[name])
    except CtxCompressError as error:
        assert "damaged" in str(error)
    else:
        assert isinstance(message, BaseMessage)
        assert "the secret itself" not in repr(message)
    assert not marker.exists()


def test_the_exploits_work_where_they_are_let(tmp_path: Path) -> None:
    marker = tmp_path / "owned"
    pickle.loads(pickle.dumps(Exploit(str(marker))))
    assert marker.exists()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def filled() -> tuple[InMemoryStore, ContextCompressor]:
    store = InMemoryStore()
    keeper = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s")
    keeper.compress(exchanges(40), force=True)
    return store, keeper


@given(data=st.data(), value=JSON)
@FEW
def test_damage_anywhere_in_a_store_costs_a_clear_error_at_most(data: st.DataObject, value: Any) -> None:
    """Log, checkpoints, snapshots, heads: one field of one record becomes something else."""
    store, _ = filled()
    records = everything(store)
    namespace, key, record = data.draw(st.sampled_from(records))
    field = data.draw(st.sampled_from(sorted(record)))
    text = data.draw(st.none() | st.integers(0, 400))
    old = record[field]
    changed = old[:text] if isinstance(old, str) and text is not None else value
    store.put(namespace, key, {**record, field: changed})
    history = SessionHistory(store, session_id="s")
    for read in (
        history.messages,
        history.export_markdown,
        lambda: history.search("order"),
        lambda: run(session_ids(), store),
    ):
        try:
            read()
        except CtxCompressError as error:
            assert str(error)
    again = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s")
    said = exchanges(44)
    try:
        result = again.compress(said, force=True)
    except CtxCompressError as error:
        assert str(error)
    else:
        assert violations(result.messages) == []


@given(JSON)
@FEW
def test_any_value_as_a_checkpoint_is_one_or_a_clear_error(value: Any) -> None:
    try:
        CheckpointSummary.load(value, name="checkpoint")
    except CtxCompressError as error:
        assert str(error)


BLOCKS = st.lists(
    st.text(max_size=30, alphabet=st.characters())
    | st.fixed_dictionaries(
        {
            "type": st.sampled_from(
                [
                    "text",
                    "image",
                    "image_url",
                    "audio",
                    "video",
                    "file",
                    "reasoning",
                    "thinking",
                    "tool_use",
                    "tool_result",
                    "non_standard",
                    "refusal",
                    "server_tool_call",
                    "input_json_delta",
                    "unknown",
                    "",
                ]
            )
            | JSON
        },
        optional=dict.fromkeys(
            (
                "text",
                "url",
                "base64",
                "data",
                "id",
                "index",
                "source",
                "image_url",
                "content",
                "value",
                "annotations",
                "extras",
            ),
            JSON,
        ),
    ),
    max_size=5,
)


@given(BLOCKS, st.sampled_from(["human", "ai"]))
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_any_content_blocks_are_counted_compressed_and_kept(blocks: list[Any], kind: str) -> None:
    said = exchanges(30)
    place = 10 if kind == "human" else 11
    said[place] = said[place].model_copy(update={"content": blocks})
    keeper = ContextCompressor(config=PrunerConfig.for_limit(1_200), session_id="s")
    result = keeper.compress(said, force=True)
    assert violations(result.messages) == []
    assert extract_text_content(said[place]) is not None
    assert not is_summary(said[place])
    assert not is_pinned(said[place])
    kept = keeper.expand_message(said[place].id or "")
    assert kept is not None
    assert encode_message(kept) == encode_message(said[place])


@given(
    st.recursive(st.text(max_size=30), lambda inner: st.lists(inner, max_size=4).map("\n".join), max_leaves=8),
    st.integers(0, 40),
)
@settings(max_examples=150)
def test_any_summary_output_is_parsed(text: str, depth: int) -> None:
    for reply in (
        text,
        "[RULE] " * depth + text,
        "[" * depth * 50 + text,
        "[CHECKPOINT] " + text + " - COMPLETED",
        "[ARTIFACT] Created " + text,
    ):
        summary, proposals = split_reply(reply)
        assert len(proposals) <= 40
        assert summary or not reply.strip() or proposals
        parse_goal_markers(reply)
        assert get_model_size(reply) > 0


@given(
    data=st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode("utf-8", "surrogatepass")),
    name=st.sampled_from(["a.json", "a.jsonl", "a.ndjson", "a.txt"]),
)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_file_gives_conversations_or_errors_that_say_why(data: bytes, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    for item in ConversationFile(str(file)):
        if isinstance(item, ConversationFileError):
            assert str(item)
        else:
            assert all(isinstance(message, BaseMessage) for message in item.messages)


@pytest.mark.parametrize("depth", [100, 3_000, 200_000])
@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_a_file_nested_too_deep_is_an_error(depth: int, pair: str, tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    open_, close = (pair[0], pair[1]) if pair == "[]" else ('{"role":', "}")
    file.write_text(open_ * depth + "1" + close * depth, encoding="utf-8")
    items = list(ConversationFile(str(file)))
    assert items
    assert all(isinstance(item, ConversationFileError) for item in items)
