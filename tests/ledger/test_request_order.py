"""What is asked, answered, complained about and finished: told message by message, whatever comes in between."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_ctxcompress.ledger.answers import LedgerDraft
from langchain_ctxcompress.ledger.records import Request

Told = tuple[str, bool]
moves = st.lists(st.sampled_from(["ask", "answer", "goes on", "complains"]), max_size=30)


def by_looking_at_all(played: list[str]) -> tuple[list[Told], str]:
    """The same by the words of it: status and whether it is answered, of each request; all are looked at each time."""
    requests: list[list[object]] = []
    before = ""
    for move in played:
        if move == "ask":
            requests.append(["open", False])
        elif move == "answer":
            for request in requests:
                request[1] = request[1] if request[0] == "finished" else True
            before = "redone" if before == "undone" else before or "answered"
        else:
            answered = [place for place, request in enumerate(requests) if request[1]]
            for place, request in enumerate(requests):
                if request == ["open", True]:
                    undone = move == "complains" and place == answered[-1]
                    requests[place] = ["open", False] if undone else ["finished", True]
            if before in {"answered", "redone"}:
                before = "undone" if move == "complains" and not answered else "finished"
    return [(str(status), bool(answered)) for status, answered in requests], before


@settings(max_examples=200)
@given(moves)
def test_a_request_is_open_until_it_was_answered_and_the_user_went_on(played: list[str]) -> None:
    draft = LedgerDraft()
    for place, move in enumerate(played):
        if move == "ask":
            draft.ask(Request(text=f"request {place}", order=place))
        elif move == "answer":
            draft.answer()
        else:
            draft.go_on(complains=move == "complains")
    told = [(request.status, request.answered) for request in draft.requests]
    assert (told, draft.asked_before) == by_looking_at_all(played)


def test_a_message_looks_at_no_request_that_is_finished() -> None:
    draft = LedgerDraft()
    for place in range(50):
        draft.ask(Request(text=f"request {place}", order=place))
        draft.answer()
        done = list(draft.requests[:place])
        draft.go_on(complains=False)
        assert all(now is before for now, before in zip(draft.requests, done, strict=False))
        assert (draft.waiting, draft.replied) == ([], [])
