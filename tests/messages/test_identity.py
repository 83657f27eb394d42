"""Which message is which: ids for those that have none, and the hash of what is said (law 8)."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

from langchain_ctxcompress.messages import MARK_KEY, content_hash, derived_id, ensure_ids, kind_of, pin
from langchain_ctxcompress.messages.identity import naming_original, original_hash
from tests.messages.drawn import call, message_lists, summary
from tests.support.conversations import conversations, copied

lists = conversations(max_messages=40, duplicate_ids=False, surrogates=True, nul=True)


class TestEnsureIds:
    @settings(max_examples=100)
    @given(lists)
    def test_every_message_has_an_id_and_no_two_the_same(self, messages: list[BaseMessage]) -> None:
        ids = [message.id for message in ensure_ids(messages, "s")]
        assert all(ids)
        assert len(set(ids)) == len(ids)

    @settings(max_examples=100)
    @given(lists)
    def test_the_input_is_not_changed_and_what_has_an_id_is_the_same_object(self, messages: list[BaseMessage]) -> None:
        before = copied(messages)
        identified = ensure_ids(messages, "s")
        assert messages == before
        assert identified is not messages
        for old, new in zip(messages, identified, strict=True):
            assert (new is old) is bool(old.id)
            assert new.model_copy(update={"id": old.id}) == old, "more than the id was changed"

    @settings(max_examples=100)
    @given(lists)
    def test_a_reload_gets_the_same_ids(self, messages: list[BaseMessage]) -> None:
        first, again = ensure_ids(messages, "s"), ensure_ids(copied(messages), "s")
        assert [m.id for m in first] == [m.id for m in again]

    @settings(max_examples=100)
    @given(lists)
    def test_once_given_ids_stay(self, messages: list[BaseMessage]) -> None:
        identified = ensure_ids(messages, "s")
        assert [id(m) for m in ensure_ids(identified, "s")] == [id(m) for m in identified]

    @given(message_lists(), message_lists(max_size=4))
    def test_a_list_that_grows_keeps_the_ids_it_had(self, messages: list[BaseMessage], more: list[BaseMessage]) -> None:
        first = [m.id for m in ensure_ids(messages, "s")]
        assert [m.id for m in ensure_ids([*messages, *more], "s")][: len(first)] == first

    @given(message_lists(), st.data())
    def test_a_new_message_behind_a_compressed_list_takes_the_id_of_no_replaced_one(
        self, messages: list[BaseMessage], data: st.DataObject
    ) -> None:
        full = ensure_ids(messages, "s")
        if not full:
            return
        end = data.draw(st.integers(1, len(full)))
        compressed = [summary(id=full[0].id), *full[end:]]
        said_again = data.draw(st.sampled_from(messages)).model_copy()
        new = ensure_ids([*compressed, said_again], "s")[-1]
        assert new.id not in {message.id for message in full}

    def test_the_same_words_at_two_places_are_two_messages(self) -> None:
        first, second = ensure_ids([HumanMessage("yes"), HumanMessage("yes")], "s")
        assert first.id != second.id

    def test_another_session_gives_other_ids(self) -> None:
        assert ensure_ids([HumanMessage("x")], "s")[0].id != ensure_ids([HumanMessage("x")], "t")[0].id

    def test_an_empty_id_is_none(self) -> None:
        assert ensure_ids([HumanMessage("x", id="")], "s")[0].id

    def test_an_empty_list(self) -> None:
        assert ensure_ids([], "s") == []

    @pytest.mark.parametrize("session_id", ["", "\ud800", "a\x00b", "x" * 1_000, "漢字/.."])
    def test_any_session_id(self, session_id: str) -> None:
        assert ensure_ids([HumanMessage("x\udfff")], session_id)[0].id

    def test_another_process_gives_the_same_id(self) -> None:
        code = (
            "from langchain_core.messages import AIMessage\n"
            "from langchain_ctxcompress.messages import ensure_ids\n"
            "calls = [{'name': 'f', 'args': {'b': {1, 2}, 'a': b'x'}, 'id': '1'}]\n"
            "print(ensure_ids([AIMessage('x', tool_calls=calls)], 's')[0].id)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
        )
        calls = [{"name": "f", "args": {"b": {1, 2}, "a": b"x"}, "id": "1"}]
        assert done.stdout.strip() == ensure_ids([AIMessage("x", tool_calls=calls)], "s")[0].id


class TestDerivedId:
    def test_it_depends_on_its_parts_and_their_order(self) -> None:
        assert derived_id("a", "b") == derived_id("a", "b")
        assert len({derived_id("a", "b"), derived_id("b", "a"), derived_id("ab"), derived_id()}) == 4

    def test_any_text(self) -> None:
        assert derived_id("\ud800\x00") != derived_id("\ud801\x00")


class TestContentHash:
    @settings(max_examples=100)
    @given(lists)
    def test_it_survives_a_reload(self, messages: list[BaseMessage]) -> None:
        reloaded = messages_from_dict(messages_to_dict(messages))
        assert [content_hash(m) for m in messages] == [content_hash(m) for m in reloaded]

    @given(lists)
    def test_it_is_the_hash_of_what_is_said_as_json(self, messages: list[BaseMessage]) -> None:
        for message in messages:
            said: list[Any] = [kind_of(message), message.content, message.name]
            if isinstance(message, AIMessage):
                for calls in (message.tool_calls, message.invalid_tool_calls):
                    said.append([[each["name"], each["args"], each["id"]] for each in calls])
                said.append(message.additional_kwargs.get("function_call"))
            elif isinstance(message, ToolMessage):
                said += [message.tool_call_id, message.status]
            elif isinstance(message, FunctionMessage):
                said.append(message.name)
            written = json.dumps(said, sort_keys=True).encode("ascii")
            assert content_hash(message) == hashlib.blake2b(written, digest_size=16).hexdigest()

    @given(
        st.lists(
            st.dictionaries(
                st.text(max_size=6),
                st.one_of(
                    st.text(max_size=12),
                    st.none(),
                    st.booleans(),
                    st.integers(-(10**18), 10**18),
                    st.floats(allow_nan=False, allow_infinity=False),
                    st.lists(st.integers(0, 9), max_size=2),
                ),
                max_size=4,
            ),
            min_size=1,
            max_size=3,
        ),
        st.text(max_size=8),
    )
    def test_calls_are_hashed_as_json_whatever_their_arguments(self, args: list[dict[str, Any]], name: str) -> None:
        calls = [{"name": name, "args": own, "id": f"c{place}"} for place, own in enumerate(args)]
        message = AIMessage(name, tool_calls=calls)
        made = [[each["name"], each["args"], each["id"]] for each in calls]
        written = json.dumps(["ai", name, None, made, [], None], sort_keys=True).encode("ascii")
        assert content_hash(message) == hashlib.blake2b(written, digest_size=16).hexdigest()

    @pytest.mark.parametrize(
        "update",
        [
            {"id": "other"},
            {"response_metadata": {"model": "x"}},
            {"additional_kwargs": {"x": 1}},
            {"usage_metadata": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}},
        ],
    )
    def test_metadata_does_not_count(self, update: dict[str, object]) -> None:
        message = AIMessage("x", id="1", tool_calls=[call("a", q=1)])
        assert content_hash(message.model_copy(update=update)) == content_hash(message)

    def test_a_pin_does_not_count(self) -> None:
        message = HumanMessage("x", id="1")
        assert content_hash(pin(message)) == content_hash(message)

    def test_what_is_said_counts(self) -> None:
        said: list[BaseMessage] = [
            HumanMessage("x"),
            HumanMessage("y"),
            HumanMessage([{"type": "text", "text": "x"}]),
            HumanMessage("x", name="ann"),
            AIMessage("x"),
            AIMessage("x", tool_calls=[call("a")]),
            AIMessage("x", tool_calls=[call("b")]),
            AIMessage("x", tool_calls=[call("a", q=1)]),
            AIMessage("x", tool_calls=[call("a", "other")]),
            AIMessage("x", invalid_tool_calls=[{"name": "look", "args": "{}", "id": "a", "error": None}]),
            AIMessage("x", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
            ToolMessage("x", tool_call_id="a"),
            ToolMessage("x", tool_call_id="b"),
            ToolMessage("x", tool_call_id="a", status="error"),
            FunctionMessage("x", name="f"),
            FunctionMessage("x", name="g"),
        ]
        assert len({content_hash(message) for message in said}) == len(said)

    def test_the_order_of_keys_does_not_count(self) -> None:
        left, right = (AIMessage("", tool_calls=[call("1", **args)]) for args in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
        assert content_hash(left) == content_hash(right)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (b"a", b"b"),
            ({1: "a", "b": 2}, {1: "a", "b": 3}),
            ({(1, 2): "a"}, {(1, 3): "a"}),
            (10**5_000, 10**5_000 + 1),
            (bytearray(b"a"), bytearray(b"b")),
        ],
        ids=["bytes", "mixed-keys", "tuple-keys", "long-integers", "bytearrays"],
    )
    def test_values_that_json_cannot_hold(self, one: object, other: object) -> None:
        hashes = [content_hash(AIMessage("", tool_calls=[call("1", value=value)])) for value in (one, one, other)]
        assert hashes[0] == hashes[1] != hashes[2]

    def test_an_object_with_an_address_in_its_repr_hashes_the_same_each_time(self) -> None:
        left, right = (AIMessage("", tool_calls=[call("1", value=object())]) for _ in range(2))
        assert content_hash(left) == content_hash(right)


class TestOriginalHash:
    def cut(self, text: str, kind: str = "cut") -> HumanMessage:
        return HumanMessage(text, id="1", additional_kwargs={MARK_KEY: {"kind": kind}, "other": 1})

    def test_a_shortened_message_names_its_original_whatever_else_is_cut_from_it(self) -> None:
        original = HumanMessage("a long text", id="1")
        once = naming_original(self.cut("a long"), original)
        twice = naming_original(self.cut("a"), once)
        assert original_hash(once) == original_hash(twice) == content_hash(original)
        assert (once.text, once.additional_kwargs["other"]) == ("a long", 1)

    def test_an_original_is_its_own(self) -> None:
        for message in (HumanMessage("x", id="1"), self.cut("x"), pin(HumanMessage("x", id="1"))):
            assert original_hash(message) == content_hash(message)

    def test_a_pin_that_claims_to_be_another_is_not_believed(self) -> None:
        claimed = naming_original(self.cut("x", kind="pin"), HumanMessage("y"))
        assert original_hash(claimed) == content_hash(claimed)

    def test_a_message_without_a_mark_is_returned_as_it_is(self) -> None:
        message = HumanMessage("x", id="1")
        assert naming_original(message, HumanMessage("y")) is message
