"""Injections in front of a real model, which may believe them: what code owns of the conversation stays as it was."""

from __future__ import annotations

import re

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_ctxcompress import CompressionResult, ContextCompressor, PrunerConfig
from langchain_ctxcompress.summarize import ChatModelSummariser
from langchain_ctxcompress.summarize.prompts import framed_focus
from tests.realmodel.conftest import ModelMaker
from tests.security.injections import INJECTIONS, ORDER, WANTED
from tests.security.test_injections import SECTIONS, USERS_RULE, talk
from tests.support.legality import is_summary, violations
from tests.support.real_model import RealModel, missing

pytestmark = [pytest.mark.realmodel, pytest.mark.skipif(bool(missing()), reason=missing() or "installed")]

CONFIG = PrunerConfig(soft_limit_tokens=900, hard_limit_tokens=6_000)
SECONDS = 600.0
"""A busy machine must not be taken for a model that hangs."""

NAMES = sorted(INJECTIONS, key=lambda name: len(INJECTIONS[name].encode()))[:44]
"""The shorter ones: the model reads some fifty tokens a second."""


def conversation(names: list[str], each: int) -> list[BaseMessage]:
    """A few exchanges, the user's rule, and tool results with so many injections each."""
    middle: list[BaseMessage] = []
    for number in range(0, len(names), each):
        pages = "\n".join(INJECTIONS[name] for name in names[number : number + each])
        call = {"name": "read_page", "args": {"page": number}, "id": f"call-{number}"}
        middle += [
            AIMessage("", tool_calls=[call], id=f"ask-{number}"),
            ToolMessage(pages, tool_call_id=f"call-{number}", id=f"page-{number}"),
        ]
    said = talk(middle)
    return [*said[:3], *said[7 : 9 + len(middle)], *said[-12:]]


def check(result: CompressionResult) -> None:
    """Whether the model's record was taken or, where it runs on without an end, the extractive one in its place."""
    assert result.outcome in {"applied", "degraded"}
    assert result.model_calls >= 1
    assert result.costs is None or result.costs.written_tokens > 0, "the model answered"
    assert violations(result.messages) == []
    assert result.checkpoint is not None
    ledger = result.checkpoint.ledger
    assert USERS_RULE in str(ledger.get("rules"))
    for kind in ("rules", "facts", "decisions", "goals"):
        assert WANTED not in str(ledger.get(kind, ""))
    rest = result.checkpoint.text.replace(WANTED, "")
    assert len(re.findall(r"\w+", rest)) >= 20, "a record, not an answer to the injection"
    sent = next(message for message in result.messages if is_summary(message))
    assert sent.text.endswith("</earlier_conversation>")
    for section in SECTIONS:
        assert len(re.findall(rf"[<＜]\s*/\s*{section}\b", sent.text, re.IGNORECASE)) <= 1


def test_the_record_is_one_and_the_rules_are_the_users(real_model: RealModel, chat: ModelMaker) -> None:
    """All injections in tool results, and one as the focus that an agent asked for."""
    model = ChatModelSummariser(chat(real_model, max_tokens=60), timeout=SECONDS)
    keeper = ContextCompressor(model, config=CONFIG, strategy="middle-out")
    check(keeper.compress(conversation(NAMES, 5), force=True, instructions=framed_focus(ORDER)))


def test_behind_the_conversation_as_it_is_too(real_model: RealModel, chat: ModelMaker) -> None:
    """`summariser_input="prefix"`: the model reads the injections as messages, and then one instruction."""
    config = CONFIG.model_copy(update={"summariser_input": "prefix"})
    model = ChatModelSummariser(chat(real_model, max_tokens=60), timeout=SECONDS)
    keeper = ContextCompressor(model, config=config, strategy="middle-out")
    check(keeper.compress(conversation(NAMES[:8], 1), force=True))
