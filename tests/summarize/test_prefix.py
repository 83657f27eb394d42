"""`summariser_input="prefix"`: the conversation as the agent's model reads it, and one instruction at its end."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxcompress import (
    AgentCall,
    CompressionMiddleware,
    CompressionNode,
    ContextCompressor,
    PrunerConfig,
)
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens

CALL = {"name": "look", "args": {"at": "it"}, "id": "x"}


@tool
def look(at: str) -> str:
    """Look at something."""
    return at


def prefix(soft: int = 1_000, **fields: Any) -> PrunerConfig:
    return PrunerConfig(soft_limit_tokens=soft, hard_limit_tokens=20 * soft, summariser_input="prefix", **fields)


def said(messages: list[BaseMessage]) -> list[tuple[str, Any]]:
    return [(message.type, message.content) for message in messages]


def test_the_prompt_is_the_conversation_as_it_is_and_one_instruction() -> None:
    model = ScriptedChatModel("They exchanged words.")
    messages = [SystemMessage("Be brief."), *exchanges(60)]
    compressor = ContextCompressor(model, config=prefix())
    plan = compressor.plan(messages)
    result = compressor.compress(messages)
    assert (result.outcome, result.reason, model.calls) == ("applied", "compressed", 1)
    prompt = model.prompts[0]
    assert said(prompt[:-1]) == said(messages)
    assert isinstance(prompt[-1], HumanMessage)
    assert independent_tokens(prompt[-1:]) < 600
    replaced = [m for m in messages if m.id not in {kept.id for kept in result.messages if not is_summary(kept)}]
    assert str(replaced[-1].content)[-40:] in prompt[-1].text, "it is told where what is removed ends"
    assert plan.costs is not None
    held = independent_tokens(messages)
    assert plan.costs.cached_tokens == pytest.approx(held, rel=0.1)
    assert plan.costs.read_tokens == pytest.approx(independent_tokens(prompt[-1:]), abs=30)
    summary = next(message.text for message in result.messages if is_summary(message))
    assert "They exchanged words." in summary


def test_the_same_tools_are_bound_and_may_not_be_called() -> None:
    model, agent = ScriptedChatModel("unused"), ScriptedChatModel("They exchanged words.")
    call = AgentCall(agent, [look], SystemMessage("Be brief."), {"temperature": 0.5, "tool_choice": "any"})
    messages = exchanges(60)
    ContextCompressor(model, config=prefix()).compress(messages, agent=call)
    assert (model.calls, agent.calls) == (0, 1)
    assert agent.options[0]["tools"] == [look]
    assert agent.options[0]["tool_choice"] == "none"
    assert agent.options[0]["temperature"] == 0.5
    assert said(agent.prompts[0][:-1]) == [("system", "Be brief."), *said(messages)]


@pytest.mark.parametrize(
    "answer",
    [
        AIMessage("", tool_calls=[CALL]),
        AIMessage("I look at it.", tool_calls=[CALL]),
        AIMessage(""),
        AIMessage("I am sorry, I cannot help with that."),
        ValueError("this model knows no tool_choice"),
    ],
    ids=["call", "call-and-text", "empty", "refusal", "error"],
)
async def test_a_call_and_whatever_is_no_summary_falls_to_the_transcript(answer: Any) -> None:
    """Law 4: then the summariser of its own is asked, and without one that answers code writes."""
    agent = ScriptedChatModel([answer] * 2)
    model = ScriptedChatModel("They exchanged words.")
    compressor = ContextCompressor(model, config=prefix())
    result = await compressor.acompress(exchanges(60), agent=AgentCall(agent, [look]))
    assert (result.outcome, result.reason) == ("applied", "compressed")
    assert model.calls == 1
    assert "<conversation-" in model.prompts[0][-1].text
    broken = ContextCompressor(ScriptedChatModel([RuntimeError("down")] * 4), config=prefix())
    result = await broken.acompress(exchanges(60), agent=AgentCall(ScriptedChatModel([answer] * 2), [look]))
    assert (result.outcome, result.reason) == ("degraded", "summariser_failed")


def test_a_conversation_that_the_agent_s_window_does_not_hold_is_shown_as_a_transcript() -> None:
    small = ScriptedChatModel("unused", profile={"max_input_tokens": 900})
    model = ScriptedChatModel("They exchanged words.")
    ContextCompressor(model, config=prefix()).compress(exchanges(60), agent=AgentCall(small))
    assert (small.calls, model.calls) == (0, 1)


def test_what_stands_in_the_part_that_stays_is_no_made_up_value() -> None:
    model = ScriptedChatModel("They spoke of order #W7654321.")
    messages = [*exchanges(60), HumanMessage("And order #W7654321?", id="q")]
    result = ContextCompressor(model, config=prefix()).compress(messages)
    assert result.checkpoint is not None
    assert result.checkpoint.flagged == ()


def test_the_node_asks_as_the_model_node_does() -> None:
    model = ScriptedChatModel("They exchanged words.")
    node = CompressionNode(model=model, config=prefix(), background=False, system_prompt="Be brief.")
    node.invoke({"messages": exchanges(60)})
    assert said(model.prompts[0][:1]) == [("system", "Be brief.")]
    sent = AgentCall(ScriptedChatModel("They exchanged words."), [look])
    own = CompressionNode(model=model, config=prefix(), background=False, agent=sent)
    own.invoke({"messages": exchanges(60)})
    assert sent.model.options[0]["tools"] == [look]


@pytest.mark.parametrize("economic", [False, True])
def test_the_middleware_asks_as_the_agent_is_asked(economic: bool) -> None:
    """With the prompt of the step before as its beginning: that is what the provider's cache holds."""
    agent = ScriptedChatModel(lambda prompt: AIMessage("A record." if "write a record" in prompt[-1].text else "Yes."))
    config = prefix(soft=100_000 if economic else 3_000, economic=economic)
    compressor = ContextCompressor(agent, config=config)
    graph = create_agent(
        agent,
        [look],
        system_prompt="Be brief.",
        middleware=[CompressionMiddleware(compressor, background=False)],
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "1"}}
    for number in range(60):
        graph.invoke({"messages": [HumanMessage(f"question {number} " + "on parcels " * 60)]}, thread)
    asked = [place for place, prompt in enumerate(agent.prompts) if "write a record" in prompt[-1].text]
    assert asked
    for place in asked:
        before, prompt, options = agent.prompts[place - 1], agent.prompts[place], agent.options[place]
        assert said(prompt)[: len(before)] == said(before)
        assert options["tool_choice"] == "none"
        assert [each.name for each in options["tools"]] == ["look"]
