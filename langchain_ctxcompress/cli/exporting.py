"""Writing messages out: as Markdown for people, or as a conversation file that `compress` reads back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage, message_to_dict

from langchain_ctxcompress.cli.terminal import emit_line, say
from langchain_ctxcompress.conversations import STDOUT, OutputFile
from langchain_ctxcompress.errors import ConfigError, ConversationFileError
from langchain_ctxcompress.messages import repair_messages

MARKDOWN, JSONL = "markdown", "jsonl"
LARGEST_NUMBER = 8_192
"""Bits of a number that Python reads and writes in decimal: 4,300 digits would be too many."""

_SUFFIXES = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": MARKDOWN,
    ".jsonl": JSONL,
    ".json": JSONL,
    ".ndjson": JSONL,
}


def check_output(output: str | None, given: str | None, *, force: bool) -> str:
    """The format that is meant; called before anything is read.

    Args:
        output: The file; `None` or "-" for stdout.
        given: The format that was asked for.
        force: Whether a file that is there may be replaced.

    Raises:
        ConfigError: There is no such format, or the name of the file does not tell which is meant.
        ConversationFileError: The file is there already.
    """
    if given is not None and given not in (MARKDOWN, JSONL):
        msg = f"--format is {given!r}: it is {MARKDOWN} or {JSONL}"
        raise ConfigError(msg)
    if output is None or output == STDOUT:
        return given or MARKDOWN
    found = given or _SUFFIXES.get(Path(output).suffix.lower())
    if found is None:
        msg = f"the name {output!r} does not say what to write: end it in .md or .jsonl, or give --format"
        raise ConfigError(msg)
    if not force:
        refuse_to_replace(output)
    return found


def refuse_to_replace(output: str) -> None:
    """Whether a file can be written there without another one being lost.

    Args:
        output: The file.

    Raises:
        ConversationFileError: It is there already, is a link to nothing, or no file can have that name.
    """
    path = Path(output)
    why = ""
    try:
        if path.is_file():
            why = f"{output}: is there already; --force replaces it"
        elif path.is_symlink() and not path.exists():  # nobody sees in its name where it would be written
            why = f"{output}: is a link to {path.readlink()}, which is not there; name that file, or --force makes it"
    except (OSError, ValueError) as error:  # too long; NUL in it
        msg = f"{output!r}: cannot be written: {getattr(error, 'strerror', None) or error}"
        raise ConversationFileError(msg) from error
    if why:
        raise ConversationFileError(why)


def export(output: str | None, write: Callable[[OutputFile], None], what: str) -> None:
    """Write a file whole or not at all, and say so; or write to stdout.

    Args:
        output: The file; `None` or "-" for stdout.
        write: Writes it.
        what: What is written, for people.

    Raises:
        ConversationFileError: It cannot be written.
    """
    with OutputFile(output or STDOUT) as file:
        write(file)
    if output is not None and output != STDOUT:
        emit_line(f"{what} written to {output}")


def conversation_record(session_id: str, messages: Sequence[BaseMessage], **more: Any) -> dict[str, Any]:
    """The messages as a line of a conversation file, in LangChain's format: everything of them comes back.

    A file with a result that answers no call cannot be read. Such results are archived when they leave a list; they are
    left out here, and said.
    """
    orphans = {id(message) for message in repair_messages(messages).dropped}
    if orphans:
        say(f"{len(orphans)} tool results answer no call and are left out: --format {MARKDOWN} has them")
    kept = [message for message in messages if id(message) not in orphans]
    return {"id": session_id, "messages": [plain_message(message) for message in kept], **more}


def plain_message(message: BaseMessage) -> dict[str, Any]:
    """A message in LangChain's format, as JSON can hold it."""
    plain: dict[str, Any] = _plain(message_to_dict(message))
    return plain


def _plain(value: Any) -> Any:
    """The value as JSON can hold it; what it cannot hold is named in its place."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, str | float | bool):
        return value
    if isinstance(value, int) and value.bit_length() <= LARGEST_NUMBER:
        return value
    return f"[{type(value).__name__}, which a conversation file cannot hold]"
