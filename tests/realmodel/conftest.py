"""The server runs once for all tests; each test has clients of its own, since those are bound to its loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from langchain_openai import ChatOpenAI

from tests.support.real_model import RealModel, serve

SMALL_WINDOW = 1_024
"""Tokens of a window that a short conversation overflows."""

ModelMaker = Callable[..., ChatOpenAI]


@pytest.fixture(scope="session")
def real_model() -> Iterator[RealModel]:
    """The model with the window it was made for."""
    with serve() as model:
        yield model


@pytest.fixture(scope="session")
def narrow_model() -> Iterator[RealModel]:
    """The same model in a small window."""
    with serve(SMALL_WINDOW) as model:
        yield model


@pytest.fixture
async def chat(request: pytest.FixtureRequest) -> AsyncIterator[ModelMaker]:
    """Makes a `ChatOpenAI` that talks to a server; its clients are closed after the test."""
    async with httpx.AsyncClient() as async_client:
        with httpx.Client() as client:

            def make(server: RealModel, **options: Any) -> ChatOpenAI:
                clients = {"http_client": client, "http_async_client": async_client}
                return ChatOpenAI(**server.settings(**options), **clients)

            yield make
