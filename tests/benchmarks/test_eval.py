"""The evaluation judges by text alone: what it plants is there, what is gone is lost, and chance is the seed's."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from benchmarks.bill_contestants import AtTrigger, Economic, ExactLangMem, Nothing, Prefix, ShippedMiddleware
from benchmarks.eval.items import KINDS, SETS, Item
from benchmarks.eval.judging import Reading, judge
from benchmarks.eval.sessions import Session, build_session
from benchmarks.eval.summariser import LossySummariser
from benchmarks.replay_bill import BEGINS, ENDS, Bill, replay, steps, table, write_into
from tests.support.legality import violations
from tests.support.sizes import independent_tokens


def session(seed: int = 0, phrasings: str = "open") -> Session:
    return build_session(seed, phrasings, tokens=4_000, count=lambda message: independent_tokens([message]))


@pytest.mark.parametrize("phrasings", SETS)
def test_every_item_of_a_session_is_found_in_the_whole_of_it(phrasings: str) -> None:
    built = session(3, phrasings)
    verdicts = judge(built.items, built.messages, frozenset(), lambda _: ())
    assert [verdict for verdict in verdicts if verdict.place != "context"] == []
    assert {item.kind for item in built.items} == set(KINDS)
    assert violations(list(built.messages)) == []


def test_a_seed_builds_one_session_and_another_seed_another() -> None:
    assert session(1) == session(1)
    assert session(1).items != session(2).items


def test_what_is_gone_is_lost_or_found_by_a_search() -> None:
    item = Item("value", ("The gate opens with KX-1.",), ("gate", "KX-1"))
    apart: list[BaseMessage] = [HumanMessage("The gate is green.\nKX-1 is a code.")]
    assert judge([item], apart, frozenset(), lambda _: ())[0].place == "lost"
    assert judge([item], apart, frozenset(), lambda _: ["the GATE opens with kx-1"])[0].place == "search"
    assert judge([item], [AIMessage("the GATE opens with kx-1")], frozenset(), lambda _: ())[0].place == "context"


def test_an_old_value_is_restated_only_where_the_new_one_is_not_beside_it() -> None:
    item = Item("update", ("", ""), ("rent", "$500"), ("rent", "$400"))
    assert Reading(["The rent is $400."]).restates(item)
    assert not Reading(["The rent is $400. → The rent rose to $500."]).restates(item)
    assert not Reading(["The rent is [changed]."]).restates(item)


def test_the_summariser_loses_most_and_invents_nothing() -> None:
    built = session()
    model = LossySummariser(seed=1)
    model.learn(built.messages)
    said = "\n".join(message.text for message in built.messages)
    reply = model.invoke(said).text
    assert 0 < independent_tokens([AIMessage(reply)]) < 400
    assert [line for line in reply.split("\n") if line not in said] == []
    again = LossySummariser(seed=1)
    again.learn(built.messages)
    assert again.invoke(said).text == reply


def test_a_bill_without_compression_pays_for_each_token_once_and_for_the_prefix_from_the_cache() -> None:
    built = session()
    bill = replay(built.messages, Nothing, 10)
    sent = [list(incoming) for incoming, _ in steps(built.messages)]
    assert sum(map(len, sent)) <= len(built.messages)
    assert bill.steps == len(sent)
    assert bill.rounds == bill.calls == 0
    assert bill.cached > bill.uncached
    one, two = Bill("", uncached=10, cached=100, output=2), Bill("", uncached=11, cached=100, output=2)
    assert (one.units, two.units) == (30.0, 31.0)
    assert all(first != second for first, second in pairwise((one, two)))


def test_the_parts_of_a_bill_are_the_bill_and_the_summariser_s_cache_is_counted() -> None:
    built = session()
    bills = {kind.name: replay(built.messages, kind, 2_000) for kind in (Nothing, AtTrigger, Prefix, Economic)}
    for bill in bills.values():
        assert sum(bill.parts.values()) == pytest.approx(bill.units)
        assert bill.parts["rewritten input"] >= 0
        assert bill.new == bills["no compression"].new == bills["no compression"].uncached
    default, prefix = bills["langchain-ctxcompress"], bills["langchain-ctxcompress, prefix"]
    assert default.calls > 0
    assert prefix.calls > 0
    assert default.summariser_cached == 0
    assert prefix.summariser_cached > 0
    assert prefix.parts["summariser reads"] / prefix.calls < default.parts["summariser reads"] / default.calls


def test_a_table_has_the_ratios_to_the_best_peers_and_goes_between_the_marks_of_a_page(tmp_path: Path) -> None:
    bills = [Bill(ExactLangMem.name, uncached=200), Bill(ShippedMiddleware.name, uncached=400), Bill("x", uncached=100)]
    text = table(bills)
    assert text.splitlines()[-1].startswith("| x | 0 | 0.25 | 0.50 |")
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGINS}\nold\n{ENDS}\nbehind\n")
    write_into(page, text)
    assert page.read_text() == f"before\n{BEGINS}\n{text}\n{ENDS}\nbehind\n"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="no place"):
        write_into(page, text)
