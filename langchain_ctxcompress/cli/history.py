"""`history`: the sessions that are archived, what was said in them, and getting it out."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_ctxcompress.cli.options import AsJson, Branch, Force, Format, Output, Session, Store
from langchain_ctxcompress.cli.terminal import (
    BAD_INPUT,
    OK,
    emit_json,
    emit_line,
    emit_table,
    help_without_command,
    plain_errors,
    say,
)
from langchain_ctxcompress.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from langchain_ctxcompress.cli.archive import Archive
    from langchain_ctxcompress.storage import CheckpointSummary, SessionInfo
    from langchain_ctxcompress.storage.branches import Branch as Branching

SHOWN = 20
"""Messages that `show` shows in a table, unless another number is asked for."""

history_app = typer.Typer(name="history", help="Look into archived sessions: every original message is there.")


history_app.callback(invoke_without_command=True)(help_without_command)


@history_app.command("list")
def list_sessions(*, store: Store = None, as_json: AsJson = False) -> None:
    """List the sessions: messages, tokens, compressions, first and last update."""
    with plain_errors() as warnings:
        from langchain_ctxcompress.cli.archive import Archive, shown_time

        archive = Archive(store)
        found, errors = list[Any](), list[str]()
        for session_id in archive.session_ids():
            try:
                found.append(archive.info(session_id))
            except StorageError as error:  # one damaged session costs no other
                errors.append(str(error))
                say(str(error))
        infos: list[SessionInfo] = sorted(found, key=lambda info: str(info.updated_at), reverse=True)
        if as_json:
            emit_json({"store": archive.shown, "sessions": [_facts(info) for info in infos], "errors": errors})
        elif infos:
            rows = [
                (i.session_id, i.messages, i.tokens, i.compressions, shown_time(i.started_at), shown_time(i.updated_at))
                for i in infos
            ]
            columns = ("session", "messages", "tokens", "compressions", "first", "last update")
            title = f"{len(rows):,} {'session' if len(rows) == 1 else 'sessions'} in {archive.shown}"
            emit_table(title, columns, rows, whole=("session",), wide_only=("first",))
        elif not errors:
            emit_line(f"No sessions in {archive.shown} yet: `ctxcompress compress --out` archives some")
        raise typer.Exit(BAD_INPUT if errors or warnings else OK)


@history_app.command()
def show(
    session: Session,
    *,
    last: Annotated[
        int | None,
        typer.Option("--last", metavar="N", min=1, help="Only the last N messages. Default: 20; with --json all."),
    ] = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Show a session: its summary checkpoints, and the last messages."""
    with plain_errors() as warnings:
        from langchain_ctxcompress.cli.archive import Archive

        archive = Archive(store)
        session_id = archive.find(session)
        history = archive.history(session_id)
        info, checkpoints, branches = archive.info(session_id), history.checkpoints(), history.branches()
        most = last if last is not None or as_json else SHOWN
        numbered = deque(enumerate(history.iter(on_damage="skip"), 1), most)
        if as_json:
            from langchain_ctxcompress.cli.exporting import plain_message

            messages = [plain_message(message) for _, message in numbered]
            shown = {"session": _facts(info), "checkpoints": [_checkpoint(one) for one in checkpoints]}
            emit_json({**shown, "branches": [_branch(one) for one in branches], "messages": messages})
        else:
            _show(archive, info, checkpoints, branches, list(numbered))
        raise typer.Exit(BAD_INPUT if warnings else OK)


@history_app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, in any order and case.", show_default=False)],
    *,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="SESSION", help="Only in this session. Default: in all.", show_default=False),
    ] = None,
    most: Annotated[int, typer.Option("--most", metavar="N", min=1, help="The most messages that are shown.")] = 10,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Find messages by their words, the best match first."""
    with plain_errors() as warnings:
        from langchain_ctxcompress.cli.archive import Archive
        from langchain_ctxcompress.cli.excerpts import excerpt, speaker
        from langchain_ctxcompress.cli.exporting import plain_message

        archive = Archive(store)
        sessions = archive.session_ids() if session is None else [archive.find(session)]
        found, errors = archive.search(query, sessions, most)
        for error in errors:
            say(error)
        if as_json:
            results = [{"session_id": name, "message": plain_message(message)} for name, message in found]
            emit_json({"results": results, "errors": errors})
        elif not found:
            emit_line(f"Nothing found for {query!r} in {archive.shown}")
        else:
            by_session: dict[str, list[Sequence[str]]] = {}  # in the order of their best match
            for name, message in found:
                row = (speaker(message), message.id or "", excerpt(message, query))
                by_session.setdefault(name, []).append(row)
            columns = ("who", "message id", "text")
            for name, rows in by_session.items():
                emit_table(name, columns, rows, whole=("message id",), excerpts=("text",), wide_only=("message id",))
                emit_line("")
        raise typer.Exit(BAD_INPUT if errors or warnings else OK)


@history_app.command()
def export(
    session: Session,
    *,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            "--checkpoint",
            metavar="ID",
            help="Only the originals that this summary checkpoint replaced.",
            show_default=False,
        ),
    ] = None,
    branch: Branch = None,
    output: Output = None,
    form: Format = None,
    force: Force = False,
    store: Store = None,
) -> None:
    """Export a session, every message as it was: as Markdown, or as a file that `compress` reads."""
    with plain_errors() as warnings:
        from langchain_ctxcompress.cli import exporting
        from langchain_ctxcompress.cli.archive import Archive

        found = exporting.check_output(output, form, force=force)
        if checkpoint is not None and branch is not None:
            msg = "--checkpoint and --branch: name one of them"
            raise ConfigError(msg)
        archive = Archive(store)
        session_id = archive.find(session)
        history = archive.history(session_id)
        whole = checkpoint is None
        messages = (
            history.messages(branch=branch, on_damage="skip")
            if whole
            else _covered(archive, session_id, str(checkpoint))
        )
        what = f"{len(messages):,} messages of session {session_id}"
        if found == exporting.JSONL:
            record = exporting.conversation_record(session_id, messages)
            exporting.export(output, lambda file: file.write(record), what)
        else:
            from langchain_ctxcompress.storage.markdown import session_markdown

            shown = [one for one in history.checkpoints() if checkpoint in (None, one.checkpoint_id)]
            text = session_markdown(archive.info(session_id), messages, shown)
            exporting.export(output, lambda file: file.write_text(text), what)
        raise typer.Exit(BAD_INPUT if warnings else OK)


def _covered(archive: Archive, session_id: str, checkpoint_id: str) -> list[BaseMessage]:
    """The originals that a checkpoint covers.

    Raises:
        StorageError: The session has no such checkpoint.
    """
    from langchain_ctxcompress.compressor import ContextCompressor

    messages = ContextCompressor(store=archive.store).expand(checkpoint_id, session_id=session_id)
    if messages is None:
        msg = f"session {session_id!r} has no summary checkpoint {checkpoint_id!r}: `history show` lists them"
        raise StorageError(msg)
    return messages


def _facts(info: SessionInfo) -> dict[str, Any]:
    """What is known of a session, for programs."""
    return info.model_dump(mode="json", exclude={"schema_version", "ctxcompress_record"})


def _checkpoint(one: CheckpointSummary) -> dict[str, Any]:
    """A summary checkpoint, for programs."""
    fields = {"checkpoint_id", "number", "level", "strategy", "summariser", "text", "tokens_before", "tokens_after"}
    return {**one.model_dump(mode="json", include={*fields, "created_at"}), "covered": list(one.covered)}


def _branch(one: Branching) -> dict[str, Any]:
    """A branch, for programs."""
    return {
        "last_id": one.last_id,
        "forked_after": one.forked_after,
        "messages": one.messages,
        "updated_at": one.updated_at.isoformat(),
    }


def _show(
    archive: Archive,
    info: SessionInfo,
    checkpoints: Sequence[CheckpointSummary],
    branches: Sequence[Branching],
    numbered: Sequence[tuple[int, BaseMessage]],
) -> None:
    """What people read of a session."""
    from langchain_ctxcompress.cli.archive import shown_time
    from langchain_ctxcompress.cli.excerpts import excerpt, speaker

    emit_line(f"Session {info.session_id}")
    emit_line(f"{info.messages:,} messages, {info.tokens:,} tokens, in {archive.shown}")
    emit_line(f"First {shown_time(info.started_at)}, last update {shown_time(info.updated_at)}")
    if checkpoints:
        rows = [
            (c.checkpoint_id, c.strategy, c.level, len(c.covered), c.tokens_before, c.tokens_after) for c in checkpoints
        ]
        emit_line("")
        columns = ("id", "strategy", "level", "messages", "tokens before", "after")
        emit_table("Summary checkpoints", columns, rows, whole=("id",), wide_only=("level",))
    if len(branches) > 1:
        emit_line("")
        ways = [(b.last_id, b.messages, b.forked_after, shown_time(b.updated_at)) for b in branches]
        heads = ("last message", "messages", "forked after", "last update")
        emit_table("Branches", heads, ways, whole=("last message", "forked after"))
    if numbered:
        emit_line("")
        first, final = numbered[0][0], numbered[-1][0]
        messages = [
            (number, speaker(m), size, m.id or "", excerpt(m))
            for (number, m), size in zip(numbered, archive.count([m for _, m in numbered]), strict=True)
        ]
        emit_table(
            f"Messages {first:,} to {final:,}",
            ("number", "who", "tokens", "id", "text"),
            messages,
            whole=("id",),
            excerpts=("text",),
            wide_only=("id",),
        )
