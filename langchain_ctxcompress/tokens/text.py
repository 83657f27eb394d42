"""How big a text is, exactly, and how to cut it to a size (requirements C1, C2, C3)."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from itertools import islice

from langchain_ctxcompress.arguments import check_least, check_text
from langchain_ctxcompress.tokens.encodings import BUNDLED_ENCODINGS, encoding_for

BATCHED_FROM = 16_384
"""Characters from which texts are counted as a batch, outside the GIL. A batch costs some 50 µs before its first text,
in which 30,000 characters are counted one text after the other."""

THREADED_FROM = 262_144
"""Characters in a batch from which more than one core is used; below, starting threads costs more than it saves."""

_CHARACTER = re.compile(r"[\ud800-\udbff][\udc00-\udfff]|[\s\S]")
"""One character; two halves of one, which JSON of other languages may bring, are one."""


def count_tokens(text: str, model: str | None = None) -> int:
    """Count the tokens of a text exactly (C1).

    Args:
        text: Any text. Special tokens in it (`<|endoftext|>`) are counted as the plain text they are.
        model: Whose tokens. `None` counts with `o200k_base`; a model whose encoding is known with its own; any other
            with `o200k_base` plus 15 %, rounded up. Never a network call.

    Returns:
        The number of tokens; 0 for `""`.

    Raises:
        ConfigError: `text` or `model` is no text.
    """
    check_text("text", text)
    return count_batch((text,), model)[0]


def count_batch(texts: Sequence[str], model: str | None = None) -> list[int]:
    """Count many texts at once, outside the GIL, and on all cores where the batch is large.

    Args:
        texts: The texts.
        model: As in `count_tokens`.

    Returns:
        One count for each text, in order.
    """
    encoding = encoding_for(model)
    counts = _count(texts, encoding.name)
    return [encoding.with_margin(count) for count in counts] if encoding.margin_percent else counts


def truncate_to_tokens(text: str, max_tokens: int, model: str | None = None) -> str:
    """Cut a text to a number of tokens (C2).

    Args:
        text: Any text.
        max_tokens: The most tokens the result may have, counted as `count_tokens` does.
        model: As in `count_tokens`.

    Returns:
        The text itself when it fits, else the longest front part found that does. Never half a character.

    Raises:
        ConfigError: `max_tokens` is negative or no number, or `text` or `model` is no text.
    """
    check_text("text", text)
    check_least("max_tokens", max_tokens)
    if not text or not max_tokens:
        return ""
    encoding = encoding_for(model)
    exact = encoding.without_margin(max_tokens)
    budget = exact
    cut = text
    # The front part alone may split into more tokens than it had inside the whole text: ask for less until it fits.
    while _count((cut,), encoding.name)[0] > exact:
        if budget <= 0:
            return ""
        cut = _truncate(text, budget, encoding.name)
        budget -= 1
    return cut


def estimate_tokens(text: str) -> int:
    """A rough size without a tokeniser: a quarter of the characters, rounded up (C3).

    Raises:
        ConfigError: It is no text.
    """
    check_text("text", text)
    return -(-len(text) // 4)


def _count(texts: Sequence[str], encoding: str) -> list[int]:
    if encoding in BUNDLED_ENCODINGS:
        import toktok

        characters = sum(map(len, texts))
        if characters < BATCHED_FROM:
            return [_count_text(text, encoding) for text in texts]
        threads = 0 if characters >= THREADED_FROM else 1
        try:
            counts: list[int] = toktok.batch_count(texts, encoding, threads=threads)
        except UnicodeEncodeError:
            counts = toktok.batch_count([_sendable(text) for text in texts], encoding, threads=threads)
        return counts
    import tiktoken

    bpe = tiktoken.get_encoding(encoding)
    return [len(bpe.encode_ordinary(text)) for text in texts]


def _count_text(text: str, encoding: str) -> int:
    """The tokens of one short text: what `truncate` says of the whole of it, since it does not start a batch."""
    import toktok

    try:
        count: int = toktok.truncate(text, sys.maxsize, encoding)[1]
    except UnicodeEncodeError:
        count = toktok.truncate(_sendable(text), sys.maxsize, encoding)[1]
    return count


def _truncate(text: str, max_tokens: int, encoding: str) -> str:
    front: str
    if encoding in BUNDLED_ENCODINGS:
        import toktok

        try:
            front = toktok.truncate(text, max_tokens, encoding)[0]
        except UnicodeEncodeError:
            front = toktok.truncate(_sendable(text), max_tokens, encoding)[0]
    else:
        import tiktoken

        bpe = tiktoken.get_encoding(encoding)
        # A token can end inside a character: what is left of it is dropped.
        front = bpe.decode_bytes(bpe.encode_ordinary(text)[:max_tokens]).decode("utf-8", errors="ignore")
    if text.startswith(front):
        return front
    return "".join(match.group() for match in islice(_CHARACTER.finditer(text), len(front)))


def _sendable(text: str) -> str:
    """The text as tiktoken reads it: two halves of a character joined, U+FFFD for each half without its other."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
