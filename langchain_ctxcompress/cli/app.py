"""The commands of `ctxcompress` and their options."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from langchain_ctxcompress.cli.history import history_app
from langchain_ctxcompress.cli.options import (
    AsJson,
    BaseUrl,
    Files,
    Force,
    KeyVariable,
    Limit,
    Model,
    Session,
    SoftLimit,
    Store,
    Strategy,
)
from langchain_ctxcompress.cli.settings import CompressorSettings
from langchain_ctxcompress.cli.snapshots import snapshot_app
from langchain_ctxcompress.cli.terminal import (
    BAD_INPUT,
    OK,
    PROGRAM,
    STILL_TOO_LARGE,
    help_without_command,
    plain_errors,
    say,
)

app = typer.Typer(
    name=PROGRAM,
    help="Keeps long conversations inside their model's window, and loses nothing.",
    epilog="Exit codes: 0 done, 1 a conversation is still too large, 2 bad input (what could be done is done).",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,  # a pipe gets help without boxes
)
app.add_typer(history_app, name="history")
app.add_typer(snapshot_app, name="snapshot")


@app.command()
def demo(
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="Size of the window in tokens.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write session and window there.")] = None,
) -> None:
    """Play a long agent session through a small window.

    It needs no model, no key and no network.
    """
    with plain_errors():
        from rich.console import Console

        from langchain_ctxcompress.demo.run import DEFAULT_LIMIT, run_demo

        size = CompressorSettings(limit=DEFAULT_LIMIT if limit is None else limit).config().hard_limit_tokens
        report = run_demo(Console(), limit=size, out=out)
    raise typer.Exit(OK if report.held else STILL_TOO_LARGE)


@app.command()
def plan(
    files: Files,
    *,
    limit: Limit = None,
    soft_limit: SoftLimit = None,
    strategy: Strategy = "ladder",
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: KeyVariable = None,
    as_json: AsJson = False,
) -> None:
    """Show what `compress` would do, at no cost."""
    with plain_errors():
        from langchain_ctxcompress.cli.reports import plan_conversations

        settings = CompressorSettings(limit, soft_limit, strategy, model, base_url, api_key_env)
        raise typer.Exit(plan_conversations(files, settings, as_json=as_json))


@app.command()
def compress(
    files: Files,
    *,
    limit: Limit = None,
    soft_limit: SoftLimit = None,
    strategy: Strategy = "ladder",
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: KeyVariable = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "--output", metavar="FILE", help="Write the conversations there as JSONL; - is stdout."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="STORE",
            help="Where originals are archived: a SQLite file, sqlite:PATH or a postgresql: URL. Default with --out: a"
            " file in your data directory; without: memory.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compress conversations; without --out, only show what it gives."""
    with plain_errors():
        from langchain_ctxcompress.cli.compression import compress_conversations

        settings = CompressorSettings(limit, soft_limit, strategy, model, base_url, api_key_env)
        raise typer.Exit(compress_conversations(files, settings, out=out, store=store, as_json=as_json))


@app.command()
def compare(
    files: Files,
    *,
    limit: Limit = None,
    soft_limit: SoftLimit = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", metavar="NAME", help="Only this one; may be given again. Default: all there are."),
    ] = None,
    model: Model = None,
    base_url: BaseUrl = None,
    api_key_env: KeyVariable = None,
    as_json: AsJson = False,
) -> None:
    """Try all strategies, side by side.

    Shows tokens, model calls, time, what is kept, and how many of the originals come back. Nothing is written.
    """
    with plain_errors():
        from langchain_ctxcompress.cli.comparing import compare_conversations

        settings = CompressorSettings(limit, soft_limit, model=model, base_url=base_url, key_variable=api_key_env)
        raise typer.Exit(compare_conversations(files, settings, strategy or [], as_json=as_json))


@app.command()
def inspect(
    session: Session,
    *,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write a page there that needs no network.", show_default=False),
    ] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Serve the page live, to this machine only.")] = False,
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65_535, help="Where it is served; 0 takes a free port.")
    ] = 0,
    limit: Limit = None,
    force: Force = False,
    store: Store = None,
) -> None:
    """Look at a session: what was compressed when, its summaries beside the originals, its ledger.

    Without an option it is a table in the terminal.
    """
    with plain_errors() as warnings:
        from langchain_ctxcompress.cli.inspecting import inspect_session

        code = inspect_session(session, store=store, html=html, serve=serve, port=port, limit=limit, force=force)
        raise typer.Exit(BAD_INPUT if warnings else code)


@app.command()
def count(
    files: Files,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Whose tokens are counted. Default: o200k_base without margin."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the messages and tokens of conversations."""
    with plain_errors():
        from langchain_ctxcompress.cli.reports import count_conversations

        raise typer.Exit(count_conversations(files, model, as_json=as_json))


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.", is_eager=True)] = False,
) -> None:
    if version:
        from langchain_ctxcompress import __version__

        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit
    help_without_command(context)


def main() -> None:
    """Run the command line; what is wrong with an option is one line on stderr, as every other error is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what a locale cannot show is spelt out, as on stderr
    try:
        code = app(prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        say(error.format_message() or "see --help")
        code = BAD_INPUT
    except BrokenPipeError:
        # Whoever read the output has enough. Python flushes stdout once more at its end: let it find an open end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = STILL_TOO_LARGE
    sys.exit(code if isinstance(code, int) else OK)
