"""Goals: what the work is for, its checkpoints, decisions and artifacts (G1–G3).

A goal is never compressed and never paraphrased. A model may report progress through three markers; code applies
them, and a locked decision cannot be undone that way.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from langchain_ctxcompress.arguments import check_kind, check_text

CheckpointStatus = Literal["pending", "in-progress", "completed"]
ArtifactAction = Literal["created", "modified", "deleted"]

_MARKER = re.compile(r"\[(CHECKPOINT|DECISION|ARTIFACT)\][ \t]", re.IGNORECASE)
_STATUS = re.compile(r"[ \t][-–—][ \t]{1,8}(COMPLETED|IN-PROGRESS|PENDING)$", re.IGNORECASE)
_LOCKED = re.compile(r"[ \t][-–—][ \t]{1,8}LOCKED$", re.IGNORECASE)
_ACTION_WORD = re.compile(r"(Created|Modified|Deleted)[ \t]{1,8}(?=\S)", re.IGNORECASE)
_BULLET = re.compile(r"(?:[-*•][ \t]+|\d{1,3}[.)][ \t]+)")
_MAX_LINE = 1_100


class GoalCheckpoint(BaseModel):
    """A step on the way to a goal.

    Attributes:
        text: What the step is.
        status: `pending`, `in-progress` or `completed`.
        completed_at: When it was completed; `None` before.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    status: CheckpointStatus = "pending"
    completed_at: datetime | None = None


class GoalDecision(BaseModel):
    """A decision taken for a goal.

    Attributes:
        text: What was decided.
        locked: Whether it stands whatever a model says later.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    locked: bool = False


class GoalArtifact(BaseModel):
    """A file that belongs to a goal.

    Attributes:
        path: Its path.
        action: What happened to it last.
    """

    model_config = ConfigDict(frozen=True)

    path: str
    action: ArtifactAction


class Goal(BaseModel):
    """What the work is for. It is restated verbatim to the model.

    Attributes:
        description: The goal in the user's words.
        priority: Greater is more important.
        status: `active`, `paused`, `completed` or `abandoned`.
        checkpoints: Its steps.
        decisions: What was decided for it.
        artifacts: The files of it.
    """

    model_config = ConfigDict(frozen=True)

    description: str
    priority: int = 0
    status: Literal["active", "paused", "completed", "abandoned"] = "active"
    checkpoints: tuple[GoalCheckpoint, ...] = ()
    decisions: tuple[GoalDecision, ...] = ()
    artifacts: tuple[GoalArtifact, ...] = ()


class GoalUpdates(BaseModel):
    """What the markers of a text say, in the order they stand.

    Attributes:
        checkpoints: Steps with their status.
        decisions: Decisions.
        artifacts: Files.
    """

    model_config = ConfigDict(frozen=True)

    checkpoints: tuple[GoalCheckpoint, ...] = Field(default=())
    decisions: tuple[GoalDecision, ...] = Field(default=())
    artifacts: tuple[GoalArtifact, ...] = Field(default=())

    def __bool__(self) -> bool:
        """Whether there is any update."""
        return bool(self.checkpoints or self.decisions or self.artifacts)


def parse_goal_markers(summary: str) -> GoalUpdates:
    """Read the markers in a summary, one a line; other lines are ignored (G3).

    `[CHECKPOINT] text - COMPLETED|IN-PROGRESS|PENDING`, `[DECISION] text` with an optional ` - LOCKED`,
    `[ARTIFACT] Created|Modified|Deleted path`. A list bullet before the marker is allowed.

    Args:
        summary: A summary written by a model. Never a text a tool or a file brought in.

    Returns:
        The updates. Lines longer than 1,100 characters are no markers.

    Raises:
        ConfigError: It is no text.
    """
    check_text("summary", summary)
    checkpoints: list[GoalCheckpoint] = []
    decisions: list[GoalDecision] = []
    artifacts: list[GoalArtifact] = []
    for raw in summary.splitlines():
        if len(raw) > _MAX_LINE or "[" not in raw:
            continue
        line = raw.strip()
        line = line[bullet.end() :] if (bullet := _BULLET.match(line)) else line
        marker = _MARKER.match(line)
        if not marker:
            continue
        kind, body = marker[1].upper(), line[marker.end() :].strip()
        if kind == "CHECKPOINT" and (status := _STATUS.search(body)):
            text = body[: status.start()].strip()
            checkpoints += [GoalCheckpoint(text=text, status=_CHECKPOINT_STATUS[status[1].lower()])] if text else []
        elif kind == "DECISION" and body:
            text = _LOCKED.sub("", body).strip()
            decisions += [GoalDecision(text=text, locked=text != body)] if text else []
        elif kind == "ARTIFACT" and (action := _ACTION_WORD.match(body)):
            path = body[action.end() :].strip("` \t")
            artifacts += [GoalArtifact(path=path, action=_ACTION[action[1].lower()])] if path else []
    return GoalUpdates(checkpoints=tuple(checkpoints), decisions=tuple(decisions), artifacts=tuple(artifacts))


_CHECKPOINT_STATUS: dict[str, CheckpointStatus] = {
    "completed": "completed",
    "in-progress": "in-progress",
    "pending": "pending",
}
_ACTION: dict[str, ArtifactAction] = {"created": "created", "modified": "modified", "deleted": "deleted"}


def same_text(text: str) -> str:
    """A text without what is no difference: white space, case, a full stop at the end."""
    return " ".join(text.split()).rstrip(".").casefold()


def update_goal(goal: Goal, updates: GoalUpdates, *, now: datetime | None = None) -> Goal:
    """Apply what a model reported to a goal (G3).

    A checkpoint of the same text takes the new status, but one that is completed is opened again only by
    `IN-PROGRESS`: `PENDING` may be a list of steps that was written from memory. An artifact of the same path takes
    the new action, a new one is added. A decision is only ever added or locked: no update can unlock or remove one.

    Args:
        goal: The goal; it is not changed.
        updates: What `parse_goal_markers` read.
        now: The time written into checkpoints that are completed by this; the present time in UTC by default.

    Returns:
        A new goal (the same one if nothing changes).

    Raises:
        ConfigError: An argument is of the wrong kind.
    """
    check_kind("goal", goal, Goal, "a Goal")
    check_kind("updates", updates, GoalUpdates, "what parse_goal_markers gives")
    moment = now or datetime.now(UTC)
    checkpoints = {same_text(step.text): step for step in goal.checkpoints}
    for step in updates.checkpoints:
        known = checkpoints.get(same_text(step.text), GoalCheckpoint(text=step.text))
        if known.status == step.status and same_text(step.text) in checkpoints:
            continue
        if known.status == "completed" and step.status == "pending":
            continue  # a list of steps written from memory undoes nothing; work on it again does
        completed_at = (step.completed_at or moment) if step.status == "completed" else None
        changed = known.model_copy(update={"status": step.status, "completed_at": completed_at})
        checkpoints[same_text(step.text)] = changed
    decisions = {same_text(decision.text): decision for decision in goal.decisions}
    for decision in updates.decisions:
        known_decision = decisions.get(same_text(decision.text), decision)
        locked = known_decision.locked or decision.locked
        decisions[same_text(decision.text)] = known_decision.model_copy(update={"locked": locked})
    artifacts = {artifact.path: artifact for artifact in goal.artifacts}
    artifacts.update({artifact.path: artifact for artifact in updates.artifacts})
    updated = goal.model_copy(
        update={
            "checkpoints": tuple(checkpoints.values()),
            "decisions": tuple(decisions.values()),
            "artifacts": tuple(artifacts.values()),
        }
    )
    return goal if updated == goal else updated
