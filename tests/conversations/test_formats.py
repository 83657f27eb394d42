"""Messages of files: what is read, what is refused by name, and that what was not changed is written as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, messages_to_dict
from langchain_core.messages.utils import convert_to_messages, convert_to_openai_messages

from langchain_ctxcompress.conversations import Conversation, Place
from langchain_ctxcompress.conversations.formats import read_messages, written_message
from langchain_ctxcompress.errors import ConversationFileError, InvalidMessagesError
from langchain_ctxcompress.messages import MARK_KEY, is_summary, repair_messages
from tests.support.conversations import conversations

USER = {"role": "user", "content": "hello"}


def call(name: str = "look", arguments: Any = '{"at": 1}', call_id: str | None = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def step(*calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **fields}


def result(call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "seen"}


def refusal(raw: list[Any]) -> str:
    with pytest.raises(InvalidMessagesError) as caught:
        read_messages(raw)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@given(conversations())
def test_langchain_dicts_are_read_as_they_were_dumped(messages: list[BaseMessage]) -> None:
    legal = repair_messages(messages).messages
    raw = json.loads(json.dumps(messages_to_dict(legal)))
    found, back = read_messages(raw)
    assert messages_to_dict(back) == raw
    assert found == ("langchain" if legal else "openai")


@given(conversations())
def test_openai_dicts_are_read_as_langchain_reads_them(messages: list[BaseMessage]) -> None:
    raw = json.loads(json.dumps(convert_to_openai_messages(repair_messages(messages).messages)))
    try:
        _, back = read_messages(raw)
    except InvalidMessagesError as error:  # LangChain's own conversion drops calls without readable arguments
        assert "answers call" in str(error)
        return
    assert messages_to_dict(back) == messages_to_dict(convert_to_messages(raw))


@given(conversations(), st.data())
def test_what_was_not_changed_is_written_as_it_was_read(messages: list[BaseMessage], data: st.DataObject) -> None:
    raw = json.loads(json.dumps(messages_to_dict(repair_messages(messages).messages)))
    record = {"messages": raw, "id": 7, "reward": 0.5}
    conversation = Conversation.read(record, Place("f.jsonl", 3))
    given_ = conversation.with_ids("s")
    chosen = [m for m in given_ if data.draw(st.booleans())]
    written = conversation.written([m.model_copy() for m in chosen], given_, {"outcome": "x"})
    assert {key: written[key] for key in ("id", "reward", "ctxcompress")} == {
        "id": 7,
        "reward": 0.5,
        "ctxcompress": {"outcome": "x"},
    }
    for message, out in zip(chosen, written["messages"], strict=True):
        place = next(i for i, one in enumerate(given_) if one is message)
        if len([m for m in given_ if m.id == message.id]) == 1:
            assert out == {**raw[place], "data": {**raw[place]["data"], "id": message.id}}


def test_fields_of_messages_that_langchain_does_not_know_survive() -> None:
    raw = [{**USER, "timestamp": 5}, step(call(arguments='{ "at" :1 }'), reasoning_content="hm"), result()]
    conversation = Conversation.read({"messages": raw}, Place("f"))
    given_ = conversation.with_ids("s")
    assert conversation.written(given_, given_, {})["messages"] == raw


def test_openai_messages_get_no_id_unless_the_file_has_ids() -> None:
    summary = HumanMessage("so far", id="a", additional_kwargs={MARK_KEY: {"kind": "summary"}})
    for raw, wanted in (([USER], {}), ([{**USER, "id": "a"}], {"id": "a"})):
        conversation = Conversation.read(raw, Place("f"))
        given_ = conversation.with_ids("s")
        (out,) = conversation.written([summary], given_, {})["messages"]
        assert out == {"role": "user", "content": "so far", **wanted}


def test_langchain_summaries_keep_their_mark() -> None:
    raw = messages_to_dict([HumanMessage("x", id="a")])
    conversation = Conversation.read(raw, Place("f"))
    mark = {"kind": "summary", "session_id": "one", "checkpoint_ids": ["c"]}
    summary = HumanMessage("so far", id="a", additional_kwargs={MARK_KEY: mark})
    again = conversation.written([summary], conversation.with_ids("s"), {})
    read = Conversation.read(again, Place("g"))
    assert is_summary(read.messages[0])
    assert read.session_id() == "one"


def test_a_cut_message_keeps_its_other_fields_and_its_calls() -> None:
    broken = call("write", "{oops", "c2")
    source = step(call(arguments='{"text": "long"}'), broken, call("done", "{}", "c3"), name="bot", stamp=1)
    _, (message,) = read_messages([source])
    assert isinstance(message, AIMessage)
    assert [c["id"] for c in message.tool_calls] == ["c1", "c3"]
    assert [c["args"] for c in message.invalid_tool_calls] == ["{oops"]
    cut = message.model_copy(
        update={
            "tool_calls": [{**message.tool_calls[0], "args": {"text": "l"}}, message.tool_calls[1]],
            "additional_kwargs": {MARK_KEY: {"kind": "cut"}},
        }
    )
    written = written_message(cut, source, "openai")
    assert written["tool_calls"] == [call(arguments='{"text": "l"}'), broken, call("done", "{}", "c3")]
    assert (written["name"], written["stamp"], written["content"]) == ("bot", 1, None)


def test_a_cut_result_keeps_the_call_it_answers() -> None:
    _, messages = read_messages([step(call()), result()])
    cut = messages[1].model_copy(update={"content": "se", "additional_kwargs": {MARK_KEY: {"kind": "cut"}}})
    assert written_message(cut, result(), "openai") == {**result(), "content": "se"}
    assert written_message(cut, None, "openai") == {**result(), "content": "se"}


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_a_message_without_content_is_read(role: str) -> None:
    for raw in ({"role": role}, {"role": role, "content": None}, {"role": role, "content": [], "tool_calls": []}):
        assert not read_messages([raw])[1][0].content


def test_arguments_as_an_object_and_calls_in_langchains_words_are_read() -> None:
    plain = {"name": "look", "args": {"at": 2}, "id": "c2"}
    _, (message,) = read_messages([step(call(arguments={"at": 1}), plain)])
    assert isinstance(message, AIMessage)
    assert [c["args"] for c in message.tool_calls] == [{"at": 1}, {"at": 2}]


def test_old_function_calls_are_read() -> None:
    raw = [
        {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]
    assert [m.type for m in read_messages(raw)[1]] == ["ai", "function"]
    assert "answers call 'f' that no message makes" in refusal(raw[1:])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([USER, {"role": "robot", "content": "x"}], "message 2 has the unknown role 'robot': there are system,"),
        ([{"role": ["user"], "content": "x"}], "message 1 has the unknown role ['user']"),
        ([{"type": "robot", "data": {}}], "message 1 has the unknown type 'robot'"),
        ([{"type": "remove", "data": {"id": "x"}}], "message 1 has the unknown type 'remove'"),
        ([{"type": "human", "data": {}}], "message 1 cannot be read: content.str: "),
        ([{"type": "human", "data": 3}], "message 1 has a number as its `data`"),
        ([USER, {"from": "human"}], "message 2 has neither `role`"),
        ([USER, "hello"], "message 2 is a text, not an object"),
        ([USER, None], "message 2 is null, not an object"),
        ([USER, *messages_to_dict([HumanMessage("x")])], "message 2 is in LangChain's format"),
        ([*messages_to_dict([HumanMessage("x")]), USER], "message 2 is in OpenAI's format"),
        ([{"role": "user", "content": 5}], "message 1 has a number as its content"),
        ([{"role": "user", "content": {"a": 1}}], "message 1 has an object as its content"),
        ([{"role": "user", "content": [5]}], "message 1 cannot be read: content"),
        ([{"role": "tool", "content": "x"}], "message 1 is a tool message without a `tool_call_id`"),
        ([step({"id": "c"})], "message 1 makes a call, number 1, without the name of a function"),
        ([step(call(), {"function": 3})], "message 1 makes a call, number 2"),
        ([{**step(), "tool_calls": "x"}], "message 1 makes a call, number 1"),
        ([USER, step(call()), result(), USER, result("x")], "message 5 answers call 'x' that no message makes"),
        ([result(), result()], "message 1 answers call 'c1' that no message makes (and 1 more like it)"),
        ([step(call()), result(), result()], "message 3 answers call 'c1' a second time"),
        ([step(call()), USER, result()], "message 3 answers call 'c1' a second time, or not right behind it"),
    ],
)
def test_bad_messages_are_named(raw: list[Any], said: str) -> None:
    assert refusal(raw).startswith(said)


def test_a_long_value_is_not_printed_whole() -> None:
    assert len(refusal([{"role": "x" * 100_000, "content": ""}])) < 200


@pytest.mark.parametrize("value", [None, 3, "text", {}, {"messages": {}}, {"conversation": []}, True])
def test_what_is_no_conversation_is_named_with_its_place(value: Any) -> None:
    with pytest.raises(ConversationFileError, match=r"^f\.jsonl:4: conversation 2: is no conversation"):
        Conversation.read(value, Place("f.jsonl", 4, 2))


def test_session_ids_are_one_for_each_place_words_and_settings() -> None:
    def name(place: Place, text: str = "x", settings: str = "", **fields: Any) -> str:
        return Conversation.read({"messages": [{"role": "user", "content": text}], **fields}, place).session_id(
            settings
        )

    names = [
        name(Place("a/f.jsonl", 1), id="same"),
        name(Place("a/f.jsonl", 2), id="same"),
        name(Place("a/f.jsonl", 1), "y", id="same"),
        name(Place("a/f.jsonl", 1), settings="other", id="same"),
        name(Place("g.json", None, 1)),
        name(Place("g.json", None, 2)),
        name(Place("g.json")),
        name(Place("f.jsonl", 1, 1), id=3),
    ]
    assert len(set(names)) == len(names) - 1  # the first of a list, and a file with one conversation: the same words
    assert names[0] == name(Place("elsewhere/f.jsonl", 1), id="same")
    assert names[0].startswith("f.jsonl:1:same:")


def test_a_result_without_a_content_is_a_result() -> None:
    _, messages = read_messages([step(call()), {"role": "tool", "tool_call_id": "c1"}])
    assert isinstance(messages[1], ToolMessage)
