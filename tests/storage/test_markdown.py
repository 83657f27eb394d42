"""S3: `export_markdown` says everything, and no message can break its structure."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.storage.markdown import fence, inline
from tests.support.conversations import conversations, exchanges

NASTY = st.text(st.sampled_from("`#-*_[]()<>!|\\\n\r\t ~aé\x00\u2028\ud800")) | st.text()


def outline(markdown: str) -> list[str]:
    """The headings that a reader of CommonMark sees: fences hide what is in them."""
    headings, closing = [], ""
    for line in re.split(r"\r\n|\n|\r", markdown):
        ticks = re.match(r" {0,3}(`{3,})\s*$", line)
        if closing:
            closing = "" if ticks and len(ticks[1]) >= len(closing) else closing
        elif opening := re.match(r" {0,3}(`{3,})[^`]*$", line):
            closing = opening[1]
        elif line.startswith("#"):
            headings.append(line)
    assert not closing
    return headings


@given(NASTY, NASTY, NASTY)
def test_no_text_breaks_the_structure(text, name, message_id):
    history = SessionHistory(None, session_id=name)
    call = {"name": name, "args": {"text": text}, "id": message_id or "x"}
    messages = [
        HumanMessage(text, id=message_id or None, name=name),
        AIMessage([{"type": "text", "text": text}, {"type": "image", "url": text}], tool_calls=[call], id="ai"),
        ToolMessage(text, tool_call_id=call["id"], id="tool"),
    ]
    history.append(messages)
    markdown = history.export_markdown()
    headings = outline(markdown)
    assert [re.match(r"#+ (?:\d+\. (\w+))?", h)[1] for h in headings] == [None, None, *(["human", "ai", "tool"])]
    markdown.encode("utf-8")


@given(st.text(st.sampled_from("`\n a#")), st.sampled_from(["text", "json"]))
def test_a_fence_holds_its_text_verbatim(text, language):
    lines = fence(text, language).split("\n")
    assert "\n".join(lines[1:-1]) == text
    assert outline(fence(text, language)) == []


@given(st.text())
def test_a_line_stays_a_line(text):
    assert len(inline(text).splitlines()) <= 1


@given(conversations(max_messages=15, surrogates=True, nul=True))
def test_every_message_is_there(messages):
    history = SessionHistory(None, session_id="s")
    history.append(messages)
    headings = [h for h in outline(history.export_markdown()) if h.startswith("### ")]
    assert len(headings) == len(history.messages())


async def test_checkpoints_and_metadata_are_there():
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_000), session_id="s 1")
    result = compressor.compress(exchanges(40, words=20))
    markdown = compressor.history().export_markdown()
    assert markdown.startswith("# Session s 1\n\n- started ")
    assert f"### {result.checkpoint.checkpoint_id}: level 3" in markdown
    assert f"{result.tokens_before} tokens before, {result.tokens_after} after" in markdown
    assert fence(result.checkpoint.text) in markdown
    assert await compressor.history().aexport_markdown() == markdown


def test_an_empty_session():
    assert outline(SessionHistory(None, session_id="s").export_markdown()) == ["# Session s", "## Messages"]
