"""Whether something fits, and what to do next (requirements P9, S1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress import ContextWindow, ConversationTurn, PrunerConfig, ValidationResult, pin
from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.limits import NextAction, Reducible, Suggestion, suggest_actions, validate_size
from langchain_ctxcompress.tokens import MessageCounter
from tests.support.conversations import exchanges

counts = st.integers(0, 10**6)
reducibles = st.builds(
    Reducible,
    candidates=counts,
    checkpoints=st.lists(st.integers(0, 10_000), max_size=12).map(tuple),
    largest_message=counts,
    older=counts,
)


class TestValid:
    @given(counts, counts)
    def test_s1_the_numbers(self, tokens: int, limit: int) -> None:
        result = validate_size(tokens, limit)
        assert (result.valid, result.tokens, result.limit) == (tokens <= limit, tokens, limit)
        assert result.overage == max(0, tokens - limit)
        assert str(tokens) in result.message
        assert str(limit) in result.message
        assert result.suggestions == ()

    @pytest.mark.parametrize(("tokens", "valid"), [(99, True), (100, True), (101, False)])
    def test_at_the_limit_it_is_valid(self, tokens: int, valid: bool) -> None:
        assert validate_size(tokens, 100).valid is valid

    @given(counts, counts, reducibles)
    def test_p9_nothing_is_suggested_where_it_is_valid(self, tokens: int, limit: int, parts: Reducible) -> None:
        result = validate_size(tokens, limit, parts)
        assert not (result.valid and result.suggestions)

    @pytest.mark.parametrize(("tokens", "limit", "name"), [(-1, 5, "tokens"), (5, -1, "limit")])
    def test_negative_numbers_are_refused_by_name(self, tokens: int, limit: int, name: str) -> None:
        with pytest.raises(ConfigError, match=f"{name} is -1"):
            validate_size(tokens, limit)

    def test_five_fields_are_enough(self) -> None:
        assert ValidationResult(True, 1, 2, 0, "fits").suggestions == ()

    def test_the_message_says_what_to_do(self) -> None:
        result = validate_size(1_500, 1_000, Reducible(older=900))
        assert result.message == "1500 tokens are 500 over the limit of 1000: roll over to free about 900"


class TestSuggestions:
    @given(reducibles, st.integers(1, 10**6))
    def test_p9_each_frees_something_and_comes_once(self, parts: Reducible, overage: int) -> None:
        suggestions = suggest_actions(parts, overage)
        assert all(suggestion.frees > 0 for suggestion in suggestions)
        assert len({suggestion.action for suggestion in suggestions}) == len(suggestions)

    @given(reducibles, st.integers(1, 10**6))
    def test_p9_what_is_enough_comes_first_and_the_gentlest_of_it(self, parts: Reducible, overage: int) -> None:
        suggestions = suggest_actions(parts, overage)
        enough = [s for s in suggestions if s.frees >= overage]
        rest = [s for s in suggestions if s.frees < overage]
        assert list(suggestions) == enough + rest
        gentle = list(NextAction)
        assert [s.action for s in enough] == sorted((s.action for s in enough), key=gentle.index)
        assert [s.frees for s in rest] == sorted((s.frees for s in rest), reverse=True)

    @given(reducibles, st.integers(1, 10**6))
    def test_p9_none_frees_more_than_there_is(self, parts: Reducible, overage: int) -> None:
        most = {
            NextAction.COMPRESS: parts.candidates,
            NextAction.MERGE: sum(parts.checkpoints),
            NextAction.TRUNCATE: min(parts.largest_message, overage),
            NextAction.ROLL_OVER: parts.older,
        }
        assert all(suggestion.frees <= most[suggestion.action] for suggestion in suggest_actions(parts, overage))

    def test_p9_all_four(self) -> None:
        parts = Reducible(candidates=8_000, checkpoints=(400, 400, 300), largest_message=700, older=10_000)
        assert suggest_actions(parts, 600) == (
            Suggestion(NextAction.COMPRESS, 7_500),
            Suggestion(NextAction.MERGE, 1_000),
            Suggestion(NextAction.TRUNCATE, 600),
            Suggestion(NextAction.ROLL_OVER, 10_000),
        )
        assert [s.action.value for s in suggest_actions(parts, 9_000)] == ["roll_over", "compress", "merge", "truncate"]

    def test_too_little_for_a_summary_or_a_merge(self) -> None:
        assert suggest_actions(Reducible(candidates=500, checkpoints=(900, 900), largest_message=48), 10) == ()

    def test_a_long_source_gets_a_longer_summary(self) -> None:
        assert suggest_actions(Reducible(candidates=100_000), 1)[0].frees == 95_000


class TestReducible:
    def test_of_a_window(self) -> None:
        messages = exchanges(10)
        window = ContextWindow.of(messages, MessageCounter())
        sizes = [turn.token_count for turn in window.turns]
        parts = Reducible.of(window, PrunerConfig(), checkpoints=[10, 20], largest_message=30)
        assert parts == Reducible(sum(sizes[1:5]), (10, 20), 30, sum(sizes[:5]))

    def test_pinned_turns_are_left_out(self) -> None:
        messages = exchanges(10)
        messages[4] = pin(messages[4])
        window = ContextWindow.of(messages, MessageCounter())
        sizes = [turn.token_count for turn in window.turns]
        parts = Reducible.of(window, PrunerConfig())
        assert parts.candidates == sizes[1] + sizes[3] + sizes[4]
        assert parts.older == sizes[0] + parts.candidates

    def test_five_turns_leave_nothing(self) -> None:
        window = ContextWindow([ConversationTurn(index=i, token_count=100) for i in range(5)])
        assert Reducible.of(window, PrunerConfig()) == Reducible()
