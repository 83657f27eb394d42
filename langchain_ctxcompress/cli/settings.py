"""The options that decide what a compression gives: limits, strategy, summariser, store."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_ctxcompress.errors import ConfigError

if TYPE_CHECKING:
    from langchain_ctxcompress.compressor import ContextCompressor
    from langchain_ctxcompress.limits import PrunerConfig

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds the key of a server behind `--base-url`, unless another is named."""

NO_KEY = "none"
"""What a local server is sent for a key: the client wants one, the server does not read it."""


@dataclass(frozen=True, slots=True)
class CompressorSettings:
    """What was asked for on the command line.

    Attributes:
        limit: The hard limit in tokens; `None` for the defaults of the package.
        soft_limit: The soft limit in tokens; `None` for 0.625 of `limit`.
        strategy: The name of the strategy.
        model: The name of the summariser; `None` for the extractive one.
        base_url: A server that speaks OpenAI's protocol.
        key_variable: The environment variable with its key; `None` for `OPENAI_API_KEY`, which need not be set.
    """

    limit: int | None = None
    soft_limit: int | None = None
    strategy: str = "ladder"
    model: str | None = None
    base_url: str | None = None
    key_variable: str | None = None

    @property
    def label(self) -> str:
        """All that decides what a compression gives, as one text; no secret is in it."""
        return "|".join(str(value) for value in (self.limit, self.soft_limit, self.strategy, self.model, self.base_url))

    def config(self) -> PrunerConfig:
        """The limits.

        Raises:
            ConfigError: They contradict each other, or are no sizes.
        """
        from langchain_ctxcompress.limits import PrunerConfig

        if self.limit is not None and self.limit < 2:
            msg = f"--limit is {self.limit}: it is a number of tokens, 2 or more"
            raise ConfigError(msg)
        if self.soft_limit is not None and self.soft_limit < 1:
            msg = f"--soft-limit is {self.soft_limit}: it is a number of tokens, 1 or more"
            raise ConfigError(msg)
        base = PrunerConfig() if self.limit is None else PrunerConfig.for_limit(self.limit)
        if self.soft_limit is None:
            return base
        if self.soft_limit >= base.hard_limit_tokens:
            default = " (the default)" if self.limit is None else ""
            msg = f"--soft-limit {self.soft_limit} must be below --limit {base.hard_limit_tokens}{default}"
            raise ConfigError(msg)
        return PrunerConfig(hard_limit_tokens=base.hard_limit_tokens, soft_limit_tokens=self.soft_limit)

    def summariser(self) -> Any:
        """The chat model, or its name for `init_chat_model`; `None` for the extractive summariser.

        Raises:
            ConfigError: The options contradict each other, or the named key is not set.
        """
        if self.base_url is None:
            if self.key_variable is not None:
                msg = "--api-key-env goes with --base-url: without it, the model's own provider says where its key is"
                raise ConfigError(msg)
            return self.model
        if self.model is None:
            msg = "--base-url goes with --model: which model is the server to run?"
            raise ConfigError(msg)
        if not self.base_url.startswith(("http://", "https://")):
            msg = f"--base-url is {self.base_url!r}: it starts with http:// or https://"
            raise ConfigError(msg)
        key = os.environ.get(self.key_variable or KEY_VARIABLE)
        if self.key_variable is not None and not key:
            msg = f"--api-key-env {self.key_variable}: there is no such environment variable, or it is empty"
            raise ConfigError(msg)
        from langchain_openai import ChatOpenAI
        from pydantic import SecretStr

        return ChatOpenAI(model=self.model, base_url=self.base_url, api_key=SecretStr(key or NO_KEY))

    def compressor(self, store: str | None = None) -> ContextCompressor:
        """The compressor that was asked for.

        Args:
            store: `sqlite:PATH`, a path, or a `postgresql:` URL; `None` keeps originals in memory.

        Raises:
            CtxCompressError: An option is wrong, the model cannot be set up, or the store cannot be opened.
        """
        config, model = self.config(), self.summariser()
        if store is not None:
            check_store(store)
        from langchain_ctxcompress.compressor import ContextCompressor

        return ContextCompressor(model, config=config, strategy=self.strategy, store=store)


def default_store() -> str:
    """A SQLite file in the user's data directory."""
    from platformdirs import user_data_path

    return f"sqlite:{user_data_path('ctxcompress', appauthor=False) / 'originals.sqlite'}"


def shown_store(store: str) -> str:
    """The store without what stands before the host of a URL: it may hold a password."""
    separator = "://" if "://" in store else ":"
    scheme, found, rest = store.partition(separator)
    if not found or scheme == "sqlite":
        return store
    host = rest.rsplit("@", 1)[-1].partition("?")[0]  # a password may stand behind the host, too
    return f"{scheme}{separator}{host}" if "@" not in rest or separator == "://" else f"…{host}"


def check_store(store: str) -> None:
    """Refuse what is no store before anything is opened; a password is not repeated.

    Raises:
        ConfigError: It is none.
    """
    from langchain_ctxcompress.storage.backends import ALLOWED, is_memory, is_postgres, sqlite_path

    if is_memory(store) or is_postgres(store):
        return
    try:
        sqlite_path(store)
    except ConfigError as error:
        msg = f"--store is {shown_store(store)!r}: {ALLOWED}"
        raise ConfigError(msg) from error
