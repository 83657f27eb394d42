"""A chat service: FastAPI, with the threads and the archive in PostgreSQL, so that any worker can serve any thread.

Run it: `DATABASE_URL=postgresql://… uvicorn fastapi_postgres:app`, then
`curl -X POST localhost:8000/threads/7/messages -H 'content-type: application/json' -d '{"text": "hello"}'`.
It needs `pip install 'langchain-ctxcompress[postgres]' fastapi uvicorn`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from _model import DemoModel, newest_question, summariser
from fastapi import FastAPI
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

from langchain_ctxcompress import CompressionNode, ContextCompressor, PrunerConfig


class Said(BaseModel):
    """What a user sends."""

    text: str


def create_app(database: str, model: BaseChatModel, config: PrunerConfig) -> FastAPI:
    """The service, on a database of its own."""

    async def answer(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        compressor = ContextCompressor(summariser(), config=config, store=database)
        graph = StateGraph(MessagesState)
        graph.add_node("compress", CompressionNode(compressor))
        graph.add_node("model", answer)
        graph.add_edge(START, "compress")
        graph.add_edge("compress", "model")
        graph.add_edge("model", END)
        async with AsyncPostgresSaver.from_conn_string(database) as saver:
            await saver.setup()
            app.state.chat, app.state.compressor = graph.compile(checkpointer=saver), compressor
            yield
        compressor.close()

    app = FastAPI(lifespan=lifespan)

    @app.post("/threads/{thread}/messages")
    async def say(thread: str, said: Said) -> dict[str, Any]:
        run = {"configurable": {"thread_id": thread}}
        state = await app.state.chat.ainvoke({"messages": [HumanMessage(said.text)]}, run)
        return {"answer": state["messages"][-1].text, "messages_in_context": len(state["messages"])}

    @app.get("/threads/{thread}/search")
    async def search(thread: str, words: str) -> list[str]:
        """What was said earlier, from the archive."""
        return [message.text for message in await app.state.compressor.history(thread).asearch(words)]

    return app


# A real model: init_chat_model("openai:gpt-4.1")
demo = DemoModel(reply=lambda prompt: f"You said: {newest_question(prompt)[:40]} " + "That is so. " * 25)
app = create_app(os.environ.get("DATABASE_URL", "postgresql:///postgres"), demo, PrunerConfig.for_limit(1_500))
