"""`inspect`: a session in the browser, as a file or live on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_ctxcompress.cli.archive import Archive
from langchain_ctxcompress.cli.exporting import refuse_to_replace
from langchain_ctxcompress.cli.terminal import OK, emit_line
from langchain_ctxcompress.errors import ConfigError, ConversationFileError

if TYPE_CHECKING:
    from langchain_ctxcompress.report import SessionReport


def inspect_session(
    name: str, *, store: str | None, html: str | None, serve: bool, port: int, limit: int | None, force: bool
) -> int:
    """Show a session: in the terminal, as a page in a file, or as a live page.

    Args:
        name: The id of a session, or its beginning.
        store: Where it is archived; `None` for the file in the user's data directory.
        html: The file that the page is written to.
        serve: Serve the page on loopback until it is interrupted.
        port: Where it is served; 0 takes a free port.
        limit: The hard limit that is drawn, in tokens; the soft one is 0.625 of it.
        force: Whether a file that is there may be replaced.

    Returns:
        The exit code.

    Raises:
        ConfigError: The options contradict each other, or the port is taken.
        ConversationFileError: The file is there already, or cannot be written.
        StorageError: There is no such session, or the store failed.
    """
    if html is not None and serve:
        msg = "--html and --serve: name one of them"
        raise ConfigError(msg)
    if html is not None and not force:
        refuse_to_replace(html)
    archive = Archive(store)
    session_id = archive.find(name)
    if serve:
        return _serve(archive, session_id, port, limit)
    report = _report(archive, session_id, limit)
    if html is None:
        from rich.console import Console

        Console().print(report)
        return OK
    try:
        report.save_html(html)
    except (OSError, ValueError) as error:  # NUL in the name
        msg = f"{html}: cannot be written: {getattr(error, 'strerror', None) or error}"
        raise ConversationFileError(msg) from error
    emit_line(f"{len(report.messages):,} messages of session {session_id} written to {html}: open it in a browser")
    return OK


def _report(archive: Archive, session_id: str, limit: int | None) -> SessionReport:
    from langchain_ctxcompress.limits import PrunerConfig
    from langchain_ctxcompress.report.reporting import report_of

    config = None if limit is None else PrunerConfig.for_limit(limit)
    return report_of(
        archive.history(session_id),
        count=archive.count,
        soft_limit_tokens=config.soft_limit_tokens if config else None,
        hard_limit_tokens=config.hard_limit_tokens if config else None,
    )


def _serve(archive: Archive, session_id: str, port: int, limit: int | None) -> int:
    from langchain_ctxcompress.report.serving import InspectorServer

    try:
        server = InspectorServer(lambda: _report(archive, session_id, limit).to_html(), port)
    except OSError as error:
        msg = f"--port is {port}: it cannot be listened on: {error.strerror or error}"
        raise ConfigError(msg) from error
    with server:
        emit_line(f"Session {session_id} is shown at {server.url} (ctrl-c ends it)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            emit_line("")
    return OK
