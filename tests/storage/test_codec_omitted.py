"""What of a message cannot be stored as it is: it is named, and its fields are kept."""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ToolMessage,
    message_to_dict,
)
from pydantic import BaseModel

from langchain_ctxcompress.errors import InvalidMessagesError
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import codec, encode_message
from tests.messages.drawn import call
from tests.storage.test_codec import EVERY_TYPE, carried, through


class Colour(enum.Enum):
    RED = 1


class Word(str):
    """A text that is more than a text."""

    __slots__ = ()


class Unpicklable:
    def __reduce__(self) -> Any:
        raise RuntimeError("never")


class TestOmitted:
    @pytest.mark.parametrize(
        ("value", "name"),
        [
            (object(), "builtins.object"),
            (Colour.RED, "Colour"),
            (Word("x"), "Word"),
            (complex(1, 2), "builtins.complex"),
            (Unpicklable(), "Unpicklable"),
            (len, "builtin_function_or_method"),
            (ValueError("x"), "builtins.ValueError"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_cannot_be_held_is_named_and_costs_nothing_else(self, value: Any, name: str) -> None:
        back = carried({"before": 1, "odd": [value], "after": b"x"})
        assert (back["before"], back["after"]) == (1, b"x")
        assert name in back["odd"][0][codec.OMITTED_KEY]

    def test_the_words_of_the_message_are_whole(self) -> None:
        message = ToolMessage("the words", tool_call_id="a", artifact=Unpicklable())
        assert through(message).content == "the words"

    def test_a_key_that_cannot_be_held(self) -> None:
        assert codec.OMITTED_KEY in carried({Colour.RED: 1, (1, object()): 2})

    def test_an_omitted_value_stays_omitted_in_the_next_journey(self) -> None:
        once = carried(object())
        assert carried(once) == once


class Found(BaseModel):
    """A result of a tool of the user's own."""

    rows: list[Any] = []


@dataclasses.dataclass
class Hit:
    """Another one."""

    place: str
    score: float


class TestObjectsOfTheUsersOwn:
    """They cannot come back without an import by name, and so do not come back as plain dicts in silence."""

    @pytest.mark.parametrize("value", [Found(rows=[1, b"x"]), Hit("a", 0.5)], ids=["model", "dataclass"])
    def test_it_is_named_beside_its_fields(self, value: Any) -> None:
        back = carried({"before": 1, "found": [value]})
        assert type(value).__name__ in back["found"][0][codec.OMITTED_KEY]
        fields = back["found"][0][codec.FIELDS_KEY]
        assert fields == (value.model_dump() if isinstance(value, BaseModel) else dataclasses.asdict(value))

    def test_one_within_another(self) -> None:
        back = carried(Found(rows=[Hit("a", 0.5)]))
        assert back[codec.FIELDS_KEY]["rows"][0][codec.FIELDS_KEY] == {"place": "a", "score": 0.5}

    def test_langchains_own_come_back(self) -> None:
        documents = [Document("text", metadata={"page": 1}, id="d")]
        assert carried(documents) == documents
        assert type(carried(documents)[0]) is Document

    def test_one_that_holds_another_of_the_users(self) -> None:
        assert codec.OMITTED_KEY in carried(Document("text", metadata={"hit": Hit("a", 0.5)}))

    def test_the_words_and_the_class_of_the_message_are_whole(self) -> None:
        message = ToolMessage("3 rows", tool_call_id="a", artifact=Found(rows=[1]))
        assert (type(through(message)), through(message).content) == (ToolMessage, "3 rows")
        assert content_hash(through(message)) == content_hash(message)

    @pytest.mark.parametrize("message", EVERY_TYPE, ids=lambda message: type(message).__name__)
    def test_the_form_is_that_of_langchain(self, message: BaseMessage) -> None:
        assert json.loads(encode_message(message)) == json.loads(json.dumps(message_to_dict(message)))


class TestDepth:
    @pytest.mark.parametrize("levels", [codec.DEEPEST + 1, 2_000, 100_000])
    def test_what_lies_too_deep_is_named_and_costs_nothing_else(self, levels: int) -> None:
        back = carried({"before": 1, "deep": nested(levels), "after": b"x"})
        assert (back["before"], back["after"]) == (1, b"x")
        deep, found = back["deep"], 0
        while isinstance(deep, list):
            deep, found = deep[0], found + 1
        assert "levels deep" in deep[codec.OMITTED_KEY]
        assert found == codec.DEEPEST - 1

    def test_in_arguments_it_is_one_clear_error(self) -> None:
        deep = AIMessage("", id="deep", tool_calls=[call("a", q=nested(100_000))])
        with pytest.raises(InvalidMessagesError, match=r"'deep'.*nested too deeply"):
            content_hash(deep)


def nested(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value
