"""What is stored already: originals fetched back, from whichever session they are in, and a list as it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.arguments import check_text
from langchain_ctxcompress.engine.checking import check_given
from langchain_ctxcompress.engine.sessions import Session, Sessions
from langchain_ctxcompress.messages import ensure_ids
from langchain_ctxcompress.storage import CheckpointChain, StoreSteps, session_ids


def expand(sessions: Sessions, checkpoint_id: str, session_id: str | None) -> StoreSteps[list[BaseMessage] | None]:
    """The originals that a checkpoint covers; `None` for an unknown one."""
    check_text("checkpoint_id", checkpoint_id)
    for name in (yield from _where(sessions, session_id)):
        history = sessions.history(name)
        covered = CheckpointChain((yield from history.summaries.behind(checkpoint_id))).covered_by(checkpoint_id)
        if covered is not None:
            return (yield from history.get_steps(covered, covered))
    return None


def expand_message(sessions: Sessions, message_id: str, session_id: str | None) -> StoreSteps[BaseMessage | None]:
    """The newest archived revision of a message; `None` if it was never seen."""
    check_text("message_id", message_id)
    for name in (yield from _where(sessions, session_id)):
        found = yield from sessions.history(name).get_steps([message_id])
        if found:
            return found[0]
    return None


def view(session: Session, messages: Sequence[BaseMessage]) -> StoreSteps[list[BaseMessage]]:
    """The active context of a full list as the stored checkpoints make it."""
    check_given(messages)
    session.renew()  # another process may have compressed meanwhile: asked alike, both say the same (law 9)
    found = yield from session.view(ensure_ids(messages, session.history.session_id))
    return found.messages


def _where(sessions: Sessions, session_id: str | None) -> StoreSteps[Iterable[str]]:
    """The sessions to look in: the one that is named, else those last used, then all others of the store."""
    if session_id is not None:
        return [session_id]
    stored = yield from session_ids(sessions.namespace)
    return dict.fromkeys((*sessions.known(), *stored))
