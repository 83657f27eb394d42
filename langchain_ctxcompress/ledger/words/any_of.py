"""One of many words, as an expression that looks at each character of a text once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def any_of(words: Iterable[str]) -> str:
    """An expression for one of the words, the longest that goes on as it has to.

    Alternatives are tried one after the other at each place of a text; here only those that begin as the text does are.

    Args:
        words: Plain words, at least one.
    """
    tree: dict[str, Any] = {}
    for word in sorted(words):
        node = tree
        for sign in word:
            node = node.setdefault(sign, {})
        node[""] = {}
    return _written(tree)


def _written(node: dict[str, Any]) -> str:
    branches = [re.escape(sign) + _written(rest) for sign, rest in node.items() if sign]
    if not branches:
        return ""
    if len(branches) == 1 and "" not in node:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if '' in node else ''}"
