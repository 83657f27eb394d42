"""Goals and their markers: requirements G1, G2 and G3."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_ctxcompress.ledger import Goal, GoalCheckpoint, GoalDecision, parse_goal_markers, render, update_goal

NOON = datetime(2025, 5, 14, 12, tzinfo=UTC)
SUMMARY = """
We looked at the schema.
[CHECKPOINT] Read the schema - COMPLETED
- [CHECKPOINT] Write the migration - IN-PROGRESS
[CHECKPOINT] Run it - PENDING
[CHECKPOINT] no status here
[DECISION] Use PostgreSQL 16 - LOCKED
[DECISION] Keep the old table
[ARTIFACT] Created db/migrate_01.sql
[ARTIFACT] Modified app/models.py
[ARTIFACT] Deleted app/old.py
[ARTIFACT] Copied x.py
See [DECISION] in the middle of a line.
"""


def test_g3_markers_are_read_and_other_lines_ignored() -> None:
    updates = parse_goal_markers(SUMMARY)
    assert [(step.text, step.status) for step in updates.checkpoints] == [
        ("Read the schema", "completed"),
        ("Write the migration", "in-progress"),
        ("Run it", "pending"),
    ]
    assert [(each.text, each.locked) for each in updates.decisions] == [
        ("Use PostgreSQL 16", True),
        ("Keep the old table", False),
    ]
    assert [(each.action, each.path) for each in updates.artifacts] == [
        ("created", "db/migrate_01.sql"),
        ("modified", "app/models.py"),
        ("deleted", "app/old.py"),
    ]


@pytest.mark.parametrize("text", ["", "[CHECKPOINT]", "[DECISION]  ", "[DECISION] - LOCKED x", "[ARTIFACT] Created "])
def test_g3_incomplete_markers_do_not_raise(text: str) -> None:
    assert len(parse_goal_markers(text).checkpoints) == 0


def test_g1_update_returns_a_new_goal_with_times() -> None:
    goal = Goal(description="Migrate", checkpoints=(GoalCheckpoint(text="Read the schema"),))
    updated = update_goal(goal, parse_goal_markers(SUMMARY), now=NOON)
    assert goal.checkpoints[0].status == "pending"
    assert updated.checkpoints[0].status == "completed"
    assert updated.checkpoints[0].completed_at == NOON
    assert [step.text for step in updated.checkpoints] == ["Read the schema", "Write the migration", "Run it"]


def test_g3_a_locked_decision_cannot_be_undone() -> None:
    goal = Goal(description="Migrate", decisions=(GoalDecision(text="Use PostgreSQL 16", locked=True),))
    updated = update_goal(goal, parse_goal_markers("[DECISION] use postgresql 16\n[DECISION] Use MySQL"))
    assert updated.decisions[0] == goal.decisions[0]
    assert [each.text for each in updated.decisions] == ["Use PostgreSQL 16", "Use MySQL"]


def test_g1_a_completed_checkpoint_loses_its_time_when_it_is_open_again() -> None:
    done = GoalCheckpoint(text="Run it", status="completed", completed_at=NOON)
    updated = update_goal(
        Goal(description="x", checkpoints=(done,)), parse_goal_markers("[CHECKPOINT] Run it - IN-PROGRESS")
    )
    assert updated.checkpoints[0].status == "in-progress"
    assert updated.checkpoints[0].completed_at is None


def test_g3_a_list_of_steps_written_from_memory_does_not_undo_what_is_completed() -> None:
    done = GoalCheckpoint(text="Run it", status="completed", completed_at=NOON)
    goal = Goal(description="x", checkpoints=(done,))
    assert update_goal(goal, parse_goal_markers("[CHECKPOINT] Run it - PENDING")) == goal


@given(st.text(max_size=300))
def test_g3_updating_twice_changes_nothing_more(noise: str) -> None:
    updates = parse_goal_markers(SUMMARY + noise)
    once = update_goal(Goal(description="Migrate"), updates, now=NOON)
    assert update_goal(once, updates) == once
    assert Goal.model_validate_json(once.model_dump_json()) == once


def test_g2_a_goal_is_rendered_verbatim_first_and_whole() -> None:
    goal = update_goal(Goal(description="Migrate the billing data, without downtime"), parse_goal_markers(SUMMARY))
    from langchain_ctxcompress.ledger import Ledger

    text = render(Ledger(), goal, max_tokens=5, count=len)
    assert text.startswith("## Goal\nMigrate the billing data, without downtime")
    for word in ("[completed] Read the schema", "decided (locked): Use PostgreSQL 16", "deleted app/old.py"):
        assert word in text
