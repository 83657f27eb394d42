"""Pages and exports show what was said and become nothing of it: by two parsers, and in a real browser."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from markdown_it import MarkdownIt

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from tests.security.payloads import PAYLOADS
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

CHROMIUM = os.environ.get("CTXCOMPRESS_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
HARMLESS = "Some ordinary words."


class Elements(HTMLParser):
    """The elements of a page, each with the names of its attributes; what is declared or commented counts too."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self.links: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag, tuple(name for name, _ in attrs)] += 1
        self.links += [value or "" for name, value in attrs if name in {"href", "src", "srcdoc", "action"}]

    def handle_comment(self, data: str) -> None:
        self.found["comment", ()] += 1

    def handle_decl(self, decl: str) -> None:
        self.found[f"declaration {decl}", ()] += 1

    def unknown_decl(self, data: str) -> None:
        self.found["unknown declaration", ()] += 1


def talk(text: str) -> list[BaseMessage]:
    """A conversation with the text in every field that is shown."""
    said = exchanges(24)
    call = {"name": text, "args": {"query": text, text: [text]}, "id": f"call {text}"}
    rule = f"Never write {text.replace(chr(10), ' ')} to the order ORD-77812."
    odd: list[BaseMessage] = [
        HumanMessage(text, id=f"id {text}", name=text),
        AIMessage([{"type": "text", "text": text}, {"type": text}], tool_calls=[call], id="odd-call"),
        ToolMessage(text, tool_call_id=f"call {text}", name=text, id="odd-result"),
        AIMessage(text, id="odd-answer"),
        HumanMessage(rule, id="odd-rule"),
        AIMessage("Noted.", id="odd-noted"),
    ]
    return [*said[:8], *odd, *said[8:]]


def session(*texts: str) -> ContextCompressor:
    said = [message for text in texts for message in talk(text)]
    said = [m.model_copy(update={"id": f"{place} {m.id}"}) for place, m in enumerate(said)]
    model = ScriptedChatModel("A summary. " + " ".join(texts))
    keeper = ContextCompressor(model, config=PrunerConfig.for_limit(1_500), session_id=f"session {texts[0]}")
    result = keeper.compress(said, force=True)
    assert result.checkpoint is not None
    assert result.checkpoint.ledger.get("rules")
    keeper.history().append(said)
    return keeper


@pytest.fixture(scope="module")
def plain() -> Elements:
    return Elements(session(HARMLESS).report().to_html())


def test_there_are_enough_payloads_and_the_parser_would_see_them() -> None:
    assert len(PAYLOADS) >= 15
    raw = [name for name, text in PAYLOADS.items() if Elements(f"<p>{text}</p>").found != Elements("<p></p>").found]
    assert len(raw) >= 15


@pytest.mark.parametrize("name", PAYLOADS)
def test_the_page_gains_no_element_no_attribute_and_no_link(name: str, plain: Elements) -> None:
    page = Elements(session(PAYLOADS[name]).report().to_html())
    assert page.found == plain.found
    assert page.links == plain.links


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_markdown_export_read_as_html_gains_nothing(name: str) -> None:
    """Read by CommonMark with HTML allowed, as most sites render it."""
    text = PAYLOADS[name]
    exported = session(text).history().export_markdown()
    drawn = MarkdownIt("commonmark", {"html": True}).render(exported)
    page = Elements(drawn)
    kinds = {tag for tag, _ in page.found}
    assert kinds <= {"h1", "h2", "h3", "p", "ul", "li", "pre", "code"}
    assert {names for _, names in page.found} <= {(), ("class",)}
    assert page.links == []


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_notebook_snippet_gains_nothing(name: str) -> None:
    shown = [Elements(session(text).report()._repr_html_()).found for text in (PAYLOADS[name], HARMLESS)]
    kinds = [{key[0] for key in found} for found in shown]
    assert kinds[0] <= kinds[1] | {"table", "tr", "td", "div", "span", "details", "summary"}
    assert not [names for _, names in shown[0] if any(each.startswith("on") for each in names)]


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH; name one in CTXCOMPRESS_TEST_CHROMIUM")
def test_nothing_runs_and_nothing_is_asked_for_in_a_browser(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    file = session(*PAYLOADS.values()).report().save_html(tmp_path / "page.html")
    faults: list[Any] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith("file:") else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        while page.locator("#message-list > button").count():
            page.locator("#message-list > button").click()
        page.fill("#search", "__pwned")
        page.wait_for_timeout(300)
        assert page.locator("#message-list article").count() > len(PAYLOADS)
        assert PAYLOADS["script"] in page.inner_text("#message-list")
        assert page.evaluate("window.__pwned") is None
        brought = "document.querySelectorAll('iframe, img, form, base, a[href^=javascript]').length"
        assert page.evaluate(brought) == 0
        browser.close()
    assert faults == []


def test_a_session_of_another_process_is_escaped_too(tmp_path: Path) -> None:
    """What the archive gives back is shown like what was just said."""
    text = PAYLOADS["closing script"]
    store = tmp_path / "sessions.sqlite"
    SessionHistory(str(store), session_id=text).append(talk(text))
    page = Elements(ContextCompressor(store=str(store), session_id=text).report().to_html())
    assert sum(count for (tag, _), count in page.found.items() if tag == "script") == 2
