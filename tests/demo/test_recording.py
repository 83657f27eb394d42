"""The recorded session: long, legal, real, and the same each time."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage, convert_to_messages

from langchain_ctxcompress.demo.recording import record_session, session_tokens, write_session
from langchain_ctxcompress.demo.workbench import Workbench
from tests.support.legality import violations
from tests.support.sizes import text_tokens


@pytest.fixture(scope="module")
def session() -> list[BaseMessage]:
    return record_session()


def test_is_at_least_60_000_tokens_by_an_independent_count(session: list[BaseMessage]) -> None:
    assert sum(text_tokens(message.text) for message in session) >= 60_000
    assert session_tokens(session) >= 60_000


def test_is_legal_and_whole(session: list[BaseMessage]) -> None:
    assert violations(session, open_end=False) == []
    assert session[0].type == "system"
    assert session[-1].type == "ai"
    assert len({message.id for message in session}) == len(session)


def test_holds_every_kind_of_message_and_parallel_calls(session: list[BaseMessage]) -> None:
    kinds = Counter(message.type for message in session)
    assert kinds["human"] >= 15
    assert kinds["ai"] >= 80
    assert kinds["tool"] >= 80
    assert any(len(message.tool_calls) >= 4 for message in session if isinstance(message, AIMessage))
    assert any(message.status == "error" for message in session if isinstance(message, ToolMessage))


def test_tool_results_are_what_the_tools_put_out(session: list[BaseMessage]) -> None:
    calls = {
        call["id"]: call
        for message in session
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["name"] != "run_python"
    }
    workbench = Workbench()
    results = [m for m in session if isinstance(m, ToolMessage) and m.status == "success" and m.tool_call_id in calls]
    assert len(results) > 50
    for result in results:
        call = calls[result.tool_call_id]
        assert workbench.run(call["name"], call["args"]) == result.text


def test_every_program_of_the_agent_ran_to_its_end(session: list[BaseMessage]) -> None:
    runs = [message.text for message in session if isinstance(message, ToolMessage) and message.name == "run_python"]
    assert len(runs) >= 7
    assert [run for run in runs if not run.startswith("exit code 0\n")] == []


def test_two_recordings_are_the_same_and_name_no_place_on_this_machine(
    session: list[BaseMessage], tmp_path: Path
) -> None:
    path = tmp_path / "a folder" / "session.jsonl"
    again = record_session(path)
    assert [message.model_dump() for message in again] == [message.model_dump() for message in session]
    written = path.read_text(encoding="utf-8")
    assert str(Workbench().root) not in written
    assert str(Path.home()) + "/" not in written


def test_the_file_is_one_line_in_openai_format(session: list[BaseMessage], tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    write_session(session, path)
    (line,) = path.read_text(encoding="utf-8").splitlines()
    record = json.loads(line)
    assert record["tokens"] == session_tokens(session)
    read = convert_to_messages(record["messages"])
    assert [(message.type, message.text) for message in read] == [(message.type, message.text) for message in session]
    assert [m.tool_calls for m in read if isinstance(m, AIMessage)] == [
        m.tool_calls for m in session if isinstance(m, AIMessage)
    ]


def test_fewer_tasks_are_the_beginning_of_the_whole(session: list[BaseMessage]) -> None:
    short = record_session(tasks=2)
    assert 10 < len(short) < len(session)
    assert [message.model_dump() for message in short] == [message.model_dump() for message in session[: len(short)]]
    assert violations(short, open_end=False) == []
