"""A real PostgreSQL for tests: one server for the session, and a schema of its own for each test.

`pgserver` carries PostgreSQL 16 and starts it in a temporary folder, without a port. Where the environment variable
`CTXCOMPRESS_TEST_POSTGRES` holds a URL, that server is used instead; its role must be allowed to create schemas.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import psycopg
import pytest

GIVEN = "CTXCOMPRESS_TEST_POSTGRES"


class PostgresServer:
    """A running server.

    Attributes:
        url: Where it is; its default schema is nobody's.
        own: Whether the tests started it, and so may stop it.
    """

    def __init__(self, url: str, pgserver: Any = None) -> None:
        self.url = url
        self._pgserver = pgserver
        self.own = pgserver is not None

    def execute(self, query: str, url: str = "") -> list[Any]:
        """The rows that a statement gives."""
        with psycopg.connect(url or self.url, autocommit=True) as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def schema(self) -> Iterator[str]:
        """A URL that leads to a new, empty schema; it is dropped behind the test."""
        name = f"test_{uuid4().hex}"
        self.execute(f"CREATE SCHEMA {name}")
        joint = "&" if "?" in self.url else "?"
        try:
            yield f"{self.url}{joint}options={quote(f'-csearch_path={name}')}&application_name={name}"
        finally:
            self.terminate(name)
            self.execute(f"DROP SCHEMA {name} CASCADE")

    def terminate(self, name: str) -> int:
        """End every connection of a test, named by its schema; returns how many there were."""
        rows = self.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'")
        return len(rows)

    def stop(self) -> None:
        """Stop the server at once, as an administrator does: open connections are cut."""
        self._control("stop", "-m", "fast")

    def start(self) -> None:
        """Start it again, where it was."""
        folder = self._pgserver.pgdata
        self._control("start", "-o", "-h ''", "-o", f"-k {folder}", "-l", str(folder / "log"))

    def _control(self, *arguments: str) -> None:
        import pgserver

        pgserver.pg_ctl(["-w", *arguments], pgdata=self._pgserver.pgdata, user=self._pgserver.system_user, timeout=60)


def name_of(url: str) -> str:
    """The schema that a test's URL leads to."""
    return url.rpartition("=")[2]


def _started(folder: Path) -> PostgresServer:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # platformdirs warns where the machine has no runtime folder of the user's
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        import pgserver

        running = pgserver.get_server(folder / "data", cleanup_mode="delete")
    server = PostgresServer(running.get_uri(), running)
    # The machine does not lose its power in a test; what a killed client leaves is the same without these.
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        server.execute(f"ALTER SYSTEM SET {setting} = off")
    server.execute("SELECT pg_reload_conf()")
    return server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server that all tests share."""
    if given := os.environ.get(GIVEN):
        yield PostgresServer(given)
        return
    # Not below pytest's own folder: a server that root starts runs as another user, who may not enter that one, and
    # the name of a socket may have no more than 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="ctx-pg-"))
    try:
        server = _started(folder)
    except (ImportError, OSError, subprocess.SubprocessError, AssertionError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL cannot be started here ({type(error).__name__}: {error}); set {GIVEN} to a URL")
    yield server
    server._pgserver.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty schema of the test's own."""
    with postgres_server.schema() as url:
        yield url


BACKENDS = ("memory", "sqlite", "postgres")


def location(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> str | Path | None:
    """What `open_store` is given for a backend; each test has a place of its own."""
    if backend == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return None if backend == "memory" else tmp_path / "archive.db"


@pytest.fixture(params=BACKENDS[1:])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store lies that several processes can open: a SQLite file, or PostgreSQL."""
    return str(location(request.param, request, tmp_path))
