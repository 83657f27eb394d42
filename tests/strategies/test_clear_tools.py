"""`clear-tools`: what is cleared, what stays, what stands there then, and that all of it can be had back."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import ConfigError, ContextCompressor, PrunerConfig, count_tokens, pin, truncate_to_tokens
from langchain_ctxcompress.limits import PruneUrgency, classify_prune_urgency
from langchain_ctxcompress.messages import ensure_ids, repair_messages
from langchain_ctxcompress.strategies import ClearTools, CompressionDraft, CompressionRequest, Tools
from langchain_ctxcompress.tokens import MessageCounter
from tests.laws.judge import as_bytes, grown, illegal, lost, voice_lost
from tests.support.conversations import agent_run, conversations, copied, exchanges
from tests.support.legality import mark_kind
from tests.support.scenes import PIXEL

OUTPUT = "line of output with a number 12345\n" * 60


class CountingTools:
    """Counts as the package does, and remembers how often each message object was counted."""

    def __init__(self) -> None:
        self.seen: list[BaseMessage] = []  # holds them, so that no id is given to another object
        counter = MessageCounter()

        def count(messages: Sequence[BaseMessage]) -> list[int]:
            self.seen += messages
            return counter(messages)

        self.tools = Tools(count, count_tokens, truncate_to_tokens, counter.saying)

    @property
    def counts(self) -> Counter[int]:
        return Counter(map(id, self.seen))


def request_of(
    messages: Sequence[BaseMessage], limit: int, *, tools: Tools | None = None, **fields: Any
) -> CompressionRequest:
    own = ensure_ids(repair_messages(ensure_ids(messages, "s")).messages, "s")
    tools = tools or CountingTools().tools
    config = PrunerConfig.for_limit(limit, **fields)
    sizes = tuple(tools.count(own))
    request = CompressionRequest(tuple(own), sizes, config, PruneUrgency.NONE, tools, session_id="s")
    urgency = classify_prune_urgency(request.window, config)
    return CompressionRequest(tuple(own), sizes, config, urgency, tools, session_id="s")


def run(strategy: ClearTools, request: CompressionRequest) -> CompressionDraft:
    steps = strategy.run(request)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    draft = stop.value.value
    assert isinstance(draft, CompressionDraft)
    return draft


def step(number: int, output: str | list[Any] = OUTPUT, **args: Any) -> list[BaseMessage]:
    call = {"name": "look", "args": args or {"path": f"file{number}.py"}, "id": f"c{number}"}
    return [
        AIMessage(f"Step {number}.", tool_calls=[call], id=f"a{number}"),
        ToolMessage(output, tool_call_id=f"c{number}", name="look", id=f"t{number}"),
    ]


def steps(number: int, build: Callable[[int], list[BaseMessage]] = step) -> list[BaseMessage]:
    """A run: a task, the answer to it, and `number` steps, each a turn."""
    begun = [HumanMessage("Find it.", id="task"), AIMessage("I will.", id="will")]
    return [*begun, *(message for n in range(number) for message in build(n))]


def said(messages: Sequence[BaseMessage], message_id: str) -> BaseMessage:
    return next(message for message in messages if message.id == message_id)


def cleared(messages: Sequence[BaseMessage]) -> list[str | None]:
    return [message.id for message in messages if mark_kind(message) == "cleared"]


def limit_for(messages: Sequence[BaseMessage]) -> int:
    """A hard limit under which the list is a little over its soft limit."""
    return int(sum(MessageCounter()(messages)) / 0.63)


# Properties.


@settings(max_examples=60)
@given(conversations(surrogates=True, nul=True), st.integers(20, 4_000), st.integers(0, 6))
def test_what_is_cleared_keeps_its_place_and_all_that_makes_it_legal(
    messages: list[BaseMessage], limit: int, keep: int
) -> None:
    before = copied(messages)
    request = request_of(messages, limit)
    draft = run(ClearTools(keep=keep), request)
    assert messages == before, "the input is not changed"
    assert len(draft.messages) == len(request.messages)
    assert list(draft.sizes) == MessageCounter()(draft.messages)
    assert draft.tokens <= sum(request.sizes)
    results = [place for place, message in enumerate(request.messages) if isinstance(message, ToolMessage)]
    newest = set(results[len(results) - min(keep, len(results)) :])
    for place, (old, new) in enumerate(zip(request.messages, draft.messages, strict=True)):
        if new is old:
            continue
        assert place in request.candidates
        assert mark_kind(new) == "cleared"
        assert (new.type, new.id, new.name) == (old.type, old.id, old.name)
        if isinstance(old, ToolMessage) and isinstance(new, ToolMessage):
            assert (new.tool_call_id, new.status) == (old.tool_call_id, old.status)
            assert isinstance(new.content, str)
            assert len(new.content.splitlines()) == 1
            assert old.id in new.content
            assert "base64" not in new.content
            assert place not in newest or "given again in message" in new.content
            assert 2 * draft.sizes[place] <= request.sizes[place]
        else:
            assert isinstance(old, AIMessage)
            assert isinstance(new, AIMessage)
            assert [(c["name"], c["id"]) for c in new.tool_calls] == [(c["name"], c["id"]) for c in old.tool_calls]
            assert new.text == old.text


@settings(max_examples=60)
@given(conversations(surrogates=True, nul=True), st.integers(20, 4_000))
def test_the_laws_hold(messages: list[BaseMessage], limit: int) -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=ClearTools(keep=1))
    first = compressor.compress(messages)
    assert illegal(compressor, first.messages, messages) == []
    assert voice_lost(first.messages, messages) == []
    assert lost(compressor, first.messages, messages) == []
    assert grown(first.messages, messages) == []
    second = compressor.compress(first.messages)
    assert second.messages == first.messages, "a second run changes nothing"
    assert second.checkpoints == ()


@settings(max_examples=40)
@given(conversations(max_messages=120, duplicate_ids=False, pins=False), st.integers(20, 2_000))
def test_a_client_that_sends_the_whole_list_again_gets_the_same_view(messages: list[BaseMessage], limit: int) -> None:
    """Law 8, in this process and in one that has only the store."""
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=ClearTools(keep=0))
    first = compressor.compress(messages)
    for reader in (
        compressor,
        ContextCompressor(config=compressor.config, store=compressor.store, session_id=compressor.session_id),
    ):
        again = reader.view(ensure_ids(messages, compressor.session_id))
        there = {m.id: m.content for m in again}
        assert {m.id for m in again if mark_kind(m) == "cleared"} == set(cleared(first.messages))
        assert all(there.get(m.id, m.content) == m.content for m in first.messages)


@settings(max_examples=60)
@given(conversations(max_messages=120, surrogates=True, nul=True), st.integers(20, 4_000), st.booleans())
def test_what_is_weighed_is_what_is_freed(messages: list[BaseMessage], limit: int, all_at_once: bool) -> None:
    request = request_of(messages, limit)
    clearing = ClearTools(keep=1, all_at_once=all_at_once)
    weighed = clearing.weigh(request)
    draft = clearing.draft(request, weighed)
    if weighed.reason is None:
        assert sum(request.sizes) - draft.tokens == weighed.freed > 0
    else:
        assert draft.messages == request.messages
        assert draft.reason is weighed.reason
    counter = request.tools.count
    bare = dataclasses.replace(request, tools=Tools(counter, count_tokens, truncate_to_tokens))
    assert clearing.weigh(bare) == weighed, "copies are counted where nobody says what they would take"


@given(conversations(max_messages=200), st.integers(20, 4_000), st.integers(0, 6))
def test_each_message_is_counted_once(messages: list[BaseMessage], limit: int, keep: int) -> None:
    counting = CountingTools()
    request = request_of(messages, limit, tools=counting.tools)
    run(ClearTools(keep=keep), request)
    assert set(counting.counts.values()) <= {1}


def test_ten_thousand_messages() -> None:
    messages = agent_run(5_000, words=60)
    counting = CountingTools()
    request = request_of(messages, 100_000, tools=counting.tools)
    draft = run(ClearTools(), request)
    assert set(counting.counts.values()) == {1}
    assert len(cleared(draft.messages)) > 4_000
    assert draft.sizes[-1] == request.sizes[-1]


# What the marker says.


def test_the_marker_says_tool_arguments_size_and_id() -> None:
    messages = steps(20)
    request = request_of(messages, 3_000)
    draft = run(ClearTools(), request)
    size = request.sizes[request.messages.index(said(messages, "t1"))]
    assert said(draft.messages, "t1").text == (
        f'[cleared: look(path="file1.py") gave {size} tokens; recall message t1]'
    )


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"query": "a\nb\tc\u2028d"}, 'look(query="a b c d")'),
        ({"n": 3, "flag": True, "none": None, "x": 1.5}, "look(n=3, flag=true, none=null, x=1.5)"),
        ({"deep": {"a": [1]}, "list": [1, 2], "empty": {}}, "look(deep={…}, list=[…], empty={})"),
        ({"long": "word " * 100}, 'look(long="word word word word word word word word…")'),
        ({"big": 10**6_000}, "look(big=…)"),
        ({f"key{n}": "value " * 10 for n in range(50)}, "…)"),
    ],
)
def test_arguments_are_told_in_short(args: dict[str, Any], told: str) -> None:
    from langchain_ctxcompress.strategies.clearing import result_marker

    marker = result_marker(ToolMessage("x", tool_call_id="c", id="t"), "look", args, 9)
    assert told in marker
    assert len(marker.splitlines()) == 1
    assert len(marker) < 300


def test_an_id_that_is_no_word_can_be_read_back() -> None:
    from langchain_ctxcompress.strategies.clearing import result_marker

    odd = "an id\nwith a line"
    marker = result_marker(ToolMessage("x", tool_call_id="c", id=odd), "look", {}, 9)
    assert json.loads(marker.split("recall message ")[1].rstrip("]")) == odd


def test_media_are_told_by_their_kind() -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    file = {"type": "file", "base64": PIXEL, "mime_type": "application/pdf"}
    shown: list[Any] = [{"type": "text", "text": "see"}, picture, picture, file]
    messages = steps(12, lambda n: step(n, shown))
    draft = run(ClearTools(), request_of(messages, 40_000))
    left = said(draft.messages, "t0")
    assert "tokens and 2 x [image] and [file]; recall message t0" in left.text
    assert PIXEL not in json.dumps(left.model_dump())


def test_a_cleared_result_leaves_its_artifact_to_the_archive() -> None:
    messages = steps(20)
    messages[3] = messages[3].model_copy(update={"artifact": {"rows": [1] * 100}, "status": "error"})
    compressor = ContextCompressor(config=PrunerConfig.for_limit(3_000), strategy="clear-tools")
    result = compressor.compress(messages)
    left = result.messages[3]
    assert isinstance(left, ToolMessage)
    assert (left.artifact, left.status) == (None, "error")
    assert compressor.expand_message("t0") == messages[3]


# What is cleared, and in which order.


def test_the_oldest_go_first_and_no_more_than_the_target_needs() -> None:
    messages = steps(40)
    request = request_of(messages, limit_for(messages))
    draft = run(ClearTools(), request)
    gone = cleared(draft.messages)
    assert gone == [f"t{number}" for number in range(len(gone))]
    assert draft.tokens <= request.config.target_tokens
    assert draft.tokens + max(request.sizes) > request.config.target_tokens


def test_what_was_given_again_goes_first_even_among_the_newest() -> None:
    """The newest of equal results stays, so nothing is lost."""
    same = [n for n in range(30) if n % 2]
    messages = steps(30, lambda n: step(n, OUTPUT, path="same.py") if n % 2 else step(n, f"{n} {OUTPUT}"))
    request = request_of(messages, limit_for(messages), target_tokens=int(0.75 * sum(MessageCounter()(messages))))
    draft = run(ClearTools(keep=30), request)
    assert cleared(draft.messages) == [f"t{n}" for n in same if n < 25][: len(cleared(draft.messages))]
    assert "given again in message t29" in said(draft.messages, "t1").text


def test_the_same_output_of_another_call_is_not_given_again() -> None:
    messages = steps(30)
    draft = run(ClearTools(keep=0), request_of(messages, limit_for(messages)))
    assert all("again" not in message.text for message in draft.messages)


def test_the_newest_stay_wherever_they_stand() -> None:
    """Where calls are rare, the last of them lie further back than the recent turns."""
    messages = [*steps(8), *exchanges(10)]
    draft = run(ClearTools(), request_of(messages, 1_000))
    assert cleared(draft.messages) == ["t0", "t1", "t2"]
    assert cleared(run(ClearTools(keep=0), request_of(messages, 1_000)).messages) == [f"t{n}" for n in range(8)]


def test_prefix_recent_turns_and_pins_stay() -> None:
    messages = steps(20)
    messages[7] = pin(messages[7])
    draft = run(ClearTools(keep=0), request_of(messages, 1_000, pinned_prefix_turns=2))
    gone = cleared(draft.messages)
    assert gone == ["t1", *(f"t{number}" for number in range(3, 15))]


def test_exempt_tools_are_left_alone() -> None:
    messages = steps(20)
    assert run(ClearTools(exempt=["look"]), request_of(messages, 1_000)).messages == tuple(messages)
    assert cleared(run(ClearTools(exempt=["other"]), request_of(messages, 1_000)).messages)


def test_a_result_that_is_hardly_longer_than_its_marker_stays() -> None:
    messages = steps(200, lambda n: step(n, f"ok, {n} rows were changed in the table of orders"))
    assert run(ClearTools(), request_of(messages, 1_000)).reason == "too_few_candidates"


def test_two_messages_of_one_id_are_left_alone() -> None:
    """One id can bring back only one of them."""
    messages = steps(20)
    messages[5] = messages[5].model_copy(update={"id": "t0"})
    gone = cleared(run(ClearTools(), request_of(messages, 1_000)).messages)
    assert "t0" not in gone
    assert "t2" in gone


def test_reused_call_ids_are_told_apart() -> None:
    messages = agent_run(30, words=200, reuse_calls=True, parallel=2)
    draft = run(ClearTools(), request_of(messages, 2_000))
    for place in (5, 6):
        own = messages[place]
        assert isinstance(own, ToolMessage)
        assert f"pattern1 src/file_{own.tool_call_id[-1]}.py" in draft.messages[place].text


def test_a_function_result_is_cleared_with_its_name() -> None:
    """OpenAI's function calls from before there were tools."""

    def old_step(number: int) -> list[BaseMessage]:
        call = {"name": "look", "arguments": json.dumps({"text": "x " * 2_000})}
        return [
            AIMessage("", additional_kwargs={"function_call": call}, id=f"a{number}"),
            FunctionMessage(name="look", content=f"{number} {OUTPUT}", id=f"t{number}"),
        ]

    draft = run(ClearTools(keep=0), request_of(steps(12, old_step), 1_000))
    left = said(draft.messages, "t0")
    assert (left.type, left.name) == ("function", "look")
    assert left.text.startswith("[cleared: look(")
    call = said(draft.messages, "a0").additional_kwargs["function_call"]
    assert call["name"] == "look"
    assert "recall message a0" in json.loads(call["arguments"])["cleared"]


def test_oversized_arguments_give_way_in_the_call_and_in_the_content_that_repeats_it() -> None:
    def write(number: int) -> list[BaseMessage]:
        args = {"path": f"f{number}.py", "text": f"{number} {OUTPUT}", "rows": list(range(900)), "mode": "w"}
        call = {"name": "write", "args": args, "id": f"c{number}"}
        content: list[Any] = [
            {"type": "text", "text": f"I write {number}."},
            {"type": "tool_use", "id": f"c{number}", "name": "write", "input": args},
        ]
        return [
            AIMessage(content, tool_calls=[call], id=f"a{number}"),
            ToolMessage("written", tool_call_id=f"c{number}", id=f"t{number}"),
        ]

    messages = steps(14, write)
    draft = run(ClearTools(), request_of(messages, 3_000))
    assert cleared(draft.messages)[0] == "a0"
    message = said(draft.messages, "a0")
    assert isinstance(message, AIMessage)
    args = message.tool_calls[0]["args"]
    assert (args["path"], args["mode"]) == ("f0.py", "w")
    size = count_tokens(f"0 {OUTPUT}")
    assert args["text"] == f"[cleared: {size} tokens; recall message a0]"
    assert args["rows"].startswith("[cleared: ")
    assert isinstance(message.content, list)
    assert message.content[1]["input"] == args  # type: ignore[index]
    assert message.text == "I write 0."
    assert cleared(draft.messages) == [f"a{number}" for number in range(9)]


def test_the_calls_of_the_newest_results_stay_with_them() -> None:
    """Though they lie further back than the recent turns."""
    long = {"text": OUTPUT * 2}
    messages = [*steps(8, lambda n: step(n, "written", **long)), *exchanges(10)]
    draft = run(ClearTools(), request_of(messages, 1_000))
    assert cleared(draft.messages) == ["a0", "a1", "a2"]


def test_a_malformed_call_is_cleared_too() -> None:
    def broken(number: int) -> list[BaseMessage]:
        call = {"name": "write", "args": '{"text": "' + OUTPUT, "id": f"c{number}", "error": "cut off"}
        return [
            AIMessage("", invalid_tool_calls=[call], id=f"a{number}"),
            ToolMessage("no JSON", tool_call_id=f"c{number}", id=f"t{number}"),
        ]

    message = run(ClearTools(), request_of(steps(14, broken), 1_000)).messages[2]
    assert isinstance(message, AIMessage)
    assert "recall message a0" in str(message.invalid_tool_calls[0]["args"])


# When it acts.


def test_it_acts_only_where_it_frees_enough_for_a_soft_limit() -> None:
    few = [*steps(3), *exchanges(40)]
    soft = sum(MessageCounter()(few))
    config = {"soft_limit_tokens": soft, "target_tokens": soft - 10}
    request = request_of(few, 2 * soft, **config)
    assert request.urgency == "soft"
    draft = run(ClearTools(keep=0, at_least=soft), request)
    assert (draft.messages, draft.reason) == (request.messages, "not_enough")
    assert cleared(run(ClearTools(keep=0, at_least=10), request).messages) == ["t0"]
    hard = request_of(few, soft, soft_limit_tokens=soft - 20, target_tokens=soft - 30)
    assert hard.urgency == "hard"
    assert cleared(run(ClearTools(keep=0, at_least=soft), hard).messages) == ["t0"]


@pytest.mark.parametrize(("results", "acts"), [(1, False), (2, True)])
def test_a_tenth_of_the_soft_limit_is_enough_and_less_is_not(results: int, acts: bool) -> None:
    messages = [*steps(results), *exchanges(75)]
    sizes = MessageCounter()(messages)
    soft = sum(sizes)
    assert 0.06 * soft < sizes[3] - 40 < 0.1 * soft < 2 * (sizes[3] - 40)
    request = request_of(messages, 3 * soft, soft_limit_tokens=soft, target_tokens=soft - 1)
    assert bool(cleared(run(ClearTools(keep=0), request).messages)) == acts


def test_below_the_soft_limit_nothing_is_done_unless_asked() -> None:
    messages = steps(20)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(100_000), strategy="clear-tools")
    assert compressor.compress(messages).reason == "below_soft_limit"
    forced = compressor.compress(messages, force=True)
    assert cleared(forced.messages) == [f"t{number}" for number in range(15)]


def test_a_list_without_tools_is_a_noop_with_a_reason() -> None:
    messages = exchanges(30)
    config = PrunerConfig(soft_limit_tokens=500, hard_limit_tokens=10**6)
    result = ContextCompressor(config=config, strategy="clear-tools").compress(messages)
    assert (result.outcome, result.reason, result.messages) == ("noop", "too_few_candidates", messages)


@pytest.mark.parametrize(
    ("fields", "named"), [({"keep": -1}, "keep"), ({"at_least": -1}, "at_least"), ({"exempt": "look"}, "exempt")]
)
def test_wrong_settings_are_refused_by_name(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        ClearTools(**fields)


# What was cleared can be had back, and stays cleared.


def compressed(messages: list[BaseMessage], limit: int = 8_000) -> tuple[ContextCompressor, list[BaseMessage]]:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=ClearTools(keep=0))
    result = compressor.compress(messages)
    assert cleared(result.messages)
    return compressor, result.messages


def test_a_checkpoint_of_clearing_expands_to_the_originals() -> None:
    messages = steps(20)
    compressor, view = compressed(messages)
    checkpoint = compressor.history().checkpoints()[-1]
    assert checkpoint.strategy == "clear-tools"
    assert list(checkpoint.altered) == cleared(view)
    found = compressor.expand(checkpoint.checkpoint_id)
    assert found is not None
    assert list(map(as_bytes, found)) == [as_bytes(m) for m in messages if m.id in checkpoint.altered]
    assert [compressor.expand_message(str(m.id)) for m in messages] == messages


def summarised(compressor: ContextCompressor, view: list[BaseMessage]) -> tuple[ContextCompressor, list[BaseMessage]]:
    """A summary on top of what was cleared."""
    later = ContextCompressor(
        config=compressor.config,
        strategy="middle-out",
        store=compressor.store,
        session_id=compressor.session_id,
    )
    result = later.compress(view, force=True)
    assert result.checkpoint is not None
    assert set(result.checkpoint.covered) > set(cleared(view)[:5])
    return later, result.messages


def test_originals_that_come_back_after_clearing_and_a_summary_are_dropped_again() -> None:
    messages = steps(20)
    compressor, view = compressed(messages)
    later, short = summarised(compressor, view)
    assert later.view(messages) == short
    assert later.compress(messages).messages == short
    checkpoint = later.history().checkpoints()[-1]
    assert list(map(as_bytes, later.expand(checkpoint.checkpoint_id) or [])) == [
        as_bytes(message) for message in messages if message.id in checkpoint.covered
    ]
    fresh = ContextCompressor(config=PrunerConfig(), store=later.store, session_id=later.session_id)
    assert fresh.view(messages) == short, "a process that has only the store sees the same"


def test_a_list_from_between_clearing_and_the_summary_is_known_as_well() -> None:
    """A fork, or a client that holds what it was last sent."""
    messages = steps(20)
    compressor, view = compressed(messages)
    later, short = summarised(compressor, view)
    assert later.view(view) == short


def test_what_a_checkpoint_covers_is_the_original_though_the_first_checkpoint_is_lost() -> None:
    """Law 9: the mark in the message says what the original said."""
    messages = steps(20)
    compressor, view = compressed(messages)
    other = ContextCompressor(config=compressor.config, strategy="middle-out", session_id="other")
    result = other.compress(view, force=True)
    assert result.checkpoint is not None
    assert other.view(messages) == result.messages


def unmarked(message: BaseMessage) -> BaseMessage:
    return message.model_copy(update={"additional_kwargs": {}})


def test_a_client_that_does_not_keep_the_mark_does_not_overwrite_the_original() -> None:
    messages = steps(20)
    compressor, view = compressed(messages)
    stripped = [unmarked(message) for message in view]
    assert compressor.view(stripped) == view
    grown_list = [*stripped, *exchanges(60)]
    compressor.compress(grown_list)
    assert compressor.expand_message("t0") == messages[3]


def test_a_pin_on_what_was_cleared_keeps_it_and_the_original() -> None:
    messages = steps(20)
    compressor, view = compressed(messages)
    pinned_view = [pin(m) if m.id == "t3" else m for m in view]
    result = compressor.compress([*pinned_view, *steps(20, lambda n: step(100 + n))[2:]])
    assert result.changed
    assert said(result.messages, "t3") == pinned_view[9]
    assert compressor.expand_message("t3") == messages[9]


def test_a_pin_on_the_original_brings_it_back() -> None:
    messages = steps(20)
    compressor, _ = compressed(messages)
    again = [pin(m) if m.id == "t3" else m for m in messages]
    result = compressor.compress(again)
    assert said(result.messages, "t3") == again[9]


def test_a_new_revision_of_a_cleared_message_stays() -> None:
    messages = steps(20)
    compressor, view = compressed(messages)
    edited = ToolMessage("something else", tool_call_id="c3", name="look", id="t3")
    result = compressor.compress([edited if m.id == "t3" else m for m in view])
    assert edited in result.messages
    compressor.compress([*result.messages, *exchanges(200)])
    assert compressor.expand_message("t3") == edited


def test_what_was_cut_before_is_left_alone() -> None:
    messages = steps(30)
    first = ContextCompressor(config=PrunerConfig.for_limit(2_000), strategy="emergency").compress(messages)
    cut = {m.id for m in first.messages if mark_kind(m) == "cut"}
    assert cut
    compressor = ContextCompressor(config=PrunerConfig.for_limit(10**6), strategy=ClearTools(keep=0))
    result = compressor.compress(first.messages, force=True)
    assert [m for m in result.messages if m.id in cut] == [m for m in first.messages if m.id in cut]
