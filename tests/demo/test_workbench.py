"""The demo agent's tools: real output, the same each time, and nothing outside the library's folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from langchain_ctxcompress.demo.workbench import MAX_LINE_CHARACTERS, MAX_OUTPUT_LINES, ToolError, Workbench, shorten


@pytest.fixture
def library(tmp_path: Path) -> Workbench:
    folder = tmp_path / "lib"
    (folder / "pack" / "__pycache__").mkdir(parents=True)
    (folder / "pack" / "b.py").write_text(
        "# a note\n\nclass B:\n    def run(self):\n        return 1\n", encoding="utf-8"
    )
    (folder / "pack" / "a.py").write_text("x = 1\ny = x\n", encoding="utf-8")
    (folder / "pack" / "__pycache__" / "c.py").write_text("x = 3\n", encoding="utf-8")
    (tmp_path / "secret.py").write_text("x = 4\n", encoding="utf-8")
    return Workbench(folder)


def test_list_files_names_sources_in_order(library: Workbench) -> None:
    names = [line.split()[0] for line in library.run("list_files", {"folder": "pack"}).splitlines()]
    assert names == ["pack/a.py", "pack/b.py"]


def test_count_lines(library: Workbench) -> None:
    assert library.run("count_lines", {"path": "pack/b.py"}) == "pack/b.py: 5 lines, 1 blank, 1 of comments"


def test_read_file_gives_a_page_and_says_what_is_left(library: Workbench) -> None:
    assert library.run("read_file", {"path": "pack/b.py", "first": 3, "last": 4}) == (
        "    3  class B:\n    4      def run(self):\n(1 more lines)"
    )
    assert library.run("read_file", {"path": "pack/a.py"}) == "    1  x = 1\n    2  y = x"


def test_search_gives_file_and_line(library: Workbench) -> None:
    assert library.run("search", {"pattern": r"\bx\b", "where": "pack"}) == "pack/a.py:1: x = 1\npack/a.py:2: y = x"
    assert library.run("search", {"pattern": "nowhere", "where": "pack/a.py"}).startswith("no line in pack/a.py")


def test_outline_names_classes_and_functions(library: Workbench) -> None:
    outline = library.run("outline", {"path": "pack/b.py"})
    assert outline == "pack/b.py:3: class B (3 lines)\npack/b.py:4: def run (2 lines)"


def test_run_python_gives_exit_code_output_and_errors(library: Workbench) -> None:
    assert library.run("run_python", {"code": "print('ä', 6 * 7)"}) == "exit code 0\nä 42"
    failed = library.run("run_python", {"code": "raise ValueError('no')"})
    assert failed.startswith("exit code 1")
    assert failed.endswith("ValueError: no")


def test_run_python_names_library_files_without_the_folder() -> None:
    real = Workbench()
    output = real.run("run_python", {"code": "import json; json.loads('[')"})
    assert "json/decoder.py" in output
    assert str(real.root) not in output


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("read_file", {"path": "pack/missing.py"}),
        ("read_file", {"path": "../secret.py"}),
        ("read_file", {"path": "pack"}),
        ("list_files", {"folder": "nowhere"}),
        ("search", {"pattern": "(", "where": "pack"}),
    ],
)
def test_a_tool_that_cannot_do_it_says_so(library: Workbench, tool: str, args: dict[str, str]) -> None:
    with pytest.raises(ToolError, match=r"^error: "):
        library.run(tool, args)


def test_long_outputs_are_shortened_and_say_so() -> None:
    page = shorten([str(number) for number in range(MAX_OUTPUT_LINES + 7)]).splitlines()
    assert len(page) == MAX_OUTPUT_LINES + 1
    assert page[-1] == "(output shortened: 7 lines left out)"
    assert shorten(["y" * 500]) == "y" * MAX_LINE_CHARACTERS + "…"
    assert shorten(["1"] * MAX_OUTPUT_LINES).count("\n") == MAX_OUTPUT_LINES - 1
