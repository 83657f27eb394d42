"""What is logged, announced and traced holds no key and nothing that was said, whatever fails and whoever quotes it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.errors import CtxCompressError, describe
from langchain_ctxcompress.strategies.base import CompressionStrategy
from langchain_ctxcompress.strategies.rendering import exchange_ledger
from tests.support.conversations import exchanges
from tests.support.models import ScriptedChatModel

KEYS = ["sk-proj-abcdefghijklmnop1234", "AKIAABCDEFGHIJKLMNOP", "gsk_abcdefghijklmnopqrst", "hf_abcdefghijklmnopqrstuv"]
SAID = "my dog is called Zebulon"
CONFIG = PrunerConfig.for_limit(1_500)


def talk() -> list[BaseMessage]:
    said = exchanges(40)
    return [*said[:20], HumanMessage(SAID, id="said"), AIMessage("A fine name.", id="fine"), *said[20:]]


def refused(text: str) -> openai.BadRequestError:
    """As a server answers that repeats the request it refuses."""
    asked = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    body = {"message": f"Invalid input: {text}", "code": "invalid_prompt", "param": text}
    return openai.BadRequestError(f"Error code: 400 - {body}", response=httpx.Response(400, request=asked), body=body)


class Told:
    """Everything that was said of the work, at INFO and above."""

    def __init__(self, log: pytest.LogCaptureFixture, spans: Callable[[], Any]) -> None:
        self.events: list[Any] = []
        self._log, self._spans = log, spans

    @property
    def text(self) -> str:
        traced = [span.to_json() for span in self._spans()]
        return "\n".join([self._log.text, *(event.model_dump_json() for event in self.events), *traced])


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[Told]:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.INFO, logger="langchain_ctxcompress"):
        patch.setattr(trace, "get_tracer", provider.get_tracer)
        yield Told(caplog, exporter.get_finished_spans)


def check(told: Told, *, spans: int, more: str = "") -> None:
    """Something was said, and nothing of the conversation."""
    text = f"{told.text}\n{more}"
    assert text.count('"trace_id"') >= spans
    assert "Zebulon" not in text
    assert [message.id for message in talk() if message.text in text] == []


@pytest.mark.parametrize("key", KEYS)
def test_a_failing_model_puts_no_key_and_no_text_into_log_or_events(key: str, told: Told) -> None:
    model = ScriptedChatModel([ValueError(f"401: the key {key} is refused (Authorization: Bearer {key})")])
    result = ContextCompressor(model, config=CONFIG, on_event=told.events.append).compress(talk(), force=True)
    assert result.outcome == "degraded"
    assert told.events
    assert key not in told.text + result.detail
    check(told, spans=2)


ERRORS: dict[str, Callable[[str], Exception]] = {
    "status": refused,
    "value": lambda text: ValueError(f"cannot parse {text!r}"),
    "timeout": lambda text: TimeoutError(f"no answer to {text}"),
    "connection": lambda text: ConnectionError(f"POST {text}"),
    "overflow": lambda text: ValueError(f"maximum context length is 10 tokens, you sent: {text}"),
    "unicode": lambda text: UnicodeEncodeError("utf-8", f"{text}\ud800", len(text), len(text) + 1, f"bad in {text}"),
    "short": lambda text: KeyError("Zebulon"),
}


@pytest.mark.parametrize("background", [False, True], ids=["inline", "background"])
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_of_the_model_that_quotes_the_conversation_is_not_repeated(
    name: str, background: bool, told: Told
) -> None:
    def fail(prompt: list[BaseMessage]) -> AIMessage:
        assert any("Zebulon" in message.text for message in prompt), "this call shows nothing"
        raise ERRORS[name](f"{SAID}. {prompt[-1].text}")

    keeper = ContextCompressor(ScriptedChatModel(fail), config=CONFIG, on_event=told.events.append, session_id="s")
    keeper.summariser.retry_wait = 0.0
    result = keeper.compress(talk(), force=not background, background=background)
    if background:
        work = keeper.background.of("s")
        if work is not None:
            work.future.exception(20)
        result = keeper.compress(talk(), background=True)
    check(told, spans=2, more=repr((result.detail, result.rungs, result.warnings)))


def test_of_a_refusal_the_type_the_status_and_the_code_are_told(told: Told) -> None:
    keeper = ContextCompressor(ScriptedChatModel([refused(SAID)]), config=CONFIG, on_event=told.events.append)
    result = keeper.compress(talk(), force=True)
    assert "BadRequestError: status 400, invalid_prompt" in result.detail
    assert "BadRequestError: status 400, invalid_prompt" in told.events[-1].detail


@pytest.mark.parametrize("key", KEYS)
def test_at_debug_level_the_words_of_the_error_are_in_the_log_without_keys(
    key: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedChatModel([refused(f"{SAID} with {key}")])
    with caplog.at_level(logging.DEBUG, logger="langchain_ctxcompress"):
        ContextCompressor(model, config=CONFIG).compress(talk(), force=True)
    assert SAID in caplog.text
    assert key not in caplog.text
    assert {record.levelname for record in caplog.records if SAID in record.getMessage()} == {"DEBUG"}


class QuotingStore(InMemoryStore):
    """Fails, and says of what; from the given write on, or at each read."""

    def __init__(self, kind: str, **settings: Any) -> None:
        super().__init__(**settings)
        self.kind = kind
        self.failed = 0

    def batch(self, ops: Any) -> list[Any]:
        given = list(ops)
        wrong = [op for op in given if type(op).__name__ == self.kind]
        if wrong:
            self.failed += 1
            msg = f'invalid input: {wrong!r} "{SAID}"'
            raise ValueError(msg)
        return super().batch(given)


@pytest.mark.parametrize("kind", ["PutOp", "GetOp", "SearchOp"])
def test_a_store_that_fails_and_quotes_the_record_is_not_repeated(kind: str, told: Told) -> None:
    store = QuotingStore(kind)
    keeper = ContextCompressor(config=CONFIG, store=store, on_event=told.events.append, session_id="s")
    result = keeper.compress(talk(), force=True)
    assert store.failed
    problem = ""
    try:
        SessionHistory(store, session_id="s").append(talk())
    except CtxCompressError as error:
        problem = str(error)
    check(told, spans=1, more=f"{result.detail}\n{problem}")


def test_an_index_that_fails_and_quotes_what_it_embeds_is_not_repeated(told: Told) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        msg = f"cannot embed {texts}"
        raise ValueError(msg)

    history = SessionHistory(InMemoryStore(index={"dims": 2, "embed": embed, "fields": ["text"]}), session_id="s")
    history.append(talk())
    history.search(SAID)
    assert "not indexed" in told.text
    check(told, spans=0)


class Quoting(CompressionStrategy):
    """A strategy of somebody's that fails, and quotes what it was given."""

    name = "quoting"

    def run(self, request: Any) -> Any:
        yield from ()
        raise ValueError(" ".join(message.text for message in request.messages))


def test_a_strategy_and_callbacks_that_quote_are_not_repeated(told: Told) -> None:
    def fail(event: Any) -> None:
        told.events.append(event)
        raise ValueError(SAID)

    keeper = ContextCompressor(config=CONFIG, strategy=Quoting(), on_event=fail)
    result = keeper.compress(talk(), force=True)
    assert result.reason == "strategy_failed"
    keeper.plan(talk(), force=True)
    assert "ValueError" in result.detail
    check(told, spans=1, more=result.detail)


def test_a_hook_that_fails_does_not_tell_what_it_saw(told: Told) -> None:
    def redact(message: BaseMessage) -> BaseMessage:
        raise ValueError(message.text)

    keeper = ContextCompressor(config=CONFIG, redact=redact, on_event=told.events.append)
    result = keeper.compress(talk(), force=True)
    assert result.reason == "archive_unavailable"
    check(told, spans=1, more=result.detail)


def test_a_damaged_record_is_named_and_not_repeated(told: Told) -> None:
    store = InMemoryStore()
    SessionHistory(store, session_id="s").append(talk())
    for namespace in store.list_namespaces(limit=100):
        for item in store.search(namespace, limit=100):
            texts = {key: text for key, text in item.value.items() if isinstance(text, str)}
            damaged = {key: text.replace("content", "kontent") for key, text in texts.items()}
            store.put(namespace, item.key, {**item.value, **damaged})
    with pytest.raises(CtxCompressError) as caught:
        SessionHistory(store, session_id="s").messages()
    assert SessionHistory(store, session_id="s").messages(on_damage="skip") == []
    assert "left out" in told.text
    check(told, spans=0, more=str(caught.value))


def test_what_an_error_of_ours_or_of_the_system_says_is_told() -> None:
    assert describe(CtxCompressError("set the limit")) == "set the limit"
    assert describe(OSError(28, "No space left on device")) == "OSError: No space left on device"
    assert describe(ValueError(SAID)) == "ValueError: what it said is in the log at debug level"


def test_another_ledger_comes_in_the_place_of_the_first_and_none_leaves_it() -> None:
    text = "<earlier_conversation>\n<ledger>\n- a\n</ledger>\n</earlier_conversation>"
    assert exchange_ledger(text, "") == text
    assert exchange_ledger(text, "- b") == text.replace("- a", "- b")
