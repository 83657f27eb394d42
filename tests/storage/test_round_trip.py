"""Every message type and content block through every backend, byte for byte (laws 2 and 8)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.store.base import BaseStore

from langchain_ctxcompress.storage import SessionHistory, SnapshotStore, encode_message, open_store
from tests.messages.drawn import call
from tests.storage.test_codec import BLOCKS, EVERY_TYPE, OWN_KEYS, same, values
from tests.storage.test_history_sessions import ODD_IDS
from tests.support.conversations import conversations
from tests.support.postgres import BACKENDS, location

ODD_VALUES: list[Any] = [
    "NUL \x00 in the middle",
    "\ud800",
    "\udfff\ud800 pair the wrong way round",
    2**64,
    -(2**63) - 1,
    10**300,
    0.1 + 0.2,
    -0.0,
    math.inf,
    {"z": 1, "a": {"y": 2, "b": 3}, "": None, "\x00": "\x00", "\ud800": 0},
    b"\x00\xff",
    (1, (2, [3])),
    {1: "a key that is a number", (2, "b"): 0},
    *({key: "of a user"} for key in OWN_KEYS),
]


@pytest.fixture(params=BACKENDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BaseStore:
    return open_store(location(request.param, request, tmp_path))


def every_message() -> list[BaseMessage]:
    """All kinds, all blocks, all odd values, each under an id of its own."""
    made: list[BaseMessage] = [message.model_copy(update={"id": f"type {n}"}) for n, message in enumerate(EVERY_TYPE)]
    for number, block in enumerate(BLOCKS):
        made += [cls([block], id=f"{cls.__name__} {number}") for cls in (HumanMessage, AIMessage, SystemMessage)]
        made.append(ToolMessage([block], tool_call_id="a", id=f"ToolMessage {number}"))
    for number, value in enumerate(ODD_VALUES):
        made.append(ToolMessage("x", tool_call_id="a", artifact=value, id=f"artifact {number}"))
        made.append(
            AIMessage(
                [{"type": "odd", "value": value}],
                tool_calls=[call("a", value=value)],
                response_metadata={"deep": [value]},
                additional_kwargs={"deep": {"er": value}},
                id=f"deep {number}",
            )
        )
    return made


def assert_same(back: list[BaseMessage], messages: list[BaseMessage]) -> None:
    assert list(map(encode_message, back)) == list(map(encode_message, messages))
    for one, other in zip(back, messages, strict=True):
        assert type(one) is type(other)
        assert same(one.model_dump(), other.model_dump())


def test_every_type_block_and_value(store: BaseStore) -> None:
    messages = every_message()
    one = SessionHistory(store, session_id="s")
    assert one.append(messages) == len(messages)
    again = SessionHistory(store, session_id="s")
    assert_same(again.messages(), messages)
    assert_same(list(again.iter(page=7)), messages)
    assert_same(again.get([message.id or "" for message in messages]), messages)


@pytest.mark.parametrize("session_id", [i for i in ODD_IDS if any(c in i for c in "./ \x00\ud800") or len(i) > 200])
def test_under_any_session_id(store: BaseStore, session_id: str) -> None:
    messages = [HumanMessage(session_id, id=session_id or "-"), AIMessage(list(BLOCKS), id="blocks")]
    SessionHistory(store, session_id=session_id).append(messages)
    assert_same(SessionHistory(store, session_id=session_id).messages(), messages)
    made = SnapshotStore(store, session_id=session_id).create(messages)
    assert_same(SnapshotStore(store, session_id=session_id).restore(made.snapshot_id).messages, messages)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(messages=conversations(max_messages=30, ids="all", duplicate_ids=False, surrogates=True, nul=True), value=values)
def test_conversations_and_values(store: BaseStore, messages: list[BaseMessage], value: Any) -> None:
    messages = [*messages, ToolMessage("x", tool_call_id="a", artifact=value, id="the artifact of this example")]
    session_id = str(hash(tuple(map(encode_message, messages))))
    SessionHistory(store, session_id=session_id).append(messages)
    assert_same(SessionHistory(store, session_id=session_id).messages(), messages)
