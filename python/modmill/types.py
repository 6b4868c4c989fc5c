"""The types of numbers that the functions of the package take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias, Union

if TYPE_CHECKING:
    from ._modmill import DeviceBatch

__all__ = ["ArrowArray", "ArrowStream", "Bar", "Errors", "LimbArray", "Numbers", "Out", "Progress", "Strings"]


class ArrowArray(Protocol):
    """A column of Arrow: pyarrow's arrays, and `modmill.Column`."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class ArrowStream(Protocol):
    """A column of Arrow in chunks: columns of polars and pandas, chunked arrays, tables of one column."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class LimbArray(Protocol):
    """An array of NumPy: uint64 in two dimensions, one row for each number with the lowest word first."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class Bar(Protocol):
    """A bar of tqdm."""

    def update(self, n: int, /) -> Any: ...


Numbers: TypeAlias = Union[
    SupportsIndex,
    bytes,
    bytearray,
    Iterable[SupportsIndex | bytes | None],
    LimbArray,
    ArrowArray,
    ArrowStream,
    "DeviceBatch",
]
"""Numbers: one for all items (an integer or big-endian bytes), or a column with one for each item."""

Strings: TypeAlias = bytes | bytearray | Iterable[bytes | None] | ArrowArray | ArrowStream
"""Octet strings: one, or a column of them."""

Out: TypeAlias = Literal["like", "ints", "bytes", "numpy", "arrow", "device"] | LimbArray
"""The form of the answers, or an array that they are written to."""

Errors: TypeAlias = Literal["raise", "column"]
"""What becomes of items that have no answer."""

Progress: TypeAlias = Callable[[int, int], Any] | Bar
"""Who is told of the progress."""
