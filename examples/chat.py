"""A chat as a `StateGraph`: a compression node before the model node."""

from __future__ import annotations

from _model import DemoModel, newest_question, summariser
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig


def build(model: BaseChatModel, compressor: ContextCompressor) -> CompiledStateGraph:
    """The graph: compress, then answer."""
    graph = StateGraph(MessagesState)
    graph.add_node("compress", CompressionNode(compressor))
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_edge(START, "compress")
    graph.add_edge("compress", "model")
    graph.add_edge("model", END)
    return graph.compile(checkpointer=InMemorySaver())


def main() -> None:
    """Chat for a while; whatever streams to the user is the model's answers alone."""
    # A real one: init_chat_model("anthropic:claude-sonnet-4-5")
    model = DemoModel(reply=lambda prompt: f"About “{newest_question(prompt)[:24]}”: " + "it is like this. " * 20)
    compressor = ContextCompressor(summariser(), config=PrunerConfig.for_limit(1_500))
    chat = build(model, compressor)
    thread = {"configurable": {"thread_id": "chat"}}
    for number in range(40):
        question = HumanMessage(f"Question {number}: how does it work, and why is it so?")
        for kind, chunk in chat.stream({"messages": [question]}, thread, stream_mode=["messages", "custom"]):
            if kind == "custom" and chunk["kind"] == "applied":
                print(f"[{chunk['tokens_before']} tokens became {chunk['tokens_after']}]")
            elif kind == "messages" and number == 39:
                print(chunk[0].text, end="")
    print(f"\n{len(chat.get_state(thread).values['messages'])} messages are in the context")


if __name__ == "__main__":
    main()
