"""The summariser that is meant by a chat model, or by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable

from langchain_ctxcompress.errors import SummariserError
from langchain_ctxcompress.summarize.chat_model import ChatModelSummariser
from langchain_ctxcompress.summarize.secrets import without_secrets

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


def summariser_of(
    model: BaseChatModel | Runnable[Any, Any] | ChatModelSummariser | str | None, **settings: Any
) -> ChatModelSummariser | None:
    """The summariser that is meant.

    Args:
        model: A summariser (returned as it is), or what `resolve_model` takes.
        **settings: Of a `ChatModelSummariser` that is made for the model.

    Raises:
        SummariserError: As `resolve_model`.
    """
    if model is None or isinstance(model, ChatModelSummariser):
        return model
    resolved = resolve_model(model)
    return ChatModelSummariser(resolved, **settings) if resolved is not None else None


def resolve_model(model: BaseChatModel | Runnable[Any, Any] | str | None) -> Runnable[Any, Any] | None:
    """The chat model that is meant.

    Args:
        model: A chat model, a name for `init_chat_model` (needs the extra `agents`), or `None` for the extractive
            summariser.

    Raises:
        SummariserError: The name is unknown, or the extra is missing.
    """
    if not isinstance(model, str):
        return model
    if not model.strip():  # `init_chat_model` would take it for a model that is to be chosen at each call
        msg = f"model={model!r} cannot be set up: the name is empty"
        raise SummariserError(msg)
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        msg = f"model={model!r}: a model name needs the extra: pip install 'langchain-ctxcompress[agents]'"
        raise SummariserError(msg) from error
    try:
        found: Runnable[Any, Any] = init_chat_model(model)
    except Exception as error:  # each provider package raises its own for a missing key or an unknown name
        msg = (
            f"model={model!r} cannot be set up: {type(error).__name__}: {_one_line(without_secrets(str(error), None))}"
        )
        raise SummariserError(msg) from error
    return found


def _one_line(text: str, most: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most] + "…"
