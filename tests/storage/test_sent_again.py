"""Law 8: a client sends again what was replaced, after the application removed or edited some of it.

`add_messages` puts what has no place in the state any more behind all else; only the message whose id the summary
bears overwrites it where it stands.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.graph.message import add_messages

from langchain_ctxcompress.messages import content_hash, pin
from langchain_ctxcompress.storage import CheckpointChain, CheckpointSummary, View, summary_message
from tests.storage.test_view import Compressed, ids, record
from tests.support.conversations import agent_run, copied, exchanges
from tests.support.legality import is_summary, order_violations

NOW = HumanMessage("and now?", id="now")


def sent_again(case: Compressed, *, removed: set[str | None], edited: set[str | None]) -> list[BaseMessage]:
    """The state of a graph whose application removed messages, and whose client then sends all others, some edited."""
    state = add_messages(case.list, [RemoveMessage(id=str(m.id)) for m in case.list if m.id in removed])
    said = [
        message.model_copy(update={"content": "in other words"}) if message.id in edited else message
        for message in copied(case.full)
        if message.id not in removed
    ]
    return list(add_messages(state, [*said, NOW]))


@st.composite
def compressed_talk(draw: st.DrawFn) -> Compressed:
    talk = exchanges(draw(st.integers(4, 12)))
    start = draw(st.integers(0, 4))
    return Compressed(talk, start, draw(st.integers(start + 1, len(talk) - 2)))


@settings(max_examples=150)
@given(compressed_talk(), st.data())
def test_whatever_was_removed_or_edited_the_list_is_as_it_was(case: Compressed, data: st.DataObject) -> None:
    """Nothing comes back, the summary stands where it stood, and what is kept stands in the order it was said."""
    kept = [m.id for m in case.full if m not in case.gone]
    removed = data.draw(st.sets(st.sampled_from(kept)))
    edited = data.draw(st.sets(st.sampled_from([m.id for m in case.gone[:-1]]))) if len(case.gone) > 1 else set()
    view = case.chain.apply(sent_again(case, removed=removed, edited=edited))
    first, *others = [m.id for m in case.gone if m.id in edited] or [None]
    revised = [first] if first == case.record.first_id else []
    others = others if revised or first is None else [first, *others]
    front = [m.id for m in case.full[: case.start] if m.id not in removed]
    tail = [m.id for m in case.full[case.end :] if m.id not in removed]
    shown = [m.id for m in view.messages if not is_summary(m)]
    assert shown == [*front, *revised, *tail, *others, "now"]
    # Where nothing tells that what was replaced stands last, the summary takes the place of the first that still goes.
    before = next(n for n, m in enumerate(case.gone) if m.id not in edited) if revised and not tail else 0
    assert [is_summary(m) for m in view.messages].index(True) == len(front) + before
    assert len(set(ids(view.messages))) == len(view.messages)
    assert case.chain.apply(view.messages).messages == view.messages, "a step later nothing changes"


def test_a_question_that_was_replaced_is_not_the_newest_because_it_is_sent_again_last() -> None:
    """Two questions in a row, of which the first went unanswered: behind the tail they stand right before the new one.

    The newest human message is never replaced (law 6); these are older than all that was kept.
    """
    talk = [*exchanges(3), HumanMessage("one", id="q1"), HumanMessage("two", id="q2"), *exchanges(3, start=5)]
    case = Compressed(talk, 2, 8)
    state = sent_again(case, removed=set(), edited=set())
    assert ids(state)[-3:] == ["q1", "q2", "now"]
    assert case.chain.apply(state).messages == [*case.list, NOW]


def test_an_edit_of_the_message_whose_id_the_summary_bears_does_not_cost_the_summary() -> None:
    case = Compressed(exchanges(6), 2, 8)
    edited = HumanMessage("in other words", id=case.gone[0].id)
    state = list(add_messages(case.list, [edited, NOW]))
    view = case.chain.apply(state)
    put_back = case.summary.model_copy(update={"id": case.gone[1].id})
    assert view.messages == [*case.full[:2], put_back, edited, *case.full[8:], NOW]
    assert view.restored
    assert case.chain.apply(view.messages) == View(view.messages, case.record)


def test_and_when_all_is_sent_again_it_stands_before_the_edit_not_behind_the_tail() -> None:
    case = Compressed(exchanges(6), 2, 8)
    state = sent_again(case, removed=set(), edited={case.gone[0].id})
    view = case.chain.apply(state)
    assert ids(view.messages) == ["human-0", "ai-0", "ai-1", "human-1", *ids(case.full[8:]), "now"]
    assert is_summary(view.messages[2])


@pytest.mark.parametrize("update", [pin, lambda m: m.model_copy(update={"content": "in other words"})])
@settings(max_examples=40)
@given(talk=compressed_talk(), data=st.data())
def test_where_the_first_that_was_replaced_stays_the_summary_takes_the_place_and_id_of_the_next(
    update: Callable[[BaseMessage], BaseMessage], talk: Compressed, data: st.DataObject
) -> None:
    """In a state that keeps everything, the messages at the front are pinned or edited after a compression."""
    stays = data.draw(st.integers(1, len(talk.gone)))
    changed = [update(message) for message in talk.gone[:stays]]
    left = talk.gone[stays:]
    given = [*talk.full[: talk.start], *changed, *left, *talk.full[talk.end :], NOW]
    view = CheckpointChain([talk.record]).apply(given).messages
    assert [m for m in view if not is_summary(m)] == [*talk.full[: talk.start], *changed, *talk.full[talk.end :], NOW]
    assert sum(map(is_summary, view)) == 1
    assert order_violations(view, given) == []
    if left:
        assert view[talk.start + stays].id == left[0].id
    assert talk.chain.apply(view).messages == view, "a step later nothing changes"


def test_a_chain_whose_first_message_was_covered_later_than_the_second_and_is_pinned_again() -> None:
    """A pin that came and went: the first compression left it out, the second covered it, then it is pinned again."""
    talk = exchanges(8)
    first = record(talk, 1, 4)
    second = record(talk, 4, 8, number=2, previous=first, first_id=talk[0].id)
    covered = {talk[0].id: content_hash(talk[0]), **second.covered}
    chain = CheckpointChain([first, second.model_copy(update={"covered": covered})])
    given = [pin(talk[0]), *talk[1:], NOW]
    view = chain.apply(given).messages
    assert ids(view) == ["human-0", "ai-0", *ids(talk[8:]), "now"]
    assert is_summary(view[1])
    assert order_violations(view, given) == []


def test_a_summary_that_was_put_back_under_another_id_is_put_back_there_again() -> None:
    case = Compressed(exchanges(6), 2, 8)
    once = case.chain.apply(sent_again(case, removed=set(), edited={case.gone[0].id})).messages
    again = list(add_messages(once, [case.gone[1]]))
    assert not any(map(is_summary, again))
    assert case.chain.apply(again).messages == once


def test_a_summary_that_the_application_removed_comes_back_before_the_tail() -> None:
    """An application that trims from the front removes the summary too; the client then sends all it knows."""
    case = Compressed(exchanges(6), 0, 6)
    state = list(add_messages(case.full[6:], [*copied(case.full), NOW]))
    assert case.chain.apply(state).messages == [case.summary, *case.full[6:], NOW]


def test_no_single_message_tells_what_a_list_stands_on() -> None:
    """What was kept may be removed but for one message, and of what was replaced some may be sent and the last not."""
    case = Compressed(exchanges(8), 2, 8)
    for stays in case.full[8:]:
        state = add_messages(case.list, [RemoveMessage(id=str(m.id)) for m in case.full[8:] if m is not stays])
        state = list(add_messages(state, [*copied(list(case.gone[:3])), NOW]))
        assert case.chain.apply(state).messages == [*case.list[:3], stays, NOW]
    none_left = [*case.full[:2], *case.gone[:1], NOW, *case.gone[1:]]
    assert case.chain.apply(none_left).messages == [*case.list[:3], NOW], "what was replaced last tells it as well"


def test_a_summary_that_a_reducer_put_last_goes_back_to_its_place() -> None:
    """Its id was removed in the step in which it was written: the reducer takes it for a new message."""
    case = Compressed(exchanges(6), 2, 8)
    state = [*case.full[:2], *case.full[8:], NOW, case.summary]
    view = case.chain.apply(state)
    assert view.messages == [*case.list, NOW]
    assert view.restored


def test_a_chain_of_which_the_client_sends_the_newest_part_alone_stands_on_it() -> None:
    """A client that keeps the last messages alone: the summary tells what came before them."""
    talk = exchanges(12)
    first = record(talk, 2, 8)
    second = record(talk, 8, 14, number=2, previous=first)
    view = CheckpointChain([first, second]).apply(talk[10:])
    assert view.messages == [summary_message(second), *talk[14:]]


def test_a_fork_that_edits_what_was_replaced_last_stays_as_it_is() -> None:
    """Time travel that gives a tool another answer, before a compression that covered the first one."""
    case = Compressed(agent_run(6), 1, 9)
    place = max(p for p in range(9) if isinstance(case.full[p], ToolMessage))
    fork = [*case.full[:place], case.full[place].model_copy(update={"content": "otherwise"}), AIMessage("so", id="f")]
    assert case.chain.apply(fork) == View(fork)


def test_cuts_alone_hold_for_a_list_that_holds_what_was_cut_last() -> None:
    from langchain_ctxcompress.messages import MARK_KEY, content_hash
    from langchain_ctxcompress.storage import encode_message

    talk = exchanges(5)
    short = talk[3].model_copy(update={"content": "cut", "additional_kwargs": {MARK_KEY: {"kind": "cut"}}})
    altered = {str(short.id): (content_hash(talk[3]), encode_message(short))}
    cut = CheckpointSummary(
        checkpoint_id="c1", session_id="s", number=1, level=0, altered=altered, newest_id=talk[-1].id or ""
    )
    chain = CheckpointChain([cut])
    assert chain.apply(talk[:6]).messages == [*talk[:3], short, *talk[4:6]]
    assert chain.apply(talk[:3]) == View(talk[:3])
