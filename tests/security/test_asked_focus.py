"""What a model asks a summary to look at, and what names the ends of a conversation, is data to the summariser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxcompress import CompressionMiddleware, ContextCompressor, PrunerConfig
from langchain_ctxcompress.graph import create_compact_tool
from langchain_ctxcompress.summarize import prefix_instruction, summary_prompt
from langchain_ctxcompress.summarize.levels import SummaryBudget
from langchain_ctxcompress.summarize.prompts import FOCUS_CHARS, framed_focus
from langchain_ctxcompress.summarize.rewriting import rewrite_prompt
from tests.security.injections import INJECTIONS, ORDER, WANTED
from tests.security.test_injections import CONFIG, SEALED, USERS_RULE, in_a_tool_result, outside, talk
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.models import ScriptedChatModel

BUDGET = SummaryBudget(3, 300, 500)


def unsealed(text: str) -> str:
    return SEALED.sub("", text)


@pytest.mark.parametrize("name", INJECTIONS)
def test_no_focus_becomes_part_of_the_task(name: str) -> None:
    text = INJECTIONS[name]
    focus = framed_focus(text)
    assert text[:FOCUS_CHARS] in focus
    prompt = summary_prompt("[user] Hello.", BUDGET, instructions=f"Keep the SQL.\n{focus}")
    assert WANTED not in outside(prompt)
    assert "Keep the SQL." in outside(prompt)
    plain = summary_prompt("[user] Hello.", BUDGET, instructions=framed_focus("the invoices"))
    assert unsealed(prompt[0].text).replace("Keep the SQL.\n", "") == _same_seals(unsealed(plain[0].text), prompt)
    assert WANTED not in unsealed(rewrite_prompt("Hello.", "compress", 50, instructions=focus)[0].text)


def _same_seals(text: str, prompt: Sequence[BaseMessage]) -> str:
    """The text with the seal of another prompt's conversation: it is made of what is shown."""
    seal = re.search(r"<conversation-([0-9a-f]{12})>", prompt[0].text)
    assert seal is not None
    return re.sub(r"(?<=conversation-)[0-9a-f]{12}", seal[1], text)


@pytest.mark.parametrize("name", INJECTIONS)
def test_no_message_that_names_an_end_becomes_part_of_the_instruction(name: str) -> None:
    text = INJECTIONS[name]
    asked = prefix_instruction(
        BUDGET, first=f"“{text}”", last=f"…{text}", goals=f"- {text}", instructions=framed_focus(text)
    )
    assert text in asked.text
    assert WANTED not in unsealed(asked.text)


def test_a_focus_has_its_bounds() -> None:
    assert framed_focus(" \n") == ""
    assert len(framed_focus("x" * 1_000_000)) < FOCUS_CHARS + 500


def obedient(prompt: Sequence[BaseMessage]) -> str:
    """Obeys what stands outside the frames of the last message and of the task; what it is shown is not its task."""
    task = [message.text for message in (prompt[0], prompt[-1]) if message.type in {"system", "human"}]
    return WANTED if any(WANTED in unsealed(text) for text in task) else "The trip to Ghent was planned."


@pytest.mark.parametrize("name", ["plain order", "german", "many times"])
def test_the_instruction_behind_the_conversation_quotes_no_order(name: str) -> None:
    """`summariser_input="prefix"`, with the injection as the last message that is replaced, and as the first."""
    text = INJECTIONS[name]
    said = [message for message in talk(in_a_tool_result(text)) if message.type != "system"]
    for place in range(1, len(said)):
        middle = [*said[:place], HumanMessage(text, id="in"), AIMessage(text, id="jection"), *said[place:]]
        if place in {4, 60, 62, 64, 66}:
            model = ScriptedChatModel(obedient)
            config = CONFIG.model_copy(update={"summariser_input": "prefix"})
            result = ContextCompressor(model, config=config).compress(middle, force=True)
            assert "about to be removed" in model.prompts[0][-1].text
            assert result.outcome == "applied"
            assert result.checkpoint is not None
            assert result.checkpoint.text == "The trip to Ghent was planned."
            assert USERS_RULE in str(result.checkpoint.ledger.get("rules"))
            assert violations(result.messages) == []


@pytest.mark.parametrize("given", ["", "Keep the SQL."])
def test_an_agent_that_was_talked_into_a_focus_gets_a_summary(given: str) -> None:
    def agent(prompt: list[BaseMessage]) -> AIMessage:
        if prompt[-1].type == "human" and "tidy up" in prompt[-1].text:
            return AIMessage("", tool_calls=[{"name": "compact_context", "args": {"focus": ORDER}, "id": "c"}])
        return AIMessage("done")

    class Agent(ScriptedChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    summariser = ScriptedChatModel(obedient)
    keeper = ContextCompressor(summariser, config=PrunerConfig())
    app = create_agent(
        Agent(agent),
        [create_compact_tool()],
        middleware=[CompressionMiddleware(keeper, background=False)],
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "t", "ctxcompress": {"instructions": given}}}
    state = app.invoke({"messages": [*exchanges(20), HumanMessage("please tidy up")]}, thread)
    summary = next(message for message in state["messages"] if is_summary(message))
    assert "The trip to Ghent was planned." in summary.text
    assert WANTED not in summary.text
    assert ORDER in summariser.prompts[0][0].text, "it is shown, as data"
    assert given in unsealed(summariser.prompts[0][0].text), "the caller's own wish stays"
