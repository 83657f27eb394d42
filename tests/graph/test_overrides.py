"""A thread's own limits, instructions, and on or off, from the run's config and the graph's context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionMiddleware, CompressionNode, ConfigError, ContextCompressor, PrunerConfig
from langchain_ctxcompress.graph.overrides import Overrides
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel
from tests.support.sizes import independent_tokens


class Context(TypedDict, total=False):
    ctxcompress: dict[str, Any]


@dataclass
class OwnContext:
    user: str = ""
    ctxcompress: dict[str, Any] | None = None


def node_graph(compressor: ContextCompressor, context: Any = None) -> Any:
    graph = StateGraph(MessagesState, context_schema=context)
    graph.add_node("compress", CompressionNode(compressor, background=False))
    graph.add_edge(START, "compress")
    return graph.compile(checkpointer=InMemorySaver())


def agent_graph(compressor: ContextCompressor, context: Any = None) -> Any:
    middleware = CompressionMiddleware(compressor, background=False)
    return create_agent(
        ScriptedChatModel("yes"), [], middleware=[middleware], context_schema=context, checkpointer=InMemorySaver()
    )


GRAPHS = pytest.mark.parametrize("build", [node_graph, agent_graph])


def run(app: Any, settings: Any = None, *, messages: list[BaseMessage] | None = None, **given: Any) -> Any:
    configurable = {"thread_id": uuid4().hex} | ({} if settings is None else {"ctxcompress": settings})
    return app.invoke({"messages": messages or exchanges(40)}, {"configurable": configurable}, **given)["messages"]


def compressed(messages: list[BaseMessage]) -> bool:
    return any(map(is_summary, messages))


@GRAPHS
def test_limits_of_one_thread(build: Any) -> None:
    app = build(ContextCompressor(config=PrunerConfig()))
    assert not compressed(run(app))
    small = run(app, {"hard_limit_tokens": 1_200})
    assert compressed(small)
    assert independent_tokens(small) < 1_200
    assert compressed(run(app, {"soft_limit_tokens": 1_000}))
    assert not compressed(run(app, {"soft_limit_tokens": 400_000}))


@GRAPHS
def test_off_for_one_thread(build: Any) -> None:
    app = build(ContextCompressor(config=PrunerConfig.for_limit(1_200)))
    assert compressed(run(app))
    assert not compressed(run(app, {"enabled": False}))


@GRAPHS
def test_instructions_of_one_thread_reach_the_summariser(build: Any) -> None:
    summariser = ScriptedChatModel("kept")
    app = build(ContextCompressor(summariser, config=PrunerConfig.for_limit(1_200)))
    run(app, {"instructions": "keep every invoice number"})
    assert "keep every invoice number" in str(summariser.prompts[0])
    run(app)
    assert "keep every invoice number" not in str(summariser.prompts[1])


@GRAPHS
def test_goal_and_mode_of_one_thread_reach_the_summariser(build: Any) -> None:
    summariser = ScriptedChatModel("kept")
    app = build(ContextCompressor(summariser, config=PrunerConfig.for_limit(1_600)))
    goal = {"description": "ship the blue parcel to Oslo"}
    run(app, {"goal": goal, "mode": "debugger"})
    run(app)
    run(app, {"mode": "planning"})
    first, plain, planning = (str(prompt) for prompt in summariser.prompts)
    assert "ship the blue parcel to Oslo" in first
    assert "ship the blue parcel to Oslo" not in plain
    assert len({first, plain, planning}) == 3


@GRAPHS
def test_an_unknown_mode_is_named_where_it_would_be_used(build: Any) -> None:
    with pytest.raises(ConfigError, match="no such"):
        run(build(ContextCompressor(ScriptedChatModel("x"), config=PrunerConfig.for_limit(1_600))), {"mode": "no such"})


@GRAPHS
@pytest.mark.parametrize(
    ("schema", "context"),
    [
        (Context, {"ctxcompress": {"hard_limit_tokens": 1_200}}),
        (OwnContext, OwnContext("bob", {"hard_limit_tokens": 1_200})),
    ],
)
def test_the_runtime_context_does_the_same_and_the_config_holds_over_it(build: Any, schema: Any, context: Any) -> None:
    app = build(ContextCompressor(config=PrunerConfig()), schema)
    assert compressed(run(app, context=context))
    assert not compressed(run(app, {"hard_limit_tokens": 900_000}, context=context))
    assert not compressed(run(app, context=OwnContext("bob") if schema is OwnContext else {}))


@GRAPHS
@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"hard_limit_token": 5}, "hard_limit_token'.*there are:.*hard_limit_tokens"),
        ({"hard_limit_tokens": "many"}, "hard_limit_tokens is 'many'"),
        ({"soft_limit_tokens": 900_000}, "soft_limit_tokens 900000"),
        ({"hard_limit_tokens": -1}, "hard_limit_tokens"),
        ({"instructions": 7}, "instructions'.*is 7: it must be a str"),
        ({"background": "yes"}, "background'.*must be a bool"),
        ({"session_id": "of another"}, "session_id"),
        ({"store": None}, "store"),
        ({"goal": "a text"}, "goal is a str"),
        ("off", "must be a mapping"),
        ({1: 2}, "must be a mapping"),
    ],
)
def test_what_is_wrong_is_named(build: Any, settings: Any, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        run(build(ContextCompressor(config=PrunerConfig())), settings)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "soft_limit_tokens": st.integers(1, 10**6),
            "hard_limit_tokens": st.integers(2, 10**6),
            "target_tokens": st.integers(1, 10**6),
            "recent_turns": st.integers(0, 9),
            "ledger": st.booleans(),
            "enabled": st.booleans(),
        },
    ),
    st.sampled_from([PrunerConfig(), PrunerConfig.for_limit(1_000, recent_turns=2), PrunerConfig(target_tokens=99)]),
)
def test_overrides_are_a_valid_config_with_what_was_asked_for_or_an_error_that_names_one(
    settings: dict[str, Any], base: PrunerConfig
) -> None:
    overrides = Overrides.of({"configurable": {"ctxcompress": settings}})
    try:
        made = overrides.config(base)
    except ConfigError as error:
        assert any(name in str(error) for name in ("soft_limit_tokens", "hard_limit_tokens", "target_tokens"))
        return
    assert {name: getattr(made, name) for name in settings} == settings
    assert made.target_tokens <= made.soft_limit_tokens < made.hard_limit_tokens
    for name in ("pinned_prefix_turns", "recent_turns", "min_candidate_turns"):
        if name not in settings:
            assert getattr(made, name) == getattr(base, name)


def test_two_threads_of_one_graph_do_not_share_what_one_was_given() -> None:
    app = node_graph(ContextCompressor(config=PrunerConfig()))
    narrow = {"configurable": {"thread_id": "narrow", "ctxcompress": {"hard_limit_tokens": 1_200}}}
    for i in range(4):
        given = {"messages": exchanges(10, start=10 * i)}
        small = app.invoke(given, narrow)["messages"]
        wide = app.invoke(given, {"configurable": {"thread_id": "wide"}})["messages"]
    assert independent_tokens(small) < 1_200
    assert len(wide) == 80
    assert isinstance(wide[0], HumanMessage)
