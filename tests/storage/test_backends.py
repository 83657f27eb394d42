"""Opening a store: memory, a SQLite file, a URL, or one clear error."""

from __future__ import annotations

import gc
import logging
import os
import sqlite3
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from langchain_ctxcompress.errors import ConfigError, CtxCompressError, StorageError
from langchain_ctxcompress.storage import SessionHistory, open_store
from tests.support.postgres import PostgresServer, name_of

PASSWORD = "s3cret-pass"


def works(store: Any) -> bool:
    history = SessionHistory(store, session_id="s")
    history.append([HumanMessage("x", id="1")])
    return history.messages() == [HumanMessage("x", id="1")]


class TestWhatIsGiven:
    def test_none_is_memory_and_says_so(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, "langchain_ctxcompress"):
            store = open_store(None)
        assert isinstance(store, InMemoryStore)
        assert [r.levelname for r in caplog.records if "kept in memory" in r.getMessage()] == ["INFO"]
        assert works(store)

    @pytest.mark.parametrize("given", [":memory:", "sqlite::memory:", "sqlite:///:memory:"])
    def test_memory_by_its_name(self, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        store = open_store(given)
        assert isinstance(store, InMemoryStore)
        assert works(store)
        assert list(tmp_path.iterdir()) == []

    def test_each_is_a_memory_of_its_own(self) -> None:
        assert open_store(None) is not open_store(None)

    def test_a_store_is_returned_as_it_is(self) -> None:
        store = InMemoryStore()
        assert open_store(store) is store

    @pytest.mark.parametrize("given", [5, b"x.db", ["x.db"], object(), {"path": "x.db"}, InMemoryStore])
    def test_anything_else_is_refused_by_its_type(self, given: Any) -> None:
        with pytest.raises(ConfigError, match=f"store is a {type(given).__name__}: it must be"):
            open_store(given)


class TestSqlite:
    @pytest.mark.parametrize("form", ["{}", "sqlite:{}", "sqlite:///{}"])
    def test_a_path_or_a_url(self, form: str, tmp_path: Path) -> None:
        path = tmp_path / "a folder" / "new" / "history ä.db"
        store = open_store(form.format(path))
        assert isinstance(store, SqliteStore)
        assert works(store)
        assert path.is_file()

    def test_a_path_object_and_again(self, tmp_path: Path) -> None:
        path = tmp_path / "history.db"
        assert works(open_store(path))
        assert SessionHistory(path, session_id="s").messages() == [HumanMessage("x", id="1")]

    def test_a_relative_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        assert works(open_store("sqlite:history.db"))
        assert (tmp_path / "history.db").is_file()
        assert works(open_store("sqlite:///folder/as-sqlalchemy-has-it.db"))
        assert (tmp_path / "folder" / "as-sqlalchemy-has-it.db").is_file()

    @pytest.mark.parametrize("name", ["odd:name.db", "C:", "1:2.db"])
    def test_a_path_with_a_colon_is_said_to_be_one(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert works(open_store(f"sqlite:{name}"))
        assert (tmp_path / name).is_file()
        assert works(open_store(Path(f"x{name}")))

    def test_the_home_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        assert works(open_store("~/history.db"))
        assert (tmp_path / "history.db").is_file()

    @pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
    def test_only_its_owner_may_read_it(self, tmp_path: Path) -> None:
        store = open_store(tmp_path / "history.db")
        assert works(store)
        modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir()}
        assert set(modes.values()) == {0o600}, modes

    @pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
    def test_the_mode_of_a_file_that_is_there_stays(self, tmp_path: Path) -> None:
        path = tmp_path / "history.db"
        path.touch()
        path.chmod(0o640)
        open_store(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_what_was_written_survives_a_killed_process(self, tmp_path: Path) -> None:
        store = open_store(tmp_path / "history.db")
        assert isinstance(store, SqliteStore)
        pragmas = [store.conn.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
        assert pragmas == ["wal", 1]

    def test_the_connection_ends_with_the_store(self, tmp_path: Path) -> None:
        store = open_store(tmp_path / "history.db")
        assert isinstance(store, SqliteStore)
        connection = store.conn
        del store
        gc.collect()
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")

    def test_many_that_open_it_at_once(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(6) as pool:
            stores = list(pool.map(open_store, [tmp_path / "history.db"] * 6))
        assert works(stores[0])
        assert all(SessionHistory(store, session_id="s").messages() for store in stores)


class TestWhatCannotBeOpened:
    def refused(self, given: Any) -> str:
        with pytest.raises((StorageError, ConfigError)) as caught:
            open_store(given)
        said = str(caught.value)
        assert isinstance(caught.value, CtxCompressError)
        assert "\n" not in said
        return said

    def test_a_folder(self, tmp_path: Path) -> None:
        assert str(tmp_path) in self.refused(tmp_path)

    @pytest.mark.parametrize("given", ["", "sqlite:"])
    def test_no_path(self, given: str) -> None:
        assert f"store is {given!r}, which names no file: it must be" in self.refused(given)

    def test_a_host(self) -> None:
        assert "names a host: write sqlite:PATH, or sqlite:///PATH" in self.refused("sqlite://history.db")

    @pytest.mark.parametrize("given", ["redis:6379", "localhost:5432/db", "user:s3cret-pass@host/db", "file:x.db"])
    def test_a_text_with_a_colon_is_taken_for_no_path(
        self, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        said = self.refused(given)
        assert said.startswith(f"store begins with '{given.partition(':')[0]}:': it must be the path of a SQLite file")
        assert "sqlite:PATH, postgresql://… or :memory:" in said
        assert PASSWORD not in said
        assert list(tmp_path.iterdir()) == []

    def test_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        assert "cannot be opened" in self.refused(tmp_path / "file" / "history.db")

    def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        path = tmp_path / "letter.txt"
        path.write_text("Dear reader, " * 100)
        assert "cannot be used as a store" in self.refused(path)
        assert path.read_text() == "Dear reader, " * 100

    def test_nul_in_the_path(self) -> None:
        assert "cannot be opened" in self.refused("a\x00b.db")

    def test_the_home_of_nobody(self) -> None:
        assert "cannot be opened" in self.refused("~no-such-user-here/history.db")

    @pytest.mark.parametrize("scheme", ["mysql", "postgresql+psycopg", "POSTGRESQL", "redis", "http", "SQLite"])
    def test_a_url_of_another_kind_makes_no_folder_of_that_name(
        self, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        said = self.refused(f"{scheme}://user:{PASSWORD}@host/db")
        assert f"begins with '{scheme}:'" in said
        assert PASSWORD not in said
        assert list(tmp_path.iterdir()) == []


class TestPostgres:
    @pytest.mark.parametrize(
        "url",
        [f"postgresql://u:{PASSWORD}@127.0.0.1:1/db", f"postgres://u:{PASSWORD}@127.0.0.1:1/db?bad=1", "postgresql:"],
    )
    def test_without_a_server_one_line_and_no_password(self, url: str) -> None:
        with pytest.raises((StorageError, ConfigError)) as caught:
            open_store(url)
        said = str(caught.value)
        assert "\n" not in said
        assert PASSWORD not in said
        assert "PostgreSQL" in said or "postgres" in said

    def test_without_the_extra_the_error_says_which(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "langchain_ctxcompress.storage.postgres", raising=False)
        monkeypatch.setitem(sys.modules, "langgraph.store.postgres", None)
        with pytest.raises(ConfigError, match=r"langchain-ctxcompress\[postgres\]") as caught:
            open_store(f"postgresql://u:{PASSWORD}@127.0.0.1:1/db")
        assert PASSWORD not in str(caught.value)

    def test_it_is_set_up_and_closed_with_the_store(self, postgres_url: str) -> None:
        store = open_store(postgres_url)
        assert works(store)
        connection = store.conn  # type: ignore[attr-defined]
        assert not connection.closed
        del store
        gc.collect()
        assert connection.closed

    def test_many_that_open_it_at_once(self, postgres_url: str) -> None:
        """LangGraph's own setup fails where two do it at the same time."""
        with ThreadPoolExecutor(6) as pool:
            stores = list(pool.map(open_store, [postgres_url] * 6))
        assert works(stores[0])
        assert all(SessionHistory(store, session_id="s").messages() for store in stores)

    def test_a_server_that_cannot_be_set_up(self, postgres_server: PostgresServer, postgres_url: str) -> None:
        postgres_server.execute(f"DROP SCHEMA {name_of(postgres_url)}")
        try:
            with pytest.raises(StorageError, match="cannot be used as a store: InvalidSchemaName") as caught:
                open_store(postgres_url)
        finally:
            postgres_server.execute(f"CREATE SCHEMA {name_of(postgres_url)}")
        assert "\n" not in str(caught.value)
