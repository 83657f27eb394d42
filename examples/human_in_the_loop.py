"""A human in the loop: the agent waits for approval, and goes on where it was, in a list that was compressed."""

from __future__ import annotations

from _model import DemoModel, call, newest_question, since_question, summariser
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langchain_ctxcompress import CompressionMiddleware, ContextCompressor, PrunerConfig


@tool
def refund(order: str) -> str:
    """Pay an order back."""
    return f"The money for {order} was sent back. " + "The customer was told by mail. " * 10


def reply(prompt: list[BaseMessage]) -> AIMessage:
    """What the agent does: it asks for a refund, then says what came of it."""
    if not since_question(prompt):
        order = newest_question(prompt).rpartition(" ")[2]
        return call("refund", f"refund-{order}", order=order)
    return AIMessage(f"Done: {prompt[-1].text[:60]}")


def main() -> None:
    """Every third refund is refused by the human."""
    model = DemoModel(reply=reply)  # a real one: init_chat_model("openai:gpt-4.1")
    compressor = ContextCompressor(summariser(), config=PrunerConfig.for_limit(2_000))
    agent = create_agent(
        model,
        [refund],
        middleware=[CompressionMiddleware(compressor), HumanInTheLoopMiddleware(interrupt_on={"refund": True})],
        checkpointer=InMemorySaver(),
    )
    thread = {"configurable": {"thread_id": "refunds"}}
    for number in range(20):
        asked = HumanMessage(f"The customer waits. Please pay back order A-{number}")
        waiting = agent.invoke({"messages": [asked]}, thread)
        action = waiting["__interrupt__"][0].value["action_requests"][0]
        decision = {"type": "reject", "message": "Not this one."} if number % 3 == 2 else {"type": "approve"}
        state = agent.invoke(Command(resume={"decisions": [decision]}), thread)
    print(f"The last that was asked for: {action['name']} of {action['args']['order']}")
    print(state["messages"][-1].text)
    print(f"{len(compressor.history('refunds').messages())} messages are archived, {len(state['messages'])} are kept")


if __name__ == "__main__":
    main()
