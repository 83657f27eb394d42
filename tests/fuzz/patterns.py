"""Every regular expression of the package, and texts that are hard for each: made from the expression itself.

The expressions are found in two ways: as `re.Pattern` objects in the modules, and as literals in calls of `re.*` in the
source. Hard texts repeat what the expression's own parts can match, alone, in pairs and with a near miss behind.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import random
import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import langchain_ctxcompress

_OPENED_BY_NAME = ("__main__",)
_WORD_OF_CATEGORY = {
    codes.CATEGORY_DIGIT: "7",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_NOT_WORD: "-",
}
_CANDIDATES = "aZ0 -_.,:;/\\\"'<>()[]{}=\n\t\x1b~#$%&*+!?@^`|é中あ한…"


def _compiled(value: Any, seen: set[int]) -> Iterator[re.Pattern[str]]:
    """The patterns in a module's value: itself, in its containers, in a class."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for inner in [*value.keys(), *value.values()]:
            yield from _compiled(inner, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _compiled(inner, seen)
    elif isinstance(value, type) and value.__module__.startswith("langchain_ctxcompress"):
        for inner in vars(value).values():
            yield from _compiled(inner, seen)


def module_patterns() -> dict[str, re.Pattern[str]]:
    """The compiled expressions in the package's modules, by `module:name`."""
    found: dict[str, re.Pattern[str]] = {}
    for info in pkgutil.walk_packages(langchain_ctxcompress.__path__, "langchain_ctxcompress."):
        if info.name.rsplit(".", 1)[-1] in _OPENED_BY_NAME:
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            for place, pattern in enumerate(_compiled(value, set())):
                found[f"{info.name.removeprefix('langchain_ctxcompress.')}:{name}{place or ''}"] = pattern
    return found


def literal_patterns() -> dict[str, tuple[re.Pattern[str], str]]:
    """The expressions written out in calls such as `re.sub(…)`, by `file:line`; f-strings with an `a` in each gap."""
    found: dict[str, tuple[re.Pattern[str], str]] = {}
    root = Path(langchain_ctxcompress.__path__[0])
    for file in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr not in {"escape", "compile"}
                and node.args
                and (text := _literal(node.args[0])) is not None
            ):
                found[f"{file.relative_to(root)}:{node.lineno}"] = (re.compile(text), node.func.attr)
    return found


def _literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "a" for part in node.values)  # type: ignore[misc]
    return None


class Speaker:
    """Says texts that parts of an expression match.

    Args:
        seed: Of the choices.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def say(self, parsed: Any, repeats: int = 1) -> str:
        """A text that the parsed expression (about) matches; what may repeat does so `repeats` times or its least."""
        return "".join(self._one(code, value, repeats) for code, value in parsed)

    def _one(self, code: Any, value: Any, repeats: int) -> str:
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.NOT_LITERAL:
            return next(sign for sign in _CANDIDATES if ord(sign) != value)
        if code is codes.ANY:
            return "a"
        if code is codes.IN:
            return self._member(value)
        if code is codes.BRANCH:
            return self.say(self._random.choice(value[1]), repeats)
        if code is codes.SUBPATTERN:
            return self.say(value[-1], repeats)
        if code is codes.ATOMIC_GROUP:
            return self.say(value, repeats)
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, inner = value
            times = max(int(least), min(repeats, int(most)))
            return "".join(self.say(inner, repeats) for _ in range(times))
        return ""  # positions, look-arounds, references

    def _member(self, parts: Any) -> str:
        negated = parts[0][0] is codes.NEGATE
        members = [sign for code, value in parts if (sign := _of_class(code, value))]
        if negated:
            allowed = [sign for sign in _CANDIDATES if not _in_class(sign, parts[1:])]
            return self._random.choice(allowed) if allowed else "a"
        return self._random.choice(members) if members else "a"


def _of_class(code: Any, value: Any) -> str:
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(value[0])
    if code is codes.CATEGORY:
        return _WORD_OF_CATEGORY.get(value, "a")
    return ""


def _in_class(sign: str, parts: Any) -> bool:
    for code, value in parts:
        if code is codes.LITERAL and ord(sign) == value:
            return True
        if code is codes.RANGE and value[0] <= ord(sign) <= value[1]:
            return True
        if code is codes.CATEGORY and re.fullmatch(_CATEGORY_TEXT[value], sign):
            return True
    return False


_CATEGORY_TEXT = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


def _parts(parsed: Any) -> Iterator[Any]:
    """The expression's parts, and theirs."""
    for item in parsed:
        yield [item]
        code, value = item
        if code is codes.BRANCH:
            for branch in value[1]:
                yield branch
                yield from _parts(branch)
        elif code is codes.SUBPATTERN:
            yield from _parts(value[-1])
        elif code is codes.ATOMIC_GROUP:
            yield from _parts(value)
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            yield value[2]
            yield from _parts(value[2])
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _parts(value[1])


MOST_PAIRS = 6
"""Pairs of units that are tried as one unit, and as one run behind another."""

METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub")


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression and how the package runs it.

    Attributes:
        name: Where it stands.
        pattern: The expression.
        methods: What is called on it; `match` does not look for it further on, so less is asked of it.
    """

    name: str
    pattern: re.Pattern[str]
    methods: tuple[str, ...]

    def run(self, text: str, *, to_the_end: bool = True) -> None:
        """All that the package does with the expression, on this text.

        Args:
            text: The text.
            to_the_end: Whether a search goes on behind what it finds, as it would if that were not there.
        """
        for method in self.methods:
            if method in {"finditer", "findall"} or (to_the_end and method == "search"):
                deque(self.pattern.finditer(text), maxlen=0)
            elif method == "sub":
                self.pattern.sub("", text)
            else:
                getattr(self.pattern, method)(text)


def all_expressions() -> list[Expression]:
    """Every expression of the package, with the methods that are called on it somewhere in the package."""
    calls = _calls()
    found: dict[tuple[str, int], Expression] = {}
    for name, (pattern, method) in literal_patterns().items():
        found[pattern.pattern, pattern.flags] = Expression(name, pattern, (method,))
    for name, pattern in module_patterns().items():
        module, _, variable = name.partition(":")
        own = calls.get(f"{module}:{variable.rstrip('0123456789')}") or calls.get(f"{module}:{variable}")
        called = own or calls.get(variable) or calls[f"{module} by another name"]
        found[pattern.pattern, pattern.flags] = Expression(
            name, pattern, tuple(sorted(called)) or ("fullmatch", "search")
        )
    return sorted(found.values(), key=lambda expression: expression.name)


def _calls() -> dict[str, set[str]]:
    """The methods called on each name, a private one in its module; and on lower-case names, which stand for any."""
    calls: dict[str, set[str]] = defaultdict(set)
    root = Path(langchain_ctxcompress.__path__[0])
    for file in sorted(root.rglob("*.py")):
        module = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in METHODS and isinstance(node.value, ast.Name):
                name = node.value.id
                if name.startswith("_"):
                    calls[f"{module}:{name}"].add(node.attr)
                elif not name.islower():
                    calls[name].add(node.attr)
                elif node.attr != "split":  # of a text, most often
                    calls[f"{module} by another name"].add(node.attr)
    return calls


def hard_units(pattern: re.Pattern[str], most: int = 24) -> list[str]:
    """What a hard text repeats: the expression's parts, its fronts, and single signs of it."""
    parsed = list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    speaker = Speaker()
    units: dict[str, None] = {}
    for repeats in (1, 3):
        for part in _parts(parsed):
            units.setdefault(speaker.say(part, repeats))
        for end in range(1, len(parsed) + 1):
            units.setdefault(speaker.say(parsed[:end], repeats))
    whole = [unit for unit in units if unit and len(unit) <= 200]
    step = max(1, len(whole) // (most - 6))
    return list(dict.fromkeys(["a", " ", "\n", "0", "a ", "a.", *whole[::step]]))


def hard_texts(pattern: re.Pattern[str]) -> Iterator[Hard]:
    """Texts that are hard for the expression: its front, or nothing, and then one unit over and over."""
    parsed = list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    fronts = dict.fromkeys(["", Speaker().say(parsed[: max(1, len(parsed) // 2)])])
    units = hard_units(pattern)
    for unit in units:
        for front in fronts:
            yield Hard(front, unit)
    pairs = [(one, other) for one in units for other in units if one != other]
    drawn = random.Random(len(pairs)).sample(pairs, min(2 * MOST_PAIRS, len(pairs)))
    for one, other in drawn[:MOST_PAIRS]:
        yield Hard("", one + other)
    for one, other in drawn[MOST_PAIRS:]:  # one run and then another: where two parts of an expression share them out
        yield Hard("", one, other)


@dataclass(frozen=True, slots=True)
class Hard:
    """A kind of text.

    Attributes:
        front: What it begins with.
        unit: What it repeats.
        other: What it repeats in its second half; `""` where that is no other.
    """

    front: str
    unit: str
    other: str = ""

    def text(self, size: int) -> str:
        """A text of about so many characters, with a near miss at its end."""
        if self.other:
            size //= 2
            return self.unit * (size // len(self.unit) + 1) + self.other * (size // len(self.other) + 1) + "\x00"
        return self.front + self.unit * ((size - len(self.front)) // len(self.unit) + 1) + "\x00"
