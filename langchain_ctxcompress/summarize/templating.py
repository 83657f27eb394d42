"""The templates of prompts: files in `templates`, read once."""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Template


@lru_cache(maxsize=16)
def template(name: str) -> Template:
    """A prompt's template, by the name of its file.

    Args:
        name: A file in `templates`.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    # The result is a prompt, not HTML, so nothing is escaped; what must not be mistaken for markup is sealed by a hash.
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=False,  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template(name)


def _source(name: str) -> str | None:
    """The text of a template, read as modules are: servers that watch their loop for blocking calls let that pass."""
    data = pkgutil.get_data("langchain_ctxcompress.summarize", f"templates/{name}")
    return None if data is None else data.decode("utf-8")
