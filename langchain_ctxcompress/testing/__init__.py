"""Checks that anybody's own parts can be run against.

`check_messages` says whether providers take a list, `check_strategy` runs a strategy over conversations that strategies
stumble over, and `StoreConformance` holds what a store must do.

It may import every other room, and no room imports it. The checks are plain classes for pytest, which only
those who run them need to have.
"""

from langchain_ctxcompress.testing.legality import check_messages
from langchain_ctxcompress.testing.stores import StoreConformance
from langchain_ctxcompress.testing.strategy import check_strategy

__all__ = ["StoreConformance", "check_messages", "check_strategy"]
