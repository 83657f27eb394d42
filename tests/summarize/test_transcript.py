"""P6: everything is shown to the summariser, whole or in parts that fit; of long tool results the ends, where asked."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig
from langchain_ctxcompress.messages import Boundaries, extract_text_content, repair_messages
from langchain_ctxcompress.summarize import Transcript, split_transcript, transcript
from langchain_ctxcompress.summarize.transcript import render_message
from langchain_ctxcompress.tokens import count_tokens
from tests.support.conversations import agent_run, conversations, exchanges
from tests.support.legality import is_summary
from tests.support.models import ScriptedChatModel
from tests.support.sizes import text_tokens


def unseen(messages: list[BaseMessage], shown: str) -> list[str]:
    """What of the messages the text does not hold."""
    wanted: list[str] = []
    for message in messages:
        wanted.append(extract_text_content(message).strip())
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                wanted += [call["name"], json.dumps(call["args"], ensure_ascii=False)]
            for broken in message.invalid_tool_calls:
                wanted += [broken["name"] or "", broken["args"] or ""]
        if isinstance(message, ToolMessage) and (message.name or extract_text_content(message).strip()):
            wanted.append(message.name or "" if extract_text_content(message).strip() else "")
    return [text for text in wanted if text not in shown]


@given(conversations(surrogates=True, nul=True))
def test_every_text_every_argument_and_every_tool_s_name_is_shown(messages: list[BaseMessage]) -> None:
    assert unseen(messages, transcript(messages)) == []


def test_who_speaks_is_shown() -> None:
    messages = [
        SystemMessage("be brief"),
        HumanMessage("find it"),
        AIMessage("I look", tool_calls=[{"name": "grep", "args": {"q": "ä"}, "id": "c"}]),
        ToolMessage("found", tool_call_id="c", name="grep"),
        ToolMessage("found too", tool_call_id="d"),
        ChatMessage("aside", role="critic"),
        HumanMessage([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "data:,x"}}]),
        AIMessage(""),
    ]
    assert transcript(messages).split("\n\n") == [
        "[system] be brief",
        "[user] find it",
        '[assistant] I look\n[assistant calls grep] {"q": "ä"}',
        "[tool grep] found",
        "[tool] found too",
        "[note] aside",
        "[user] see\n[user shows an image]",
    ]


def test_malformed_calls_are_shown() -> None:
    broken = {"name": "grep", "args": '{"q": ', "id": "c", "error": "cut off", "type": "invalid_tool_call"}
    assert transcript([AIMessage("", invalid_tool_calls=[broken])]) == '[assistant calls grep, malformed] {"q": '


@settings(max_examples=50)
@given(conversations(surrogates=True, max_messages=60), st.integers(30, 2_000))
def test_parts_are_within_the_size_and_together_hold_everything(messages: list[BaseMessage], size: int) -> None:
    messages = repair_messages(messages).messages
    parts = split_transcript(messages, size, count_tokens)
    assert all(parts)
    assert [part for part in parts if text_tokens(part) > size] == []
    spans = (transcript(messages[start:end]) for start, end in Boundaries(messages).spans)
    assert "".join(parts).replace("\n\n", "") == "".join(spans).replace("\n\n", ""), "in order, nothing left out"


def test_parts_are_cut_at_legal_boundaries() -> None:
    run = agent_run(30, words=30, parallel=2)
    parts = split_transcript(run, 600, count_tokens)
    assert len(parts) > 3
    assert not any(part.startswith("[tool") for part in parts), "no result without its call"


def test_without_a_size_it_is_one_part() -> None:
    messages = exchanges(50)
    assert split_transcript(messages, None, count_tokens) == [transcript(messages)]
    assert split_transcript([], None, count_tokens) == split_transcript([AIMessage("")], 100, count_tokens) == []


@pytest.mark.parametrize(
    "text",
    ["word " * 20_000, "漢字" * 5_000, "a" * 40_000, "x" + " " * 90_000 + "x", "👩‍👩‍👧" * 2_000, "\ud800" * 5_000],
)
def test_one_giant_message_is_cut_in_pieces_and_all_pieces_are_there(text: str) -> None:
    messages = [HumanMessage("before"), HumanMessage(text), HumanMessage("after")]
    parts = split_transcript(messages, 300, count_tokens)
    assert "".join(parts[1:-1]) == transcript(messages[1:2])
    assert [part for part in parts if text_tokens(part) > 300] == []
    assert "before" in parts[0]
    assert "after" in parts[-1]


@pytest.mark.timeout(60)
def test_a_result_of_megabytes_is_cut_in_linear_time() -> None:
    lines = "\n".join(f"{number}: row of data" for number in range(300_000))
    parts = split_transcript([HumanMessage(lines)], 1_000, count_tokens)
    assert "".join(parts) == f"[user] {lines}"


LONG = st.text('ab \n"é漢', min_size=700, max_size=1_500)


@settings(max_examples=25)
@given(LONG)
def test_of_a_long_result_the_beginning_and_the_end_are_shown_and_how_much_is_left_out(text: str) -> None:
    result = ToolMessage(f"<{text}>", tool_call_id="c", name="read")
    shown = transcript([result], shortened=True)
    body = shown.removeprefix("[tool read] ")
    head, _, rest = body.partition("\n[… ")
    left_out, _, tail = rest.partition(" characters left out …]\n")
    whole = extract_text_content(result)
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head) + int(left_out) + len(tail) == len(whole)
    assert len(shown) < 700
    assert whole in transcript([result]), "what is checked afterwards, and what is recalled, is the whole"


def test_only_results_and_arguments_are_shortened() -> None:
    long = "word " * 1_000
    said = [HumanMessage(long), AIMessage(long), SystemMessage(long)]
    assert transcript(said, shortened=True) == transcript(said)
    call = {"name": "write", "args": {"text": long}, "id": "c"}
    assert len(transcript([AIMessage("", tool_calls=[call])], shortened=True)) < 800
    assert transcript(agent_run(5, words=20), shortened=True) == transcript(agent_run(5, words=20))


@pytest.mark.parametrize("reply", ["The order was looked up: #W7000003.", "They looked things up."])
def test_the_summariser_is_shown_less_and_exact_values_of_the_rest_are_kept(reply: str) -> None:
    messages: list[BaseMessage] = [HumanMessage("Look the order up.", id="task")]
    for number in range(12):
        filler = "nothing to see here. " * 60
        args = {"order_id": "#W7000003"} if number == 4 else {"n": number}
        messages.append(AIMessage("", tool_calls=[{"name": "look", "args": args, "id": f"c{number}"}], id=f"a{number}"))
        found = f"{filler} the order id is #W7000003 {filler}" if number == 3 else filler
        messages.append(ToolMessage(found, tool_call_id=f"c{number}", name="look", id=f"t{number}"))
    model = ScriptedChatModel(reply)
    config = PrunerConfig(soft_limit_tokens=2_000, hard_limit_tokens=8_000, rungs=("middle-out",))
    result = ContextCompressor(model, config=config).compress(messages)
    assert model.calls == 1
    shown = model.prompts[0][-1].text
    assert shown.count("#W7000003") == 1, "in the call, not in the middle of the long result"
    summary = next(message.text for message in result.messages if is_summary(message))
    assert "#W7000003" in summary, "a value in play is kept by the ledger, whatever the model was shown and says"
    assert not result.checkpoint.flagged


@settings(max_examples=60)
@given(conversations(max_messages=30, surrogates=True, nul=True))
def test_a_transcript_renders_each_message_as_it_is_alone(messages: list[BaseMessage]) -> None:
    told = Transcript(messages)
    assert told.shortened == [render_message(message, shortened=True) for message in messages]
    assert told.whole == [render_message(message) for message in messages]
    assert told.parts(None, count_tokens) == [text for text in (transcript(messages, shortened=True),) if text]


label = st.sampled_from(
    ["[", "\\[", "user]", "Assistant]", "tool x]", "systematic]", "note", " ", "\n", "\r", "\u2028", "a"]
)


@given(st.lists(label, max_size=12).map("".join))
def test_no_line_of_what_is_said_begins_as_a_speaker_does(text: str) -> None:
    shown = render_message(HumanMessage(text)).removeprefix("[user] ")
    for line in re.split(r"[\n\r\u2028]", shown):
        assert not re.match(r"\s*\[(user|assistant|system|tool|note)\b", line, re.IGNORECASE), shown
    assert shown.replace("\\[", "[") == text.strip().replace("\\[", "["), "nothing else is changed"
