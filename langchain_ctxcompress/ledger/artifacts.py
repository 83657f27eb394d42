"""Files made, changed and deleted, read off the tool calls themselves: never off prose about them (G5).

Two shapes are known whatever the tool is called: an argument that is a path, with a verb in the tool's name or in a
short command argument; and a shell command line with redirections, `rm`, `mv`, `cp`, `touch`, `tee`, `sed -i`, `git
mv` and the like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import dropwhile, pairwise
from typing import Any, Literal

from langchain_ctxcompress.ledger.lexicon import word_set

Action = Literal["created", "modified", "deleted"]

_CREATE = word_set(
    """
    create write save new touch generate add make download export put store upload scaffold init
    """
)
_MODIFY = word_set(
    """
    edit update modify replace insert append patch apply change rewrite format str refactor overwrite
    """
)
_DELETE = frozenset(["delete", "remove", "rm", "unlink", "erase", "trash"])
_MOVE = frozenset(["move", "rename", "mv"])
_READ = word_set(
    """
    read view open cat list ls find search get grep glob show fetch stat load head tail check
    """
)
_PATH_KEYS = word_set(
    """
    path file filepath filename file_path file_name target_file target notebook_path uri relative_path absolute_path
    abs_path dest destination dst new_path old_path source src to from output output_path output_file paths files name
    """
)
_CONTENT_KEYS = frozenset(
    [
        "content",
        "contents",
        "text",
        "new_str",
        "new_string",
        "file_text",
        "data",
        "body",
        "old_str",
        "old_string",
        "replacement",
        "code",
    ]
)
_FROM_KEYS = frozenset(["source", "src", "old_path", "from", "from_path", "source_path", "old_name"])
_TO_KEYS = frozenset(
    ["destination", "dest", "dst", "new_path", "to", "to_path", "target", "destination_path", "new_name", "target_path"]
)
_COMMAND_KEYS = frozenset(["command", "cmd", "script", "bash", "shell", "commands"])
_SHELL_NAMES = frozenset(["bash", "shell", "sh", "terminal", "exec", "execute", "run", "command", "powershell", "zsh"])
_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATH_LIKE = re.compile(r"(?:file://)?(?:~|[A-Za-z]:)?[^\s<>|\"'*?{}]{1,400}")
_FILE_LIKE = re.compile(r"[\w@.+-]+\.[A-Za-z][\w]{0,9}")
_SHELL_TOKEN = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\d?>>?&?\d?|&&|\|\||[;|&\n]|(?:[^\s;|&<>'\"\\]|\\.)+|<<?<?")
_HEREDOC = re.compile(r"<<-?\s{0,4}(['\"]?)(\w{1,60})\1")
_PATCH_LINE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (\S.{0,300})$|^\+\+\+ (?:b/)?(\S{1,300})", re.MULTILINE)
_PATCH_ACTION: dict[str, Action] = {"Add": "created", "Update": "modified", "Delete": "deleted"}
_SEPARATORS = frozenset({";", "&&", "||", "|", "&", "\n"})
_MAX_COMMAND = 20_000


def file_changes(name: str, args: Mapping[str, Any]) -> Iterator[tuple[str, Action]]:
    """The files that one tool call changes.

    Args:
        name: The tool's name.
        args: Its arguments.

    Yields:
        Paths with what happens to them, in order.
    """
    words = {word.lower() for word in _NAME_WORD.findall(name)}
    commands = [value for key, value in args.items() if isinstance(value, str) and key.lower() in _COMMAND_KEYS]
    if words & _SHELL_NAMES:
        commands += [
            value for key, value in args.items() if isinstance(value, str) and key.lower() in {"code", "input", "args"}
        ]
    for command in commands:
        if " " in command.strip() or "\n" in command:
            yield from shell_changes(command)
        else:
            words = {word.lower() for word in _NAME_WORD.findall(command[:80])}
    patches = [value for value in args.values() if isinstance(value, str) and ("*** " in value or "\n+++ " in value)]
    if patches and not commands:
        for patch in patches:
            yield from _patched(patch)
        return
    yield from _argument_changes(words, args)


def _argument_changes(words: set[str], args: Mapping[str, Any]) -> Iterator[tuple[str, Action]]:
    paths = [(key.lower(), path) for key, value in args.items() for path in _paths_in(key.lower(), value)]
    if not paths:
        return
    if words & _MOVE:
        for key, path in paths:
            if key in _FROM_KEYS or (key not in _TO_KEYS and path == paths[0][1]):
                yield path, "deleted"
            else:
                yield path, "created"
        return
    writes_content = any(key.lower() in _CONTENT_KEYS for key in args)
    action: Action
    if words & _DELETE:
        action = "deleted"
    elif words & _MODIFY:
        action = "modified"
    elif words & _CREATE:
        action = "created"
    elif writes_content and not words & _READ:
        action = "modified"
    else:
        return
    for _, path in paths:
        yield path, action


def _paths_in(key: str, value: object) -> Iterator[str]:
    if isinstance(value, list):
        for item in value[:50]:
            yield from _paths_in(key, item)
        return
    if isinstance(value, dict):
        for inner, item in value.items():
            if str(inner).lower() in _PATH_KEYS:
                yield from _paths_in(str(inner).lower(), item)
        return
    if not isinstance(value, str) or key in _CONTENT_KEYS or len(value) > 400 or "://" in value.replace("file://", ""):
        return
    path = value.strip()
    if not _PATH_LIKE.fullmatch(path):
        return
    shaped = "/" in path or "\\" in path or _FILE_LIKE.fullmatch(path)
    strong_key = (
        key in _PATH_KEYS - {"name", "to", "from", "target", "source", "data"} or "path" in key or "file" in key
    )
    if (shaped and (strong_key or key in _PATH_KEYS)) or (strong_key and path and "file" in key):
        yield path


def _patched(patch: str) -> Iterator[tuple[str, Action]]:
    for match in _PATCH_LINE.finditer(patch[:200_000]):
        if match[1]:
            yield match[2].strip(), _PATCH_ACTION[match[1]]
        elif match[3] != "/dev/null":
            yield match[3], "modified"


def shell_changes(command: str) -> Iterator[tuple[str, Action]]:
    """The files that a shell command line changes.

    Args:
        command: One or more lines of shell; here-documents are skipped, variables and globs are not resolved.

    Yields:
        Paths with what happens to them, in order.
    """
    segment: list[str] = []
    for token in _SHELL_TOKEN.findall(_without_heredocs(command[:_MAX_COMMAND])):
        if token in _SEPARATORS:
            yield from _segment_changes(segment)
            segment = []
        else:
            segment.append(token)
    yield from _segment_changes(segment)


def _without_heredocs(command: str) -> str:
    kept: list[str] = []
    delimiter = ""
    for line in command.split("\n"):
        if delimiter:
            delimiter = "" if line.strip() == delimiter else delimiter
            continue
        match = _HEREDOC.search(line)
        if match:
            delimiter = match[2]
            line = line[: match.start()] + line[match.end() :]  # noqa: PLW2901
        kept.append(line)
    return "\n".join(kept)


def _segment_changes(tokens: list[str]) -> Iterator[tuple[str, Action]]:
    words: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.lstrip("012").startswith(">") and not token.endswith(("&1", "&2", "&")):
            if at + 1 < len(tokens) and (path := _shell_path(tokens[at + 1])):
                yield path, "modified" if token.endswith(">>") else "created"
            at += 2
            continue
        words.append(token)
        at += 1
    words = list(dropwhile(_is_before_program, words))
    if words:
        yield from _program_changes(words[0].rsplit("/", 1)[-1], words[1:])


def _is_before_program(word: str) -> bool:
    return word in {"sudo", "then", "do", "else", "time", "("} or re.fullmatch(r"\w+=\S*", word) is not None


def _program_changes(program: str, rest: list[str]) -> Iterator[tuple[str, Action]]:  # noqa: PLR0912
    options = [word for word in rest if word.startswith("-")]
    paths = [path for word in rest if not word.startswith("-") and (path := _shell_path(word))]
    if program == "git" and rest:
        inner = [word for word in rest if not word.startswith("-")]
        if inner and inner[0] in {"mv", "rm"}:
            yield from _program_changes(inner[0], inner[1:])
        return
    if program in {"rm", "rmdir", "unlink", "del"}:
        for path in paths:
            yield path, "deleted"
    elif program == "mv" and len(paths) >= 2:
        for path in paths[:-1]:
            yield path, "deleted"
            into = paths[-1]
            yield (into + path.rsplit("/", 1)[-1] if into.endswith("/") else into), "created"
    elif program in {"cp", "install", "ln"} and len(paths) >= 2:
        for path in paths[:-1]:
            into = paths[-1]
            yield (into + path.rsplit("/", 1)[-1] if into.endswith("/") else into), "created"
    elif program == "touch":
        for path in paths:
            yield path, "created"
    elif program == "tee":
        appended = any(option in {"-a", "--append"} for option in options)
        for path in paths:
            yield path, "modified" if appended else "created"
    elif program in {"sed", "perl"} and any(
        re.fullmatch(r"-[a-zA-Z]*i\S*|--in-place\S*", option) for option in options
    ):
        for path in paths[-1:]:
            yield path, "modified"
    elif program in {"curl", "wget"}:
        for option, value in pairwise(rest):
            if option in {"-o", "-O", "--output", "--output-document"} and (path := _shell_path(value)):
                yield path, "created"


def _shell_path(word: str) -> str:
    """A shell word as a path, or an empty string if it is none: a variable, a glob, a device, an expression."""
    bare = word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word
    if (
        not bare
        or len(bare) > 400
        or bare.startswith(("/dev/", "&", "$", "("))
        or any(mark in bare for mark in "*?$`{}|\n ")
    ):
        return ""
    return bare
