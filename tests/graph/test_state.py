"""How a node finds its session and updates a state by id."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph.message import add_messages

from langchain_ctxcompress import ConfigError
from langchain_ctxcompress.graph import session_of, update_by_id


def test_update_by_id_keeps_a_parallel_write_and_the_order():
    before = [HumanMessage(str(i), id=str(i)) for i in range(6)]
    after = [before[0], HumanMessage("summary", id="1"), *before[4:]]
    update = update_by_id(before, after)
    assert add_messages(before, update) == after
    written_meanwhile = [*before, AIMessage("of another branch", id="x")]
    assert add_messages(written_meanwhile, update) == [*after, written_meanwhile[-1]]


def test_update_by_id_writes_the_list_anew_where_something_is_put_in_between():
    before = [HumanMessage("a", id="a"), AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}], id="b")]
    before.append(HumanMessage("c", id="c"))
    after = [before[0], before[1], ToolMessage("none", tool_call_id="1", id="t"), before[2]]
    assert add_messages(before, update_by_id(before, after)) == after


def test_messages_without_ids_in_a_state_that_cannot_be_updated():
    with pytest.raises(ConfigError, match="add_messages"):
        update_by_id([HumanMessage("a")], [])


@pytest.mark.parametrize(
    ("configurable", "session"),
    [
        ({}, None),
        ({"thread_id": "t"}, "t"),
        ({"thread_id": 5, "checkpoint_ns": "compress:3c1d"}, "5"),
        ({"thread_id": "t", "checkpoint_ns": "agent:1f|inner:2e|compress:3c"}, "t|agent|inner"),
    ],
)
def test_session_of_a_run(configurable, session):
    assert session_of({"configurable": configurable}) == session
    assert session_of(None) is None
