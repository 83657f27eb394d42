"""Conversation files: every shape is found out, and a broken line costs no other line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, messages_to_dict

from langchain_ctxcompress.conversations import Conversation, ConversationFile, Place
from langchain_ctxcompress.conversations.file import GIVE_UP_AFTER
from langchain_ctxcompress.errors import ConversationFileError


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def one(text: str, **fields: Any) -> dict[str, Any]:
    return {**fields, "messages": [said(text)]}


def read(path: Path, content: str | bytes) -> tuple[list[tuple[Place, list[str]]], list[str]]:
    """The places and texts of what can be read, and the errors without the folder."""
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    good: list[tuple[Place, list[str]]] = []
    bad: list[str] = []
    for item in ConversationFile(str(path)):
        if isinstance(item, Conversation):
            place = Place(Path(item.place.file).name, item.place.line, item.place.part)
            good.append((place, [message.text for message in item.messages]))
        else:
            assert isinstance(item, ConversationFileError)
            assert "\n" not in str(item)
            bad.append(str(item).replace(f"{path.parent}/", ""))
    return good, bad


def lines(*values: Any) -> str:
    return "".join(f"{value if isinstance(value, str) else json.dumps(value)}\n" for value in values)


F = "f.jsonl"
LANGCHAIN = messages_to_dict([HumanMessage("a", id="1")])


@pytest.mark.parametrize(
    ("content", "found"),
    [
        pytest.param(
            lines(one("a"), one("b")), [(Place(F, 1), ["a"]), (Place(F, 2), ["b"])], id="a conversation a line"
        ),
        pytest.param(
            lines("", one("a"), " \t", one("b")), [(Place(F, 2), ["a"]), (Place(F, 4), ["b"])], id="blank lines"
        ),
        pytest.param(lines([said("a"), said("b")]), [(Place(F, 1), ["a", "b"])], id="a list of messages a line"),
        pytest.param(lines(said("a"), "", said("b")), [(Place(F), ["a", "b"])], id="a message a line"),
        pytest.param(lines(*LANGCHAIN), [(Place(F), ["a"])], id="a LangChain message a line"),
        pytest.param(lines(LANGCHAIN), [(Place(F, 1), ["a"])], id="LangChain's list"),
        pytest.param(lines({"messages": LANGCHAIN}), [(Place(F, 1), ["a"])], id="LangChain's in an object"),
        pytest.param(
            lines([one("a"), [said("b")]]), [(Place(F, 1, 1), ["a"]), (Place(F, 1, 2), ["b"])], id="list on a line"
        ),
        pytest.param(
            json.dumps([one("a"), one("b")], indent=2),
            [(Place(F, None, 1), ["a"]), (Place(F, None, 2), ["b"])],
            id="a document of conversations",
        ),
        pytest.param(json.dumps(one("a"), indent=1), [(Place(F), ["a"])], id="a document of one"),
        pytest.param("\n" + json.dumps([said("a")], indent=1), [(Place(F), ["a"])], id="a document of messages"),
        pytest.param(
            "[\n" + json.dumps(one("a")) + ",\n" + json.dumps(one("b")) + "\n]",
            [(Place(F, None, 1), ["a"]), (Place(F, None, 2), ["b"])],
            id="a document, one a line",
        ),
        pytest.param(json.dumps(one("a")), [(Place(F, 1), ["a"])], id="no newline at the end"),
        pytest.param(
            lines(one("a"), one("b")).replace("\n", "\r\n"), [(Place(F, 1), ["a"]), (Place(F, 2), ["b"])], id="CRLF"
        ),
        pytest.param("\ufeff" + lines(one("a")), [(Place(F, 1), ["a"])], id="a byte order mark"),
        pytest.param(lines({"messages": []}), [(Place(F, 1), [])], id="no messages"),
        pytest.param(lines([]), [(Place(F, 1), [])], id="an empty list"),
        pytest.param(
            json.dumps(one("a\u2028b\x85c"), ensure_ascii=False) + "\n", [(Place(F, 1), ["a\u2028b\x85c"])], id="U+2028"
        ),
    ],
)
def test_every_shape_is_found_out(tmp_path: Path, content: str, found: list[Any]) -> None:
    assert read(tmp_path / F, content) == (found, [])


@pytest.mark.parametrize(
    ("content", "places", "errors"),
    [
        (lines(one("a"), '{"messages": [', one("c")), [1, 3], ["f.jsonl:2: is no JSON: Expecting value (column 15)"]),
        (lines('{"messages": [', one("b")), [2], ["f.jsonl:1: is no JSON: Expecting value (column 15)"]),
        (
            lines('{"messages": "cut o', one("b")),
            [2],
            ["f.jsonl:1: is no JSON: Unterminated string starting at (column 14)"],
        ),
        (lines(one("a"), 5, {}, one("d")), [1, 4], ["f.jsonl:2: is no conversation", "f.jsonl:3: is no conversation"]),
        (lines(one("a"), {"messages": [{"role": "x"}]}), [1], ["f.jsonl:2: message 1 has the unknown role 'x'"]),
        (lines(one("a"), said("b")), [1], ["f.jsonl:2: is no conversation"]),
        (lines(one("a"), "[" * 200_000), [1], ["f.jsonl:2: cannot be read: it is nested too deeply"]),
        (lines(one("a"), "[" + "1" * 5_000 + "]"), [1], ["f.jsonl:2: cannot be read: Exceeds the limit"]),
        (lines('{"a": 1'), [], ["f.jsonl:1: is no JSON: Expecting ',' delimiter (column 8)"]),
        (lines("{", "oops"), [], ["f.jsonl:1: is no JSON", "f.jsonl:2: is no JSON"]),
        ("", [], ["f.jsonl: is empty"]),
        ("\n \n", [], ["f.jsonl: is empty"]),
        (lines(said("a"), "{oops", said("c")), [], ["f.jsonl:2: is no JSON", "f.jsonl: is skipped"]),
        (lines(said("a"), one("b")), [], ["f.jsonl:2: is no single message", "f.jsonl: is skipped"]),
        (lines(said("a"), {"role": "tool", "tool_call_id": "x"}), [], ["f.jsonl: message 2 answers call 'x'"]),
    ],
)
def test_a_broken_line_is_named_and_costs_no_other(
    tmp_path: Path, content: str, places: list[int], errors: list[str]
) -> None:
    good, bad = read(tmp_path / F, content)
    assert [place.line for place, _ in good] == places
    assert len(bad) == len(errors)
    assert all(told.startswith(start) for told, start in zip(bad, errors, strict=True)), bad


def test_a_line_that_is_no_utf8_costs_no_other(tmp_path: Path) -> None:
    good, bad = read(tmp_path / F, b'{"a": "\xff"}\n' + lines(one("b")).encode() + b"\xfe\n")
    assert [place.line for place, _ in good] == [2]
    assert bad == ["f.jsonl:1: is not UTF-8 text (byte 0xff)", "f.jsonl:3: is not UTF-8 text (byte 0xfe)"]


@pytest.mark.parametrize(
    "content", [b"\x1f\x8b\x08\x00\n\xff\n", lines(one("a")).encode("utf-16"), bytes(range(256)) * 9]
)
def test_a_binary_file_is_one_error(tmp_path: Path, content: bytes) -> None:
    good, bad = read(tmp_path / F, content)
    assert not good
    assert len(bad) == 1


def test_a_text_that_is_something_else_is_one_error(tmp_path: Path) -> None:
    good, bad = read(tmp_path / "notes.md", "not JSON\n" * 1_000)
    assert (good, len(bad)) == ([], 1)
    assert f"none of the first {GIVE_UP_AFTER} lines" in bad[0]


def test_after_a_good_line_every_broken_one_is_named(tmp_path: Path) -> None:
    good, bad = read(tmp_path / F, "x\n" * 5 + lines(one("a")) + "y\n" * 100)
    assert (len(good), len(bad)) == (1, 105)


def test_a_broken_document_is_named_with_its_line(tmp_path: Path) -> None:
    good, bad = read(tmp_path / "f.json", '{\n  "messages": [\n    {"role": "user", "content": "x"\n  ]\n}\n')
    assert (good, bad) == ([], ["f.json:4: is no JSON: Expecting ',' delimiter (column 3)"])


@pytest.mark.parametrize("content", [b'{\n"messages": "\xff"}', b"{\n" + b"[" * 200_000])
def test_a_document_that_cannot_be_read_at_all(tmp_path: Path, content: bytes) -> None:
    good, bad = read(tmp_path / "f.json", content)
    assert (good, len(bad)) == ([], 1)


def test_a_bad_conversation_in_a_document_costs_no_other(tmp_path: Path) -> None:
    good, bad = read(tmp_path / "f.json", json.dumps([one("a"), {"messages": 3}, one("c")], indent=1))
    assert [place.part for place, _ in good] == [1, 3]
    assert len(bad) == 1
    assert bad[0].startswith("f.json: conversation 2: is no conversation")


def test_no_file_and_a_folder_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConversationFileError, match="there is no such file"):
        ConversationFile(str(tmp_path / "none.jsonl"))
    with pytest.raises(ConversationFileError, match="is a directory"):
        ConversationFile(str(tmp_path))
    (tmp_path / "file").write_text("")
    with pytest.raises(ConversationFileError, match="Not a directory"):
        ConversationFile(str(tmp_path / "file" / "inside"))


def test_a_file_that_goes_away_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / F
    path.write_text(lines(one("a")))
    file = ConversationFile(str(path))
    path.unlink()
    (item,) = file
    assert "cannot be read" in str(item)


def test_lines_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / F
    path.write_text(lines(*[one("x" * 1_000)] * 1_000))
    file = ConversationFile(str(path))
    conversations = iter(file)
    next(conversations)
    assert file.position < 5_000
    assert file.size == path.stat().st_size
    assert sum(1 for _ in conversations) == 999
    assert file.position == file.size


def test_the_position_in_a_document_grows_with_the_work(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text(json.dumps([one("a"), one("b")], indent=1))
    file = ConversationFile(str(path))
    assert [file.position for _ in file] == [file.size // 2, file.size]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines(one("a"), "x").encode())))
    good, bad = ConversationFile("-")
    assert isinstance(good, Conversation)
    assert good.place == Place("stdin", 1)
    assert str(bad).startswith("stdin:2: is no JSON")


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    read(tmp_path_factory.getbasetemp() / "any.jsonl", content)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["role", "content", "type", "data", "messages", "tool_calls", "id"]), inner)
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=4))
def test_no_json_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, values: list[Any]) -> None:
    read(tmp_path_factory.getbasetemp() / "any.jsonl", lines(*map(json.dumps, values)))
