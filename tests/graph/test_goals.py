"""G1 and G4 at the doors: goals in a graph's state as plain values, the system prompt from a provider."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired
from unittest.mock import Mock

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from langchain_ctxcompress import (
    CompressedChatMessageHistory,
    CompressionMiddleware,
    CompressionNode,
    ConfigError,
    ContextCompressor,
    Goal,
    PrunerConfig,
)
from langchain_ctxcompress.graph.system_prompt import PromptContext
from tests.history.test_history import ListHistory
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel

CONFIG = PrunerConfig.for_limit(2_000)
GOAL = Goal(description="Ship the release on Friday")
REPORT = "went on\n[CHECKPOINT] Write the changelog - COMPLETED"
PROVIDED = "You are the release manager."


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    ctx_goal: NotRequired[Any]
    ctx_system_prompt: NotRequired[str]
    llm_input_messages: NotRequired[list[AnyMessage]]


def graph_with(node: CompressionNode, **arguments: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("compress", node)
    graph.add_edge(START, "compress")
    return graph.compile(**arguments)


def compressor(*replies: Any) -> ContextCompressor:
    return ContextCompressor(ScriptedChatModel(list(replies) or ["went on"]), config=CONFIG)


def texts(messages: list[Any]) -> str:
    return "\n".join(message.text for message in messages)


async def run(graph: Any, state: dict[str, Any], *, is_async: bool, **config: Any) -> dict[str, Any]:
    return await graph.ainvoke(state, **config) if is_async else graph.invoke(state, **config)


@pytest.mark.parametrize("is_async", [False, True])
async def test_g1_goals_in_the_state_are_plain_values_and_are_reported_on(is_async: bool, monkeypatch) -> None:
    monkeypatch.setenv("LANGGRAPH_STRICT_MSGPACK", "true")
    graph = graph_with(CompressionNode(compressor(REPORT)), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    state = {"messages": exchanges(30), "ctx_goal": GOAL.model_dump(mode="json")}
    state = await run(graph, state, is_async=is_async, config=config)
    goals = [Goal.model_validate(goal) for goal in state["ctx_goal"]]
    assert [step.text for step in goals[0].checkpoints] == ["Write the changelog"]
    assert GOAL.description in next(m.text for m in state["messages"] if is_summary(m))
    again = await run(graph, {"messages": exchanges(30, start=30)}, is_async=is_async, config=config)
    assert again["ctx_goal"] == state["ctx_goal"]


def test_g4_before_there_is_a_summary_the_goal_comes_with_the_system_prompt_and_then_with_the_summary() -> None:
    graph = graph_with(CompressionNode(compressor(), goal=GOAL, system_prompt=PROVIDED))
    early = graph.invoke({"messages": exchanges(2)})
    assert early["ctx_system_prompt"].startswith(PROVIDED)
    assert GOAL.description in early["ctx_system_prompt"]
    late = graph.invoke({"messages": exchanges(30)})
    assert late["ctx_system_prompt"] == PROVIDED
    assert texts(late["messages"]).count(GOAL.description) == 1


@pytest.mark.parametrize("is_async", [False, True])
async def test_g4_view_mode_puts_the_provider_s_prompt_in_front_and_the_state_keeps_none(is_async: bool) -> None:
    seen: list[PromptContext] = []

    def provider(context: PromptContext) -> str:
        seen.append(context)
        return f"{PROVIDED} Goals: {len(context.goals)}."

    node = CompressionNode(compressor(), mode="view", goal=[GOAL], system_prompt=provider)
    state = await run(graph_with(node), {"messages": exchanges(30)}, is_async=is_async)
    first, *rest = state["llm_input_messages"]
    assert first == SystemMessage(f"{PROVIDED} Goals: 1.", id=first.id)
    assert not any(isinstance(message, SystemMessage) for message in [*rest, *state["messages"]])
    assert seen[-1].goals == (GOAL,)


def test_g4_the_provider_s_prompt_counts_and_is_never_compressed() -> None:
    """A list that alone is under its soft limit is over it with the prompt."""
    long = "Mind what was agreed. " * 200
    messages = exchanges(30)
    size = sum(ContextCompressor(config=CONFIG).count(messages))
    limits = PrunerConfig(soft_limit_tokens=size + 400, hard_limit_tokens=size + 5_000)
    assert CompressionNode(config=limits).invoke({"messages": messages}) == {}
    update = CompressionNode(config=limits, system_prompt=lambda: long).invoke({"messages": messages})
    assert any(is_summary(message) for message in update["messages"])
    assert update["ctx_system_prompt"] == long


def agent_with(model: ScriptedChatModel, middleware: CompressionMiddleware) -> Any:
    return create_agent(model, [], system_prompt="Be kind.", middleware=[middleware], checkpointer=InMemorySaver())


@pytest.mark.parametrize("is_async", [False, True])
async def test_g4_an_agent_s_prompt_holds_the_provider_s_text_and_each_goal_once(is_async: bool) -> None:
    model = ScriptedChatModel("all right " * 60)
    provider = Mock(return_value=PROVIDED, spec=lambda: "")
    middleware = CompressionMiddleware(compressor(REPORT), system_prompt=provider)
    agent = agent_with(model, middleware)
    config = {"configurable": {"thread_id": "t"}}
    state: dict[str, Any] = {"ctx_goal": [GOAL.model_dump(mode="json")]}
    for i in range(12):
        question = HumanMessage(f"question {i}: and then? " + "I would like to know. " * 8)
        state = await run(agent, {**state, "messages": [question]}, is_async=is_async, config=config)
        state = {"ctx_goal": state["ctx_goal"]}
    assert provider.call_count == len(model.prompts) + 1  # once more for the request that was compressed
    for prompt in model.prompts:
        assert prompt[0].text.startswith(f"Be kind.\n\n{PROVIDED}")
        assert texts(prompt).count(GOAL.description) == 1
    assert GOAL.description in model.prompts[0][0].text
    assert GOAL.description not in model.prompts[-1][0].text
    assert [step["text"] for step in state["ctx_goal"][0]["checkpoints"]] == ["Write the changelog"]


def test_g4_a_provider_that_gives_no_text_is_named() -> None:
    node = CompressionNode(compressor(), system_prompt=lambda: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(ConfigError, match="system_prompt"):
        node.invoke({"messages": [AIMessage("hi", id="a")]})
    with pytest.raises(ConfigError, match="system_prompt"):
        CompressionNode(compressor(), system_prompt=7)  # type: ignore[arg-type]


def test_g1_the_history_carries_a_goal() -> None:
    shared = compressor(REPORT)
    history = CompressedChatMessageHistory(ListHistory(), shared, session_id="s", goal=GOAL)
    assert history.goals == (GOAL,)
    history.add_messages(exchanges(30))
    assert GOAL.description in texts(history.messages)
    assert [step.text for step in history.goals[0].checkpoints] == ["Write the changelog"]
