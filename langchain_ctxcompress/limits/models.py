"""How large a model's input may be, by what the model object says of itself (requirement M3).

A model is known by its attributes alone: no provider package is imported.
"""

from __future__ import annotations

import functools
import ipaddress
import logging
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from langchain_ctxcompress.arguments import check_least
from langchain_ctxcompress.errors import UnknownModelLimitError

logger = logging.getLogger(__name__)

LOCAL_SHARE_PERCENT = 85
"""How much of its window a local runtime is given: it cuts what is too long without a word, and counts otherwise."""

LOCAL_WINDOW = 8_000
"""The window of a local runtime that does not say which it has (tokens): what small models and runtimes have had."""

_WINDOW_NAMES = ("num_ctx", "n_ctx")
"""What runtimes call the window that is asked of them: Ollama, llama.cpp."""

_SETTINGS_NAMES = ("kwargs", "model_kwargs", "extra_body", "options")
"""Where settings stand that a class has no field for: bound arguments, and what is sent along as it is."""

_URL_NAMES = ("base_url", "openai_api_base", "anthropic_api_url", "api_base", "endpoint_url", "inference_server_url")
"""What chat models call the address of their server."""


def input_limit(model: Any, *, window_tokens: int | None = None) -> int:
    """How many tokens a model may be sent.

    Args:
        model: A chat model, bound or not.
        window_tokens: Its window, where its profile states none, in tokens.

    Returns:
        What the profile states; else `window_tokens`; else, for a local runtime, 85 % of the window that is asked of it
        (`num_ctx`, `n_ctx`), 6,800 where none is. A window asked for that is smaller than the profile's holds, since
        the runtime cuts what is longer.

    Raises:
        UnknownModelLimitError: None of these is known; the message says how to set it.
        ConfigError: `window_tokens` is out of range.
    """
    window = input_window(model, window_tokens)
    if window is None:
        msg = (
            f"the input window of {_described(model)} is not known (it has no profile with max_input_tokens):"
            " use PrunerConfig.for_limit(tokens), pass window_tokens=…, or give the model a profile"
        )
        raise UnknownModelLimitError(msg)
    return window


def input_window(model: Any, given: int | None = None) -> int | None:
    """As `input_limit`, but `None` where nothing is known.

    Args:
        model: A chat model, bound or not.
        given: Its window, where its profile states none, in tokens.

    Raises:
        ConfigError: `given` is out of range.
    """
    if given is not None:
        check_least("window_tokens", given, 2)
    inner = _unbound(model)
    requested = next(filter(None, map(_requested, _layers(model))), None)
    usable = requested * LOCAL_SHARE_PERCENT // 100 if requested else None
    stated = _stated(inner)
    if stated is not None:
        return min(stated, usable) if usable else stated
    if given is not None or usable is not None:
        return given if given is not None else usable
    if not is_local(model):
        return None
    assumed = LOCAL_WINDOW * LOCAL_SHARE_PERCENT // 100
    _say_assumed(_described(inner), assumed)
    return assumed


def is_local(model: Any) -> bool:
    """Whether a model runs on a local runtime: it takes a window size as Ollama and llama.cpp do, or is on loopback."""
    inner = _unbound(model)
    missing = object()
    fields = (getattr(inner, name, missing) for name in _WINDOW_NAMES)
    takes_window = any(value is None or type(value) is int for value in fields)
    return takes_window or any(_on_loopback(getattr(inner, name, None)) for name in _URL_NAMES)


def model_name(model: Any) -> str:
    """The name of a chat model as its provider knows it; `""` where it has none."""
    inner = _unbound(model)
    names = (getattr(inner, name, None) for name in ("model_name", "model"))
    return next((name for name in names if isinstance(name, str)), "")


def _layers(model: Any) -> Iterator[Any]:
    """The model and what `bind`, `with_config` and `with_retry` wrapped around it, outermost first."""
    from langchain_core.runnables.base import RunnableBindingBase

    while isinstance(model, RunnableBindingBase):
        yield model
        model = model.bound
    yield model


def _unbound(model: Any) -> Any:
    *_, inner = _layers(model)
    return inner


def _stated(model: Any) -> int | None:
    profile = getattr(model, "profile", None)
    window = profile.get("max_input_tokens") if isinstance(profile, dict) else None
    return window if _is_size(window) else None


def _requested(settings: Any) -> int | None:
    """The window that is asked of a runtime, by a field or in settings that are sent along."""
    from langchain_core.runnables.base import RunnableBindingBase

    if isinstance(settings, RunnableBindingBase):  # asked for a field, it answers for the model inside
        return _requested(settings.kwargs)
    found = next((value for name in _WINDOW_NAMES if _is_size(value := _get(settings, name))), None)
    if found is not None:
        return int(found)
    inner = (_get(settings, name) for name in _SETTINGS_NAMES)
    return next((size for it in inner if isinstance(it, Mapping) and (size := _requested(it)) is not None), None)


def _get(settings: Any, name: str) -> Any:
    return settings.get(name) if isinstance(settings, Mapping) else getattr(settings, name, None)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 1


def _on_loopback(url: Any) -> bool:
    """Whether an address is this machine's own."""
    if not isinstance(url, str) or not url:
        return False
    try:
        host = urlsplit(url if "://" in url else f"//{url}").hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _described(model: Any) -> str:
    kind, name = type(_unbound(model)).__name__, model_name(model)
    return f"{kind} {name!r}" if name else kind


@functools.lru_cache(maxsize=64)
def _say_assumed(model: str, tokens: int) -> None:
    """Once for each model: what is assumed, and how to set it. Behind a loopback address a large model may stand."""
    logger.warning(
        "%s runs locally and does not say how large its window is: %d tokens are assumed; pass window_tokens=…,"
        " ask the runtime for a window (num_ctx), or give the model a profile",
        model,
        tokens,
    )
