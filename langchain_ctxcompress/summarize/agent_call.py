"""`AgentCall`: what the agent's model is called with, so that a summary can be asked for behind the same prompt.

Providers bill a prompt whose beginning they have read before at a tenth. The conversation is in that cache as the agent
sends it: same model, same tools, same system prompt, same messages. So the summariser is given just that, and one
instruction at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.messages import BaseMessage

if TYPE_CHECKING:
    from langchain_core.runnables import Runnable


@dataclass(frozen=True, slots=True)
class AgentCall:
    """What the agent's model is called with, besides the messages.

    Attributes:
        model: The agent's chat model.
        tools: The tools it is given.
        system: The system message in front of the list; `None` where the list has its own, or there is none.
        settings: Further arguments that are bound to it.
    """

    model: Any
    tools: Sequence[Any] = ()
    system: BaseMessage | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def bound(self) -> Runnable[Any, Any]:
        """The model with the tools, which it may not call: `tool_choice="none"`.

        Raises:
            NotImplementedError: The model takes no tools; a model may raise others where it does not know that choice.
        """
        settings = {name: value for name, value in self.settings.items() if name != "tool_choice"}
        if self.tools:
            bound: Runnable[Any, Any] = self.model.bind_tools(list(self.tools), tool_choice="none", **settings)
            return bound
        return self.model.bind(**settings) if settings else self.model  # type: ignore[no-any-return]
