"""The agents of LangGraph's own: the hook of `create_react_agent`, and the ready graph of this package."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.warnings import LangGraphDeprecatedSinceV10

from langchain_ctxcompress import CompressionNode, PrunerConfig
from langchain_ctxcompress.graph import compressed_react_agent
from tests.graph.test_shapes import LIMIT, THREAD, new_compressor, question
from tests.support.legality import is_summary
from tests.support.models import CheckingModel, ScriptedChatModel


@tool
def look_up(order: str) -> str:
    """Look an order up."""
    return f"order {order}: " + "on its way from the warehouse; " * 10


class Agent(CheckingModel):
    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


def works(prompt: list[BaseMessage]) -> AIMessage:
    """Calls the tool three times for each question, then answers."""
    since = 0
    for message in reversed(prompt):
        if message.type == "human" and not is_summary(message):
            break
        since += message.type == "ai"
    if since < 3:
        return AIMessage("", tool_calls=[{"name": "look_up", "args": {"order": f"A-{since}"}, "id": f"c{since}"}])
    return AIMessage("all of them are on their way " * 4)


@pytest.mark.parametrize("mode", ["replace", "view"])
@pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10")
def test_the_pre_model_hook_of_create_react_agent(mode: Any) -> None:
    from langgraph.prebuilt import create_react_agent

    assert issubclass(LangGraphDeprecatedSinceV10, Warning)
    compressor, model = new_compressor(), Agent(works, limit=LIMIT)
    hook = CompressionNode(compressor, mode=mode)
    app = create_react_agent(model, [look_up], pre_model_hook=hook, checkpointer=InMemorySaver())
    for i in range(12):
        state = app.invoke({"messages": [question(i)]}, THREAD)
    assert model.failures == []
    assert (sum(map(is_summary, state["messages"])) == 1) is (mode == "replace")
    assert sum(map(is_summary, model.prompts[-1])) == 1
    if mode == "view":
        assert len(state["messages"]) == 12 * 8


@pytest.mark.parametrize("run_async", [False, True])
async def test_the_ready_agent(run_async: bool) -> None:
    system = "You look after orders. " * 20
    model = Agent(works, limit=LIMIT)
    app = compressed_react_agent(
        model, [look_up], system_prompt=system, config=PrunerConfig.for_limit(LIMIT), checkpointer=InMemorySaver()
    )
    for i in range(12):
        given = {"messages": [question(i)]}
        state = await app.ainvoke(given, THREAD) if run_async else app.invoke(given, THREAD)
    assert model.failures == []
    assert all(prompt[0].content == system for prompt in model.prompts)
    assert sum(map(is_summary, state["messages"])) == 1


def test_the_ready_agent_without_tools() -> None:
    app = compressed_react_agent(ScriptedChatModel("hello"), config=PrunerConfig())
    assert app.invoke({"messages": [HumanMessage("hi")]})["messages"][-1].content == "hello"
