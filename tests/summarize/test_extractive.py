"""The summariser without a model: what holds for any conversation (laws 3, 6; requirements P6, P7)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.summarize.extractive import extract_summary, shorten_summary
from tests.support.conversations import conversations
from tests.support.sizes import text_tokens

LINE = re.compile(
    r"(user quoted|user|system quoted|system|other|assistant called [\w.-]+|assistant|tool [\w.-]+|tool):(?: (.*))?$"
)
BUDGETS = st.integers(0, 400)
TALK = conversations(max_messages=60, surrogates=True, nul=True)

FRAGMENTS = st.sampled_from(
    [
        ". ",
        "! ",
        "? ",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "  ",
        "\t",
        "…",
        " … ",
        "```\n",
        "~~~\n",
        "> ",
        '"',
        "“",
        "”",
        "「",
        "」",
        "<file>",
        "</file>",
        ", ",
        "; ",
        ": ",
        "。",
        "，",
        "- ",
        "\u2028",
        "\x85",
        "\x00",
        "\ud800",
        "👩\u200d👩\u200d👧",
        "user: ",
        "tool x: ",
        "never",
        "Always",
        "order #W12",
        "$4,000",
        "/srv/a.yaml",
        "2024-05-12",
        "不要",
        "預算四千元",
        "нельзя",
        "a" * 300,
    ]
)
ODD_TEXTS = st.one_of(
    st.lists(FRAGMENTS, max_size=40).map("".join), st.text(st.characters(codec=None), max_size=60), st.just("x " * 400)
)
ODD_MESSAGES = st.builds(
    lambda text, kind: kind(text),
    ODD_TEXTS,
    st.sampled_from([HumanMessage, AIMessage, lambda text: ToolMessage(text, tool_call_id="1", name="read_file")]),
)
ODD_TALK = st.lists(ODD_MESSAGES, max_size=8)


def plain(text: str) -> str:
    """The text as a summary may show it: on one line, and a space for what is no character of a text."""
    return " ".join(re.sub(r"[\x00-\x08\x0e-\x1b\x7f\ud800-\udfff]", " ", text).split())


def pieces(text: str) -> list[str]:
    return [piece.strip() for piece in text.split("…") if piece.strip()]


def text_of(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return plain(message.content)
    texts = (block if isinstance(block, str) else block.get("text") for block in message.content)
    return plain("\n".join(text for text in texts if isinstance(text, str)))


def scalars(value: object) -> Iterable[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from scalars(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from scalars(item)
    else:
        yield str(value)


def arguments_of(message: BaseMessage) -> str:
    calls = [*message.tool_calls, *message.invalid_tool_calls] if isinstance(message, AIMessage) else []
    return plain(" ".join(text for call in calls for text in scalars(call["args"])))


def is_users(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) or (isinstance(message, ChatMessage) and message.role in ("user", "human"))


@given(TALK, BUDGETS)
def test_never_over_the_budget_counted_independently(messages, budget):
    assert text_tokens(extract_summary(messages, budget, count=text_tokens)) <= budget
    assert text_tokens(extract_summary(messages, budget)) <= budget


@given(ODD_TALK, BUDGETS)
def test_never_over_the_budget_whatever_the_text_and_the_counter(messages, budget):
    assert len(extract_summary(messages, budget, count=len)) <= budget
    assert text_tokens(extract_summary(messages, budget)) <= budget


@given(TALK, BUDGETS)
def test_the_same_input_gives_the_same_summary_and_is_not_changed(messages, budget):
    before = [message.model_dump() for message in messages]
    assert extract_summary(messages, budget) == extract_summary(messages, budget)
    assert [message.model_dump() for message in messages] == before


@given(st.one_of(TALK, ODD_TALK), BUDGETS, BUDGETS)
def test_a_larger_budget_never_says_less(messages, one, other):
    small, large = (extract_summary(messages, budget, count=text_tokens) for budget in sorted((one, other)))
    for line in small.split("\n"):
        match = LINE.match(line)
        opening = f"{match[1]}:" if match else ""
        for piece in pieces(line.removeprefix(opening)):
            whole = [other for other in large.split("\n") if other.startswith(opening) and piece in other]
            assert whole, (line, large)


@given(TALK, BUDGETS)
def test_every_line_is_the_words_of_whom_it_names(messages, budget):
    texts = {id(message): text_of(message) for message in messages}
    for line in extract_summary(messages, max(budget, 24)).splitlines():
        match = LINE.match(line)
        speaker, said = (match[1], match[2] or "") if match else ("", line)
        if speaker.startswith("assistant called"):
            sources = [arguments_of(message) for message in messages]
            parts = [part for piece in pieces(said) for part in re.split(r"; |=|, |;$", piece) if part]
        else:
            named = [
                m for m in messages if "ctxcompress" in m.additional_kwargs or is_users(m) == speaker.startswith("user")
            ]
            sources = [texts[id(message)] for message in named]
            parts = pieces(said)
        for part in parts:
            assert any(part in source for source in sources), (line, part)


@given(ODD_TALK, BUDGETS)
def test_every_line_of_odd_texts_is_the_words_of_whom_it_names(messages, budget):
    of = {"user": HumanMessage, "user quoted": HumanMessage, "assistant": AIMessage, "tool read_file": ToolMessage}
    for line in extract_summary(messages, max(budget, 24)).splitlines():
        match = LINE.match(line)
        assert match, line
        sources = [text_of(message) for message in messages if isinstance(message, of[match[1]])]
        for piece in pieces(match[2] or ""):
            assert any(piece in source for source in sources), (line, piece)


@given(st.one_of(TALK, ODD_TALK), st.integers(8, 200))
def test_something_is_said_wherever_there_is_text_and_room(messages, budget):
    texts = [text_of(message) for message in messages]
    assert bool(extract_summary(messages, budget).strip()) or not any(texts)


@given(TALK, st.integers(50, 400))
def test_what_was_said_earlier_is_not_said_again(messages, budget):
    earlier = extract_summary(messages, budget)
    said = earlier.splitlines()
    again = extract_summary(messages, budget, earlier=earlier)
    # the one line of a very tight budget may be cut, and then it has not said all
    repeated = [line for line in again.splitlines() if line in said and re.search(r"\d", line) and len(said) > 1]
    assert repeated == []


@given(st.one_of(TALK.map(lambda messages: extract_summary(messages, 400)), ODD_TEXTS), BUDGETS)
def test_a_summary_is_shortened_to_size_and_left_alone_when_it_fits(text, budget):
    short = shorten_summary(text, budget, count=text_tokens)
    assert text_tokens(short) <= budget
    assert shorten_summary(short, budget, count=text_tokens) == short
    if text_tokens(text) <= budget:
        assert short == text
    else:
        source = plain(text)
        for line in short.splitlines():
            match = LINE.match(line)
            for piece in pieces((match[2] or "") if match else line):
                assert piece in source


@given(ODD_TEXTS, BUDGETS, BUDGETS)
def test_a_larger_budget_never_shortens_more(text, one, other):
    small, large = (shorten_summary(text, budget, count=len) for budget in sorted((one, other)))
    for line in small.split("\n"):
        for piece in pieces(line):
            assert plain(piece) in plain(large)
