"""What is asked for once: its terms stay however it is put, and it is over when it was done, not when promised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.ledger import Ledger, extract_records, merge
from langchain_ctxcompress.ledger.tasks import puts_off
from tests.ledger.talk import said, shown

ASKED = [
    ("Could you knit the pattern sheet into one page, chunky yarn only, and print it on A3?", "chunky yarn only"),
    ("Would you mind typesetting the hymn booklet in a serif face, staves left out?", "staves left out"),
    ("I'd like a poster for the regatta with plenty of white space, portrait format.", "portrait format"),
    ("Kannst du die Speisekarte neu setzen, Beilagen kursiv und jede Seite gerahmt?", "Beilagen kursiv"),
    ("Würden Sie das Gutachten kürzen, den Anhang dabei unangetastet lassen?", "Anhang dabei unangetastet"),
    ("Tu pourrais refaire la brochure du musée, en tutoyant et avec de grandes marges ?", "en tutoyant"),
    ("Pouvez-vous trier les photos du mariage en gardant les doublons flous à part ?", "doublons flous à part"),
    ("¿Puedes traducir el folleto del acuario, dejando los nombres latinos en cursiva?", "nombres latinos en cursiva"),
    ("¿Me preparas el informe del viñedo con los pesos en arrobas y ordenado por finca?", "pesos en arrobas"),
    ("Puoi riscrivere il menù della trattoria, con gli antipasti in fondo e tutto minuscolo?", "tutto minuscolo"),
    ("Você pode montar o cardápio da feira, letras grandes e fundo escuro?", "fundo escuro"),
    ("Kun je de plattegrond van de haven tekenen, legenda onderaan en tinten pastel?", "legenda onderaan"),
    ("Можешь составить программу концерта, крупным шрифтом и только по-французски?", "крупным шрифтом"),
    ("旅行の日程表を作ってもらえますか？移動は船だけで、宿は和室がいいです。", "移動は船だけ"),
    ("你能把茶馆的菜单重新排版吗？字号要大，背景用竹子的图案。", "背景用竹子"),
]
LATER = ["The heron stands in the reeds.", "Und der Reiher?", "La garza duerme.", "Which pond is deeper?"]


def of(asked: str, answer: str = "Certainly.", later: list[str] = LATER) -> list[list[BaseMessage]]:
    """A request with its answer, and what is said afterwards."""
    parts: list[list[BaseMessage]] = [[HumanMessage(asked, id="q"), AIMessage(answer, id="a")]]
    for place, text in enumerate(later):
        parts.append([HumanMessage(text, id=f"h{place}"), AIMessage("Reeds grow by water. " * 20, id=f"r{place}")])
    return parts


def joined(parts: list[list[BaseMessage]]) -> Ledger:
    ledger = Ledger()
    for part in parts:
        ledger = merge(ledger, extract_records(part))
    return ledger


@pytest.mark.parametrize(("asked", "term"), ASKED)
@pytest.mark.parametrize("in_one", [True, False])
def test_a_term_of_what_is_asked_for_stays_verbatim_when_the_user_talks_on(asked: str, term: str, in_one: bool) -> None:
    parts = of(asked)
    ledger = extract_records([message for part in parts for message in part]) if in_one else joined(parts)
    assert term in shown(ledger)


@given(st.sampled_from(ASKED), st.lists(st.sampled_from(ASKED), max_size=12))
def test_terms_stay_among_other_requests_and_when_merged_again(
    first: tuple[str, str], others: list[tuple[str, str]]
) -> None:
    parts = of(first[0], later=[asked for asked, _ in others])
    ledger = joined(parts)
    assert all(term in shown(ledger) for _, term in (first, *others))
    assert merge(ledger, extract_records(parts[0])).requests == ledger.requests


PUT_OFF = [
    (
        "Could you frame the etching of the mill, with a walnut edge and no glass?",
        "I'll get round to it on the weekend.",
    ),
    (
        "Could you frame the etching of the mill, with a walnut edge and no glass?",
        "I haven't begun, the wood is missing.",
    ),
    ("Kannst du das Boot im Hafen streichen, die Reling aber farblos lassen?", "Das mache ich später."),
    ("Peux-tu relier le carnet de bord, dos en cuir et coins ronds ?", "Je vais le faire demain."),
    ("¿Puedes afinar el piano del salón, un tono más bajo y sin ruido?", "Lo haré mañana, voy a buscar la llave."),
    ("Puoi restaurare la cornice del coro, lasciando la doratura opaca?", "Lo farò domani."),
    ("Você pode consertar o relógio da torre, ponteiros pretos e sem sino?", "Vou fazer isso amanhã."),
    ("Можешь покрасить лодку у пристани, борта белые и без полос?", "Сделаю завтра."),
    ("庭の門を塗ってもらえますか？色は緑で、文字は残したままで。", "明日やります。"),
]


@pytest.mark.parametrize(("asked", "answer"), PUT_OFF)
@pytest.mark.parametrize("in_one", [True, False])
def test_a_promise_finishes_nothing(asked: str, answer: str, in_one: bool) -> None:
    parts = of(asked, answer)
    ledger = extract_records([message for part in parts for message in part]) if in_one else joined(parts)
    assert [request.status for request in ledger.requests if request.sources == ("q",)] == ["open"]


def call(place: str, args: dict[str, str], *, failed: bool = False) -> list[BaseMessage]:
    status = "error" if failed else "success"
    return [
        AIMessage("", tool_calls=[{"name": "work", "args": args, "id": place}], id=f"c{place}"),
        ToolMessage("ok", tool_call_id=place, id=f"t{place}", status=status),
    ]


@pytest.mark.parametrize("in_one", [True, False])
def test_what_was_put_off_is_finished_by_the_work_on_it(in_one: bool) -> None:
    parts = of(*PUT_OFF[0])
    work = [
        HumanMessage("Go on.", id="g"),
        *call("1", {"what": "etching of the mill"}),
        AIMessage("Framed it.", id="w"),
    ]
    parts += [work, [HumanMessage("And now?", id="n")]]
    ledger = extract_records([message for part in parts for message in part]) if in_one else joined(parts)
    assert [request.status for request in ledger.requests if request.sources == ("q",)] == ["finished"]


@pytest.mark.parametrize(
    "answer",
    [
        "I have painted the boat.",
        "Das Boot ist gestrichen, die Reling blieb frei.",
        "Le carnet est relié.",
        "Ho finito la cornice.",
        "Framed, 3 nails used.",
        "Here is how it goes: " + "first sand the wood and then let it dry before the next coat goes on, " * 3,
    ],
)
def test_what_says_more_than_when_is_no_promise(answer: str) -> None:
    assert not puts_off(answer)


ONCE = [
    (
        "Ship the crate of lanterns to Odense, keep the label under 40 characters.",
        "The crate of lanterns is on its way.",
    ),
    ("Archive the letters of the abbey, but not the ones in Latin.", "The letters of the abbey are archived."),
    ("Lösche die Entwürfe der Chronik, aber nicht die mit Siegel.", "Die Entwürfe der Chronik sind weg."),
    ("Imprime las etiquetas del molino, sin el sello antiguo.", "Las etiquetas del molino están impresas."),
    ("Archive les plans du phare, mais pas ceux de la cave.", "Les plans du phare sont archivés."),
    ("Stampa le ricette del forno, senza le note a margine.", "Le ricette del forno sono stampate."),
]


@pytest.mark.parametrize(("asked", "answer"), ONCE)
def test_what_was_carried_out_stands_as_finished_and_no_longer_as_a_rule(asked: str, answer: str) -> None:
    work = [HumanMessage(asked, id="q"), *call("1", {"item": "all"}), AIMessage(answer, id="a")]
    text = shown(extract_records([*work, HumanMessage("Thanks, lovely.", id="h"), AIMessage("Welcome.", id="w")]))
    assert asked in text.partition("## Finished, not to be done again\n")[2]
    assert text.count(asked) == 1


@pytest.mark.parametrize(("asked", "answer"), ONCE)
def test_what_failed_is_not_finished_as_carried_out(asked: str, answer: str) -> None:
    work = [HumanMessage(asked, id="q"), *call("1", {"item": "all"}, failed=True), AIMessage("It failed.", id="a")]
    ledger = extract_records([*work, HumanMessage("Hm.", id="h")])
    assert not any(request.carried_out for request in ledger.requests)


@pytest.mark.parametrize(
    "rule",
    [
        "Always ship crates of lanterns insured, never by road.",
        "From now on, every letter of the abbey must be archived twice, once on paper.",
        "Lösche nie Entwürfe der Chronik, auch nicht die ohne Siegel.",
        "Imprime siempre las etiquetas del molino en gris, sin sello.",
        "N'archive jamais les plans du phare, même sur demande.",
    ],
)
def test_a_lasting_rule_stays_one_though_it_was_followed(rule: str) -> None:
    work = [HumanMessage(rule, id="q"), *call("1", {"item": rule}), AIMessage(rule, id="a")]
    ledger = extract_records([*work, HumanMessage("Thanks.", id="h"), AIMessage("Welcome.", id="w")])
    assert rule in shown(ledger).partition("## Rules of the user\n")[2].partition("\n\n")[0]


def test_the_fields_of_a_message_that_is_data_alone_are_kept_under_their_names() -> None:
    ledger = said('{"vessel": "Maren-IV", "berth": {"quay": "north", "bay": 17}, "due": "2031-04-05", "wet": true}')
    values = {record.subject: record.text for record in ledger.values}
    assert values == {"vessel": "Maren-IV", "berth quay": "north", "berth bay": "17", "due": "2031-04-05"}
    assert "vessel: Maren-IV; berth.quay: north; berth.bay: 17; due: 2031-04-05" in shown(ledger)


@pytest.mark.parametrize(
    "text", ["{not json}", "{}", '{"a": [1]}', '{"a": "' + "x" * 90 + '"}', "{" + '"a":{' * 900 + "}" * 901]
)
def test_what_holds_no_short_field_leaves_nothing(text: str) -> None:
    assert said(text).values == ()


def test_a_page_of_data_is_not_remembered() -> None:
    assert said("{" + ", ".join(f'"field{n}": "V-{n}"' for n in range(60)) + "}").values == ()


def test_a_request_does_not_restate_the_value_that_a_later_sentence_changed() -> None:
    asked = "Could you collect the lantern frames at 9:20, wrapped in felt and without the hooks?"
    told = ["The rehearsal is at 14:30.", "The rehearsal is at 16:15 now."]
    ledger = said(asked + " " + told[0], told[1])
    assert "14:30" not in shown(ledger).partition("## Finished")[2]


def test_a_finished_request_that_was_replaced_as_a_whole_is_not_restated() -> None:
    ledger = said("Order 596 tiles for the chapel.", "Order 687 tiles for the chapel instead of 596.", "And the grout?")
    assert "Order 596 tiles" not in shown(ledger)
    assert "687 tiles" in shown(ledger)
