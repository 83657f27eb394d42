"""The user's own lines and sentences."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.ledger.voice import _is_labelled_rule, own_lines, sentences, split_sentences


@given(st.text(max_size=400))
def test_own_lines_are_lines_of_the_message(text: str) -> None:
    for line in own_lines(text):
        assert line in text or "<" in text


@given(st.text(max_size=400))
def test_sentences_are_bounded(text: str) -> None:
    assert all(0 < len(sentence.text) <= 600 for sentence in sentences(text))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("It costs 4.50. Fine!", ["It costs 4.50.", "Fine!"]),
        ("See app.py. Then stop.", ["See app.py.", "Then stop."]),
        ("Ask Dr. Vos e.g. today. Ok?", ["Ask Dr. Vos e.g. today.", "Ok?"]),
        ("Bis zum 14. Mai. Gut.", ["Bis zum 14. Mai.", "Gut."]),
        ("请用中文。谢谢！", ["请用中文。", "谢谢！"]),
        ("One; two", ["One; two"]),
        (f"{'one ' * 14}; {'two ' * 14}", [f"{'one ' * 14};", ("two " * 14).strip()]),
        ('She wrote "Stop it." Then she left.', ['She wrote "Stop it."', "Then she left."]),
        ("We live in the UK. Never ring Bo. Tell Ben.", ["We live in the UK.", "Never ring Bo.", "Tell Ben."]),
        ("pls dont ring me. also no fish. thx", ["pls dont ring me.", "also no fish.", "thx"]),
        ("Be here at 6 a.m. The gate is shut.", ["Be here at 6 a.m.", "The gate is shut."]),
        ("It costs 40. We pay 30.", ["It costs 40.", "We pay 30."]),
        ("That is all.###DONE### Our van has two seats.", ["That is all.", "###DONE### Our van has two seats."]),
    ],
)
def test_sentences_end_at_their_marks_only(text: str, parts: list[str]) -> None:
    assert list(split_sentences(text)) == parts


ONE_SENTENCE = [
    "Address every letter to 'M. Adeyemi'.",
    "Her stage name is 'Ms. Thunder', keep it from Leo.",
    "Compare Eq. 7 with Tab. 2.1 in vol. 4 first.",
    "The D.C. branch opens at 7 a.m. Pacific.",
    "Never reply to 'Who? Me!' jokes from Lars.",
    "The notes are in D:\\Home\\J. Lind\\minutes.docx",
    "Type `run. Now.` into the box.",
    "Bitte nie vor 8.15 Uhr bei Hr. Dr. Amsel klingeln.",
    "Die Abholung ist am 3. Nov. gegen 7 Uhr an Tor Nr. 5.",
    "Frau Dr. Lenz wohnt in der Ahornstr. 12, Whg. 3.",
    "Llame siempre al Sr. Ibarra o a la Dra. Vidal en la Av. Norte.",
    "Ne jamais citer le « Dr. Noir. Acte II » devant M. Roux.",
    "Scriva al Dott. Ferri e all'Ing. Costa entro le 9.",
    "Skicka fakturan till J. K. Lund på adr. 14.",
    "Пишите г. Орлову и проф. Лапину до 5 мая.",
    "看板には「触るな。危険。」と書いてください。",
    "Ana buys bread; Marek, the cheese; Ilse, wine.",
    "(See p. 8. It is short.) and the annex.",
]


@pytest.mark.parametrize("text", ONE_SENTENCE)
def test_a_sentence_is_not_cut_within(text: str) -> None:
    assert list(split_sentences(text)) == [text]
    assert list(split_sentences(f"Good morning everybody. {text}")) == ["Good morning everybody.", text]


@given(st.lists(st.sampled_from([*"\"'`([)].!?;…。「」 «»", "a", "B", "Dr", "no", "3", " "]), max_size=80).map("".join))
def test_no_sign_is_lost_between_two_sentences(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_text_after_a_paste_is_the_users_again() -> None:
    assert [line for line in own_lines("```\nx\n```\nNever do it.") if line.strip()] == ["Never do it."]
    assert [line for line in own_lines("<a>\nx\n</a>\nNever do it.") if line.strip()] == ["Never do it."]
    assert [line for line in own_lines("> x\n\nNever do it.") if line.strip()] == ["Never do it."]


def test_marks_of_other_programs_do_not_swallow_what_follows() -> None:
    assert "Never do it." in own_lines("###STOP###\n\nNever do it.")


def test_a_very_long_message_is_read_at_both_ends() -> None:
    text = "First this.\n" + "x" * 100_000 + "\nLast that."
    assert next(iter(sentences(text))).text == "First this."
    assert [sentence.text for sentence in sentences(text)][-1] == "Last that."


LABELLED_RULE = re.compile(r"\s*(?:[-=_#~+<>]{3,}\s*\S[^\n]{0,80}?\s*[-=_#~+<>]{3,}|[<>=]{4,}[^\n]{0,80})\s*$")
"""What a labelled rule is; as an expression it takes time cubic in its line."""

PARTS = st.sampled_from(["-", "--", "===", "<", ">>>>", " ", "  ", "a", "log", "x" * 40, "x" * 79])


@given(st.lists(PARTS, max_size=12).map("".join))
def test_a_labelled_rule_is_what_its_expression_says(line: str) -> None:
    assert _is_labelled_rule(line) == (LABELLED_RULE.match(line) is not None)
