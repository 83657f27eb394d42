"""Who the user is and what holds for them is kept, in whatever form it is put; small talk of that form is not (G5)."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxcompress.ledger import Ledger, extract_records
from langchain_ctxcompress.ledger.records import Fact
from langchain_ctxcompress.ledger.statements import judge
from langchain_ctxcompress.ledger.traits import is_trait
from langchain_ctxcompress.ledger.voice import Sentence
from tests.ledger.talk import said, shown, statements

ALWAYS = [
    "Under no circumstances do you share my address.",
    "On no account may the supplier hear of this.",
    "Auf gar keinen Fall darf der Vermieter davon erfahren.",
    "Bajo ningún concepto compartas mi número.",
    "In nessun caso devi contattare il proprietario.",
    "Em hipótese alguma apague os backups.",
    "En aucun cas il ne faut prévenir le syndic.",
    "無論如何都不要刪除備份。",
    "Leave the tests untouched.",
    "Whatever you do, leave the header alone.",
    "Treat the attached list as confidential.",
    "Hands off the production cluster.",
    "Keep the logo as it is in the draft.",
    "We moved everything last year, so stop suggesting the old provider.",
    "Arrête de me proposer des hôtels sans ascenseur.",
    "Перестань предлагать мне ночные рейсы.",
    "Deja de sugerirme vuelos con escala.",
    "Prices are to be quoted net of VAT.",
    "In this project snake_case is mandatory.",
    "The only acceptable payment is a bank transfer.",
    "Peanuts are off the table for the buffet.",
    "As a rule, round up.",
]
TRAITS = [
    "I'm vegan.",
    "I'm colour-blind.",
    "I have celiac disease.",
    "I am deaf in my left ear.",
    "Keep in mind that I am deaf in my left ear.",
    "My husband uses a wheelchair.",
    "Mi hija es celíaca.",
    "Ich bin Diabetikerin.",
    "Je suis daltonien.",
    "我对海鲜过敏。",
    "저는 채식주의자예요.",
    "I'm on blood thinners, just so you have it.",
    "I only see with my right eye.",
    "I read better in dark mode.",
    "I carry an EpiPen because of wasps.",
    "I take lithium.",
    "My youngest stutters and hates phone calls.",
    "Mi padre lleva audífonos y no oye bien.",
    "Ma grand-mère marche avec une canne.",
    "Mein Schwiegervater hört schlecht.",
    "ابني مصاب بالربو.",
    "मेरी माँ सीढ़ियाँ नहीं चढ़ सकतीं।",
    "मैं शाकाहारी हूँ।",
    "我奶奶有糖尿病。",
    "Spicy food is my happy place.",
    "A seat by the aisle is what makes trains bearable for me.",
]
PASSING = [
    "I'm ready.",
    "I'm not sure.",
    "I'm looking at the page.",
    "I have a question.",
    "I am here.",
    "I'm done with that one.",
    "Estoy listo.",
    "Keep it.",
    "Keep the red one.",
    "Stop that.",
    "At no point did I see the screen.",
    "No problem.",
]
MOMENTS = [
    *PASSING[:7],
    "I believe there is some confusion.",
    "I don't have the order number at hand.",
    "I'm not travelling this week.",
    "Ich bin bereit.",
    "I'm on the second page.",
    "I need the number of the order.",
    "I see two different prices there.",
    "The order is important to me.",
    "My order comes with two parcels.",
]
TALK = [
    "Can you look at the second page of the report?",
    "Which of the two shelves is the cheaper one?",
    "What does the weather look like over there?",
    "Please send me the list of the rooms.",
]


@pytest.mark.parametrize("text", ALWAYS)
def test_g5_it_is_a_rule_without_a_word_of_it(text: str) -> None:
    assert [rule.text for rule in said(text).rules] == [text]


@pytest.mark.parametrize("text", TRAITS)
def test_g5_what_holds_for_the_user_outlasts_small_talk(text: str) -> None:
    ledger = said(*TALK, text, *TALK)
    assert text in statements(ledger)
    assert all(part in shown(ledger, 40) for part in text.split())


@pytest.mark.parametrize("text", TRAITS)
def test_g5_it_weighs_as_much_where_its_topic_is_common(text: str) -> None:
    assert judge(Sentence(text, text, "", bullet=False), novelty=0.2).weight > 0.3


@pytest.mark.parametrize("text", MOMENTS)
def test_how_one_is_just_now_is_no_trait(text: str) -> None:
    assert not is_trait(text)


@pytest.mark.parametrize("text", PASSING)
def test_what_is_so_for_a_moment_is_no_rule(text: str) -> None:
    assert said(text).rules == ()


TOLD = [
    ("The feature flag for it is called ff_checkout_v3_eu.", "ff_checkout_v3_eu"),
    ("The order number for the supplier is PO-2291-X.", "PO-2291-X"),
    ("The budget of the conference is 6,200 euros.", "6,200 euros"),
    ("La referencia del expediente es 88-KD-4410.", "88-KD-4410"),
    ("Policy reference for the boat: MRN-88213-Q.", "MRN-88213-Q"),
]


@pytest.mark.parametrize(("text", "value"), TOLD)
def test_g5_a_value_the_user_told_is_a_statement_also_where_its_topic_is_common(text: str, value: str) -> None:
    """Everybody speaks of the budget: that makes what it is no small talk."""
    topic = text.replace(value, "")
    around = [HumanMessage(f"What about {topic}?"), AIMessage(f"I see: {topic}")]
    messages = [*around * 3, HumanMessage(text, id="told"), AIMessage(f"Noted: {topic}"), *around * 3]
    kept = [fact for fact in extract_records(messages).facts if fact.text == text]
    assert [fact.slots for fact in kept] == [(value,)]
    assert kept[0].weight >= 0.3


def test_g5_a_value_the_user_told_outlasts_what_else_is_as_likely_and_newer() -> None:
    told = Fact(
        text="The vault code is QX-5521-B.", order=0, weight=0.3, key=("code",), slots=("QX-5521-B",), definite=True
    )
    talk = [Fact(text=f"Room {n} looked fine.", order=n, weight=0.3, key=(f"look{n}",)) for n in range(1, 9)]
    for room in range(15, 40):  # words: from the heading and one line on
        assert told.text in shown(Ledger(facts=(told, *talk)), room)


def test_a_value_is_listed_where_the_statement_with_it_is_not() -> None:
    long = "It was raining when we walked past the old mill and somebody there mentioned the code KX-4471-B."
    ledger = said(long)
    room = 12
    assert "KX-4471-B" in shown(ledger, room)
    assert long.strip() not in shown(ledger, room)


@pytest.mark.parametrize("text", ["Please remember.", "Por favor.", "Please, please!", "Bitte."])
def test_a_courtesy_without_an_object_is_no_request(text: str) -> None:
    assert said(text).requests == ()


@pytest.mark.parametrize(
    ("text", "passing"),
    [("Dates go day first in everything you write.", "Dates go day first in the thing you write.")],
)
def test_what_is_said_of_all_that_the_agent_does_weighs_more(text: str, passing: str) -> None:
    weights = [judge(Sentence(each, each, "", bullet=False), novelty=0.7).weight for each in (text, passing)]
    assert weights[0] > 1.5 * weights[1]


@pytest.mark.parametrize(
    ("leaning", "own"),
    [
        ("I'd love to get this sorted quickly.", "I'd love to get the cellar sorted quickly."),
        ("Please handle it somehow.", "Please handle the ferret somehow."),
        ("Eso me parece extraño.", "La puerta me parece extraño."),
    ],
)
def test_what_only_points_at_what_was_just_said_weighs_less(leaning: str, own: str) -> None:
    first, second = (judge(Sentence(text, text, "", bullet=False), novelty=1.0) for text in (leaning, own))
    assert first.weight < second.weight / 2
