"""Records without the values in them that no longer hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

from langchain_ctxcompress.ledger.records import LedgerRecord, Request, Superseded

CHANGED = "[changed]"
"""Stands where a value stood that no longer holds."""


def mask_superseded(record: LedgerRecord, superseded: Iterable[Superseded]) -> str:
    """The text of a record with `[changed]` where a value stands that was superseded after it was said.

    Args:
        record: Any record.
        superseded: What no longer holds.

    Returns:
        Its text.
    """
    text = record.text
    sources = set(record.sources)
    for gone in superseded:
        if (
            gone.whole
            or (gone.joined and not isinstance(record, Request))
            or gone.text not in text
            or gone.order <= record.order
        ):
            continue
        about = set(gone.key) & set(record.key)
        if sources & set(gone.sources) or (gone.key and about == set(gone.key)):
            text = _blank(text, gone.text)
    return text


def _blank(text: str, value: str) -> str:
    """A text with a mark for a value, but not within a longer word or number, nor where it names a thing ("May's")."""
    before, behind = (r"(?<!\w)" if value[0].isalnum() else ""), (r"(?![\w'\u2019])" if value[-1].isalnum() else "")
    return (
        re.sub(f"{before}{re.escape(value)}{behind}", CHANGED, text)
        if value.isascii()
        else text.replace(value, CHANGED)
    )
