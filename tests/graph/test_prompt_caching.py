"""The middleware beside Anthropic's prompt caching: its own client, a server on loopback that reads each request."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from langchain_ctxcompress import CompressionMiddleware, ContextCompressor, PrunerConfig

anthropic = pytest.importorskip("langchain_anthropic", reason="langchain-anthropic is not installed")
caching = pytest.importorskip("langchain_anthropic.middleware", reason="langchain-anthropic has no middleware")

LIMIT = 3_000
MOST_BREAKPOINTS = 4
"""Anthropic refuses a request with more."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = {
                "id": f"msg_{len(requests)}",
                "type": "message",
                "role": "assistant",
                "model": "claude-here",
                "content": [{"type": "text", "text": "It is so, and for this reason. " * 12}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 10, "output_tokens": 10},
            }
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}", requests
    listening.shutdown()
    listening.server_close()
    thread.join()


def breakpoints(value: Any) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(breakpoints, value.values()))
    return sum(map(breakpoints, value)) if isinstance(value, list) else 0


@pytest.mark.parametrize("first", [True, False])
def test_in_either_order_what_is_sent_is_cached_legal_and_small(
    server: tuple[str, list[dict[str, Any]]], first: bool
) -> None:
    url, requests = server
    model = anthropic.ChatAnthropic(model="claude-here", base_url=url, api_key="none", max_retries=0, max_tokens=200)
    compressor = ContextCompressor(config=PrunerConfig.for_limit(LIMIT))
    both: list[Any] = [CompressionMiddleware(compressor), caching.AnthropicPromptCachingMiddleware()]
    agent = create_agent(
        model, system_prompt="Be short.", middleware=both if first else both[::-1], checkpointer=InMemorySaver()
    )
    for number in range(30):
        question = HumanMessage(f"{number}: " + "why is it so? " * 30, id=f"h{number}")
        state = agent.invoke({"messages": [question]}, {"configurable": {"thread_id": "t"}})
    assert len(requests) == 30
    assert len(state["messages"]) < 30
    for request in requests:
        assert 1 <= breakpoints(request) <= MOST_BREAKPOINTS
        roles = [message["role"] for message in request["messages"]]
        assert roles[0] == roles[-1] == "user"
        assert all(one != other for one, other in itertools.pairwise(roles))
        assert len(json.dumps(request["messages"])) / 3 < LIMIT  # English: over four characters a token
    assert any("earlier" in json.dumps(request["messages"]) for request in requests)
    assert compressor.expand_message("h3", session_id="t") is not None
