"""tiktoken's own encodings, apart from its registry, where their ranks are at hand."""

from __future__ import annotations

from functools import cache

import pytest
import tiktoken
import tiktoken_ext.openai_public
from tiktoken.registry import ENCODINGS

from tests.support.sizes import ranks_folder


@cache
def _encoding(name: str) -> tiktoken.Encoding | None:
    folder = ranks_folder()
    if folder is None:
        return None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        # Ranks that are not at hand would be downloaded.
        patch.setattr("tiktoken.load.read_file", _no_download)
        try:
            return tiktoken.Encoding(**getattr(tiktoken_ext.openai_public, name)())
        except OSError:
            return None


def _no_download(_url: str) -> bytes:
    raise OSError


def tiktoken_encoding(name: str) -> tiktoken.Encoding:
    """Gives tiktoken's encoding; skips the test if its ranks are not at hand."""
    encoding = _encoding(name)
    if encoding is None:
        pytest.skip(f"tiktoken's ranks of {name} are neither in $TIKTOKEN_CACHE_DIR nor in ../shared/data/tiktoken")
    return encoding


BYTE_MODEL = "text-davinci-003"
"""A model whose encoding does not come with `toktok-rs`."""


def register_byte_encoding(patch: pytest.MonkeyPatch) -> None:
    """Lets tiktoken know `p50k_base` as an encoding in which each byte is a token: a stand-in that needs no file."""
    bytewise = tiktoken.Encoding(
        name="p50k_base", pat_str=r"[\s\S]", mergeable_ranks={bytes([n]): n for n in range(256)}, special_tokens={}
    )
    patch.setitem(ENCODINGS, "p50k_base", bytewise)
    patch.setenv("TIKTOKEN_CACHE_DIR", "unused: the encoding is registered")
