"""Branches of a session: lists that share their beginning, as a thread has them that was run again from an older point.

Each entry of the log says what the message followed in the list that it was archived from. So the log is a tree, a
branch is the way from its last message back to the beginning, and nothing is written beside the messages themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.errors import ConfigError
from langchain_ctxcompress.messages import content_hash, is_summary, original_hash, summary_mark
from langchain_ctxcompress.storage.entries import Entry, Said

BEGINNING: Said = ("", "")
"""What the first message of a list follows."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through a session.

    Attributes:
        last_id: Its last message; `history.messages(branch=last_id)` gives all of it.
        forked_after: The last message that it shares with another branch; `""` where it shares none.
        messages: How many messages it has, the shared ones too.
        updated_at: When its last message was archived.
        content: Hash of what its last message says: an edited message ends a branch under the same id.
    """

    last_id: str
    forked_after: str
    messages: int
    updated_at: datetime
    content: str = ""


def followed(messages: Sequence[BaseMessage], before: Said | None) -> list[Said | None]:
    """What each message of a list follows.

    Args:
        messages: The list, summary messages and shortened ones in their places.
        before: What the first one follows.
    """
    result: list[Said | None] = []
    for message in messages:
        result.append(before)
        if is_summary(message):
            last = (summary_mark(message) or {}).get("last_id")
            before = (str(last), "") if last else before
        else:
            before = (message.id or "", original_hash(message))
    return result


def said(message: BaseMessage) -> Said:
    """A message's place in a branch."""
    return message.id or "", content_hash(message)


class BranchTree:
    """The branches that a log holds.

    Args:
        entries: Every revision of every message, oldest first. Revisions that say the same are one message here.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._newest: dict[Said, Entry] = {}
        self._of_id: dict[str, list[Said]] = {}
        self._parent: dict[Said, Said] = {}
        before = BEGINNING
        for entry in entries:
            place = entry.said
            if place not in self._newest:
                self._parent[place] = self._found(entry.parent, before)
                self._of_id.setdefault(entry.message_id, []).append(place)
                before = place
            self._newest[place] = entry

    def _found(self, parent: Said | None, before: Said) -> Said:
        if parent is None:
            return before
        if parent == BEGINNING or parent in self._newest:
            return parent
        known = self._of_id.get(parent[0])
        return known[-1] if known else before

    def branches(self) -> list[Branch]:
        """Every branch, the newest first."""
        children: dict[Said, int] = {}
        for parent in self._parent.values():
            children[parent] = children.get(parent, 0) + 1
        found: list[Branch] = []
        for place, entry in self._newest.items():
            if place not in children:
                way = self._way(place)
                forked = next((p for p in reversed(way[:-1]) if children[p] > 1), BEGINNING)
                written = datetime.fromtimestamp(entry.order / 1e9, UTC)
                found.append(Branch(entry.message_id, forked[0], len(way), written, entry.content))
        return sorted(found, key=lambda branch: branch.updated_at, reverse=True)

    def entries(self, branch: Branch | str) -> list[Entry]:
        """The entries of a branch, or of the part of one that ends with a message.

        Raises:
            ConfigError: No message of that id is archived.
        """
        last_id, content = (branch.last_id, branch.content) if isinstance(branch, Branch) else (branch, "")
        known = self._of_id.get(last_id)
        if not known:
            msg = f"branch is {last_id!r}: no message of that id is archived in this session"
            raise ConfigError(msg)
        place = (last_id, content)
        way = self._way(place if place in self._newest else known[-1])
        newest = {place[0]: place for place in way}  # an id is there once: as it was last said
        return [self._newest[place] for place in way if newest[place[0]] == place]

    def _way(self, place: Said) -> list[Said]:
        way: dict[Said, None] = {}
        while place != BEGINNING and place not in way:
            way[place] = None
            place = self._parent[place]
        return list(reversed(way))
