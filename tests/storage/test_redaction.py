"""Privacy: what `redact` takes out is in no record; the agent's own messages stay as they are."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxcompress import ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.engine import Outcome
from langchain_ctxcompress.errors import StorageError
from langchain_ctxcompress.messages import extract_text_content, is_summary
from langchain_ctxcompress.storage import open_store
from tests.support.postgres import BACKENDS, location

CODE = "zebra-4711"


@pytest.fixture(params=BACKENDS)
def store(request, tmp_path):
    return open_store(location(request.param, request, tmp_path))


def redact(message):
    return message.model_copy(update={"content": extract_text_content(message).replace(CODE, "[code]"), "id": "other"})


def talk():
    return [
        m
        for i in range(40)
        for m in (
            HumanMessage(f"My code is {CODE}, never tell. Where is order A-{i}? " * 3, id=f"h{i}"),
            AIMessage(f"Order A-{i} waits, your code {CODE} is safe. " * 3, id=f"a{i}"),
        )
    ]


def stored(store) -> str:
    return str([item.value for item in store.search((), limit=100_000)])


def test_it_is_in_no_record(store):
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s", redact=redact)
    result = compressor.compress(talk())
    assert result.outcome == "applied"
    assert CODE not in stored(store)
    assert CODE in str(result.messages[0].content), "what is sent to the model is not redacted"
    assert "[code]" in compressor.expand_message("h5").content
    covered = compressor.expand(result.checkpoint.checkpoint_id)
    assert len(covered) == len(result.checkpoint.covered)


def test_it_is_archived_once_and_recognised_again(store):
    """Laws 2 and 8: a list that comes back whole is compressed as before, by another process too."""
    first = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s", redact=redact)
    result = first.compress(talk())
    again = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s", redact=redact)
    assert [m.id for m in again.view(talk())] == [m.id for m in result.messages]
    assert CODE not in str([m.content for m in again.view(talk()) if is_summary(m)])
    history = SessionHistory(store, session_id="s", redact=redact)
    assert history.append(talk()) == 0
    assert len(history.messages()) == 80


@pytest.mark.parametrize("bad", [lambda message: 1 / 0, lambda message: "text", lambda message: None])
def test_a_hook_that_fails_archives_nothing_and_breaks_nothing(store, bad):
    """Law 4: the list stays, and the outcome says why."""
    with pytest.raises(StorageError, match="redact"):
        SessionHistory(store, session_id="s", redact=bad).append([HumanMessage("x", id="m")])
    compressor = ContextCompressor(config=PrunerConfig.for_limit(1_500), store=store, session_id="s", redact=bad)
    result = compressor.compress(talk())
    assert (result.outcome, result.messages) == (Outcome.FAILED, talk())
    assert "redact" in result.detail
    assert stored(store) == "[]"
