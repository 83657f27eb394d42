"""A chain that answers from documents (RAG), with a history that stays small."""

from __future__ import annotations

from collections.abc import Sequence

from _model import DemoModel, summariser
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnablePassthrough

from langchain_ctxcompress import CompressedChatMessageHistory, ContextCompressor, PrunerConfig

DOCUMENTS = [
    Document("Refunds are paid within 14 days, to the card that was used."),
    Document("Parcels travel from the warehouse in Utrecht; the label names the carrier."),
    Document("Accounts are closed on request, and their data are deleted after 30 days."),
]


class ListHistory(BaseChatMessageHistory):
    """The inner history, which keeps every message: a list here; a file, SQL, Redis, … in real life."""

    def __init__(self) -> None:
        self.messages: list[BaseMessage] = []

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        self.messages += messages

    def clear(self) -> None:
        self.messages.clear()


def retrieve(asked: dict[str, str]) -> str:
    """The document that shares the most words with the question; a vector store in real life."""
    wanted = set(asked["question"].lower().split())
    return max(DOCUMENTS, key=lambda document: len(wanted & set(document.page_content.lower().split()))).page_content


def build(model: BaseChatModel, history: CompressedChatMessageHistory) -> Runnable:
    """The chain: what was found, what was said, and the question."""
    prompt = ChatPromptTemplate.from_messages(
        [
            ("system", "Answer from this alone: {found}"),
            MessagesPlaceholder("history"),
            ("human", "{question}"),
        ]
    )
    return RunnablePassthrough.assign(found=retrieve, history=lambda _asked: history.messages) | prompt | model


def main() -> None:
    """Ask many questions; the found text is used once, and is not kept in the history."""
    # A real one: init_chat_model("openai:gpt-4.1")
    model = DemoModel(reply=lambda prompt: f"Our text says: {prompt[0].text.partition(': ')[2]} " * 4)
    originals = ListHistory()
    compressor = ContextCompressor(summariser(), config=PrunerConfig.for_limit(1_200))  # the history's own tokens
    history = CompressedChatMessageHistory(originals, compressor, session_id="customer-7")
    chain = build(model, history)
    topics = ["how refunds are paid", "where parcels travel from", "when accounts are closed"]
    for number in range(30):
        question = f"Question {number}: please tell me once more {topics[number % 3]}"
        answer = chain.invoke({"question": question})
        history.add_messages([HumanMessage(question), answer])
    print("The last answer:", answer.text[:75])
    print(f"{len(originals.messages)} messages are kept, {len(history.messages)} are sent")


if __name__ == "__main__":
    main()
