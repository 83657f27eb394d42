"""P4: modes say what a summary keeps as it stands; P3: their prompts are files one can read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import langchain_ctxcompress.summarize as room
from langchain_ctxcompress import (
    ConfigError,
    ContextCompressor,
    PreservationStrategy,
    PrunerConfig,
    SummaryMode,
    register_mode,
)
from langchain_ctxcompress.summarize import Mode, mode_names, modes, resolve_mode, summary_budget, summary_prompt
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

TEMPLATES = Path(room.__file__).parent / "templates"
CONFIG = PrunerConfig.for_limit(2_000)
CODE = "code, commands and configuration"
ERRORS = "error messages and the lines of a trace"
GOALS = "each goal and its state"
DECISIONS = "decisions and the reason"


@pytest.fixture(autouse=True)
def no_mode_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(modes, "_registered", {})
    yield


def task(mode: str | SummaryMode) -> str:
    return summary_prompt("user: hi", summary_budget(3, 100), mode=mode)[0].text


@pytest.mark.parametrize(
    ("mode", "kept"),
    [
        (Mode.DEVELOPER, {CODE, DECISIONS}),
        (Mode.PLANNING, {GOALS, DECISIONS}),
        (Mode.DEBUGGER, {CODE, ERRORS, DECISIONS}),
        (Mode.ASSISTANT, {DECISIONS}),
    ],
)
def test_p4_what_each_mode_keeps_is_in_its_prompt_and_nothing_else_is(mode: Mode, kept: set[str]) -> None:
    assert {words for words in (CODE, ERRORS, GOALS, DECISIONS) if words in task(mode)} == kept


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("DEVELOPER", ("Code", "paths", "decisions", "errors")),
        ("Planning", ("Goals", "decisions", "trade-offs", "next steps")),
        ("debugger", ("Symptoms", "traces", "steps", "cause", "fix that was tried")),
        ("assistant", ("Decisions", "context", "preferences", "flow")),
    ],
)
def test_p4_each_mode_says_what_its_reader_goes_on_with(mode: str, words: tuple[str, ...]) -> None:
    assert [word for word in words if word not in resolve_mode(mode).focus] == []
    assert resolve_mode(mode).focus in task(mode)


def test_p4_a_mode_is_chosen_by_config_by_compressor_and_by_call_the_nearest_first() -> None:
    def asked(config: PrunerConfig, mode: str | None, call: str | None) -> str:
        model = ScriptedChatModel("went on")
        ContextCompressor(model, config=config, mode=mode).compress(exchanges(30), mode=call)
        text = model.prompts[0][0].text
        return next(str(each) for each in Mode if resolve_mode(each).focus in text)

    planning = CONFIG.model_copy(update={"mode": "planning"})
    assert asked(CONFIG, None, None) == "assistant"
    assert asked(planning, None, None) == "planning"
    assert asked(planning, "debugger", None) == "debugger"
    assert asked(planning, "debugger", "developer") == "developer"


def test_p4_a_user_s_mode_is_registered_by_name() -> None:
    register_mode("Support", "It is a call at a help desk.", preserve=PreservationStrategy(errors=True))
    assert "support" in mode_names()
    model = ScriptedChatModel("went on")
    ContextCompressor(model, config=CONFIG, mode="support").compress(exchanges(30))
    text = model.prompts[0][0].text
    assert "It is a call at a help desk." in text
    assert ERRORS in text
    assert CODE not in text
    with pytest.raises(ConfigError, match="already"):
        register_mode("SUPPORT", "again")
    assert register_mode("support", "Anew.", replace=True).focus == "Anew."
    assert "Anew." in task("support")


@pytest.mark.parametrize(("name", "focus"), [("", "x"), ("x", " "), ("developer", "x")])
def test_p4_a_mode_that_cannot_be_registered_says_why(name: str, focus: str) -> None:
    with pytest.raises(ConfigError, match=r"mode|register_mode"):
        register_mode(name, focus)


def test_p4_an_unknown_mode_is_refused_at_once_and_the_known_ones_are_named() -> None:
    for make in (
        lambda: ContextCompressor(config=CONFIG, mode="poetry"),
        lambda: ContextCompressor(config=CONFIG.model_copy(update={"mode": "poetry"})),
        lambda: ContextCompressor(config=CONFIG).compress(exchanges(2), mode="poetry"),
    ):
        with pytest.raises(ConfigError, match=r"poetry.*developer.*register_mode"):
            make()


def test_p3_every_template_gives_the_reason_of_its_sections() -> None:
    files = sorted(TEMPLATES.rglob("*.j2"))
    assert {file.stem for file in files} >= {"summary", "developer", "planning", "debugger", "assistant"}
    assert [file.name for file in files if "{#" not in file.read_text(encoding="utf-8")] == []
    assert "{#" not in task("developer")


def test_p3_goal_and_ledger_stand_between_markers_of_the_seal() -> None:
    import re

    prompt = summary_prompt("x", summary_budget(3, 100), goals="Ship it", ledger="- never on Fridays")[0].text
    seal = re.findall(r"<conversation-([0-9a-f]+)>", prompt)[0]
    assert f"<goals-{seal}>\nShip it\n</goals-{seal}>" in prompt
    assert f"<records-{seal}>\n- never on Fridays\n</records-{seal}>" in prompt
    bare = summary_prompt("x", summary_budget(3, 100))[0].text
    assert "<goals-" not in bare
    assert "<records-" not in bare
