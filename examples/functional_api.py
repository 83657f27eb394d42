"""LangGraph's functional API: an `@entrypoint` that saves the compressed list for the next call."""

from __future__ import annotations

from typing import Any

from _model import DemoModel, newest_question, summariser
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.graph import session_of


def build(model: BaseChatModel, compressor: ContextCompressor) -> Any:
    """The workflow: compress, answer, save."""

    @task
    def compress(messages: list[BaseMessage], session_id: str) -> list[BaseMessage]:
        return compressor.compress(messages, session_id=session_id, background=True).messages

    @task
    def answer(messages: list[BaseMessage]) -> BaseMessage:
        return model.invoke(messages)

    @entrypoint(checkpointer=InMemorySaver())
    def chat(question: str, *, previous: list[BaseMessage] | None = None, config: RunnableConfig) -> Any:
        messages = [*(previous or []), HumanMessage(question)]
        messages = compress(messages, session_of(config)).result()
        said = answer(messages).result()
        return entrypoint.final(value=[*messages, said], save=[*messages, said])

    return chat


def main() -> None:
    """Chat for a while."""
    # A real one: init_chat_model("openai:gpt-4.1")
    model = DemoModel(reply=lambda prompt: f"To “{newest_question(prompt)[:12]}” I say: " + "it depends. " * 30)
    compressor = ContextCompressor(summariser(), config=PrunerConfig.for_limit(1_500))
    chat = build(model, compressor)
    thread = {"configurable": {"thread_id": "workflow"}}
    for number in range(30):
        kept = chat.invoke(f"Question {number}: what do you think?", thread)
    print(kept[-1].text[:40])
    print(f"{len(compressor.history('workflow').messages())} messages are archived, {len(kept)} are saved")


if __name__ == "__main__":
    main()
