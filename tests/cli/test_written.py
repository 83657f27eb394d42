"""Whatever is compressed and written can be read again, is legal, and is as large as was said (laws 1 and 3)."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage, messages_to_dict
from langchain_core.messages.utils import convert_to_openai_messages

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.conversations import Conversation, Place
from langchain_ctxcompress.errors import ConversationFileError
from langchain_ctxcompress.messages import repair_messages
from langchain_ctxcompress.strategies import strategy_names
from langchain_ctxcompress.tokens import MessageCounter
from tests.support.conversations import conversations
from tests.support.legality import violations


@given(
    conversations(),
    st.sampled_from([messages_to_dict, convert_to_openai_messages]),
    st.sampled_from([30, 100, 400]),
    st.sampled_from(strategy_names()),
)
def test_what_is_written_is_a_conversation(messages: list[BaseMessage], dump: Any, limit: int, strategy: str) -> None:
    raw = json.loads(json.dumps(dump(repair_messages(messages).messages)))
    try:
        conversation = Conversation.read(raw, Place("in.jsonl", 1))
    except ConversationFileError as error:
        # LangChain's own conversion to OpenAI's format drops the calls whose arguments are no JSON.
        assert dump is convert_to_openai_messages
        assert "answers call" in str(error)
        return
    given_ = conversation.with_ids("s")
    result = ContextCompressor(config=PrunerConfig.for_limit(limit), strategy=strategy).compress(given_, session_id="s")
    written = json.loads(json.dumps(conversation.written(result.messages, given_, {})))
    back = Conversation.read(written, Place("out.jsonl", 1)).messages
    assert violations(back) == []
    assert [message.type for message in back] == [message.type for message in result.messages]
    count = MessageCounter()
    for before, after in zip(result.messages, back, strict=True):
        seams = 0 if isinstance(before.content, str) else len(before.content)  # blocks of text may become one text
        assert sum(count([after])) <= sum(count([before])) + 2 * seams
