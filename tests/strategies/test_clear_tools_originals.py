"""`clear-tools`: what was cleared can be had back, whatever a client sends."""

from __future__ import annotations

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig, pin
from langchain_ctxcompress.strategies import ClearTools
from tests.laws.judge import as_bytes
from tests.strategies.tool_runs import cleared, said, step, steps
from tests.support.conversations import exchanges
from tests.support.legality import mark_kind

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
