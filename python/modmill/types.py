"""The types of numbers that the functions of the package take."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, Required, SupportsIndex, TypeAlias, TypedDict, Union

if TYPE_CHECKING:
    from ._modmill import DeviceBatch, Engine

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "AsArrow",
    "AsDevice",
    "AsInts",
    "AsNumpy",
    "Audited",
    "Backend",
    "Bar",
    "Errors",
    "IntOrInts",
    "Ints",
    "LimbArray",
    "Numbers",
    "OfStrings",
    "OneNumber",
    "Options",
    "Out",
    "Progress",
    "Reading",
    "Strings",
    "Watched",
]


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
"""Byte strings: one, or a column of them."""

Out: TypeAlias = Literal["like", "ints", "bytes", "numpy", "arrow", "device"] | LimbArray
"""The form of the answers, or an array that they are written to."""

Backend: TypeAlias = Literal["auto", "cpu", "cuda"]
"""The processors that an engine computes on."""

Errors: TypeAlias = Literal["raise", "column"]
"""The treatment of items that have no answer."""

Progress: TypeAlias = Callable[[int, int], Any] | Bar
"""The listener that is told of the progress."""

Ints: TypeAlias = list[int] | tuple[int, ...]
"""A column of integers of Python."""

IntOrInts: TypeAlias = int | Ints
"""One integer of Python for all items, or a column of them."""


class Watched(TypedDict, total=False):
    """The engine that computes, and who is told of its progress."""

    engine: Engine | None
    progress: Progress | None


class OfStrings(Watched, total=False):
    """The options of functions of byte strings."""

    out: Out
    errors: Errors


class Options(OfStrings, total=False):
    """The options of `modmill.arithmetic`."""

    width: int | None
    max_bits: int | None


class Reading(Watched, total=False):
    """The options by which numbers are read."""

    width: int | None
    max_bits: int | None


class OneNumber(Reading, total=False):
    """The options of functions of columns whose answer is one number."""

    out: Out


class Audited(TypedDict, total=False):
    """The options of `modmill.audit`."""

    engine: Engine | None
    max_bits: int | None


class _Raising(Reading, total=False):
    errors: Literal["raise"]


class AsInts(_Raising, total=False):
    """Options with which integers of Python have answers that are integers of Python."""

    out: Literal["like", "ints"]


class AsNumpy(_Raising, total=False):
    """Options with which the answer is an array of NumPy."""

    out: Required[Literal["numpy"]]


class AsArrow(_Raising, total=False):
    """Options with which the answer is a column of Arrow."""

    out: Required[Literal["arrow"]]


class AsDevice(_Raising, total=False):
    """Options with which the answer stays on a GPU."""

    out: Required[Literal["device"]]
