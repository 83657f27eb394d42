"""Fetching originals back: what a checkpoint covers, and single messages, in whichever session they are."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.engine.sessions import Sessions
from langchain_ctxcompress.storage import CheckpointChain, StoreSteps, session_ids


def expand(sessions: Sessions, checkpoint_id: str, session_id: str | None) -> StoreSteps[list[BaseMessage] | None]:
    """The originals that a checkpoint covers; `None` for an unknown one."""
    for name in (yield from _where(sessions, session_id)):
        history = sessions.history(name)
        covered = CheckpointChain((yield from history.summaries.behind(checkpoint_id))).covered_by(checkpoint_id)
        if covered is not None:
            return (yield from history.get_steps(covered, covered))
    return None


def expand_message(sessions: Sessions, message_id: str, session_id: str | None) -> StoreSteps[BaseMessage | None]:
    """The newest archived revision of a message; `None` if it was never seen."""
    for name in (yield from _where(sessions, session_id)):
        found = yield from sessions.history(name).get_steps([message_id])
        if found:
            return found[0]
    return None


def _where(sessions: Sessions, session_id: str | None) -> StoreSteps[Iterable[str]]:
    """The sessions to look in: the one that is named, else those last used, then all others of the store."""
    if session_id is not None:
        return [session_id]
    stored = yield from session_ids(sessions.namespace)
    return dict.fromkeys((*sessions.known(), *stored))
