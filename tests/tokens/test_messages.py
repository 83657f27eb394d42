"""How big a message is (requirement C8), and that each message object is counted once."""

from __future__ import annotations

import base64
import gc
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress.errors import CtxCompressError, TokenCountError
from langchain_ctxcompress.tokens import MESSAGE_OVERHEAD, MessageCounter, count_batch, count_message, count_tokens
from tests.support.conversations import conversations
from tests.support.sizes import independent_message_tokens, text_tokens

LONG = "the order was refunded " * 500
MEGABYTE = base64.b64encode(bytes(range(256)) * 3_072).decode()
OWN_CALL = {"name": "look", "args": {"q": LONG}, "id": "a"}


def blocks(*content: str | dict[str, Any]) -> int:
    return count_message(HumanMessage(list(content)))


class TestC8:
    @settings(max_examples=80)
    @given(conversations(max_messages=40, surrogates=True, nul=True))
    def test_no_message_is_counted_smaller_than_what_is_sent(self, messages: list[BaseMessage]) -> None:
        for message in messages:
            assert count_message(message) >= independent_message_tokens(message)

    @settings(max_examples=50)
    @given(conversations(max_messages=40))
    def test_no_message_is_counted_much_larger(self, messages: list[BaseMessage]) -> None:
        for message in messages:
            calls = len(message.tool_calls + message.invalid_tool_calls) if isinstance(message, AIMessage) else 0
            pictures = [b for b in message.content if isinstance(b, dict) and "image" in str(b.get("type"))]
            beside = 10 * calls + 2_000 * len(pictures) + 10
            assert count_message(message) <= 1.2 * independent_message_tokens(message) + beside

    def test_an_empty_message_still_has_its_overhead(self) -> None:
        assert count_message(HumanMessage("")) == count_message(HumanMessage([])) == MESSAGE_OVERHEAD > 0

    def test_text_and_overhead(self) -> None:
        assert count_message(SystemMessage("hello world")) == 2 + MESSAGE_OVERHEAD
        assert blocks("hello", {"type": "text", "text": " world"}) == 2 + MESSAGE_OVERHEAD

    def test_a_name_counts(self) -> None:
        named = HumanMessage("hello", name="a rather long name of a speaker")
        assert count_message(named) - count_message(HumanMessage("hello")) == count_tokens(named.name or "")

    def test_the_arguments_of_calls_count(self) -> None:
        assert count_message(AIMessage("", tool_calls=[OWN_CALL])) > count_tokens(LONG)

    def test_malformed_arguments_count(self) -> None:
        broken = {"name": "look", "args": '{"q": "' + LONG, "id": "a", "error": None}
        assert count_message(AIMessage("", invalid_tool_calls=[broken])) > count_tokens(LONG)

    def test_arguments_that_json_cannot_hold_count_as_text(self) -> None:
        call = {"name": "look", "args": {"data": {1, 2}}, "id": None}
        assert count_message(AIMessage("", tool_calls=[call])) > MESSAGE_OVERHEAD

    def test_a_malformed_call_without_name_id_and_arguments_counts(self) -> None:
        broken = {"name": None, "args": None, "id": None, "error": None}
        assert count_message(AIMessage("", invalid_tool_calls=[broken])) > MESSAGE_OVERHEAD

    def test_old_function_calls_count(self) -> None:
        legacy = {"function_call": {"name": "look", "arguments": LONG}}
        assert count_message(AIMessage("", additional_kwargs=legacy)) > count_tokens(LONG)

    def test_results_and_the_call_they_answer_count(self) -> None:
        result = ToolMessage(LONG, tool_call_id="call_0123456789")
        assert count_message(result) == count_tokens(LONG) + count_tokens("call_0123456789") + MESSAGE_OVERHEAD
        assert count_message(FunctionMessage(LONG, name="look")) > count_tokens(LONG)

    @pytest.mark.parametrize(
        "block",
        [
            {"type": "reasoning", "reasoning": LONG},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": LONG}]},
            {"type": "thinking", "thinking": LONG, "signature": MEGABYTE},
            {"type": "reasoning_content", "reasoning_content": {"text": LONG, "signature": MEGABYTE}},
        ],
    )
    def test_reasoning_counts_and_its_signature_does_not(self, block: dict[str, Any]) -> None:
        assert count_tokens(LONG) <= count_message(AIMessage([block])) < count_tokens(LONG) + 50

    def test_reasoning_beside_the_content_counts(self) -> None:
        message = AIMessage("", additional_kwargs={"reasoning_content": LONG})
        assert count_message(message) == count_tokens(LONG) + MESSAGE_OVERHEAD

    def test_encrypted_reasoning_is_no_text(self) -> None:
        assert count_message(AIMessage([{"type": "redacted_thinking", "data": MEGABYTE}])) < 50
        assert count_message(AIMessage([{"type": "reasoning", "encrypted_content": MEGABYTE}])) < 50

    def test_metadata_is_not_sent_and_does_not_count(self) -> None:
        plain = ToolMessage("ok", tool_call_id="a")
        rich = ToolMessage("ok", tool_call_id="a", artifact=LONG, response_metadata={"x": LONG})
        assert count_message(rich) == count_message(plain)
        assert count_message(AIMessage("ok", additional_kwargs={"refusal": None})) == count_message(AIMessage("ok"))

    def test_a_call_that_is_in_the_content_too_counts_once(self) -> None:
        block = {"type": "tool_use", "id": "a", "name": "look", "input": {"q": LONG}}
        twice = count_message(AIMessage([block], tool_calls=[OWN_CALL]))
        assert twice == count_message(AIMessage("", tool_calls=[OWN_CALL]))

    @pytest.mark.parametrize(
        "block",
        [
            {"type": "tool_use", "id": "a", "name": "look", "input": {"q": LONG}},
            {"type": "function_call", "call_id": "a", "name": "look", "arguments": LONG},
            {"type": "tool_call", "id": "a", "name": "look", "args": {"q": LONG}},
        ],
    )
    def test_a_call_that_is_in_the_content_alone_counts_there(self, block: dict[str, Any]) -> None:
        assert count_message(AIMessage([block])) >= count_tokens(LONG)

    def test_text_in_a_block_of_an_unknown_kind_counts(self) -> None:
        block = {"type": "server_tool_result", "output": [{"stdout": LONG, "codes": (0, None, 1.5)}, LONG]}
        assert blocks(block) >= 2 * count_tokens(LONG)
        assert blocks({"type": "non_standard", "value": {"note": LONG}}) >= count_tokens(LONG)
        assert blocks({"type": "text-plain", "text": LONG}) >= count_tokens(LONG)

    def test_a_text_block_without_text(self) -> None:
        assert blocks({"type": "text", "text": None}, {"type": "text"}) == MESSAGE_OVERHEAD

    def test_bytes_in_a_block_are_no_text(self) -> None:
        assert blocks({"type": "odd", "blob": b"x" * 100_000, "more": bytearray(10_000)}) < 50

    def test_a_named_model_counts_with_its_margin(self) -> None:
        message = HumanMessage(" hello" * 1_000)
        assert count_message(message) == 1_000 + MESSAGE_OVERHEAD
        assert count_message(message, "claude-sonnet-4-5") == 1_150 + MESSAGE_OVERHEAD


class TestMedia:
    @pytest.mark.parametrize(
        "block",
        [
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{MEGABYTE}"}},
            {"type": "image_url", "image_url": f"data:image/png;base64,{MEGABYTE}"},
            {"type": "image", "base64": MEGABYTE, "mime_type": "image/png"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": MEGABYTE}},
            {"type": "input_image", "image_url": f"data:image/png;base64,{MEGABYTE}"},
            {"type": "media", "mime_type": "image/jpeg", "data": MEGABYTE},
            {"type": "file", "mime_type": "image/webp", "base64": MEGABYTE},
        ],
    )
    def test_a_picture_of_one_megabyte_is_a_picture(self, block: dict[str, Any]) -> None:
        assert len(MEGABYTE) > 1_000_000
        assert blocks(block) == 1_600 + MESSAGE_OVERHEAD

    @pytest.mark.parametrize(
        ("block", "tokens"),
        [
            ({"type": "audio", "base64": MEGABYTE, "mime_type": "audio/wav"}, 1_500),
            ({"type": "input_audio", "input_audio": {"data": MEGABYTE, "format": "wav"}}, 1_500),
            ({"type": "video", "base64": MEGABYTE, "mime_type": "video/mp4"}, 6_000),
            ({"type": "media", "data": MEGABYTE, "mime_type": "video/mp4"}, 6_000),
            ({"type": "file", "base64": MEGABYTE, "mime_type": "application/pdf"}, 3_000),
            ({"type": "file", "file": {"file_data": MEGABYTE, "filename": "a.pdf"}}, 3_000),
            ({"type": "document", "source": {"type": "base64", "data": MEGABYTE}}, 3_000),
        ],
    )
    def test_other_media_by_their_kind(self, block: dict[str, Any], tokens: int) -> None:
        assert blocks(block) == tokens + MESSAGE_OVERHEAD

    def test_low_detail(self) -> None:
        low = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
        high = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "high"}}
        assert blocks(low) == blocks({"type": "input_image", "detail": "low"}) == 85 + MESSAGE_OVERHEAD
        assert blocks(high) == 1_600 + MESSAGE_OVERHEAD
        assert blocks({"type": "audio", "detail": "low"}) == 1_500 + MESSAGE_OVERHEAD

    def test_each_picture_counts(self) -> None:
        picture = {"type": "image", "url": "https://example.org/a.png"}
        assert blocks(picture, "and", picture) == 2 * 1_600 + text_tokens("and") + MESSAGE_OVERHEAD

    def test_a_data_url_in_a_block_of_an_unknown_kind_is_no_text(self) -> None:
        assert blocks({"type": "canvas", "src": f"data:image/png;base64,{MEGABYTE}"}) < 50


class Spy:
    """Stands in for `count_batch`, and remembers what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.batches: list[list[str]] = []
        monkeypatch.setattr("langchain_ctxcompress.tokens.messages.count_batch", self)

    def __call__(self, texts: Sequence[str], model: str | None = None) -> list[int]:
        self.batches.append(list(texts))
        return count_batch(texts, model)


class TestMessageCounter:
    @settings(max_examples=50)
    @given(conversations(max_messages=60))
    def test_it_counts_as_count_message_does_in_order_and_again(self, messages: list[BaseMessage]) -> None:
        counter = MessageCounter("gpt-4")
        expected = [count_message(message, "gpt-4") for message in messages]
        assert counter(messages) == expected
        assert counter(messages[::-1]) == expected[::-1]

    def test_each_message_object_is_counted_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        spy, counter = Spy(monkeypatch), MessageCounter()
        messages = [HumanMessage("one"), HumanMessage("two")]
        counter(messages)
        counter([*messages, HumanMessage("three")])
        counter([])
        counter(messages[1:])
        assert spy.batches == [["one", "two"], ["three"]]

    def test_one_that_holds_the_same_is_not_counted_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        spy, counter = Spy(monkeypatch), MessageCounter()
        one, other = HumanMessage("same"), HumanMessage("same")
        assert counter([one]) == counter([other])
        assert len(spy.batches) == 1

    def test_a_copy_with_other_words_is_counted_anew(self) -> None:
        counter, message = MessageCounter(), HumanMessage("short")
        counter([message])
        copy = message.model_copy(update={"content": LONG})
        assert counter([copy]) == [count_message(copy)]

    def test_one_object_twice_in_a_list(self) -> None:
        message = HumanMessage("one")
        assert MessageCounter()([message, message]) == [count_message(message)] * 2

    def test_it_keeps_no_message_alive_and_forgets_what_is_gone(self) -> None:
        counter = MessageCounter()
        messages = [HumanMessage(f"number {number}") for number in range(100)]
        counter(messages)
        assert len(counter._known) == 100
        del messages[10:]
        gc.collect()
        assert len(counter._known) == 10

    def test_a_new_message_at_an_old_address_is_counted(self) -> None:
        counter = MessageCounter()
        for number in range(2_000):  # each takes the place in memory that the last one left
            message = HumanMessage("word " * (number % 7))
            assert counter([message]) == [count_message(message)]
            del message

    def test_many_threads(self) -> None:
        counter = MessageCounter()
        shared = [HumanMessage(f"word {number} " * (number % 50)) for number in range(300)]
        expected = [count_message(message) for message in shared]
        wrong: list[object] = []
        start = threading.Barrier(6)

        def work(seed: int) -> None:
            start.wait()
            for turn in range(30):
                first = (seed * 37 + turn * 11) % 300
                own = [HumanMessage(f"own {seed} {turn}")]
                got = counter([*shared[first:], *own])
                if got != [*expected[first:], count_message(own[0])]:
                    wrong.append((seed, turn))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestTokenCountError:
    def broken(self, **fields: Any) -> HumanMessage:
        message = HumanMessage("x", id="bad")
        for name, value in fields.items():
            setattr(message, name, value)
        return message

    @pytest.mark.parametrize("fields", [{"content": None}, {"content": [None]}, {"content": [5]}, {"name": 5}])
    def test_it_has_the_id_of_the_message_that_cannot_be_counted(self, fields: dict[str, Any]) -> None:
        good = HumanMessage("fine", id="good")
        with pytest.raises(TokenCountError, match=r"message 'bad' \(HumanMessage\) cannot be counted") as caught:
            MessageCounter()([good, self.broken(**fields), good])
        assert caught.value.message_id == "bad"
        assert isinstance(caught.value, CtxCompressError)
        assert caught.value.__cause__ is not None

    def test_a_message_without_an_id(self) -> None:
        message = self.broken(name=5)
        message.id = None
        with pytest.raises(TokenCountError) as caught:
            count_message(message)
        assert caught.value.message_id is None

    def test_arguments_that_go_round_in_a_circle(self) -> None:
        message = AIMessage("", id="round", tool_calls=[{"name": "look", "args": {}, "id": "a"}])
        message.tool_calls[0]["args"]["self"] = message.tool_calls[0]["args"]
        with pytest.raises(TokenCountError) as caught:
            count_message(message)
        assert caught.value.message_id == "round"

    def test_the_counter_goes_on_with_the_others(self) -> None:
        counter, good = MessageCounter(), HumanMessage("fine")
        with pytest.raises(TokenCountError):
            counter([good, self.broken(name=5)])
        assert counter([good]) == [count_message(good)]
