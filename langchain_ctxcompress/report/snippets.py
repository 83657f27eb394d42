"""Reports as pieces of HTML, for notebooks: no script, every text escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from langchain_ctxcompress.limits import ContextTier

if TYPE_CHECKING:
    from jinja2 import Environment

    from langchain_ctxcompress.report.compression import CompressionReport
    from langchain_ctxcompress.report.session import SessionReport


def compression_snippet(report: CompressionReport) -> str:
    """One compression: its figures, what each rung freed, what the list is made of."""
    result = report.result
    most = max((rung.freed for rung in result.rungs), default=0)
    rungs = [(rung.name, rung.freed, _share(rung.freed, most), rung.detail or rung.reason) for rung in result.rungs]
    text = result.checkpoint.text if result.checkpoint else ""
    return render("snippet.html.j2", rows=report.rows(), rungs=rungs, made=[], summary=text, **_window(report.tiers))


def session_snippet(report: SessionReport) -> str:
    """A session: its figures, its compressions, what the window is made of."""
    most = max((made.tokens_before for made in report.compressions), default=0)
    made = [
        (
            made.number,
            made.tokens_before,
            made.tokens_after,
            _share(made.tokens_before, most),
            _share(made.tokens_after, most),
            len(made.covered),
        )
        for made in report.compressions
    ]
    return render("snippet.html.j2", rows=report.totals(), rungs=[], made=made, summary="", **_window(report.tiers))


def render(template: str, **values: Any) -> str:
    """A template of this room, filled in; what is filled in is escaped."""
    return templates().get_template(template).render(**values)


@cache
def templates() -> Environment:
    """The templates of this room."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("langchain_ctxcompress.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _window(tiers: list[ContextTier]) -> dict[str, Any]:
    total = sum(tier.token_count for tier in tiers)
    return {"tiers": [(tier.label, tier.token_count, tier.color, _share(tier.token_count, total)) for tier in tiers]}


def _share(part: int, whole: int) -> float:
    """Percent of the whole, for a width."""
    return round(100 * part / whole, 2) if whole else 0.0
