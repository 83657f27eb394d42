"""`snapshot`: points of a session that are saved, and given back as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from langchain_ctxcompress.cli.options import AsJson, Force, Format, Output, Session, Store
from langchain_ctxcompress.cli.terminal import (
    BAD_INPUT,
    OK,
    emit_json,
    emit_line,
    emit_table,
    help_without_command,
    plain_errors,
)
from langchain_ctxcompress.errors import ConfigError, SnapshotNotFoundError

if TYPE_CHECKING:
    from langchain_ctxcompress.cli.archive import Archive
    from langchain_ctxcompress.storage import RestoredSnapshot, Snapshot

snapshot_app = typer.Typer(name="snapshot", help="Save points of archived sessions, and give them back.")

snapshot_app.callback(invoke_without_command=True)(help_without_command)

OfSession = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="SESSION",
        help="Whose it is. Default: all sessions are looked through.",
        show_default=False,
    ),
]


@snapshot_app.command("list")
def list_snapshots(
    *,
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="The id of a session. Default: all.", show_default=False),
    ] = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """List the snapshots of a session, or of all, the newest first."""
    with plain_errors() as warnings:
        from langchain_ctxcompress.cli.archive import Archive, shown_time

        archive = Archive(store)
        sessions = archive.session_ids() if session is None else [archive.find(session)]
        found = [one for name in sessions for one in archive.snapshots(name).list()]
        found.sort(key=lambda one: one.order, reverse=True)
        if as_json:
            emit_json({"store": archive.shown, "snapshots": [_facts(one) for one in found], "errors": warnings})
        elif found:
            rows = [
                (s.snapshot_id, s.purpose, s.messages, len(s.checkpoints), shown_time(s.created_at), s.session_id)
                for s in found
            ]
            emit_table(
                f"{len(rows):,} {'snapshot' if len(rows) == 1 else 'snapshots'} in {archive.shown}",
                ("snapshot", "purpose", "messages", "checkpoints", "made", "session"),
                rows,
                whole=("snapshot", "session"),
                wide_only=("checkpoints",),
            )
        elif not warnings:
            emit_line(f"No snapshots in {archive.shown} yet: `ctxcompress snapshot create SESSION` makes one")
        raise typer.Exit(BAD_INPUT if warnings else OK)


@snapshot_app.command()
def create(
    session: Session,
    *,
    purpose: Annotated[
        str, typer.Option("--purpose", metavar="PURPOSE", help="What it is for: recovery, rollback or emergency.")
    ] = "recovery",
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="A note that is kept with it.", show_default=False)
    ] = "",
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Save a session as it is now: every message that can be read, and its summary checkpoints."""
    with plain_errors() as warnings:
        from typing import get_args

        from langchain_ctxcompress.cli.archive import Archive
        from langchain_ctxcompress.storage import Purpose

        if purpose not in get_args(Purpose):
            msg = f"--purpose is {purpose!r}: it is one of {', '.join(get_args(Purpose))}"
            raise ConfigError(msg)
        archive = Archive(store)
        session_id = archive.find(session)
        history = archive.history(session_id)
        made = archive.snapshots(session_id).create(
            history.messages(on_damage="skip"),
            history.checkpoints(),
            purpose=purpose,  # type: ignore[arg-type]  # one of the three, as was checked
            metadata={"note": note} if note else {},
        )
        if as_json:
            emit_json({"store": archive.shown, "snapshot": _facts(made)})
        else:
            emit_line(
                f"Snapshot {made.snapshot_id} of session {session_id}: {made.messages:,} messages; give it back with"
                f" `ctxcompress snapshot restore {made.snapshot_id}`"
            )
        raise typer.Exit(BAD_INPUT if warnings else OK)


@snapshot_app.command()
def restore(
    snapshot: Annotated[
        str,
        typer.Argument(
            metavar="SNAPSHOT", help="The id of a snapshot; `snapshot list` shows them.", show_default=False
        ),
    ],
    *,
    session: OfSession = None,
    output: Output = None,
    form: Format = None,
    force: Force = False,
    store: Store = None,
) -> None:
    """Give back the messages of a snapshot, on stdout or in a file. The archive stays as it is."""
    with plain_errors() as warnings:
        from langchain_ctxcompress.cli import exporting
        from langchain_ctxcompress.cli.archive import Archive

        found = exporting.check_output(output, form, force=force)
        archive = Archive(store)
        restored = _restored(archive, snapshot, None if session is None else archive.find(session))
        own = restored.snapshot
        what = f"{len(restored.messages):,} messages of snapshot {own.snapshot_id}"
        if found == exporting.JSONL:
            facts = {**_facts(own), "goals": restored.goals}
            record = exporting.conversation_record(own.session_id, restored.messages, snapshot=facts)
            exporting.export(output, lambda file: file.write(record), what)
        else:
            text = _markdown(restored)
            exporting.export(output, lambda file: file.write_text(text), what)
        raise typer.Exit(BAD_INPUT if warnings else OK)


def _restored(archive: Archive, snapshot_id: str, session_id: str | None) -> RestoredSnapshot:
    """The snapshot, wherever it is.

    Raises:
        SnapshotNotFoundError: There is none of that id.
        RecordError: It is damaged.
    """
    for name in archive.session_ids() if session_id is None else [session_id]:
        try:
            return archive.snapshots(name).restore(snapshot_id)
        except SnapshotNotFoundError:
            continue
    where = archive.shown if session_id is None else f"session {session_id!r}"
    msg = f"there is no snapshot {snapshot_id!r} in {where}: `ctxcompress snapshot list` shows those there are"
    raise SnapshotNotFoundError(msg)


def _markdown(restored: RestoredSnapshot) -> str:
    """The snapshot as Markdown: as a session that was last written when the snapshot was made."""
    from langchain_ctxcompress.storage import SessionInfo
    from langchain_ctxcompress.storage.markdown import session_markdown

    own = restored.snapshot
    compressions = sum(1 for one in restored.checkpoints if one.level)
    info = SessionInfo(session_id=own.session_id, updated_at=own.created_at, compressions=compressions)
    return session_markdown(info, restored.messages, restored.checkpoints)


def _facts(one: Snapshot) -> dict[str, Any]:
    """A snapshot, for programs."""
    fields = {"snapshot_id", "session_id", "purpose", "created_at", "messages", "metadata", "forgotten"}
    return {**one.model_dump(mode="json", include=fields), "checkpoints": len(one.checkpoints), "goals": len(one.goals)}
