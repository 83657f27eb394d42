"""A wish in a polite frame is an instruction where it is meant to last, and none where it is for this moment (G5)."""

from __future__ import annotations

import pytest

from tests.ledger.talk import said

LASTING = [
    "Might I ask that the older clients be addressed with their titles?",
    "I'd be grateful if nothing got scheduled over lunch.",
    "I would appreciate it if quotes came with the delivery time.",
    "Could you possibly always start with the bad news?",
    "Would you from now on leave the VAT out of the quotes?",
    "I must insist that drafts be numbered.",
    "Könntest du künftig die Quellen dazuschreiben?",
    "Es wäre schön, wenn Mails kürzer wären.",
    "Te agradecería que pusieras los totales al final.",
    "Pourrais-tu toujours commencer par la conclusion ?",
]
PASSING = [
    "I'd appreciate it if you could check my order.",
    "It would be nice if this arrived today.",
    "Would it be possible to get a refund?",
    "Could you tell me where my parcel is?",
    "I'd like to get one that's less bright.",
    "Könntest du mir die Rechnung schicken?",
]


@pytest.mark.parametrize("text", LASTING)
def test_g5_a_lasting_wish_is_a_rule(text: str) -> None:
    assert [rule.text for rule in said(text).rules] == [text]


@pytest.mark.parametrize("text", PASSING)
def test_a_wish_for_this_moment_is_no_rule(text: str) -> None:
    assert said(text).rules == ()


@pytest.mark.parametrize("text", ["मैं शाकाहारी हूँ।", "मुझे मूंगफली से एलर्जी है।", "हर रिपोर्ट के अंत में तारीख लिखा करो।"])
def test_g5_words_with_vowel_signs_are_whole_words(text: str) -> None:
    assert text in [record.text for record in said(text).records()]
