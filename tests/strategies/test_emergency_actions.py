"""P8: the actions of the last resort, in their order, each behind a snapshot that can be restored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import CompressionResult, ContextCompressor, ContextLimitError, PrunerConfig, SnapshotStore
from tests.laws.judge import as_bytes, illegal, lost, over, refused, voice_lost
from tests.support.conversations import agent_run, conversations, exchanges, pinned
from tests.support.legality import is_summary, mark_kind
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_message_tokens, independent_tokens

LEVEL_3 = "\n".join(f"- order #W{number} was refunded to the card on its last four digits" for number in range(24))
"""Some 400 tokens: what a model says at level 3."""

COMPACT, MERGE = "the largest checkpoint to level 1", "checkpoints merged"
ROLL_OVER, CUT = "rolled over to the last turns", "the largest messages cut"
DROP, CUT_HUMAN = "what is not protected dropped", "the newest human message cut"


def with_checkpoints(number: int = 3) -> tuple[ContextCompressor, list[BaseMessage]]:
    """A list whose summary message shows so many checkpoints of level 3, and behind it the last turns."""
    config = PrunerConfig(soft_limit_tokens=16_000, hard_limit_tokens=90_000, target_tokens=16_000)
    compressor = ContextCompressor(ScriptedChatModel(LEVEL_3), config=config, session_id="s")
    messages: list[BaseMessage] = [SystemMessage("Be kind.", id="sys")]
    for part in range(number):
        messages = compressor.compress([*messages, *exchanges(40, start=40 * part, words=30)], force=True).messages
    return compressor, messages


def emergency(
    compressor: ContextCompressor, messages: Sequence[BaseMessage], limit: int, **fields: Any
) -> CompressionResult:
    """One run of `emergency` alone on what another compressor left, in the same session."""
    config = PrunerConfig(soft_limit_tokens=10, hard_limit_tokens=limit, target_tokens=10, **fields)
    own = ContextCompressor(config=config, strategy="emergency", store=compressor.store, session_id="s")
    return own.compress(messages)


def actions(compressor: ContextCompressor, result: CompressionResult) -> list[str]:
    """What was done, as the snapshots say."""
    snapshots = compressor.snapshots("s")
    return [str(snapshots.restore(i).snapshot.metadata["action"]) for i in result.snapshots]


def summary_of(messages: Sequence[BaseMessage]) -> BaseMessage:
    return next(message for message in messages if is_summary(message))


def test_p8a_the_largest_checkpoint_is_said_at_level_1_and_all_else_stays() -> None:
    compressor, messages = with_checkpoints()
    before = summary_of(messages)
    assert before.text.count("<summary id=") == 3
    result = emergency(compressor, messages, independent_tokens(messages) - 100)
    assert actions(compressor, result) == [COMPACT]
    assert (result.outcome, result.reason) == ("degraded", "emergency")
    after = summary_of(result.messages)
    assert after.id == before.id
    assert 100 < independent_message_tokens(before) - independent_message_tokens(after) < 450, "one of the three"
    assert after.text.count("<summary id=") == 3
    section = before.text.partition("<user_words>")[2]
    assert section
    assert after.text.endswith(section), "the user's words and the ledger are what they were"
    assert [m for m in result.messages if not is_summary(m)] == [m for m in messages if not is_summary(m)]
    assert result.checkpoints[0].level == 1
    assert lost(compressor, result.messages, messages, session_id="s") == []


def test_p8a_it_stays_at_level_1_at_the_next_compression() -> None:
    """Else the next step would be over the limit again."""
    compressor, messages = with_checkpoints()
    result = emergency(compressor, messages, independent_tokens(messages) - 100)
    compact = result.checkpoints[0].text
    assert compact in summary_of(result.messages).text
    later = compressor.compress([*result.messages, *exchanges(12, start=500)], force=True)
    assert compact in summary_of(later.messages).text


def test_p8b_checkpoints_are_merged_where_one_at_level_1_is_not_enough() -> None:
    compressor, messages = with_checkpoints()
    rest = independent_tokens([m for m in messages if not is_summary(m)])
    result = emergency(compressor, messages, rest + 500)
    assert actions(compressor, result) == [COMPACT, MERGE]
    after = summary_of(result.messages)
    assert after.text.count("<summary id=") == 1
    assert independent_tokens(result.messages) < rest + 500
    assert [m for m in result.messages if not is_summary(m)] == [m for m in messages if not is_summary(m)]
    merged = next(c for c in result.checkpoints if c.level == 1 and len(c.merged) == 3)
    originals = compressor.expand(merged.checkpoint_id, session_id="s") or []
    assert "human-20" in [message.id for message in originals], "what the three covered comes back by the one"
    assert lost(compressor, result.messages, messages, session_id="s") == []


def test_p8c_it_rolls_over_to_the_last_five_turns() -> None:
    messages = [SystemMessage("Be kind.", id="sys"), *exchanges(40, words=30)]
    messages[9] = pinned(messages[9])
    compressor = ContextCompressor(session_id="s")
    result = emergency(compressor, messages, 2_500, recent_turns=5)
    assert actions(compressor, result) == [ROLL_OVER]
    kept = [m for m in result.messages if not is_summary(m)]
    assert kept == [messages[0], messages[9], *messages[-10:]]
    text = summary_of(result.messages).text
    assert independent_message_tokens(summary_of(result.messages)) < 1_800
    assert any(f"#W{10_000 + number}" in text for number in range(35)), "the summary tells of what left"
    assert result.checkpoints[-1].level == 1
    assert lost(compressor, result.messages, messages, session_id="s") == []


def test_p8d_the_largest_messages_are_cut_head_and_tail_around_a_marker() -> None:
    call = {"name": "dump", "args": {}, "id": "c"}
    huge = "a row of the table\n" * 3_000 + "the last row"
    messages: list[BaseMessage] = [
        SystemMessage("rule " * 300, id="sys"),
        pinned(HumanMessage("pin " * 300, id="pin")),
        AIMessage("ok", id="ok"),
        HumanMessage("why " * 300, id="q"),
        AIMessage("", tool_calls=[call], id="a"),
        ToolMessage(huge, tool_call_id="c", id="huge"),
    ]
    compressor = ContextCompressor(session_id="s")
    result = emergency(compressor, messages, 2_000)
    assert actions(compressor, result) == [CUT]
    assert result.messages[:5] == messages[:5], "neither system nor pin nor the newest human message"
    cut = result.messages[5].text
    assert cut.startswith("a row of the table\n")
    assert cut.endswith("the last row")
    assert "the original is message huge" in cut
    assert 1_900 < independent_tokens(result.messages) < 2_000, "no more is cut than has to be"
    assert compressor.expand_message("huge", session_id="s") == messages[5]


def test_p8_one_call_of_sixty_is_cut_within_its_turn() -> None:
    messages = [*exchanges(3), *agent_run(1, parallel=60, words=300)[:-1]]
    compressor = ContextCompressor(session_id="s")
    result = emergency(compressor, messages, 10_000)
    assert independent_tokens(messages) > 20_000
    assert 9_000 < independent_tokens(result.messages) < 10_000
    assert [m.id for m in result.messages[-61:]] == [m.id for m in messages[-61:]], "the batch stays whole"
    assert actions(compressor, result)[-1] == CUT
    assert illegal(compressor, result.messages, messages) == []


def test_p8_a_result_of_300_000_tokens_is_cut_to_what_has_room() -> None:
    call = {"name": "dump", "args": {}, "id": "c"}
    messages: list[BaseMessage] = [
        HumanMessage("dump it", id="h"),
        AIMessage("", tool_calls=[call], id="a"),
        ToolMessage("a row of the table\n" * 60_000, tool_call_id="c", id="huge"),
    ]
    assert independent_tokens(messages) > 300_000
    compressor = ContextCompressor(session_id="s")
    result = emergency(compressor, messages, 100_000)
    assert actions(compressor, result) == [CUT]
    assert 99_000 < independent_tokens(result.messages) < 100_000
    assert compressor.expand_message("huge", session_id="s") == messages[2]


@pytest.mark.parametrize("opted", [False, True])
def test_p8_one_huge_human_message_is_cut_where_the_user_opted_in(opted: bool) -> None:
    messages: list[BaseMessage] = [
        SystemMessage("Be kind.", id="sys"),
        HumanMessage("why is that so? " * 9_000, id="q"),
    ]
    compressor = ContextCompressor(session_id="s")
    result = emergency(compressor, messages, 5_000, cut_newest_human=opted)
    if opted:
        assert actions(compressor, result) == [CUT_HUMAN]
        assert 4_900 < independent_tokens(result.messages) < 5_000
        assert compressor.snapshots("s").restore(result.snapshots[0]).messages == messages
        again = compressor.view(messages, session_id="s")
        assert again == result.messages, "who sends the whole list again need not cut it again"
    else:
        assert (result.outcome, result.reason) == ("failed", "protected_set_over_hard_limit")
        assert result.messages == messages
        assert result.snapshots == (), "what changes nothing needs no snapshot"


def test_what_p8_does_not_name_is_done_last_so_that_the_list_fits() -> None:
    messages = [*exchanges(200, words=1), HumanMessage("and?", id="q")]
    compressor = ContextCompressor(session_id="s")
    result = emergency(compressor, messages, 120)
    assert actions(compressor, result)[-1] == DROP
    assert independent_tokens(result.messages) < 120
    assert lost(compressor, result.messages, messages, session_id="s") == []


def test_each_snapshot_restores_what_was_there_before_its_action() -> None:
    """Messages and checkpoints: the first is the list as it came, each further one what the action before it left."""
    compressor, messages = with_checkpoints()
    call = {"name": "dump", "args": {}, "id": "c"}
    messages = [
        *messages,
        HumanMessage("dump it", id="h"),
        AIMessage("", tool_calls=[call], id="a"),
        ToolMessage("a row of the table\n" * 2_000, tool_call_id="c", id="huge"),
    ]
    stored = compressor.history("s").checkpoints()
    result = emergency(compressor, messages, 700)
    assert actions(compressor, result)[:4] == [COMPACT, MERGE, ROLL_OVER, CUT]
    snapshots = SnapshotStore(compressor.store, session_id="s")  # as another process would open it
    restored = [snapshots.restore(snapshot_id) for snapshot_id in result.snapshots]
    assert {one.snapshot.purpose for one in restored} == {"emergency"}
    assert [as_bytes(m) for m in restored[0].messages] == [as_bytes(m) for m in messages]
    sizes = [independent_tokens(one.messages) for one in restored] + [independent_tokens(result.messages)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes), "each action is applied"
    assert restored[0].checkpoints == stored
    shown = [summary_of(one.messages).text for one in restored[:2]]
    assert all(f'id="{checkpoint.checkpoint_id}"' in shown[0] for checkpoint in restored[0].checkpoints)
    assert any(checkpoint.level == 1 for checkpoint in restored[1].checkpoints)
    again = compressor.view(restored[0].messages, session_id="s")
    assert again == messages, "the restored list is taken for what it is"


def test_a_restored_snapshot_goes_on_like_the_list_it_was() -> None:
    compressor, messages = with_checkpoints()
    result = emergency(compressor, messages, 700)
    back = compressor.snapshots("s").restore(result.snapshots[0]).messages
    later = [*back, *exchanges(3, start=700)]
    assert compressor.compress(later, session_id="s").messages == later


class NoSnapshots(InMemoryStore):
    """A store that takes everything but snapshots."""

    def batch(self, ops: Any) -> list[Any]:
        ops = list(ops)
        if any(isinstance(op, PutOp) and "snapshots" in op.namespace for op in ops):
            raise OSError(28, "disk full")
        return super().batch(ops)

    async def abatch(self, ops: Any) -> list[Any]:
        return self.batch(ops)


@pytest.mark.parametrize("strategy", ["emergency", "ladder"])
def test_without_a_snapshot_nothing_is_replaced(strategy: str) -> None:
    messages = agent_run(1, parallel=40, words=100)[:-1]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(2_000), strategy=strategy, store=NoSnapshots())
    result = compressor.compress(messages)
    assert (result.outcome, result.reason) == ("failed", "archive_unavailable")
    assert "disk full" in result.detail
    assert result.messages == messages
    assert result.snapshots == ()
    assert compressor.history().checkpoints() == []


async def test_snapshots_are_taken_async_too() -> None:
    messages = agent_run(1, parallel=40, words=100)[:-1]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(2_000))
    result = await compressor.acompress(messages)
    assert result.reason == "emergency"
    restored = await compressor.snapshots().arestore(result.snapshots[0])
    assert restored.messages == messages
    assert independent_tokens(result.messages) < 2_000


def test_there_is_a_snapshot_even_where_the_overflow_is_raised() -> None:
    messages = [HumanMessage("word " * 3_000, id="q"), AIMessage("long " * 3_000, id="a")]
    config = PrunerConfig.for_limit(1_000, on_overflow="raise")
    compressor = ContextCompressor(config=config, strategy="emergency")
    with pytest.raises(ContextLimitError):
        compressor.compress(messages)
    snapshots = compressor.snapshots().list()
    assert compressor.snapshots().restore(snapshots[-1].snapshot_id).messages == messages


def test_emergencies_do_not_pile_up_snapshots_and_leave_the_users_own() -> None:
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_000), strategy="emergency")
    own = compressor.snapshots().create(exchanges(2), purpose="recovery")
    for step in range(30):
        compressor.compress(agent_run(1, start=step, parallel=20, words=100))
    found = compressor.snapshots().list()
    assert len([s for s in found if s.purpose == "emergency"]) == 20
    assert own.snapshot_id in [s.snapshot_id for s in found]


def test_what_is_left_of_a_cut_message_and_then_pinned_is_no_original() -> None:
    """A snapshot of it must not make it the newest revision of the message."""
    messages = agent_run(1, parallel=20, words=100)[:-1]
    compressor = ContextCompressor(config=PrunerConfig.for_limit(2_400), strategy="emergency")
    first = compressor.compress(messages).messages
    place = next(p for p, m in enumerate(first) if mark_kind(m) == "cut" and isinstance(m, ToolMessage))
    remnant = pinned(first[place])
    again = [*first[:place], remnant, *first[place + 1 :], *agent_run(1, start=50, parallel=20, words=100)]
    second = compressor.compress(again)
    assert second.snapshots
    assert remnant in second.messages
    assert compressor.expand_message(remnant.id or "") == next(m for m in messages if m.id == remnant.id)
    assert compressor.snapshots().restore(second.snapshots[0]).messages == again


@settings(max_examples=60)
@given(conversations(max_messages=80, surrogates=True, nul=True), st.integers(20, 2_000), st.booleans())
def test_whatever_comes_the_first_snapshot_is_the_list_and_the_result_keeps_the_laws(
    messages: list[BaseMessage], limit: int, opted: bool
) -> None:
    config = PrunerConfig.for_limit(limit, cut_newest_human=opted)
    compressor = ContextCompressor(config=config, strategy="emergency")
    result = compressor.compress(messages)
    assert refused(result) == []
    assert illegal(compressor, result.messages, messages) == []
    assert over(result.messages, messages, limit) == []
    if not opted:
        assert voice_lost(result.messages, messages) == []
    if result.snapshots:
        first = compressor.snapshots().restore(result.snapshots[0]).messages
        came = iter([as_bytes(m, with_id=False) for m in messages])
        there = [as_bytes(m, with_id=False) for m in first if mark_kind(m) != "repair"]
        assert all(said in came for said in there), "what is there came, in this order"
        assert Counter(m.type for m in first if m.type != "tool") == Counter(
            m.type for m in messages if m.type != "tool"
        )
        assert result.tokens_after < result.tokens_before
