"""A chat page: the user sees every message that was ever said, the model is sent a short context.

`python chat_page.py` serves it on http://localhost:8017. The transcript is the archive, then what is not archived yet.
"""

from __future__ import annotations

import html
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from _model import DemoModel, newest_question, summariser
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig
from langchain_ctxcompress.messages import is_summary

PAGE = """<!doctype html><title>Chat</title><style>body {{ max-width: 40em; margin: auto; font-family: sans-serif }}
.human {{ text-align: right; color: #036 }}</style>{said}
<form method="post"><input name="text" autofocus> <button>Send</button></form><p>{note}</p>"""


class Chat:
    """One conversation: a graph that compresses, and the transcript beside it."""

    def __init__(self, model: BaseChatModel, compressor: ContextCompressor, thread: str = "page") -> None:
        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(compressor))
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        self.graph = graph.compile(checkpointer=InMemorySaver())
        self.compressor = compressor
        self.thread = thread
        self.config: Any = {"configurable": {"thread_id": thread}}

    def say(self, text: str) -> None:
        """One exchange."""
        self.graph.invoke({"messages": [HumanMessage(text)]}, self.config)

    def context(self) -> list[BaseMessage]:
        """What the model was sent last, and its answer."""
        return self.graph.get_state(self.config).values.get("messages", [])

    def transcript(self) -> list[BaseMessage]:
        """All that was said: the archive, then the tail that no compression has archived yet."""
        archived = self.compressor.history(self.thread).messages()
        known = {message.id for message in archived}
        return [*archived, *(m for m in self.context() if m.id not in known and not is_summary(m))]

    def page(self) -> str:
        """The transcript as HTML."""
        shown, sent = self.transcript(), self.context()
        said = "".join(f'<p class="{m.type}">{html.escape(m.text)}</p>' for m in shown)
        return PAGE.format(said=said, note=f"{len(shown)} messages were said, {len(sent)} are in the context.")


def serve(chat: Chat, port: int = 8017) -> ThreadingHTTPServer:
    """The page's server, on this machine alone."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            chat.say(parse_qs(body).get("text", [""])[0])
            self._send(200)

        def _send(self, status: int) -> None:
            page = chat.page().encode()
            self.send_response(status)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *args: Any) -> None:
            """Nothing is logged."""

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


def demo_chat() -> Chat:
    """A chat that needs no key; a real model: init_chat_model("openai:gpt-4.1")."""
    model = DemoModel(reply=lambda prompt: f"You said “{newest_question(prompt)[:30]}”. " + "I see. " * 30)
    return Chat(model, ContextCompressor(summariser(), config=PrunerConfig.for_limit(1_500)))


if __name__ == "__main__":
    print("http://localhost:8017 (Ctrl-C ends it)", flush=True)
    serve(demo_chat()).serve_forever()
