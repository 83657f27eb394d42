"""S1, P9: the active context counts what it sends, sends nothing else, and refuses what is too large."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import (
    ActiveContext,
    CheckpointSummary,
    ConfigError,
    ContextLimitError,
    SessionHistory,
    SnapshotStore,
    StorageBoundaryError,
)
from langchain_ctxcompress.engine import is_active_context
from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.limits.validation import NextAction
from langchain_ctxcompress.messages import is_summary
from langchain_ctxcompress.storage import Quote
from langchain_ctxcompress.tokens import MessageCounter
from tests.support.conversations import conversations, exchanges
from tests.support.legality import violations


def checkpoint(number: int, text: str | None = None, level: int = 3, **fields) -> CheckpointSummary:
    return CheckpointSummary(
        checkpoint_id=f"c{number}",
        session_id="s",
        number=number,
        level=level,
        text=f"summary number {number} of many words" if text is None else text,
        **fields,
    )


def size(messages) -> int:
    return sum(MessageCounter()(messages))


@given(conversations(max_messages=30), st.integers(0, 4), st.data())
def test_the_count_is_that_of_the_prompt_whatever_is_done(messages, checkpoints, data):
    """Counts follow every change: `token_count` is what `build_prompt()` weighs, part by part."""
    context = ActiveContext(
        10_000_000,
        system_prompt=data.draw(st.sampled_from(["", "Be brief."])),
        checkpoints=[checkpoint(number) for number in range(1, checkpoints + 1)],
    )
    for message in messages:
        context.add_message(message)
        if data.draw(st.integers(0, 9)) == 0:
            context.add_checkpoint(checkpoint(data.draw(st.integers(1, 9))))
        if data.draw(st.integers(0, 9)) == 0:
            known = [m.id for m in context.messages if m.id] + [c.checkpoint_id for c in context.checkpoints]
            context.remove_messages(data.draw(st.lists(st.sampled_from(known), max_size=3)) if known else [])
    prompt = context.build_prompt()
    assert context.token_count == size(prompt)
    front = len(prompt) and isinstance(prompt[0], SystemMessage) and context.system_prompt == prompt[0].content
    assert context.tokens.total == context.tokens.system + context.tokens.checkpoints + context.tokens.recent
    assert context.tokens.system == (size(prompt[:1]) if context.system_prompt and front else 0)
    assert context.tokens.checkpoints == size([m for m in prompt if is_summary(m) and m not in context.messages])
    assert context.available_tokens == 10_000_000 - 1_000 - context.token_count


def test_the_prompt_is_system_checkpoints_recent_new_and_nothing_else():
    recent = exchanges(3)
    context = ActiveContext(
        50_000,
        system_prompt="Be brief.",
        checkpoints=[
            checkpoint(1, quotes=(Quote(message_id="q", text="my very words"),)),
            checkpoint(2, level=0, text=""),
            checkpoint(3),
        ],
        messages=recent,
    )
    new = HumanMessage("and now?")
    system, summary, *rest = context.build_prompt(new)
    assert system == SystemMessage("Be brief.")
    assert is_summary(summary)
    text = str(summary.content)
    assert text.index("summary number 1") < text.index("summary number 3") < text.index("my very words")
    assert rest == [*recent, new]
    assert context.build_prompt() == [system, summary, *recent]
    assert new not in context.messages


def test_without_parts_there_are_no_messages_for_them():
    context = ActiveContext(5_000, checkpoints=[checkpoint(1, level=0, text="")])
    assert (context.build_prompt(), context.token_count) == ([], 0)


class TestLimit:
    def test_over_limit_less_margin_raises_with_both_numbers(self):
        message = HumanMessage("word " * 500)
        tokens = size([message])
        fits = ActiveContext(tokens + 1_000)
        fits.add_message(message)
        assert fits.available_tokens == 0
        tight = ActiveContext(tokens + 999)
        with pytest.raises(ContextLimitError, match=f"{tokens}.*{tokens - 1}") as caught:
            tight.add_message(message)
        assert (caught.value.tokens, caught.value.limit) == (tokens, tokens - 1)
        assert (tight.messages, tight.token_count) == ((), 0)

    def test_all_parts_count(self):
        context = ActiveContext(1_100, system_prompt="word " * 60, checkpoints=[checkpoint(1)])
        with pytest.raises(ContextLimitError):
            context.add_message(HumanMessage("word " * 20))

    def test_an_own_margin(self):
        context = ActiveContext(100, safety_margin=0)
        context.add_message(HumanMessage("word " * 80))
        assert context.available_tokens == 100 - context.token_count

    @pytest.mark.parametrize(("limit", "margin"), [(1_000, 1_000), (0, 0), (10, -1), (500, 1_000)])
    def test_a_limit_that_leaves_nothing_is_refused(self, limit, margin):
        with pytest.raises(ConfigError, match="safety_margin"):
            ActiveContext(limit, safety_margin=margin)


class TestChanges:
    def test_remove_takes_messages_and_checkpoints_and_the_counts_follow(self):
        recent = exchanges(4)
        context = ActiveContext(50_000, checkpoints=[checkpoint(1), checkpoint(2)], messages=recent)
        before = context.tokens
        gone = [recent[0].id, recent[5].id, "c1", "unknown"]
        assert context.remove_messages(gone) == 3
        assert [c.checkpoint_id for c in context.checkpoints] == ["c2"]
        assert context.messages == tuple(m for m in recent if m.id not in gone)
        assert context.tokens.recent == before.recent - size([recent[0], recent[5]])
        assert context.tokens.checkpoints < before.checkpoints
        assert "summary number 1" not in str(context.build_prompt()[0].content)

    def test_an_ageing_checkpoint_is_not_there_twice(self):
        """The fault of the design's first code: removal left checkpoints behind, so ageing duplicated them."""
        context = ActiveContext(50_000, checkpoints=[checkpoint(1), checkpoint(2)])
        context.add_checkpoint(checkpoint(1, text="shorter"))
        assert [c.text for c in context.checkpoints] == ["shorter", "summary number 2 of many words"]
        context.remove_messages(["c1", "c2"])
        context.add_checkpoint(checkpoint(3))
        assert str(context.build_prompt()[0].content).count("<summary ") == 1

    def test_a_message_with_a_known_id_takes_the_place_of_the_other(self):
        context = ActiveContext(50_000, messages=exchanges(2))
        context.add_message(context.messages[0].model_copy(update={"content": "edited"}))
        assert context.messages[0].content == "edited"
        assert len(context.messages) == 4

    def test_a_removed_call_takes_its_result_out_of_the_prompt(self):
        """Law 1: no tool message without its call."""
        call = AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": "x"}], id="call")
        context = ActiveContext(
            50_000, messages=[HumanMessage("go", id="h"), call, ToolMessage("r", tool_call_id="x", id="r")]
        )
        context.remove_messages(["call"])
        assert violations(context.build_prompt()) == []
        assert [m.id for m in context.build_prompt()] == ["h"]
        assert context.token_count == size([HumanMessage("go", id="h")])

    def test_state_is_of_one_moment(self):
        context = ActiveContext(50_000, system_prompt="Be brief.", checkpoints=[checkpoint(1)], messages=exchanges(1))
        state = context.state()
        context.remove_messages([context.messages[0].id])
        assert (state.system_prompt, len(state.messages), len(state.checkpoints)) == ("Be brief.", 2, 1)
        assert state.tokens.total + state.available_tokens == 50_000 - 1_000


class TestValidate:
    def test_what_fits_is_valid(self):
        result = ActiveContext(50_000, messages=exchanges(3)).validate()
        assert (result.valid, result.overage, result.limit, result.suggestions) == (True, 0, 49_000, ())

    def test_what_does_not_says_by_how_much_and_what_to_do(self):
        messages = exchanges(40, words=60)
        context = ActiveContext(2_000, messages=messages)
        result = context.validate()
        assert not result.valid
        assert (result.tokens, result.overage) == (context.token_count, context.token_count - 1_000)
        assert str(result.overage) in result.message
        assert NextAction.COMPRESS in {suggestion.action for suggestion in result.suggestions}
        frees = {suggestion.action: suggestion.frees for suggestion in result.suggestions}
        assert frees[NextAction.ROLL_OVER] <= size(messages[:-10])

    def test_many_checkpoints_suggest_a_merge(self):
        context = ActiveContext(1_500, checkpoints=[checkpoint(n, text="words of it " * 90) for n in range(1, 5)])
        assert [suggestion.action for suggestion in context.validate().suggestions] == [NextAction.MERGE]


class TestBoundary:
    """S4: what is kept cannot be added, and cannot be sent."""

    def test_what_is_kept_is_refused(self):
        context = ActiveContext(50_000)
        history = SessionHistory(None, session_id="s")
        snapshot = SnapshotStore(history.store, session_id="s").create([HumanMessage("x")])
        for kept in (history, snapshot, checkpoint(1)):
            with pytest.raises(StorageBoundaryError):
                context.add_message(kept)
            with pytest.raises(StorageBoundaryError):
                context.build_prompt(kept)
            with pytest.raises(StorageBoundaryError):
                ActiveContext(50_000, messages=[kept])
        with pytest.raises(StorageBoundaryError, match=snapshot.snapshot_id):
            context.add_message(HumanMessage(snapshot.model_dump_json()))
        assert context.messages == ()

    def test_what_is_no_message_is_refused(self):
        with pytest.raises(InvalidMessagesError):
            ActiveContext(50_000).add_message("text")

    def test_the_guard_tells_it_from_the_other_layers(self):
        assert is_active_context(ActiveContext(50_000))
        assert not is_active_context(SessionHistory(None, session_id="s"))
