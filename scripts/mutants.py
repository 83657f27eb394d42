"""The mutants of a file: all in one, each under a name of its own, and what each of them changes."""

from __future__ import annotations

import ast
import difflib
import textwrap
from dataclasses import dataclass
from pathlib import Path

Span = tuple[int, int]
"""The first and the last line, from 1."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One small fault.

    Attributes:
        name: What mutmut calls it.
        file: The file it is in, as the tests import it.
        function: The lines of the function it is made of, in the file with all mutants.
        statement: The lines of the statement that it changes, in the same.
        diff: What it changes.
    """

    name: str
    file: str
    function: Span
    statement: Span
    diff: str


def make_mutants(file: Path, folder: Path) -> list[Mutant]:
    """Write a file with all its mutants in it to the same place below a folder, and say which there are."""
    from mutmut.mutation.file_mutation import mutate_file_contents
    from mutmut.utils.format_utils import get_mutant_name

    made = mutate_file_contents(str(file), file.read_text(encoding="utf-8"))
    (folder / file).write_text(made.code, encoding="utf-8")
    lines, spans = made.code.splitlines(), made.line_span_by_function_name
    mutants: list[Mutant] = []
    for name in made.mutant_names:
        base = name.partition("__mutmut_")[0]
        original, mutated = spans[f"{base}__mutmut_orig"], spans[name]
        before, after = lines[original.start - 1 : original.end], lines[mutated.start - 1 : mutated.end]
        after = [line.replace(name, f"{base}__mutmut_orig") for line in after]
        changed = _changed(before, after)
        first, last = _statement(before, changed)
        diff = "\n".join(
            line for line in difflib.unified_diff(before, after, lineterm="", n=2) if line[:3] not in _HEADS
        )
        mutants.append(
            Mutant(
                get_mutant_name(file, name),
                str(file),
                (original.start, original.end),
                (original.start + first - 1, original.start + last - 1),
                diff,
            )
        )
    return mutants


_HEADS = ("---", "+++")


def _changed(before: list[str], after: list[str]) -> set[int]:
    """The lines of `before` that are others in `after`, from 1."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    found: set[int] = set()
    for tag, start, end, _, _ in matcher.get_opcodes():
        if tag != "equal":
            found |= set(range(start + 1, max(end, start + 1) + 1))
    return found


def _statement(function: list[str], changed: set[int]) -> Span:
    """The smallest statement of a function that holds what changed; of one with a body its head alone."""
    tree = ast.parse(textwrap.dedent("\n".join(function)))
    best = (1, len(function))
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        if isinstance(node, ast.match_case):
            first, last = node.pattern.lineno, node.body[0].lineno
        else:
            first, last = node.lineno, node.end_lineno or node.lineno
            body = getattr(node, "body", None)
            if body:
                last = max(first, min(part.lineno for part in body) - 1)
        if changed and first <= min(changed) and max(changed) <= last and last - first < best[1] - best[0]:
            best = (first, last)
    return best
