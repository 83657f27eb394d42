"""Checks that anybody's own parts can be run against: `stores` holds what a store must do.

It may import every other room, and no room imports it. The checks are plain classes for pytest, which only
those who run them need to have.
"""

from langchain_ctxcompress.testing.stores import StoreConformance

__all__ = ["StoreConformance"]
