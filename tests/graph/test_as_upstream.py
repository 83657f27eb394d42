"""L2, L6: agents behave as their documentation says, whether their lists are compressed or not.

Each case is an agent as `langchain.agents` or `langgraph.prebuilt` document it. It is run without compression, and with
it: in front of the other middleware and behind it, with room for everything and with little room behind a long talk.
What the agent does with the newest question must be the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    before_model,
    dynamic_prompt,
    wrap_tool_call,
)
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import get_runtime
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from langchain_ctxcompress import CompressionMiddleware, CompressionNode, ContextCompressor, PrunerConfig
from tests.support.conversations import exchanges
from tests.support.legality import is_summary, violations
from tests.support.models import ScriptedChatModel

ROOMY = PrunerConfig.for_limit(100_000)
TIGHT = PrunerConfig.for_limit(2_000)
THREAD: Any = {"configurable": {"thread_id": "t"}}


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"It rains in {city}."


@tool
def broken(city: str) -> str:
    """Never works."""
    raise ValueError(f"no station in {city}")


@tool(return_direct=True)
def final_word(city: str) -> str:
    """What it says is the answer."""
    return f"{city}: that is all."


@tool
def asks(city: str) -> str:
    """Asks a human."""
    return f"the human says {interrupt({'about': city})}"


@tool
def of_state(runtime: ToolRuntime) -> str:
    """Reads the state."""
    return f"the user is {runtime.state['user']}, of {len(runtime.state['messages']) > 0}"


@tool
def of_context() -> str:
    """Reads the context."""
    return f"the tenant is {get_runtime().context['tenant']}"


@tool
def writes_state(call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Writes the state."""
    return Command(update={"user": "bob", "messages": [ToolMessage("it is bob", tool_call_id=call_id)]})


class Report(BaseModel):
    """An answer in parts."""

    city: str
    rain: bool


class UserState(AgentState):
    user: str


class Tenant(TypedDict):
    tenant: str


@dynamic_prompt
def prompt_of_state(request: Any) -> str:
    return f"You serve {request.state['user']}."


@before_model(can_jump_to=["end"])
def ends_after_a_tool(state: Any, runtime: Any) -> Any:
    if isinstance(state["messages"][-1], ToolMessage):
        return {"jump_to": "end", "messages": [AIMessage("stopped here")]}
    return None


@wrap_tool_call
def handles_errors(request: Any, handler: Any) -> Any:
    try:
        return handler(request)
    except ValueError as error:
        return ToolMessage(f"handled: {error}", tool_call_id=request.tool_call["id"], status="error")


def calls(*named: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": n, "args": a, "id": f"{n}-{i}"} for i, (n, a) in enumerate(named)])


@dataclass
class Case:
    """One agent and one question.

    Attributes:
        replies: What the model says, one after the other, once the question is asked.
        tools: Its tools.
        middleware: Makes its other middleware.
        resume: What a human answers, where it is asked.
        given: Further keys of the input.
        context: The run's context.
        options: Further arguments of `create_agent`.
    """

    replies: Sequence[AIMessage | Exception]
    tools: Sequence[Any] = (weather,)
    middleware: Callable[[], list[Any]] = list
    resume: Any = None
    given: dict[str, Any] = field(default_factory=dict)
    context: Any = None
    options: dict[str, Any] = field(default_factory=dict)


RAIN = ("weather", {"city": "Rome"})
DONE = AIMessage("It rains.")
PLAN = calls(("write_todos", {"todos": [{"content": "look", "status": "in_progress"}]}))

CASES = {
    "answer": Case([DONE]),
    "tool": Case([calls(RAIN), DONE]),
    "parallel tools": Case([calls(RAIN, ("weather", {"city": "Oslo"}), RAIN), calls(RAIN), DONE]),
    "arguments that do not fit": Case([calls(("weather", {"town": 1})), calls(RAIN), DONE]),
    "unknown tool": Case([calls(("nonsense", {})), DONE]),
    "a tool's error, handled": Case([calls(("broken", {"city": "Rome"})), DONE], [broken], lambda: [handles_errors]),
    "return_direct": Case([calls(("final_word", {"city": "Rome"}))], [final_word]),
    "structured output by a tool": Case(
        [calls(RAIN), calls(("Report", {"city": "Rome", "rain": True}))],
        options={"response_format": ToolStrategy(Report)},
    ),
    "structured output, first wrong": Case(
        [calls(("Report", {"city": "Rome"})), calls(("Report", {"city": "Rome", "rain": True}))],
        options={"response_format": ToolStrategy(Report)},
    ),
    "structured output by the provider": Case(
        [calls(RAIN), AIMessage('{"city": "Rome", "rain": true}')],
        options={"response_format": ProviderStrategy(Report)},
    ),
    "state schema": Case(
        [calls(("of_state", {})), DONE], [of_state], given={"user": "ann"}, options={"state_schema": UserState}
    ),
    "a tool that writes the state": Case(
        [calls(("writes_state", {})), calls(("of_state", {})), DONE],
        [writes_state, of_state],
        given={"user": "ann"},
        options={"state_schema": UserState},
    ),
    "context schema": Case(
        [calls(("of_context", {})), DONE],
        [of_context],
        context={"tenant": "acme"},
        options={"context_schema": Tenant},
    ),
    "dynamic prompt": Case(
        [DONE], middleware=lambda: [prompt_of_state], given={"user": "ann"}, options={"state_schema": UserState}
    ),
    "interrupt in a tool": Case([calls(("asks", {"city": "Rome"})), DONE], [asks], resume="rain"),
    "a human approves": Case(
        [calls(RAIN), DONE],
        middleware=lambda: [HumanInTheLoopMiddleware(interrupt_on={"weather": True})],
        resume={"decisions": [{"type": "approve"}]},
    ),
    "a human rejects": Case(
        [calls(RAIN), AIMessage("Then not.")],
        middleware=lambda: [HumanInTheLoopMiddleware(interrupt_on={"weather": True})],
        resume={"decisions": [{"type": "reject", "message": "do not ask"}]},
    ),
    "to-do list": Case([PLAN, calls(RAIN), DONE], middleware=lambda: [TodoListMiddleware()]),
    "fallback": Case(
        [ConnectionError("down")], middleware=lambda: [ModelFallbackMiddleware(ScriptedChatModel([DONE]))]
    ),
    "model call limit": Case(
        [calls(RAIN), calls(RAIN), calls(RAIN), DONE],
        middleware=lambda: [ModelCallLimitMiddleware(run_limit=2, exit_behavior="end")],
    ),
    "tool call limit": Case(
        [calls(RAIN), calls(RAIN), DONE], middleware=lambda: [ToolCallLimitMiddleware(run_limit=1)]
    ),
    "a jump to the end": Case([calls(RAIN), DONE], middleware=lambda: [ends_after_a_tool]),
}


def newest_part(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The newest question and all that followed it."""
    places = [p for p, message in enumerate(messages) if message.type == "human" and not is_summary(message)]
    return list(messages[places[-1] :])


def model_of(case: Case) -> ScriptedChatModel:
    """Says the replies of a case by how often it has answered since the question."""

    def reply(prompt: list[BaseMessage]) -> Any:
        answered = sum(isinstance(message, AIMessage) for message in newest_part(prompt))
        return case.replies[min(answered, len(case.replies) - 1)]

    return ScriptedChatModel(reply)


def said(message: BaseMessage) -> Any:
    """What a message says, without what is drawn by lot."""
    named = [(call["name"], call["args"], call["id"]) for call in getattr(message, "tool_calls", [])]
    return message.type, message.text, named, getattr(message, "status", None), getattr(message, "tool_call_id", None)


def observed(app: Any, case: Case, model: ScriptedChatModel) -> dict[str, Any]:
    """What an agent does with one question, behind a long talk."""
    question = HumanMessage("What is the weather in Rome?", id="the question")
    given = {"messages": [*exchanges(25), question], **case.given}
    state = app.invoke(given, THREAD, context=case.context)
    asked = [found.value for found in state.get("__interrupt__", ())]
    if case.resume is not None:
        assert asked, "a human is asked"
        state = app.invoke(Command(resume=case.resume), THREAD, context=case.context)
    prompts = model.prompts
    assert all(violations(prompt, open_end=False) == [] for prompt in prompts)
    hidden = {"messages", "__interrupt__", "ctxcompress", "llm_input_messages"}
    return {
        "messages": [said(message) for message in newest_part(state["messages"])],
        "state": {key: value for key, value in state.items() if key not in hidden},
        "asked": asked,
        "prompts": [[said(message) for message in newest_part(prompt)] for prompt in prompts],
        "system": [[message.text for message in prompt if message.type == "system"] for prompt in prompts],
        "bound": [[str(getattr(t, "name", t)) for t in options.get("tools") or ()] for options in model.options],
    }


@pytest.mark.parametrize("name", CASES)
def test_an_agent_does_the_same_with_the_middleware(name: str) -> None:
    case = CASES[name]

    def run(*, before: Sequence[Any] = (), behind: Sequence[Any] = ()) -> tuple[dict[str, Any], ScriptedChatModel]:
        model, middleware = model_of(case), [*before, *case.middleware(), *behind]
        saver = InMemorySaver()
        app = create_agent(model, list(case.tools), middleware=middleware, checkpointer=saver, **case.options)
        return observed(app, case, model), model

    plain, _ = run()
    for config in (ROOMY, TIGHT):
        first, model = run(before=[ours(config, background=True)])
        assert first == plain
        last, other = run(behind=[ours(config, background=False)])
        assert last == plain
        for prompts in (model.prompts, other.prompts):
            assert sum(map(is_summary, prompts[-1])) == (config is TIGHT)


def ours(config: PrunerConfig, background: bool) -> CompressionMiddleware:
    compressor = ContextCompressor(ScriptedChatModel("They talked about orders."), config=config)
    return CompressionMiddleware(compressor, background=background)


NOT_PREBUILT = {"fallback", "structured output, first wrong", "a human approves", "a human rejects", "to-do list"}
PREBUILT = [
    name
    for name, case in CASES.items()
    if name not in NOT_PREBUILT and case.middleware is list and "state_schema" not in case.options
]


@pytest.mark.parametrize("mode", ["replace", "view"])
@pytest.mark.parametrize("name", [name for name in PREBUILT if not name.startswith("structured")])
@pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10")
def test_create_react_agent_does_the_same_with_the_hook(name: str, mode: Any) -> None:
    from langgraph.prebuilt import create_react_agent

    case = CASES[name]

    def run(hook: Any) -> tuple[dict[str, Any], ScriptedChatModel]:
        model, saver = model_of(case), InMemorySaver()
        app = create_react_agent(model, list(case.tools), pre_model_hook=hook, checkpointer=saver, **case.options)
        return observed(app, case, model), model

    plain, _ = run(None)
    for config in (ROOMY, TIGHT):
        found, model = run(CompressionNode(ContextCompressor(config=config), mode=mode))
        assert found == plain
        assert sum(map(is_summary, model.prompts[-1])) == (config is TIGHT)


@pytest.mark.parametrize("mode", ["replace", "view"])
@pytest.mark.filterwarnings("ignore::langgraph.warnings.LangGraphDeprecatedSinceV10")
def test_structured_output_of_create_react_agent(mode: Any) -> None:
    """It asks a model for the parts once the talk is over: that request is made from the state, not by the hook."""
    from langchain_core.runnables import RunnableLambda
    from langgraph.prebuilt import create_react_agent

    class Structured(ScriptedChatModel):
        def with_structured_output(self, schema: Any, **options: Any) -> Any:
            return RunnableLambda(lambda messages: Report(city=newest_part(messages)[0].text.split()[-1], rain=True))

    found = []
    for hook in (None, CompressionNode(config=TIGHT, mode=mode)):
        model = Structured(model_of(CASES["tool"]).replies)
        app = create_react_agent(
            model, [weather], pre_model_hook=hook, response_format=Report, checkpointer=InMemorySaver()
        )
        found.append(observed(app, CASES["tool"], model))
    assert found[0] == found[1]
    assert found[0]["state"]["structured_response"] == Report(city="Rome?", rain=True)
