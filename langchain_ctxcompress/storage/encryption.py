"""`EncryptedStore`: a store whose values nobody can read without the key.

A `BaseStore` has no serialiser of its own to set, as a checkpointer has, so this one stands around any store and gives
it sealed values. LangGraph's `EncryptedSerializer` does the sealing (AES, extra `encryption`), or any serialiser.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from langgraph.store.base import BaseStore, Item, Op, PutOp, Result, SearchItem, SearchOp

from langchain_ctxcompress.errors import ConfigError, RecordError

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

SEALED_KEY = "ctxcompress_sealed"
"""The one key of a sealed value: the serialiser's type tag, and its bytes in base64."""


class EncryptedStore(BaseStore):
    """Seals every value on its way in, and opens it on its way out.

    What stays readable is where a value lies: namespaces and keys, which are made of session ids and message ids.
    There is no semantic search and no filter: the store sees no text.

    Args:
        store: The store that keeps the sealed values.
        serde: Seals and opens: an `EncryptedSerializer` of LangGraph's, with the cipher of your choice.
    """

    def __init__(self, store: BaseStore, serde: EncryptedSerializer) -> None:
        self.inner = store
        self._serde = serde

    @classmethod
    def from_key(cls, store: BaseStore, key: bytes) -> EncryptedStore:
        """A store that is encrypted with AES.

        Args:
            store: The store that keeps the sealed values.
            key: 16, 24 or 32 bytes.

        Raises:
            ConfigError: The key has another length, or the extra `encryption` is not installed.
        """
        from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

        if len(key) not in (16, 24, 32):
            msg = f"key has {len(key)} bytes: it must have 16, 24 or 32"
            raise ConfigError(msg)
        try:
            serde = EncryptedSerializer.from_pycryptodome_aes(key=key)
        except ImportError as error:
            msg = "encryption needs the extra: pip install 'langchain-ctxcompress[encryption]'"
            raise ConfigError(msg) from error
        return cls(store, serde)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations on sealed values."""
        return [self._opened(result) for result in self.inner.batch([self._sealed(op) for op in ops])]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, on the loop."""
        return [self._opened(result) for result in await self.inner.abatch([self._sealed(op) for op in ops])]

    def _sealed(self, op: Op) -> Op:
        if isinstance(op, PutOp) and op.value is not None:
            kind, data = self._serde.dumps_typed(json.dumps(op.value).encode("ascii"))
            sealed = {SEALED_KEY: [kind, base64.b64encode(data).decode("ascii")]}
            return op._replace(value=sealed, index=False)
        if isinstance(op, SearchOp) and (op.filter or op.query):
            msg = "an encrypted store can neither filter nor search by meaning"
            raise NotImplementedError(msg)
        return op

    def _opened(self, result: Result) -> Result:
        if isinstance(result, list):
            return [self._item(item) if isinstance(item, Item) else item for item in result]
        return self._item(result) if isinstance(result, Item) else result

    def _item(self, item: Any) -> Any:
        try:
            kind, data = item.value[SEALED_KEY]
            value = json.loads(self._serde.loads_typed((_checked(kind), base64.b64decode(data))))
        except Exception as error:  # whatever a cipher raises for another key or other bytes
            msg = f"item {item.key!r} of {'/'.join(item.namespace)} cannot be decrypted: {type(error).__name__}"
            raise RecordError(msg) from error
        fields = {name: getattr(item, name) for name in ("key", "namespace", "created_at", "updated_at")}
        if isinstance(item, SearchItem):
            return SearchItem(value=value, score=item.score, **fields)
        return Item(value=value, **fields)


def _checked(kind: str) -> str:
    """The type tag of a sealed value. The serialiser would open others too: plain ones, and ones that name code to run.

    Raises:
        ValueError: It is none.
    """
    if not kind.startswith("bytes+"):
        msg = f"{kind!r} is no sealed value"
        raise ValueError(msg)
    return kind
