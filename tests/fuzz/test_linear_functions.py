"""What reads a text that others wrote takes time linear in it: the whole functions, not the expressions alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.ledger import (
    extract_records,
    find_values,
    invented_values,
    parse_goal_markers,
    remove_invented,
    render,
    split_reply,
)
from langchain_ctxcompress.ledger.artifacts import file_changes
from langchain_ctxcompress.ledger.voice import own_lines, sentences
from langchain_ctxcompress.limits.reliability import get_model_size
from langchain_ctxcompress.messages import content_hash
from langchain_ctxcompress.storage import guard_prompt
from langchain_ctxcompress.storage.codec import decode_message, encode_message
from langchain_ctxcompress.strategies.rendering import exchange_ledger, neutral, read_ledger, read_summaries
from langchain_ctxcompress.summarize import extract_summary, judge_reply, transcript
from langchain_ctxcompress.tokens import count_tokens, truncate_to_tokens
from tests.fuzz.patterns import Hard
from tests.fuzz.test_regexes import MOST_GROWTH, growth, seconds

FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "count": count_tokens,
    "truncate": lambda text: truncate_to_tokens(text, 1_000),
    "own_lines": own_lines,
    "sentences": sentences,
    "values": lambda text: list(find_values(text)),
    "records of a user's message": lambda text: render(
        extract_records([HumanMessage(text, id="a")]), max_tokens=2_000, count=count_tokens
    ),
    "records of a tool's result": lambda text: extract_records(
        [AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}]), ToolMessage(text, tool_call_id="1")]
    ),
    "file changes of a command": lambda text: list(file_changes("bash", {"command": text})),
    "file changes of a patch": lambda text: list(file_changes("apply_patch", {"patch": text})),
    "goal markers": parse_goal_markers,
    "proposals": split_reply,
    "reply": lambda text: judge_reply(AIMessage(text)),
    "extract": lambda text: extract_summary([HumanMessage(text, id="a")], 300),
    "transcript": lambda text: transcript([HumanMessage(text)]),
    "invented": lambda text: invented_values(text, ["a 1 b 22"]),
    "without invented": lambda text: remove_invented(text, ["42.17", "/etc/passwd"]),
    "guard": lambda text: guard_prompt([HumanMessage(text)]),
    "summary message": lambda text: (
        neutral(text),
        read_ledger(text),
        read_summaries(text),
        exchange_ledger(text, "x"),
    ),
    "codec": lambda text: decode_message(encode_message(HumanMessage(text, id="a")), record="r"),
    "hash": lambda text: content_hash(HumanMessage(text)),
    "model name": get_model_size,
}

# fmt: off
UNITS = (
    "a", " ", "\n", "0", ".", "-", "<", "[", '"', "`", "(", "\x00", "\ud800", "中", "a ", "a. ", "1 ", "1.",
    "1,", "ü", "/", "=", "x=1 ", "sudo ", "A=1 ", "'", "\\", "<a>", "</a>", "<a ", "> a\n", "```\n", "- a\n",
    "--- ", "From: a\n", "\u200b", "\u202e", "[RULE] a\n", "[CHECKPOINT] a - ", "<ledger>\n",
    '<summary id="a">\n', "<user_words>\n", "<think>", "Never use 1. ", "Always keep /a/b 12:30 on 3 May. ",
    "决定，", "14 May ", "a@", "a.b/", "$1", "+1-22", "#1", "cat <<EOF\n", "; rm a", "> a ", "| ", "\u2028", "\r",
    "é", "\U0001f600", "ctxcompress_record: ", '"kind": ',
)
# fmt: on

TEXTS = [Hard("", unit) for unit in UNITS]


def worst(run: Callable[[str], None]) -> list[Hard]:
    timed = [(seconds(run, hard.text(300), 1), place, hard) for place, hard in enumerate(TEXTS)]
    return [hard for *_, hard in sorted(timed, reverse=True)[:3]]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_is_linear(name: str) -> None:
    run = FUNCTIONS[name]
    for hard in worst(run):
        ratio, _ = growth(run, hard, 1_500)
        assert ratio < MOST_GROWTH, f"{name} on {hard}"


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_time_is_linear_up_to_a_megabyte(name: str) -> None:
    run = FUNCTIONS[name]
    for hard in TEXTS:
        for size in (2_000, 16_000):
            ratio, _ = growth(run, hard, size)
            assert ratio < MOST_GROWTH, f"{name} on {hard}"
    for hard in worst(run)[:2]:
        ratio, took = growth(run, hard, 250_000)
        assert ratio < MOST_GROWTH, f"{name} on {hard}"
        print(f"{name}: {1_000 * took:.0f} ms for 1 MB of {hard.unit!r}")
