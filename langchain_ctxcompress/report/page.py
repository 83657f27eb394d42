"""The inspector: a session as one page that needs no network, for the browser."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage
from markupsafe import Markup

from langchain_ctxcompress.messages import extract_text_content, is_pinned, is_summary, kind_of
from langchain_ctxcompress.report.snippets import render

if TYPE_CHECKING:
    from langchain_ctxcompress.report.session import SessionReport
    from langchain_ctxcompress.storage import CheckpointSummary

LONGEST_TEXT = 20_000
"""Characters of a message that the page holds; the rest is counted. The archive has all of it."""


def session_page(report: SessionReport) -> str:
    """The page, with the session in it as data that its script draws.

    Text of the conversation is only ever set as text by the script, and no `<` of it stands in the page: it cannot
    become markup, and cannot close the element that holds it.
    """
    folder = files("langchain_ctxcompress.report") / "templates"
    data = json.dumps(page_data(report), ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return render(
        "page.html.j2",
        title=report.session_id,
        totals=report.totals(),
        style=Markup((folder / "page.css").read_text(encoding="utf-8")),  # noqa: S704 - the package's own file
        script=Markup((folder / "page.js").read_text(encoding="utf-8")),  # noqa: S704 - the package's own file
        data=Markup(data),  # noqa: S704 - JSON without any "<"
    )


def page_data(report: SessionReport) -> dict[str, Any]:
    """What the page's script is given."""
    numbers = {id(made): place for place, made in enumerate(report.checkpoints)}
    return {
        "session": report.session_id,
        "messages": [
            {
                **_message(message),
                "n": size,
                "c": numbers[id(report.replaced_by[place])] if place in report.replaced_by else -1,
            }
            for place, (message, size) in enumerate(zip(report.messages, report.sizes, strict=True))
        ],
        "checkpoints": [_checkpoint(report, made) for made in report.checkpoints],
        "curve": [[point.place, point.tokens, point.before] for point in report.curve],
        "limits": [report.soft_limit_tokens, report.hard_limit_tokens],
        "ledger": {kind: [_record(report, record) for record in records] for kind, records in report.ledger.items()},
        "window": [{**_message(message), "s": is_summary(message)} for message in report.window],
        "tiers": [[tier.label, tier.token_count, tier.color] for tier in report.tiers],
    }


def _message(message: BaseMessage) -> dict[str, Any]:
    text = extract_text_content(message)
    kinds = [block.get("type") for block in message.content if isinstance(block, dict)]
    media = [kind for kind in kinds if kind not in ("text", "reasoning", "thinking", "tool_use", "tool_call")]
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    held: dict[str, Any] = {"id": message.id or "", "k": kind_of(message), "t": text[:LONGEST_TEXT]}
    if len(text) > LONGEST_TEXT:
        held["more"] = len(text) - LONGEST_TEXT
    if message.name:
        held["name"] = message.name
    if media:
        held["media"] = [str(kind) for kind in media]
    if calls:
        held["calls"] = [f"{call['name']} {json.dumps(call['args'], default=str)[:LONGEST_TEXT]}" for call in calls]
    if is_pinned(message):
        held["pin"] = True
    return held


def _checkpoint(report: SessionReport, made: CheckpointSummary) -> dict[str, Any]:
    return {
        "id": made.checkpoint_id,
        "number": made.number,
        "level": made.level,
        "text": made.text,
        "quotes": [quote.text for quote in made.quotes],
        "covered": [report.places[identity] for identity in made.covered if identity in report.places],
        "altered": [report.places[identity] for identity in made.altered if identity in report.places],
        "before": made.tokens_before,
        "after": made.tokens_after,
        "replaced": made.replaced_tokens,
        "strategy": made.strategy,
        "summariser": made.summariser,
        "created": made.created_at.isoformat(timespec="seconds"),
        "rendered": made.rendered,
    }


def _record(report: SessionReport, record: dict[str, Any]) -> dict[str, Any]:
    about = record.get("subject") or record.get("status") or record.get("action") or ""
    return {
        "text": str(record.get("text", "")),
        "about": about if isinstance(about, str) else "",
        "from": [report.places[source] for source in record.get("sources", ()) if source in report.places],
    }
