"""One update of a list a step: two nodes that compress the same list side by side would remove the same messages twice.

`add_messages` raises where a removed message is removed again. The node whose update comes first makes it; the other
one's list is the same as it was, and is compressed at a later step if that is still due. Branches of one step run in
one process, so that this need be known nowhere else.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.runnables import RunnableConfig

MOST_STEPS = 4_096
"""Steps that are remembered at once: many more than are under way."""


class StepClaims:
    """Which task updates the messages of which step."""

    def __init__(self) -> None:
        self._claims: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._lock = threading.Lock()

    def claim(self, config: RunnableConfig | None, key: str, changes: Sequence[BaseMessage]) -> bool:
        """Claim a list of a step for the task that asks; `False` if another task has it.

        A task that is run again has the same name, and keeps its claim.

        Args:
            config: The task's config.
            key: Where the state holds the list.
            changes: The update: the list is known by the first message that it removes, since the tasks of a `Send`
                have lists of their own.
        """
        configurable = (config or {}).get("configurable") or {}
        path, _, _ = str(configurable.get("checkpoint_ns") or "").rpartition("|")
        step = (configurable.get("checkpoint_map") or {}).get(path)
        removed = next((str(change.id) for change in changes if isinstance(change, RemoveMessage)), None)
        if not step or removed is None:  # not in a graph, or nothing that could be done twice
            return True
        task = str(configurable["checkpoint_ns"])
        with self._lock:
            name = (str(configurable.get("thread_id")), str(step), key, removed)
            owner = self._claims.setdefault(name, task)
            if len(self._claims) > MOST_STEPS:
                self._claims.popitem(last=False)
            return owner == task


claims = StepClaims()
