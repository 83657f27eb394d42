"""Options that several commands take, spelt and explained alike."""

from __future__ import annotations

from typing import Annotated

import typer

STRATEGIES = "ladder, middle-out, clear-tools, bands, pack, top-down-truncation, emergency"
"""The strategies of the package, for people; they are not imported to show a help."""

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="JSON or JSONL conversations, in OpenAI's chat format or LangChain's; - reads stdin.",
        show_default=False,
    ),
]
Limit = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", help="Hard limit in tokens; the soft one is 0.625 of it. Default: 800,000."),
]
SoftLimit = Annotated[
    int | None, typer.Option("--soft-limit", metavar="N", help="Soft limit in tokens: from here on it compresses.")
]
Strategy = Annotated[
    str, typer.Option("--strategy", metavar="NAME", help=f"How a conversation gets smaller: {STRATEGIES}.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="The chat model that summarises. Default: none, no key, no network."),
]
BaseUrl = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", help="A server that speaks OpenAI's protocol and runs --model."),
]
KeyVariable = Annotated[
    str | None,
    typer.Option("--api-key-env", metavar="VAR", help="Environment variable with its key. Default: OPENAI_API_KEY."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout instead of a table.")]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        help="Where sessions are archived: a SQLite file, sqlite:PATH or a postgresql: URL. Default: the file in your"
        " data directory to which `compress --out` writes.",
        show_default=False,
    ),
]
Session = Annotated[
    str,
    typer.Argument(
        metavar="SESSION", help="The id of a session, or its beginning; `history list` shows them.", show_default=False
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "--out", metavar="FILE", help="Write there instead of to stdout.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it is there already.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="markdown for people, or jsonl, which `compress` reads. Default: by the name of the file; markdown on"
        " stdout.",
        show_default=False,
    ),
]
Branch = Annotated[
    str | None,
    typer.Option(
        "--branch",
        metavar="MESSAGE",
        help="Only what led to this message, by its id; `history show` lists the branches where there are several.",
        show_default=False,
    ),
]
