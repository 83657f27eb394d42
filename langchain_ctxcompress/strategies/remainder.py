"""What is left of a list that loses more and more messages, and whether every provider takes it so."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, pairwise

from langchain_ctxcompress.messages import calls_of, kind_of
from langchain_ctxcompress.strategies.base import CompressionRequest


class Remainder:
    """The messages that are left, system messages apart. Dropping one costs the same however long the list is (D6).

    Args:
        request: The list; nothing of it is gone yet.
    """

    def __init__(self, request: CompressionRequest) -> None:
        self._messages = request.messages
        self._human_first = request.begins_with_human
        self._kinds = [kind_of(message) for message in request.messages]
        places = [place for place, kind in enumerate(self._kinds) if kind != "system"]
        self._end = len(request.messages)
        self._first = places[0] if places else self._end
        self._next = dict(pairwise((*places, self._end)))
        self._previous = {after: place for place, after in self._next.items()}
        self._humans = _humans_before(request)
        self._astray: set[int] = set()

    def drop(self, places: Iterable[int]) -> None:
        """Take messages away; those that are gone, and system messages, are passed over."""
        for place in places:
            if place not in self._next:
                continue
            after, before = self._next.pop(place), self._previous.pop(place, None)
            self._astray.discard(place)
            if before is None:
                self._first = after
                self._previous.pop(after, None)
            else:
                self._next[before], self._previous[after] = after, before
            if self._is_astray(after):
                self._astray.add(after)
            else:
                self._astray.discard(after)

    @property
    def is_sound(self) -> bool:
        """Whether it begins with a human message, where the list has to, and no call came to follow the model's words.

        Anthropic and Gemini refuse a list that begins with the model's words; Gemini takes a call only right behind a
        human message or results. What the list itself had is left as it is.
        """
        begins = self._first == self._end or not self._human_first or self._kinds[self._first] == "human"
        return begins and not self._astray

    def _is_astray(self, place: int) -> bool:
        """Whether a call directly follows the model's words, and a human message that is gone had parted them."""
        before = self._previous.get(place)
        if before is None or place == self._end or self._kinds[before] != "ai":
            return False
        return self._humans[place] > self._humans[before] and bool(calls_of(self._messages[place]))


def _humans_before(request: CompressionRequest) -> list[int]:
    """How many human messages stood before each message in the list as it was given, before any rung took some away.

    A message that a rung made has the count of the one that it stands behind.
    """
    given = request.given or request.messages
    humans = accumulate((kind_of(message) == "human" for message in given), initial=0)
    counts = dict(zip((message.id for message in given), humans, strict=False))
    found: list[int] = []
    for message in request.messages:
        found.append(counts.get(message.id, found[-1] if found else 0))
    return found
