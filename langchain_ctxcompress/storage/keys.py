"""Where things lie in the store: namespaces and keys made of any session id or message id.

root = "ctxcompress", "-LABEL" for each label of the tenant's namespace, so that none of them is read as one of these:

root, "sessions"                     one item a session: its name
root, "session", ID, "writers"       one item a writer: how far its log goes
root, "session", ID, "log", WRITER   the log: segments with zero-padded numbers
root, "session", ID, "ids"           one item a message id: where its revisions lie
root, "session", ID, "checkpoints"   one item a summary checkpoint
root, "session", ID, "numbers"       one small item a summary checkpoint: its number
root, "session", ID, "touched"       one item a message id: the checkpoints that it matters to
root, "session", ID, "snapshots"     one item a snapshot: what it refers to
root, "session", ID, "parts"         what snapshots share, under its own hash
root, "session", ID, "texts"         one item a message id: its text, where the store has a semantic index
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Sequence

from langchain_ctxcompress.arguments import check_text
from langchain_ctxcompress.errors import ConfigError

Namespace = tuple[str, ...]

ROOT = "ctxcompress"
_SAFE = frozenset(string.ascii_letters + string.digits + "-_")
_LONGEST = 200
"""Longest encoded label; a longer one is hashed, because PostgreSQL indexes at most about 2,700 bytes of a key."""


def encode_label(text: str) -> str:
    """Any text as a label that every store takes: letters, digits, `-`, `_` and `~`, never empty, never too long."""
    encoded = "".join(
        char if char in _SAFE else "".join(f"~{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
        for char in text
    )
    if not encoded:
        return "~"
    if len(encoded) > _LONGEST:
        return "~~" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return encoded


def labels_of(namespace: Sequence[str]) -> tuple[str, ...]:
    """The labels of a tenant.

    Raises:
        ConfigError: It is one text, or holds what is no text.
    """
    if isinstance(namespace, str) or not all(isinstance(label, str) for label in namespace):
        msg = f"namespace is {namespace!r}: pass a sequence of labels, such as ('acme', 'support')"
        raise ConfigError(msg)
    return tuple(namespace)


def root_of(namespace: Sequence[str]) -> Namespace:
    """Where everything of one tenant lies."""
    return (ROOT, *(f"-{encode_label(label)}" for label in labels_of(namespace)))


class SessionKeys:
    """The namespaces of one session.

    Raises:
        ConfigError: The session's id or a label is no text.
    """

    def __init__(self, session_id: str, namespace: Sequence[str] = ()) -> None:
        check_text("session_id", session_id)
        root = root_of(namespace)
        base = (*root, "session", encode_label(session_id))
        self.base: Namespace = base
        self.sessions: Namespace = (*root, "sessions")
        self.session_key = encode_label(session_id)
        self.writers: Namespace = (*base, "writers")
        self.ids: Namespace = (*base, "ids")
        self.checkpoints: Namespace = (*base, "checkpoints")
        self.numbers: Namespace = (*base, "numbers")
        self.touched: Namespace = (*base, "touched")
        self.snapshots: Namespace = (*base, "snapshots")
        self.parts: Namespace = (*base, "parts")
        self.texts: Namespace = (*base, "texts")
        self._log: Namespace = (*base, "log")

    def log(self, writer: str) -> Namespace:
        """The log of one writer."""
        return (*self._log, writer)


def segment_key(number: int) -> str:
    """The key of a log segment: zero-padded, so that keys sort as numbers do."""
    return f"{number:012d}"
