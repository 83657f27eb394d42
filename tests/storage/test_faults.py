"""A store that fails in the middle of a run: nothing is replaced, the agent goes on, and no fault outlives itself.

The faults are real ones of real stores, under a real graph (laws 2 and 4).
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig, SessionHistory
from langchain_ctxcompress.engine.events import CompressionEvent
from langchain_ctxcompress.storage import backends, encode_message, open_store
from tests.support.legality import is_summary, violations
from tests.support.postgres import PostgresServer, name_of

SHORT = 0.2
"""Seconds for which a lock is waited for in these tests."""

FULL = """
CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER no_space BEFORE INSERT OR UPDATE ON store EXECUTE FUNCTION no_space()
"""


class Agent:
    """A graph with a compression node in front of its model, and everything that was ever said in it."""

    def __init__(self, place: Path | str) -> None:
        self.place = place
        self.events: list[CompressionEvent] = []
        self.store = open_store(place)
        self.compressor = ContextCompressor(
            config=PrunerConfig.for_limit(1_500), store=self.store, on_event=self.events.append
        )
        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(self.compressor, background=False))
        graph.add_node("model", lambda state: {"messages": [self.answer(state["messages"])]})
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        graph.add_edge("model", END)
        self.graph = graph.compile(checkpointer=InMemorySaver())
        self.said: list[BaseMessage] = []

    def answer(self, prompt: list[BaseMessage]) -> BaseMessage:
        number = len(self.said)
        return AIMessage(f"Answer {number}: because of this and that. " * 4, id=f"a{number}")

    def turns(self, count: int) -> list[BaseMessage]:
        """The thread after so many questions, each of which was answered."""
        state: list[BaseMessage] = []
        for _ in range(count):
            asked = HumanMessage(f"Question {len(self.said)}: where is it, and why? " * 4, id=f"h{len(self.said)}")
            result = self.graph.invoke({"messages": [asked]}, {"configurable": {"thread_id": "thread"}})
            state = result["messages"]
            assert state[-1].type == "ai"
            assert violations(state) == []
            self.said += [asked, state[-1]]
        return state

    def outcomes(self) -> list[tuple[str, str, str]]:
        """What became of the compressions since it was last asked."""
        found = [(str(e.kind), e.reason, e.detail) for e in self.events if e.kind in ("applied", "failed")]
        self.events.clear()
        return found


@contextmanager
def full_file(agent: Agent, server: Any) -> Iterator[None]:
    connection = agent.store.conn  # type: ignore[attr-defined]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    yield
    connection.execute("PRAGMA max_page_count = 1073741823")


@contextmanager
def read_only_file(agent: Agent, server: Any) -> Iterator[None]:
    agent.store.conn.execute("PRAGMA query_only = ON")  # type: ignore[attr-defined]
    yield
    agent.store.conn.execute("PRAGMA query_only = OFF")  # type: ignore[attr-defined]


@contextmanager
def locked_file(agent: Agent, server: Any) -> Iterator[None]:
    other = sqlite3.connect(agent.place, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    yield
    other.execute("ROLLBACK")
    other.close()


@contextmanager
def full_server(agent: Agent, server: PostgresServer) -> Iterator[None]:
    server.execute(FULL, str(agent.place))
    yield
    server.execute("DROP TRIGGER no_space ON store", str(agent.place))


@contextmanager
def read_only_server(agent: Agent, server: PostgresServer) -> Iterator[None]:
    agent.store.conn.execute("SET default_transaction_read_only = on")  # type: ignore[attr-defined]
    yield
    agent.store.conn.execute("SET default_transaction_read_only = off")  # type: ignore[attr-defined]


@contextmanager
def locked_table(agent: Agent, server: PostgresServer) -> Iterator[None]:
    with psycopg.connect(str(agent.place)) as other:
        other.execute("LOCK TABLE store IN ACCESS EXCLUSIVE MODE")
        yield


@contextmanager
def stopped_server(agent: Agent, server: PostgresServer) -> Iterator[None]:
    if not server.own:
        pytest.skip("the server is not the tests' own, so they do not stop it")
    server.stop()
    try:
        yield
    finally:
        server.start()


FAULTS: list[Any] = [
    pytest.param("sqlite", full_file, "disk is full", id="sqlite-full"),
    pytest.param("sqlite", read_only_file, "readonly database", id="sqlite-read-only"),
    pytest.param("sqlite", locked_file, "database is locked", id="sqlite-locked"),
    pytest.param("postgres", full_server, "No space left on device", id="postgres-full"),
    pytest.param("postgres", read_only_server, "read-only transaction", id="postgres-read-only"),
    pytest.param("postgres", locked_table, "lock timeout", id="postgres-locked"),
    pytest.param("postgres", stopped_server, "OperationalError", id="postgres-stopped"),
]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    from langchain_ctxcompress.storage import postgres

    monkeypatch.setattr(backends, "BUSY_SECONDS", SHORT)
    monkeypatch.setattr(postgres, "LOCK_SECONDS", SHORT)


def place_of(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path | str, Any]:
    if backend == "sqlite":
        return tmp_path / "archive.db", None
    return request.getfixturevalue("postgres_url"), request.getfixturevalue("postgres_server")


@pytest.mark.parametrize(("backend", "fault", "words"), FAULTS)
def test_the_agent_goes_on_and_loses_nothing(
    backend: str, fault: Any, words: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    place, server = place_of(backend, request, tmp_path)
    agent = Agent(place)
    before = agent.turns(20)
    assert any(kind == "applied" for kind, _, _ in agent.outcomes())
    with fault(agent, server):
        during = agent.turns(12)
        outcomes = agent.outcomes()
    assert outcomes, "the limit was not reached while the store failed"
    assert {(kind, reason) for kind, reason, _ in outcomes} == {("failed", "archive_unavailable")}
    assert all(words in detail for _, _, detail in outcomes), outcomes
    assert [m.id for m in during] == [m.id for m in before] + [m.id for m in agent.said[-24:]], "something was replaced"

    after = agent.turns(1)
    assert [kind for kind, _, _ in agent.outcomes()] == ["applied"], "it works again, without a restart"
    assert len(after) < len(during)
    assert sum(map(is_summary, after)) == 1
    history = SessionHistory(open_store(place), session_id=agent.compressor.history("thread").session_id)
    stored = {message.id: message for message in history.messages()}
    for message in agent.said[:-1]:  # the last answer came behind the last compression
        assert encode_message(stored[message.id]) == encode_message(message)
    assert [m.id for m in history.messages()] == [m.id for m in agent.said[:-1]], "something is there twice"


def test_a_connection_that_was_cut_is_made_anew_unnoticed(postgres_server: PostgresServer, postgres_url: str) -> None:
    agent = Agent(postgres_url)
    agent.turns(20)
    agent.outcomes()
    for _ in range(4):
        assert postgres_server.terminate(name_of(postgres_url)) >= 1
        agent.turns(5)
    assert {kind for kind, _, _ in agent.outcomes()} == {"applied"}
    assert [m.id for m in agent.compressor.history("thread").messages()] == [
        m.id for m in agent.said[: len(agent.compressor.history("thread").messages())]
    ]


@pytest.mark.parametrize("fault", [full_file, read_only_file, locked_file])
def test_a_batch_is_written_whole_or_not_at_all(fault: Any, tmp_path: Path) -> None:
    """LangGraph's own store commits what a failed batch wrote so far."""
    agent = Agent(tmp_path / "archive.db")
    history = SessionHistory(agent.store, session_id="s")
    history.append([HumanMessage("before", id="0")])
    rows = agent.store.conn.execute("SELECT prefix, key, value FROM store ORDER BY 1, 2").fetchall()  # type: ignore[attr-defined]
    with fault(agent, None):
        with pytest.raises(Exception, match="failed: OperationalError"):
            history.append([HumanMessage("x" * 100_000, id=str(number)) for number in range(1, 40)])
        assert not agent.store.conn.in_transaction  # type: ignore[attr-defined]
    assert agent.store.conn.execute("SELECT prefix, key, value FROM store ORDER BY 1, 2").fetchall() == rows  # type: ignore[attr-defined]
    assert history.append([HumanMessage("x" * 100_000, id=str(number)) for number in range(1, 40)]) == 39
    assert len(SessionHistory(agent.store, session_id="s").messages()) == 40


LIMITED = """
import resource, signal, sys
from langchain_core.messages import AIMessage, HumanMessage
from langchain_ctxcompress import ContextCompressor, PrunerConfig
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
compressor = ContextCompressor(config=PrunerConfig.for_limit(700), store=sys.argv[1], session_id="s")
talk = [(HumanMessage, AIMessage)[n % 2](f"{n} is said, and why. " * 9, id=f"m{n}") for n in range(600)]
assert compressor.compress(talk[:200]).outcome == "applied"
known = compressor.view(talk)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
result = compressor.compress(talk)
assert (result.outcome, result.reason) == ("failed", "archive_unavailable"), result
assert result.messages == known, "what was replaced before stays so"
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert compressor.compress(talk).outcome == "applied"
assert [m.id for m in compressor.history().messages()] == [m.id for m in talk]
print(result.detail)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are POSIX's")
def test_the_operating_system_refuses_to_write(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "archive.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ArchiveSqliteStore failed: OperationalError" in done.stdout
