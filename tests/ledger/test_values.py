"""Exact values in text (G5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.ledger import extract_records, find_values, render


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("order #W2905754.", "id", "#W2905754"),
        ("user mia_li_3668,", "id", "mia_li_3668"),
        ("it costs $4,200!", "amount", "$4,200"),
        ("4.200,50 €", "amount", "4.200,50 €"),
        ("900 euros", "amount", "900 euros"),
        ("a share of 35%", "percent", "35%"),
        ("on 2025-05-14", "date", "2025-05-14"),
        ("by 14 May 2025", "date", "14 May 2025"),
        ("on May 14th", "date", "May 14th"),
        ("am 14. Mai", "date", "14. Mai"),
        ("el 3 de junio", "date", "3 de junio"),
        ("on Fridays", "date", "Fridays"),
        ("截止5月14日。", "date", "5月14日"),
        ("at 5 pm", "time", "5 pm"),
        ("um 17:30", "time", "17:30"),
        ("in /etc/hosts", "path", "/etc/hosts"),
        ("open src/app/main.py", "path", "src/app/main.py"),
        ("see `setup.cfg`", "path", "setup.cfg"),
        ("https://x.example/a?b=1,", "url", "https://x.example/a?b=1"),
        ("mail ana.b@x.example", "email", "ana.b@x.example"),
        ("on branch feature/login", "branch", "feature/login"),
        ("branch release/2.4", "branch", "release/2.4"),
        ("version 2.9.0", "version", "2.9.0"),
        ("commit 9fceb02d0ae5", "hash", "9fceb02d0ae5"),
        ("error 502", "error", "502"),
        ("call +1 555 123 2002", "phone", "+1 555 123 2002"),
        ("555-123-2002", "phone", "555-123-2002"),
        ("to 12 Oak Street", "address", "12 Oak Street"),
        ("host 10.0.0.3", "host", "10.0.0.3"),
        ("badge 44817", "number", "44817"),
    ],
)
def test_g5_values_are_found_with_their_kind(text: str, kind: str, value: str) -> None:
    assert (kind, value) in [(found.kind, found.value) for found in find_values(text)]


@pytest.mark.parametrize(
    "text",
    [
        "and/or",
        "e.g. this",
        "I'd say so.",
        "well-known",
        "15-inch",
        "may I",
        "U.S.",
        "it's fine...",
        "P.S. hi",
        "J.R.R. T",
    ],
)
def test_plain_words_are_no_values(text: str) -> None:
    assert list(find_values(text)) == []


@given(st.text(max_size=200))
def test_places_point_at_the_value_in_order(text: str) -> None:
    end = 0
    for found in find_values(text):
        assert found.start >= end
        assert text[found.start : found.end].startswith(found.value)
        end = found.end


ROWS = "".join(f"row {row}: status ok, latency within range, no action needed; " for row in range(200))


@pytest.mark.parametrize(
    "value", ["dpl-9f3e77ab", "RE-2024-00871", "$4,318.60", "/srv/jobs/7741/out.log", "ops@birch.example"]
)
@pytest.mark.parametrize("after", [ROWS, ROWS * 4])
def test_a_value_in_the_middle_of_a_long_result_is_kept_once_the_answer_takes_it_up(value: str, after: str) -> None:
    call = AIMessage("", tool_calls=[{"name": "look_up", "args": {}, "id": "c1"}], id="call")
    result = ToolMessage(f"{ROWS} the failing one is {value} in zone two; {after}", tool_call_id="c1", id="result")
    asked = HumanMessage("Which one fails?", id="asked")
    ledger = extract_records([asked, call, result, AIMessage(f"The failing one is {value} here.", id="answer")])
    kept = [record for record in ledger.values if record.text == value]
    assert [set(record.sources) for record in kept] == [{"result", "answer"}]
    assert value in render(ledger, max_tokens=60, count=lambda text: len(text.split()))


def test_a_value_that_nobody_takes_up_is_left_to_the_search() -> None:
    call = AIMessage("", tool_calls=[{"name": "look_up", "args": {}, "id": "c1"}], id="call")
    result = ToolMessage(f"{ROWS} the failing one is dpl-9f3e77ab; {ROWS}", tool_call_id="c1", id="result")
    ledger = extract_records([HumanMessage("Which?"), call, result, AIMessage("One of them fails.", id="answer")])
    assert [record.text for record in ledger.values] == []


def test_a_value_of_an_answer_is_kept_also_where_its_result_was_cleared_before() -> None:
    call = AIMessage("", tool_calls=[{"name": "look_up", "args": {}, "id": "c1"}], id="call")
    mark = {"ctxcompress": {"kind": "cleared"}}
    result = ToolMessage("[cleared: look_up() gave 900 tokens]", tool_call_id="c1", id="r", additional_kwargs=mark)
    said = [HumanMessage("Which?", id="h"), call, result, AIMessage("It is dpl-9f3e77ab here.", id="answer")]
    ledger = extract_records(said)
    assert "dpl-9f3e77ab" in render(ledger, max_tokens=60, count=lambda text: len(text.split()))
    assert [record.sources for record in ledger.values] == [("answer",)]
