"""The yardsticks know nothing of the package, and no test reaches beyond this machine."""

from __future__ import annotations

import ast
import os
import socket
from pathlib import Path

import pytest

SUPPORT = Path(__file__).resolve().parents[1] / "support"


@pytest.mark.parametrize("path", sorted(SUPPORT.glob("*.py")), ids=lambda path: path.stem)
def test_support_code_imports_nothing_of_the_package(path: Path) -> None:
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert not {name for name in imported if name.startswith("langchain_ctxcompress")}


def test_no_connection_leaves_this_machine() -> None:
    with socket.socket() as outside, pytest.raises(AssertionError, match="wanted to connect"):
        outside.connect(("192.0.2.1", 443))  # an address kept for documentation


def test_connections_within_this_machine_are_allowed() -> None:
    with socket.socket() as server, socket.socket() as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        client.connect(server.getsockname())


def test_no_key_and_no_tracing_is_set() -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("LANGSMITH_")]
