"""L2, laws 1, 4, 8, 10: `CompressionMiddleware` in real agents made by `create_agent`."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import Field

from langchain_ctxcompress import CompressionMiddleware, ContextCompressor, PrunerConfig
from tests.support.legality import is_summary, violations
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens

LIMIT = 3_000
SYSTEM = "You look after orders. " * 20


@tool
def look_up(order: str) -> str:
    """Look an order up, with all that is known of it."""
    return f"order {order}: " + "on its way from the warehouse; " * 15


class Agent(ScriptedChatModel):
    """A scripted model that takes tools, and keeps what it was sent."""

    bound: list[Any] = Field(default_factory=list)

    def bind_tools(self, tools, **kwargs):
        return self


def worker(steps: int):
    """Calls the tool `steps` times for each question, then answers."""

    def reply(prompt):
        since = 0
        for message in reversed(prompt):
            if message.type == "human" and not is_summary(message):
                break
            since += message.type == "ai"
        if since < steps:
            return AIMessage("", tool_calls=[{"name": "look_up", "args": {"order": f"A-{since}"}, "id": f"c{since}"}])
        return AIMessage("all of them are on their way " * 4)

    return reply


def agent_with(model, *middleware, **arguments):
    return create_agent(model, [look_up], system_prompt=SYSTEM, middleware=list(middleware), **arguments)


def sent(model) -> list[list[Any]]:
    return model.prompts


def sizes(model) -> list[int]:
    return [independent_tokens(prompt) for prompt in model.prompts]


def question(i: int) -> HumanMessage:
    return HumanMessage(f"question {i}: what about all my orders? " + "I would like to know. " * 8)


def test_an_agent_with_tools_stays_within_its_limit():
    model = Agent(worker(6))
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    agent = agent_with(model, CompressionMiddleware(compressor), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    for i in range(12):
        state = agent.invoke({"messages": [question(i)]}, config)
        assert "ctxcompress_request" not in state
    assert max(sizes(model)) < LIMIT
    assert all(violations(prompt, open_end=False) == [] for prompt in model.prompts)
    assert sum(map(is_summary, state["messages"])) == 1
    assert len(compressor.history("t").messages()) > 100


async def test_async_and_quiet():
    summariser = ScriptedChatModel("user: asks about all orders")
    model = Agent(worker(4))
    compressor = ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT))
    agent = agent_with(model, CompressionMiddleware(compressor), checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    streamed = ""
    for i in range(10):
        async for message, _ in agent.astream({"messages": [question(i)]}, config, stream_mode="messages"):
            streamed += str(message.content)
    assert summariser.calls
    assert "asks about all orders" not in streamed
    assert max(sizes(model)) < LIMIT


def test_without_a_config_the_limits_follow_the_model_that_is_called():
    model = Agent(worker(0), profile={"max_input_tokens": 4_000})
    agent = agent_with(model, CompressionMiddleware(), checkpointer=InMemorySaver())
    for i in range(60):
        agent.invoke({"messages": [question(i)]}, {"configurable": {"thread_id": "t"}})
    assert max(sizes(model)) < 0.8 * 4_000


def test_tool_schemas_and_system_prompt_count():
    long_prompt = "You must follow each of these rules. " * 200  # some 1,600 tokens
    model = Agent(worker(0))
    middleware = CompressionMiddleware(config=PrunerConfig.for_limit(LIMIT))
    agent = create_agent(
        model, [look_up], system_prompt=long_prompt, middleware=[middleware], checkpointer=InMemorySaver()
    )
    for i in range(30):
        agent.invoke({"messages": [question(i)]}, {"configurable": {"thread_id": "t"}})
    assert max(sizes(model)) < LIMIT


def test_the_first_request_of_a_thread_is_compressed_too_and_the_state_learns_of_it():
    model = Agent(worker(0))
    agent = agent_with(model, CompressionMiddleware(config=PrunerConfig.for_limit(LIMIT)), checkpointer=InMemorySaver())
    before = [m for i in range(60) for m in (question(i), AIMessage("on its way " * 6))]
    state = agent.invoke({"messages": [*before, question(60)]}, {"configurable": {"thread_id": "t"}})
    assert max(sizes(model)) < LIMIT
    assert len(state["messages"]) < 40
    assert state["messages"][-1].type == "ai"
    assert [m.content for m in state["messages"][:-1]] == [m.content for m in model.prompts[0][1:]]


@pytest.mark.parametrize(
    "error",
    [
        ContextOverflowError("too long"),
        ValueError("This model's maximum context length is 8192 tokens. Please reduce the length of the messages."),
    ],
)
async def test_an_overflow_is_rescued_once(error):
    for run_async in (False, True):
        model = Agent([error, AIMessage("now it fits")])
        middleware = CompressionMiddleware(config=PrunerConfig.for_limit(100_000))
        agent = agent_with(model, middleware, checkpointer=InMemorySaver())
        before = [m for i in range(60) for m in (question(i), AIMessage("on its way " * 6))]
        given = {"messages": [*before, question(60)]}
        config = {"configurable": {"thread_id": "t"}}
        state = await agent.ainvoke(given, config) if run_async else agent.invoke(given, config)
        assert state["messages"][-1].content == "now it fits"
        first, second = sizes(model)
        assert second < 0.75 * first
        assert sum(map(is_summary, state["messages"])) == 1


def test_other_errors_and_a_second_overflow_are_raised():
    before = [m for i in range(60) for m in (question(i), AIMessage("on its way " * 6))]
    for errors in ([RuntimeError("no credit")], [ContextOverflowError("too long")]):
        agent = agent_with(Agent(errors), CompressionMiddleware(config=PrunerConfig.for_limit(100_000)))
        with pytest.raises(type(errors[0])):
            agent.invoke({"messages": [*before, question(60)]})


def test_a_stale_response_id_is_not_sent_after_a_compression():
    class Remembering(Agent):
        use_previous_response_id: bool = True
        flags: list[bool] = Field(default_factory=list)

        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            self.flags.append(self.use_previous_response_id)
            return super()._generate(messages, stop, run_manager, **kwargs)

    model = Remembering(worker(0))
    agent = agent_with(model, CompressionMiddleware(config=PrunerConfig.for_limit(LIMIT)), checkpointer=InMemorySaver())
    compressed_at = []
    for i in range(40):
        before = agent.get_state({"configurable": {"thread_id": "t"}}).values.get("messages", [])
        agent.invoke({"messages": [question(i)]}, {"configurable": {"thread_id": "t"}})
        after = agent.get_state({"configurable": {"thread_id": "t"}}).values["messages"]
        compressed_at.append([m.id for m in after][: len(before)] != [m.id for m in before])
    assert any(compressed_at)
    assert model.flags == [not compressed for compressed in compressed_at]


@pytest.mark.parametrize("first", [True, False])
def test_beside_other_middleware_in_either_order(first):
    model = Agent(worker(3))
    ours = CompressionMiddleware(config=PrunerConfig.for_limit(6_000))
    both = [ours, TodoListMiddleware()] if first else [TodoListMiddleware(), ours]
    agent = agent_with(model, *both, checkpointer=InMemorySaver())
    for i in range(10):
        agent.invoke({"messages": [question(i)]}, {"configurable": {"thread_id": "t"}})
    assert max(sizes(model)) < 6_000
    assert all(violations(prompt, open_end=False) == [] for prompt in model.prompts)


@pytest.mark.parametrize("run_async", [False, True])
async def test_a_call_that_fails_behind_a_compression_does_not_pay_for_it_twice(run_async):
    """The first request of a thread is compressed within the call that then fails: the archive has the summary."""
    summariser = ScriptedChatModel("a summary")
    model = Agent([ConnectionError("the provider is down"), AIMessage("at last")])
    compressor = ContextCompressor(summariser, config=PrunerConfig.for_limit(LIMIT))
    middleware = CompressionMiddleware(compressor, background=False)
    agent = agent_with(model, middleware, checkpointer=InMemorySaver())
    before = [m for i in range(60) for m in (question(i), AIMessage("on its way " * 6))]
    config = {"configurable": {"thread_id": "t"}}

    async def go(given):
        return await agent.ainvoke(given, config) if run_async else agent.invoke(given, config)

    with pytest.raises(ConnectionError):
        await go({"messages": [*before, question(60)]})
    assert summariser.calls == 1
    state = await go(None)
    assert state["messages"][-1].content == "at last"
    assert summariser.calls == 1
    assert sum(map(is_summary, state["messages"])) == 1
    assert max(sizes(model)) < LIMIT
