"""Artifacts are read off tool calls, never off prose (G5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_ctxcompress.ledger import extract_records, merge
from langchain_ctxcompress.ledger.artifacts import file_changes, shell_changes


@pytest.mark.parametrize(
    ("name", "args", "changes"),
    [
        ("write_file", {"path": "src/a.py", "content": "x"}, [("src/a.py", "created")]),
        ("createFile", {"filePath": "/w/b.md"}, [("/w/b.md", "created")]),
        ("edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, [("a.py", "modified")]),
        ("delete_file", {"path": "old.log"}, [("old.log", "deleted")]),
        ("move_file", {"source": "a.txt", "destination": "b.txt"}, [("a.txt", "deleted"), ("b.txt", "created")]),
        ("str_replace_editor", {"command": "create", "path": "/w/n.py", "file_text": ""}, [("/w/n.py", "created")]),
        ("str_replace_editor", {"command": "view", "path": "/w/n.py"}, []),
        ("read_file", {"path": "src/a.py"}, []),
        ("search", {"query": "a.py"}, []),
        ("cancel_order", {"order_id": "#W1", "reason": "no longer needed"}, []),
        ("update_user", {"user_id": "mia_1", "address": "12 Oak Street"}, []),
        ("fetch", {"url": "https://x.example/a.py"}, []),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: n.py\n+x\n*** Delete File: o.py"},
            [("n.py", "created"), ("o.py", "deleted")],
        ),
        (
            "bash",
            {"command": "rm -f a.log && mv b c; echo x > d.txt"},
            [("a.log", "deleted"), ("b", "deleted"), ("c", "created"), ("d.txt", "created")],
        ),
    ],
)
def test_g5_calls_are_read_by_the_shape_of_their_arguments(
    name: str, args: dict[str, Any], changes: list[tuple[str, str]]
) -> None:
    assert list(file_changes(name, args)) == changes


@pytest.mark.parametrize(
    ("command", "changes"),
    [
        ("cat <<'EOF' > b.txt\nrm -rf everything\nEOF", [("b.txt", "created")]),
        ("echo x >> f.log 2>/dev/null", [("f.log", "modified")]),
        ("python t.py > out.txt 2>&1", [("out.txt", "created")]),
        ("sed -i 's/a/b/' e.py", [("e.py", "modified")]),
        ("git rm g.py && git mv h.py i.py", [("g.py", "deleted"), ("h.py", "deleted"), ("i.py", "created")]),
        ("grep -r x . | head > /dev/null", []),
        ("echo 'rm a.txt'", []),
        ("touch $HOME/x *.py", []),
        ("make | tee -a build.log", [("build.log", "modified")]),
        ("curl -o page.html https://x.example", [("page.html", "created")]),
    ],
)
def test_g5_shell_lines(command: str, changes: list[tuple[str, str]]) -> None:
    assert list(shell_changes(command)) == changes


@given(st.text(max_size=200))
def test_no_command_line_raises(command: str) -> None:
    list(file_changes("bash", {"command": command}))


def write(path: str, call: str = "c", name: str = "write_file") -> AIMessage:
    return AIMessage("", id=f"a-{call}", tool_calls=[{"name": name, "args": {"path": path}, "id": call}])


def test_g5_prose_about_files_makes_no_artifact() -> None:
    ledger = extract_records([HumanMessage("I deleted a.py", id="h"), AIMessage("I created b.py for you.", id="a")])
    assert ledger.artifacts == ()


def test_a_failed_call_made_nothing() -> None:
    failed = ToolMessage("no such folder", tool_call_id="c", status="error", id="t")
    assert extract_records([write("a.py"), failed]).artifacts == ()


def test_the_last_call_on_a_file_counts_across_merges() -> None:
    first = extract_records([write("a.py", "1"), write("b.py", "2")])
    then = extract_records([write("a.py", "3", "edit_file"), write("b.py", "4", "delete_file")])
    assert {each.text: each.action for each in merge(first, then).artifacts} == {"a.py": "created", "b.py": "deleted"}
