"""Strategies by name: the package's own, a user's through `register_strategy`, a package's through its entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from langchain_ctxcompress.errors import ConfigError, UnknownStrategyError
from langchain_ctxcompress.strategies.bands import Bands
from langchain_ctxcompress.strategies.base import CompressionStrategy
from langchain_ctxcompress.strategies.clear_tools import ClearTools
from langchain_ctxcompress.strategies.emergency import Emergency
from langchain_ctxcompress.strategies.ladder import Ladder
from langchain_ctxcompress.strategies.middle_out import MiddleOut
from langchain_ctxcompress.strategies.pack import Pack
from langchain_ctxcompress.strategies.top_down import TopDownTruncation

ENTRY_POINT_GROUP = "langchain_ctxcompress.strategies"
"""A package that names a strategy class in this group of its entry points adds it to every installation."""

_FACTORIES: dict[str, Callable[[], CompressionStrategy]] = {
    strategy.name: strategy for strategy in (Ladder, MiddleOut, TopDownTruncation, Emergency, Pack, Bands, ClearTools)
}


def register_strategy(strategy: type[CompressionStrategy] | CompressionStrategy) -> None:
    """Make a strategy known under its name; one of the same name is replaced.

    Args:
        strategy: A class, made anew for each compressor, or an object, shared by all.

    Raises:
        ConfigError: It is no strategy, or has no name.
    """
    factory: Callable[[], CompressionStrategy]
    if isinstance(strategy, type) and issubclass(strategy, CompressionStrategy):
        factory = strategy
    elif isinstance(strategy, CompressionStrategy):
        shared = strategy
        factory = lambda: shared  # noqa: E731 - a name for both cases
    else:
        msg = f"{strategy!r} is no CompressionStrategy: derive from it"
        raise ConfigError(msg)
    name = getattr(strategy, "name", "")
    if not isinstance(name, str) or not name:
        msg = f"{strategy!r} has no name: set the class attribute `name`"
        raise ConfigError(msg)
    _FACTORIES[name] = factory


def strategy_names() -> list[str]:
    """Every name there is, sorted."""
    return sorted({*_FACTORIES, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))})


def resolve_strategy(strategy: str | CompressionStrategy) -> CompressionStrategy:
    """The strategy that is meant.

    Args:
        strategy: A name, or a strategy.

    Raises:
        UnknownStrategyError: No strategy has that name; the error lists the names there are.
    """
    if isinstance(strategy, CompressionStrategy):
        return strategy
    factory = _FACTORIES.get(strategy)
    if factory is None:
        points = entry_points(group=ENTRY_POINT_GROUP, name=strategy)
        if not points:
            msg = f"there is no strategy {strategy!r}; there are: {', '.join(strategy_names())}"
            raise UnknownStrategyError(msg)
        register_strategy(next(iter(points)).load())
        factory = _FACTORIES[strategy]
    return factory()
