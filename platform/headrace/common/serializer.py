"""PyFlink's `pyflink.common.serializer`."""

from __future__ import annotations

import abc
from io import BytesIO
from typing import Generic, TypeVar

T = TypeVar("T")


class TypeSerializer(abc.ABC, Generic[T]):
    """Values of a type to bytes and back. A custom window assigner names one for its windows;
    state is kept by their fields here and does not call it."""

    @abc.abstractmethod
    def serialize(self, element: T, stream: BytesIO) -> None: ...

    @abc.abstractmethod
    def deserialize(self, stream: BytesIO) -> T: ...


class VoidNamespaceSerializer(TypeSerializer[bytes]):
    """Of nothing: no bytes."""

    def serialize(self, element: bytes, stream: BytesIO) -> None: ...

    def deserialize(self, stream: BytesIO) -> bytes:
        return b""
