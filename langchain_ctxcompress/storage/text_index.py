"""Messages as texts for the store's own semantic search, where it has an index."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import StorageError
from langchain_ctxcompress.storage.keys import SessionKeys, encode_label
from langchain_ctxcompress.storage.records import SCHEMA_VERSION
from langchain_ctxcompress.storage.search import searchable_text
from langchain_ctxcompress.storage.steps import StoreSteps

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore, Op

logger = logging.getLogger(__name__)

MOST_CHARS = 8_000
"""Characters of a message that are embedded: embedding models read some 8,000 tokens, and a character can be one."""


class TextIndex:
    """Puts the texts of messages where the store embeds them, and searches them.

    It is an aid: an embedding that fails costs the search its meaning, and never an append.

    Args:
        store: The store.
        keys: Where the session lies.
    """

    def __init__(self, store: BaseStore, keys: SessionKeys) -> None:
        # Every store of LangGraph that can embed says so here. Without an index `search(query=…)` ignores the query.
        self.available = bool(getattr(store, "index_config", None))
        self._keys = keys

    def put(self, messages: Sequence[BaseMessage]) -> StoreSteps[None]:
        """Put the texts that are not there yet; each costs an embedding."""
        from langgraph.store.base import GetOp, PutOp

        if not self.available:
            return
        texts = {message.id or "": text for message in messages if (text := _text(message))}
        try:
            found = yield [GetOp(self._keys.texts, encode_label(message_id)) for message_id in texts]
            known = {i for i, item in zip(texts, found, strict=True) if item and item.value.get("text") == texts[i]}
            puts: list[Op] = [
                PutOp(
                    self._keys.texts,
                    encode_label(message_id),
                    {"schema_version": SCHEMA_VERSION, "message_id": json.dumps(message_id), "text": text},
                    index=["text"],
                )
                for message_id, text in texts.items()
                if message_id not in known
            ]
            if puts:
                yield puts
        except StorageError as error:
            logger.warning("messages are archived but not indexed, so a search finds them by words only: %s", error)

    def search(self, query: str, limit: int) -> StoreSteps[list[str]]:
        """The ids of the messages that are nearest to `query`, nearest first; none where there is no index."""
        from langgraph.store.base import SearchOp

        if not self.available or not query.strip() or limit < 1:
            return []
        try:
            items = (yield [SearchOp(self._keys.texts, query=_storable(query), limit=limit)])[0]
        except StorageError as error:
            logger.warning("the index cannot be searched; words are compared instead: %s", error)
            return []
        return [json.loads(item.value["message_id"]) for item in items]


def _text(message: BaseMessage) -> str:
    return _storable(searchable_text(message)).strip()[:MOST_CHARS]


def _storable(text: str) -> str:
    """The text without what backends refuse: NUL and lone surrogates."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
