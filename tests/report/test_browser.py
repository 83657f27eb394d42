"""The inspector in a real browser: what is drawn, keys, search, narrow and wide, light and dark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.report.sessions import Played, play

CHROMIUM = os.environ.get("CTXCOMPRESS_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
ATTACK = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on PATH; name one in CTXCOMPRESS_TEST_CHROMIUM (Debian: apt install chromium)"
)


@pytest.fixture(scope="module")
def played() -> Played:
    return play(150, odd=ATTACK)


@pytest.fixture(scope="module")
def file(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played.compressor.report().save_html(tmp_path_factory.mktemp("page") / "page.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(params=[(400, "light"), (1600, "dark")], ids=["narrow-light", "wide-dark"])
def page(browser: Any, file: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    opened.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith("file:") else None)
    opened.goto(file.as_uri())
    yield opened
    assert faults == []
    context.close()


def test_nothing_is_wider_than_the_page_and_nothing_runs(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.fill("#search", "onerror")
    expect(page.locator("#message-list article")).to_have_count(1)
    assert ATTACK in page.inner_text("#message-list")
    assert page.title() == "Session talk"


def test_a_compression_is_opened_by_keys_beside_its_originals(page: Any, played: Played) -> None:
    first = next(result.checkpoint for result in played.results if result.checkpoint)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    box = page.locator("details.made").first
    assert box.get_attribute("open") is not None
    expect(box).to_contain_text(" ".join(first.text.splitlines()[0].split()))  # it is written when it opens
    shown = box.locator(".pair > div").nth(1).locator("article")
    assert shown.count() == len(first.covered)
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('details').id") == "compression-0"


def test_a_ledger_record_leads_to_its_message(page: Any) -> None:
    link = page.locator("#ledger-list button").first
    number = link.inner_text()
    link.click()
    target = page.locator("article.target")
    assert f"{number} " in target.locator(".head").inner_text().replace("\n", " ") + " "


def test_search_marks_what_it_finds_and_counts(page: Any, played: Played) -> None:
    word = played.said[40].text.split()[1].lower()
    found = [message for message in played.said if word in f"{message.text} {message.id}".lower()]
    page.keyboard.press("/")
    page.keyboard.type(word)
    expect(page.locator("#found")).to_have_text(f"{len(found)} of {len(played.said)} messages")
    assert page.locator("#message-list mark").count() > 0


def test_a_long_list_grows_as_it_is_asked(page: Any) -> None:
    assert page.locator("#message-list article").count() == 100
    page.locator("#message-list > button").click()
    assert page.locator("#message-list article").count() == 200


def test_text_stands_out_from_its_ground(page: Any) -> None:
    """At least 4.5 to 1, as WCAG 2.1 AA asks, for body text and for notes."""
    ratios = page.evaluate(
        """() => {
          const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
              .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ground = light(getComputedStyle(document.body).backgroundColor);
          const nodes = document.querySelectorAll("h1, dt, dd, nav a, .hint, article pre, .head b");
          return [...nodes].slice(0, 60).map((node) => {
            const ink = light(getComputedStyle(node).color);
            return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05); });
        }"""
    )
    assert len(ratios) > 10
    assert min(ratios) >= 4.5
