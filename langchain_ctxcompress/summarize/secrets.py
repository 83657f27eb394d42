"""Keeping keys out of what is said about an error: some servers quote the key they refuse, or the whole request."""

from __future__ import annotations

from typing import Any

from pydantic import SecretBytes, SecretStr

from langchain_ctxcompress.errors import MASK, without_keys

SHORTEST = 6
"""Characters of the shortest key that is looked for: "none", as local servers are sent, stands in ordinary words."""


def without_secrets(text: str, model: Any) -> str:
    """The text with the model's own keys masked, and whatever looks like one.

    Args:
        text: What an error says.
        model: The chat model it came from, bound or not.
    """
    for secret in sorted(_secrets_of(model), key=len, reverse=True):
        text = text.replace(secret, MASK)
    return without_keys(text)


def _secrets_of(model: Any) -> set[str]:
    """The values of the model's secret fields, and of the model that it wraps."""
    found: set[str] = set()
    for _ in range(8):  # bound, with fallbacks, with a configuration: a few layers at most
        for value in vars(model).values() if hasattr(model, "__dict__") else ():
            if isinstance(value, SecretStr | SecretBytes):
                secret = value.get_secret_value()
                found.add(secret.decode(errors="replace") if isinstance(secret, bytes) else secret)
        model = getattr(model, "bound", None)
        if model is None:
            break
    return {secret for secret in found if len(secret) >= SHORTEST}
