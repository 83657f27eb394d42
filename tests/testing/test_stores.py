"""The conformance tests hold for the stores this package is used with, and fail for stores that lose things."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from langchain_ctxcompress.storage import open_store
from langchain_ctxcompress.testing import StoreConformance
from tests.storage.stores import SyncOnlyStore


class TestMemory(StoreConformance):
    @pytest.fixture
    def store(self):
        return InMemoryStore()


class TestSqlite(StoreConformance):
    @pytest.fixture
    def store(self, tmp_path):
        return open_store(tmp_path / "archive.db")


class TestPostgres(StoreConformance):
    @pytest.fixture
    def store(self, postgres_url):
        return open_store(postgres_url)


class TestSyncOnly(StoreConformance):
    @pytest.fixture
    def store(self):
        return SyncOnlyStore()


class Forgetful(InMemoryStore):
    """Loses the third of the items it is given."""

    def batch(self, ops):
        kept = [op for op in ops if not (type(op).__name__ == "PutOp" and op.key.endswith("2"))]
        return super().batch(kept)


class Changing(InMemoryStore):
    """Alters the texts it is given, as a database does that cannot hold some character."""

    def batch(self, ops):
        return super().batch([_altered(op) for op in ops])


class CaseBlind(InMemoryStore):
    """Takes keys that differ in case for one."""

    def batch(self, ops):
        return super().batch([_lower(op) for op in ops])


def _altered(op: Any) -> Any:
    if type(op).__name__ == "PutOp" and op.value is not None:
        return op._replace(value=json.loads(json.dumps(op.value).replace("secret", "s").replace("text", "tex")))
    return op


def _lower(op: Any) -> Any:
    if hasattr(op, "namespace"):
        return op._replace(namespace=tuple(label.lower() for label in op.namespace), key=op.key.lower())
    return op


def failures(store_class: type[InMemoryStore]) -> list[str]:
    failed = []
    for name in dir(StoreConformance):
        if name.startswith("test_"):
            try:
                getattr(StoreConformance(), name)(store_class())
            except Exception:
                failed.append(name)
    return failed


@pytest.mark.parametrize("store_class", [Forgetful, Changing, CaseBlind])
def test_a_store_that_is_not_fit_fails(store_class):
    assert failures(store_class)


def test_a_store_that_is_fit_does_not():
    assert failures(InMemoryStore) == []
