"""Short conversations for the tests of the ledger."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_ctxcompress.ledger import Ledger, extract_records, render


def said(*texts: str, start: int = 0) -> Ledger:
    """The ledger of what a user said, each text a message with an answer behind it."""
    messages: list[BaseMessage] = []
    for index, text in enumerate(texts, start=start):
        messages += [HumanMessage(text, id=f"h{index}"), AIMessage("All right.", id=f"a{index}")]
    return extract_records(messages)


def shown(ledger: Ledger, max_tokens: int = 4_000) -> str:
    """The ledger rendered, a word counted as a token."""
    return render(ledger, max_tokens=max_tokens, count=words)


def words(text: str) -> int:
    return len(text.split())


def statements(ledger: Ledger) -> list[str]:
    """The current sentences of the user."""
    return [record.text for record in (*ledger.rules, *ledger.facts)]
