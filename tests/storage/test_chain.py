"""Chains of checkpoints: what several of them stand for."""

from __future__ import annotations

from langchain_ctxcompress.storage import CheckpointChain, View, summary_message
from tests.storage.test_view import ids, record
from tests.support.conversations import exchanges


class TestChains:
    def setup_method(self) -> None:
        self.full = exchanges(12)
        self.first = record(self.full, 2, 8)
        self.second = record(self.full, 8, 14, number=2, previous=self.first)
        self.third = record(self.full, 14, 18, number=3, previous=self.second)
        self.chain = CheckpointChain([self.first, self.second, self.third])

    def test_the_newest_covers_what_all_of_them_replaced(self) -> None:
        view = self.chain.apply(self.full)
        assert view.messages == [*self.full[:2], summary_message(self.third), *self.full[18:]]
        assert view.head == self.third
        assert view.returned == tuple(self.full[2:18])

    def test_a_list_from_between_two_compressions_stands_on_the_older_one(self) -> None:
        messages = [*self.full[:2], summary_message(self.first), *self.full[8:]]
        view = self.chain.apply(messages)
        assert view == View(messages, self.first)

    def test_a_whole_list_from_between_two_compressions(self) -> None:
        view = self.chain.apply(self.full[:10])
        assert view.head == self.first
        assert view.messages == [*self.full[:2], summary_message(self.first), *self.full[8:10]]

    def test_a_branch_made_from_the_first_is_no_part_of_the_other(self) -> None:
        way = [*self.full[:10], *exchanges(3, start=50)]
        branch = record(way, 8, 12, number=4, previous=self.first)
        chain = self.chain.with_records([branch])
        here = [*way[:2], summary_message(branch), *way[12:]]
        assert chain.apply([*here, *self.full[10:12]]).messages == [*here, *self.full[10:12]]
        assert chain.apply([*here[:2], *way[2:4], *here[2:]]).messages == here

    def test_what_a_chain_covers_in_order(self) -> None:
        covered = self.chain.reach(self.third).covered
        assert list(covered) == ids(self.full[2:18])
        assert list(self.chain.reach(self.first).covered) == ids(self.full[2:8])
        assert self.chain.reach(self.third).covered == covered, "asked for again after another head"

    def test_a_circle_ends(self) -> None:
        looped = self.first.model_copy(update={"previous": "c2"})
        chain = CheckpointChain([looped, self.second])
        assert set(chain.reach(self.second).covered) == set(ids(self.full[2:14]))

    def test_a_link_that_is_missing_costs_only_what_it_covered(self) -> None:
        chain = CheckpointChain([self.first, self.third])
        assert set(chain.reach(self.third).covered) == set(ids(self.full[14:18]))

    def test_shown_texts(self) -> None:
        assert self.chain.shown(self.third) == (self.first, self.second, self.third)
        assert CheckpointChain([self.third]).shown(self.third) == (self.third,)
        assert self.chain.shown(None) == ()

    def test_numbers(self) -> None:
        assert CheckpointChain().next_number == 1
        assert self.chain.next_number == 4

    def test_further_checkpoints(self) -> None:
        chain = CheckpointChain([self.first])
        longer = chain.with_records([self.first, self.second])
        assert longer.records == (self.first, self.second)
        assert chain.records == (self.first,)


class TestWhatOneCovers:
    def test_itself(self) -> None:
        only = record(exchanges(5), 2, 6)
        assert CheckpointChain([only]).covered_by("c1") == only.covered
        assert CheckpointChain([only]).covered_by("never") is None

    def test_and_what_was_merged_into_it(self) -> None:
        full = exchanges(10)
        parts = [record(full, 2 * n, 2 * n + 2, number=n + 1) for n in range(3)]
        merged = record(full, 6, 8, number=4, merged=("c1", "c2", "c3", "lost"))
        covered = CheckpointChain([*parts, merged]).covered_by("c4")
        assert list(covered or {}) == ids(full[:8])

    def test_one_that_only_shortened_the_summary_stands_for_the_one_before(self) -> None:
        full = exchanges(5)
        first = record(full, 2, 6)
        shorter = record(full, 2, 6, number=2, covered={}, previous=first)
        assert CheckpointChain([first, shorter]).covered_by("c2") == first.covered

    def test_thousands_of_levels_deep(self) -> None:
        full = exchanges(1)
        records = [record(full, 0, 2, number=1)]
        for number in range(2, 3_000):
            records.append(record(full, 0, 1, number=number, covered={}, merged=(f"c{number - 1}",)))
        assert list(CheckpointChain(records).covered_by("c2999") or {}) == ids(full)

    def test_a_circle_ends(self) -> None:
        full = exchanges(2)
        one = record(full, 0, 2, number=1, merged=("c2",))
        two = record(full, 2, 4, number=2, merged=("c1",))
        assert set(CheckpointChain([one, two]).covered_by("c1") or {}) == set(ids(full))
