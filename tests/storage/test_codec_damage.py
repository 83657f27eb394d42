"""Damaged messages in the store: they are named, and reading them runs nothing."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import (
    HumanMessage,
    ToolMessage,
)

from langchain_ctxcompress.errors import RecordError
from langchain_ctxcompress.storage import codec, decode_message, encode_message
from tests.storage.test_codec import carried


class TestDamage:
    @pytest.mark.parametrize(
        "text",
        [
            *["", "{", "null", "[]", "5", '"x"', "{}", '{"type": "human"}', '{"type": "human", "data": {}}'],
            '{"type": "alien", "data": {"content": "x"}}',
            '{"type": "tool", "data": {"content": "x"}}',
        ],
    )
    def test_it_is_named(self, text: str) -> None:
        with pytest.raises(RecordError, match="message 'm1' is damaged"):
            decode_message(text, record="message 'm1'")

    @pytest.mark.parametrize("cut", range(1, 120, 7))
    def test_a_text_that_was_cut(self, cut: int) -> None:
        text = encode_message(HumanMessage("x", id="1", response_metadata={"a": b"x"}))
        with pytest.raises(RecordError):
            decode_message(text[:-cut])

    def with_artifact(self, envelope: object) -> str:
        data = json.loads(encode_message(ToolMessage("x", tool_call_id="a")))
        data["data"]["artifact"] = envelope
        return json.dumps(data)

    @pytest.mark.parametrize(
        "envelope",
        [
            {codec.BINARY_KEY: ["msgpack", "!!"]},
            {codec.BINARY_KEY: ["msgpack", ""]},
            {codec.BINARY_KEY: ["pickle", base64.b64encode(b"cos\nsystem\n(S'true'\ntR.").decode()]},
            {codec.BINARY_KEY: "x"},
            {codec.INTEGER_KEY: "zz"},
            {codec.PAIRS_KEY: [[{}, 1]]},
            {codec.TUPLE_KEY: 5},
            {codec.ESCAPED_KEY: 5},
        ],
    )
    def test_a_damaged_envelope(self, envelope: object) -> None:
        with pytest.raises(RecordError):
            decode_message(self.with_artifact(envelope))


class TestNothingIsImportedByName:
    """A record can be written by whoever can write to the store; reading it must not run what it names."""

    def read(self, kind: str, data: bytes) -> Any:
        message = json.loads(encode_message(ToolMessage("x", tool_call_id="a")))
        message["data"]["artifact"] = {codec.BINARY_KEY: [kind, base64.b64encode(data).decode()]}
        back = decode_message(json.dumps(message))
        assert isinstance(back, ToolMessage)
        return back.artifact

    @pytest.mark.parametrize("module", ["tests.storage.never_imported", "langchain_core.prompts.never_imported"])
    @pytest.mark.parametrize("lc", [1, 2])
    def test_json_of_langchain_is_not_read(self, module: str, lc: int) -> None:
        named = {"lc": lc, "type": "constructor", "id": [*module.split("."), "Thing"], "kwargs": {}}
        with pytest.raises(RecordError, match="'json' is no kind"):
            self.read("json", json.dumps(named).encode())
        assert module not in sys.modules

    @pytest.mark.parametrize("code", range(6))
    def test_an_extension_that_names_a_class(self, code: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "trap_module.py").write_text("raise SystemExit('imported')")
        monkeypatch.syspath_prepend(tmp_path)
        named = ormsgpack.packb(["trap_module", "Thing", "x", "y"])
        try:
            value = self.read("msgpack", ormsgpack.packb(ormsgpack.Ext(code, named)))
        except RecordError:
            value = None
        assert "trap_module" not in sys.modules
        assert value is None or isinstance(value, str | list | tuple)

    def test_a_message_type_that_looks_like_a_path(self) -> None:
        with pytest.raises(RecordError):
            decode_message('{"type": "tests.storage.never_imported.Thing", "data": {"content": "x"}}')
        assert "tests.storage.never_imported" not in sys.modules

    def test_langchains_own_form_in_the_data_of_a_user_stays_data(self) -> None:
        data = {"lc": 1, "type": "constructor", "id": ["os", "system"], "kwargs": {"command": "true"}}
        assert carried(data) == data
        assert carried({1: data}) == {1: data}
