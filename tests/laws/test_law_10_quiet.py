"""Law 10: quiet. The summariser's call says of itself that it is internal; the doors' own tests look at the streams."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage
from langgraph.constants import TAG_NOSTREAM

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from tests.support.conversations import exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel


class Tags(BaseCallbackHandler):
    """Notes the tags and the name of each model call."""

    def __init__(self) -> None:
        self.seen: list[list[str]] = []
        self.names: list[str | None] = []
        self.sources: list[object] = []

    def on_chat_model_start(self, *args: Any, tags: list[str] | None = None, **kwargs: Any) -> None:
        self.seen.append(tags or [])
        self.names.append(kwargs.get("name"))
        self.sources.append((kwargs.get("metadata") or {}).get("lc_source"))


def test_the_summariser_s_call_carries_the_tag_that_keeps_it_out_of_streams() -> None:
    tags = Tags()
    model = ScriptedChatModel("a summary", callbacks=[tags])
    ContextCompressor(model, config=PrunerConfig.for_limit(1_200)).compress(exchanges(30))
    assert len(tags.seen) == 1
    assert TAG_NOSTREAM in tags.seen[0]
    assert "ctxcompress" in tags.seen[0]
    assert tags.names == ["ctxcompress_summarise"]  # what a trace shows it as
    assert tags.sources == ["summarization"]  # as of LangChain's own


async def test_the_same_async() -> None:
    tags = Tags()
    model = ScriptedChatModel("a summary", callbacks=[tags])
    await ContextCompressor(model, config=PrunerConfig.for_limit(1_200)).acompress(exchanges(30))
    assert [TAG_NOSTREAM in seen for seen in tags.seen] == [True]


def test_the_summary_bears_the_id_of_the_first_message_it_replaces() -> None:
    """An update by a reused id is what `stream_mode="messages"` does not emit (field-notes: update by reused id)."""
    messages = exchanges(30)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_200))
    result = compressor.compress(messages)
    place = next(index for index, message in enumerate(result.messages) if is_summary(message))
    kept = {message.id for message in result.messages if not is_summary(message)}
    first = next(message.id for message in messages if message.id not in kept)
    assert result.messages[place].id == first
    assert isinstance(result.messages[place], HumanMessage)
    mark = result.messages[place].additional_kwargs["ctxcompress"]
    assert set(mark) == {
        "kind",
        "schema_version",
        "session_id",
        "checkpoint_ids",
        "first_id",
        "last_id",
        "count",
    }
    assert (mark["first_id"], mark["count"]) == (first, len(messages) - len(kept))
