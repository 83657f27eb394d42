"""Privacy: what is forgotten is gone from the file's bytes, and an encrypted store shows nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from langchain_ctxcompress import ConfigError, ContextCompressor, PrunerConfig, SessionHistory, SnapshotStore
from langchain_ctxcompress.errors import RecordError
from langchain_ctxcompress.storage import open_store
from langchain_ctxcompress.storage.encryption import SEALED_KEY, EncryptedStore
from langchain_ctxcompress.testing.stores import StoreConformance
from tests.storage.stores import SyncOnlyStore
from tests.storage.test_forget import SECRET, compressor, talk

KEY = b"0123456789abcdef"


def on_disk(folder: Path) -> bytes:
    """Every byte that the database and its companions hold."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


class TestForgotten:
    @pytest.mark.parametrize("secret_at", [3, 33])
    def test_no_byte_of_it_stands_in_the_files(self, tmp_path: Path, secret_at: int) -> None:
        """In the log, its index, summaries, ledger and snapshots; written, rewritten and removed."""
        own = compressor(tmp_path / "archive.db")
        messages = talk(secret_at=secret_at)
        result = own.compress(messages)
        own.history().append(messages)
        SnapshotStore(own.store, session_id="s").create(result.messages, result.checkpoints)
        assert SECRET.encode() in on_disk(tmp_path)
        assert own.forget_messages([f"h{secret_at}"]) == 1
        assert SECRET.encode() not in on_disk(tmp_path)
        assert own.expand_message("h5") == messages[10]

    async def test_in_async_code_too(self, tmp_path: Path) -> None:
        own = compressor(tmp_path / "archive.db")
        await own.acompress(talk())
        await own.aforget_messages(["h3"])
        assert SECRET.encode() not in on_disk(tmp_path)

    def test_of_a_whole_session(self, tmp_path: Path) -> None:
        own = compressor(tmp_path / "archive.db")
        own.compress(talk())
        SessionHistory(own.store, session_id="other").append([HumanMessage("kept words", id="k")])
        own.forget()
        assert SECRET.encode() not in on_disk(tmp_path)
        assert b"kept words" in on_disk(tmp_path)

    def test_of_a_history_alone(self, tmp_path: Path) -> None:
        history = SessionHistory(tmp_path / "archive.db", session_id="s")
        history.append(talk())
        assert history.forget_messages(["h3"]) == 1
        assert SECRET.encode() not in on_disk(tmp_path)
        history.append(talk())
        history.clear()
        assert SECRET.encode() not in on_disk(tmp_path)

    def test_a_reader_that_holds_the_old_pages_is_said(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        history = SessionHistory(tmp_path / "archive.db", session_id="s")
        history.append(talk())
        assert isinstance(history.store, SqliteStore)
        history.store.conn.execute("PRAGMA busy_timeout=50")
        reader = sqlite3.connect(tmp_path / "archive.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM store").fetchone()
        history.forget_messages(["h3"])
        assert "write-ahead log" in caplog.text
        reader.close()
        history.forget_messages(["h4"])
        assert SECRET.encode() not in on_disk(tmp_path)


class TestEncryptedStore:
    def test_nothing_can_be_read_without_the_key(self, tmp_path: Path) -> None:
        inner = open_store(tmp_path / "archive.db")
        own = compressor(EncryptedStore.from_key(inner, KEY))
        messages = talk()
        result = own.compress(messages)
        SnapshotStore(own.store, session_id="s").create(messages, result.checkpoints, [{"description": "hush"}])
        raw = on_disk(tmp_path)
        assert not [word for word in (SECRET, "Where is order", "hush", "waits for part") if word.encode() in raw]
        assert all(set(item.value) == {SEALED_KEY} for item in inner.search((), limit=10_000))
        again = compressor(EncryptedStore.from_key(open_store(tmp_path / "archive.db"), KEY))
        assert again.expand_message("h3") == messages[6]
        assert again.view(messages) == result.messages

    def test_another_key_is_refused_and_named(self) -> None:
        inner = InMemoryStore()
        SessionHistory(EncryptedStore.from_key(inner, KEY), session_id="s").append([HumanMessage("x", id="1")])
        for other in (KEY[::-1], KEY * 2):
            with pytest.raises(RecordError, match="cannot be decrypted"):
                SessionHistory(EncryptedStore.from_key(inner, other), session_id="s").messages()

    def test_a_value_that_was_not_sealed_is_refused(self) -> None:
        """Whoever can write to the file can neither slip in plain values nor ones that name code to run."""
        inner = InMemoryStore()
        store = EncryptedStore.from_key(inner, KEY)
        for value in ({"a": 1}, {SEALED_KEY: ["bytes", "e30="]}, {SEALED_KEY: ["json", "e30="]}):
            inner.put(("n",), "k", value)
            with pytest.raises(RecordError, match="'k'"):
                store.get(("n",), "k")

    def test_a_key_of_another_length(self) -> None:
        with pytest.raises(ConfigError, match="5 bytes"):
            EncryptedStore.from_key(InMemoryStore(), b"short")

    async def test_async_and_a_store_without_async_methods(self) -> None:
        for inner in (InMemoryStore(), SyncOnlyStore()):
            history = SessionHistory(EncryptedStore.from_key(inner, KEY), session_id="s")
            await history.aappend(talk(2))
            assert await history.amessages() == talk(2)
            assert [m.id for m in await history.asearch("A-1001 what cost", limit=1)] == ["h1"]

    def test_it_neither_filters_nor_searches_by_meaning(self) -> None:
        store = EncryptedStore.from_key(InMemoryStore(), KEY)
        with pytest.raises(NotImplementedError, match="encrypted"):
            store.search((), query="words")


class TestConformance(StoreConformance):
    """An encrypted store is fit for an archive as any other."""

    @pytest.fixture
    def store(self) -> EncryptedStore:
        return EncryptedStore.from_key(InMemoryStore(), KEY)


def test_redacted_words_are_never_written(tmp_path: Path) -> None:
    def redact(message):
        return message.model_copy(update={"content": str(message.content).replace(SECRET, "[…]")})

    own = ContextCompressor(
        config=PrunerConfig.for_limit(1_500), store=tmp_path / "archive.db", session_id="s", redact=redact
    )
    own.compress(talk())
    assert SECRET.encode() not in on_disk(tmp_path)
