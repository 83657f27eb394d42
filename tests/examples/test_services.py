"""The examples that serve: the chat page, and the service on PostgreSQL, each behind a real socket."""

from __future__ import annotations

import asyncio
import html
import re
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from tests.examples.conftest import Watched
from tests.support.legality import is_summary

Load = Callable[[str], ModuleType]


def test_the_page_shows_all_that_was_said_and_the_model_is_sent_little(load: Load, watched: Watched) -> None:
    example = load("chat_page")
    chat = example.demo_chat()
    server = example.serve(chat, port=0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/"
    try:
        for number in range(30):
            with urlopen(url, data=urlencode({"text": f"line {number} & <b>more</b>"}).encode()) as response:
                page = response.read().decode()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    shown = [html.unescape(text) for text in re.findall(r'<p class="human">(.*?)</p>', page)]
    assert shown == [f"line {number} & <b>more</b>" for number in range(30)]
    assert page.count('<p class="ai">') == 30
    assert "<b>" not in page
    context = chat.context()
    assert len(context) < 30
    assert sum(map(is_summary, context)) == 1
    watched.check(1_500)


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[Any]:
    import httpx
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        assert not running.done(), "the server did not start"
        await asyncio.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
        yield client
    server.should_exit = True
    await running


async def test_the_service_goes_on_with_its_threads_in_a_second_worker(
    load: Load, watched: Watched, postgres_url: str
) -> None:
    example = load("fastapi_postgres")
    from langchain_ctxcompress import PrunerConfig

    for worker in range(2):
        app = example.create_app(postgres_url, example.demo, PrunerConfig.for_limit(1_500))
        async with served(app) as client:
            for number in range(15):
                asks = [
                    client.post(f"/threads/{thread}/messages", json={"text": f"{thread} asks {worker}-{number}"})
                    for thread in ("ann", "bob")
                ]
                for response, thread in zip(await asyncio.gather(*asks), ("ann", "bob"), strict=True):
                    assert response.status_code == 200
                    answer = response.json()
                    assert f"You said: {thread} asks {worker}-{number}" in answer["answer"]
            found = (await client.get("/threads/ann/search", params={"words": "asks 0-0"})).json()
    assert answer["messages_in_context"] < 40
    assert "ann asks 0-0" in found
    assert not [text for text in found if "bob" in text]
    assert len(watched.prompts) == 60
    watched.check(1_500)
