"""An agent with tools, made by `create_agent`: one middleware keeps its prompts small however long it works."""

from __future__ import annotations

from _model import DemoModel, call, since_question, summariser
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxcompress import CompressionMiddleware, ContextCompressor, PrunerConfig
from langchain_ctxcompress.graph import create_recall_tool

ORDERS = 12


@tool
def look_up(order: str) -> str:
    """Look an order up, with all that is known of it."""
    return f"Order {order}: paid by card, " + "on its way from the warehouse to the customer; " * 8


def reply(prompt: list[BaseMessage]) -> AIMessage:
    """What the agent does: it looks up one order after the other, then reports."""
    done = sum(isinstance(message, AIMessage) for message in since_question(prompt))
    if done < 3:
        return call("look_up", f"call-{done}", order=f"A-{done}")
    return AIMessage("All three orders are on their way.")


def main() -> None:
    """Ask for many orders in one thread, and say how the list shrank."""
    model = DemoModel(reply=reply)  # a real one: init_chat_model("openai:gpt-4.1")
    compressor = ContextCompressor(
        summariser(),  # a real one: init_chat_model("openai:gpt-4.1-mini")
        config=PrunerConfig.for_limit(2_500),  # tokens; without it, the limits follow the agent's model
    )
    agent = create_agent(
        model,
        [look_up, create_recall_tool(compressor)],  # the agent may fetch back what was compressed
        system_prompt="You look after orders.",
        middleware=[CompressionMiddleware(compressor)],
        checkpointer=InMemorySaver(),
    )
    thread = {"configurable": {"thread_id": "orders"}}
    for number in range(ORDERS):
        asked = HumanMessage(f"Where are the orders of customer {number}?", id=f"question-{number}")
        state = agent.invoke({"messages": [asked]}, thread)
    archive = compressor.history("orders")
    print(f"{len(archive.messages())} messages are archived, {len(state['messages'])} are in the agent's context")
    print("The first question, from the archive:", compressor.expand_message("question-0", session_id="orders").text)


if __name__ == "__main__":
    main()
