"""The public names: all there, imported when they are first used, and no heavy library before that."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import langchain_ctxcompress

ROOT = Path(langchain_ctxcompress.__file__).parent
HEAVY = ("langgraph", "tiktoken", "toktok", "typer", "rich", "jinja2", "tenacity", "sqlite3", "langchain_core")
ROOMS = ("messages", "tokens", "limits", "storage")
ADVERTISED = (
    "ContextCompressor",
    "PrunerConfig",
    "CompressionResult",
    "CompressionStrategy",
    "register_strategy",
    "CompressionNode",
    "CompressedChatMessageHistory",
    "PruneUrgency",
    "ContextWindow",
    "ConversationTurn",
    "split_turns",
    "classify_prune_urgency",
    "should_trigger_soft_prune",
    "should_trigger_hard_prune",
    "select_turns_for_summarization",
    "pin",
    "unpin",
    "is_pinned",
    "count_tokens",
    "truncate_to_tokens",
    "estimate_tokens",
    "ContextTier",
    "create_context_tier",
    "extract_text_content",
    "apply_compressed_content",
    "SessionHistory",
    "CheckpointSummary",
    "CtxCompressError",
    "ContextLimitError",
    "StorageBoundaryError",
)


def in_a_new_process(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


LOADED = f"import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"


@pytest.mark.parametrize("name", sorted(langchain_ctxcompress.__all__))
def test_every_name_can_be_imported_and_is_documented(name: str) -> None:
    value = getattr(langchain_ctxcompress, name)
    assert value is getattr(langchain_ctxcompress, name)
    assert (inspect.getdoc(value) or "").strip(), f"{name} has no docstring"


@pytest.mark.parametrize("name", ADVERTISED)
def test_what_the_documents_promise_is_there(name: str) -> None:
    assert name in langchain_ctxcompress.__all__


def test_type_checkers_see_the_same_names() -> None:
    source = (ROOT / "__init__.py").read_text(encoding="utf-8")
    block = source.split("if TYPE_CHECKING:", 1)[1].split("\n_", 1)[0]
    seen = {line.rsplit(" as ", 1)[1].strip() for line in block.splitlines() if " as " in line}
    assert seen == set(langchain_ctxcompress.__all__)


def test_dir_shows_them_all() -> None:
    assert set(langchain_ctxcompress.__all__) <= set(dir(langchain_ctxcompress))
    assert "__version__" in dir(langchain_ctxcompress)
    assert langchain_ctxcompress.__version__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'langchain_ctxcompress' has no attribute 'Compressor'"):
        langchain_ctxcompress.Compressor  # noqa: B018
    with pytest.raises(ImportError):
        from langchain_ctxcompress import Compressor  # type: ignore[attr-defined]  # noqa: F401


def test_star_import() -> None:
    names: dict[str, object] = {}
    exec("from langchain_ctxcompress import *", names)
    assert set(langchain_ctxcompress.__all__) <= set(names)


def test_types_come_along() -> None:
    assert (ROOT / "py.typed").is_file()


def test_import_alone_loads_nothing_heavy() -> None:
    assert in_a_new_process(f"import langchain_ctxcompress; {LOADED}") == []


@pytest.mark.parametrize("name", ["ContextCompressor", "PrunerConfig", "SessionHistory", "count_tokens", "pin"])
def test_a_name_loads_nothing_that_is_only_used_later(name: str) -> None:
    loaded = in_a_new_process(f"from langchain_ctxcompress import {name}; {LOADED}")
    assert set(loaded) <= {"langchain_core"}


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_is_there(room: str) -> None:
    module = import_module(f"langchain_ctxcompress.{room}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert len(set(module.__all__)) == len(module.__all__)
    assert (module.__doc__ or "").strip()


def test_arrows_between_rooms_point_one_way() -> None:
    # In a process of its own: it sets up logging, and turns off the loggers that there are.
    config = str(ROOT.parent / "pyproject.toml")
    in_a_new_process(
        f"from importlinter.cli import lint_imports; exit(lint_imports(config_filename={config!r}, no_cache=True))"
    )
