"""What the conversation's own prefix is asked for as a summary, to the last token: a token is a letter here."""

from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_ctxcompress import AgentCall
from langchain_ctxcompress.ledger.goal_set import GoalSet
from langchain_ctxcompress.strategies.base import (
    Reason,
)
from langchain_ctxcompress.strategies.summarising import AGAIN, WrittenSummary
from langchain_ctxcompress.summarize import TaskFailure, TaskResult
from tests.strategies.asked import BUDGET, PLAIN, Asked, asking, failed
from tests.strategies.lettered import GOAL, talk
from tests.support.models import ScriptedChatModel


class TestPrefix:
    SYSTEM = SystemMessage("You are careful.", id="sys")

    def call(self, window: int | None = None, system: BaseMessage | None = None) -> AgentCall:
        profile = {"profile": {"max_input_tokens": window}} if window else {}
        return AgentCall(ScriptedChatModel("unused", **profile), system=system)

    def test_the_task_is_the_conversation_and_one_instruction(self) -> None:
        agent = self.call(system=self.SYSTEM)
        messages = [*talk(5), HumanMessage("And now?", id="now")]
        request = asking(messages, agent=agent, goals=GoalSet((GOAL,), (GOAL,)), instructions="keep the SQL")
        (task,) = Asked(request, messages[2:6], earlier="before").tasks
        assert task.prompt[:-1] == (self.SYSTEM, *messages)
        assert (task.max_tokens, task.agent) == (100, agent)
        assert task.cached_tokens == len(self.SYSTEM.text) + 500, "up to the last answer"
        told = task.prompt[-1].text
        for part in ("h1 ooo", GOAL.description, "keep the SQL", "earlier"):
            assert part in told

    def test_nothing_is_cached_before_the_model_has_answered(self) -> None:
        messages = [HumanMessage("h" * 50, id="h")]
        assert Asked(asking(messages, agent=self.call())).tasks[0].cached_tokens == 0

    def test_the_first_that_is_replaced_is_named_where_something_stays_in_front_of_it(self) -> None:
        messages = talk(5)
        behind = Asked(asking(messages, agent=self.call()), messages[2:6]).said()
        front = Asked(asking(messages, agent=self.call()), messages[:6]).said()
        named = [text.rpartition("a4 ")[2] for text in (behind, front)]
        assert ["h1 oo" in text for text in named] == [True, False]
        assert all("o" * 30 in text for text in named), "how the last one ends"

    def test_messages_are_named_by_eighty_characters_without_line_breaks(self) -> None:
        long = "".join(f"{number:03}\n" for number in range(60))
        messages = [HumanMessage("x", id="x"), HumanMessage(long, id="l"), AIMessage(long, id="m")]
        told = Asked(asking(messages, agent=self.call()), messages[1:]).tasks[0].prompt[-1].text
        joined = " ".join(long.split())
        assert f"…{joined[-80:]}" in told
        assert joined[-81:] not in told
        assert "\n000" not in told
        begins = next(part for part in told.split("…") if "000 001" in part)
        assert begins[begins.index("000 001") :].split(" ")[0] == "000"
        assert "000 001 002" in told and "058 059…" not in told

    def test_one_without_text_is_named_so(self) -> None:
        messages = [HumanMessage("x", id="x"), AIMessage("", id="m"), AIMessage("y" * 90, id="n")]
        told = Asked(asking(messages, agent=self.call()), messages[1:]).tasks[0].prompt[-1].text
        assert "no text…" in told

    def test_where_all_of_it_has_no_room_a_transcript_is_shown(self) -> None:
        messages = talk(10)
        request = asking(messages, agent=self.call(1_000_000, self.SYSTEM), overhead_tokens=70)
        told = len(Asked(request).tasks[0].prompt[-1].text)
        whole = told + len(self.SYSTEM.text) + 70 + 1_000 + BUDGET.most
        for window, shown in ((whole, True), (whole - 1, False)):
            agent = self.call(window, self.SYSTEM)
            (task,) = Asked(asking(messages, agent=agent, overhead_tokens=70)).tasks
            assert (task.agent is agent) is shown

    def test_where_it_fails_a_transcript_is_shown_and_all_attempts_are_counted(self) -> None:
        request = asking(talk(10), agent=self.call())
        asked = Asked(request).answer(failed(attempts=3))
        assert asked.tasks[0].agent is None
        assert "<conversation-" in asked.said()
        got = asked.answer(TaskResult(PLAIN, attempts=2)).summary
        assert got == WrittenSummary(PLAIN, "model", calls=5, report=PLAIN)

    def test_while_it_cools_down_nothing_else_is_asked(self) -> None:
        got = Asked(asking(talk(10), agent=self.call())).answer(failed(TaskFailure.COOLING_DOWN, attempts=1)).summary
        assert got is not None
        assert (got.failure, got.calls) == (Reason.COOLING_DOWN, 1)

    def test_the_second_try_says_what_was_wrong_and_keeps_the_wish(self) -> None:
        request = asking(talk(10), agent=self.call(), instructions="keep the SQL")
        asked = Asked(request)
        assert AGAIN not in asked.said()
        asked.answer("See /srv/made/up.txt and W-99417.")
        told = asked.tasks[0].prompt[-1].text
        assert f"keep the SQL\n{AGAIN}" in told

    def test_what_the_whole_conversation_says_is_not_made_up(self) -> None:
        """The model reads it all, not only what is replaced."""
        messages = [*talk(5), HumanMessage("Look at /srv/real.txt.", id="now")]
        text = f"{PLAIN} See /srv/real.txt."
        flagged = [
            Asked(asking(messages, **fields), messages[:6]).answer(text).summary
            for fields in ({"agent": self.call()}, {})
        ]
        assert [one is not None and one.flagged for one in flagged] == [(), ("/srv/real.txt",)]
