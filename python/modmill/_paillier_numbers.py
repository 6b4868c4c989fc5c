"""Numbers in the clear, as Paillier's encryption takes them: whole or floating-point, in any container."""

from __future__ import annotations

import numbers
import operator
from typing import Any

from . import _modmill
from .engine import Engine
from .types import Options, Progress

__all__ = ["as_floats", "listed", "options", "scalar", "split"]

LISTED = ("float", "double", "bool", "object", "int128")
"""Parts of the names of types whose columns are read from their lists of numbers."""


def options(engine: Engine | None = None, progress: Progress | None = None) -> Options:
    """The options of a native call."""
    return {"engine": engine, "progress": progress}


def scalar(number: Any) -> int | float | None:
    """The ``int`` or ``float`` of a single number, also one of NumPy, or ``None`` if it is none.

    >>> scalar(True), scalar(2.5), scalar([1])
    (1, 2.5, None)
    """
    if getattr(number, "ndim", None) == 0 and hasattr(number, "item"):
        number = number.item()
    if hasattr(number, "__index__") and not hasattr(number, "__len__"):
        return operator.index(number)
    if isinstance(number, numbers.Real):
        value = float(number)
        if value != number and value == value:
            raise ValueError(f"{number} is no float: give the float that it is rounded to")
        return value
    return None


def as_floats(column: Any, name: str = "column") -> tuple[Any, Any]:
    """A column as floating-point numbers, a list of ``float`` or a buffer of doubles, and the same column as whole numbers, of which
    one is ``None``.

    >>> as_floats([1, 0.5]), as_floats([1, True]), as_floats(3)
    (([1.0, 0.5], None), (None, [1, 1]), (None, [3]))
    """
    single = scalar(column)
    if single is not None:
        return ([single], None) if isinstance(single, float) else (None, [single])
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    dimensions = getattr(column, "ndim", 1)
    if dimensions != 1 and not (dimensions == 2 and kind == "uint64"):
        raise ValueError(f"{name} has {dimensions} dimensions, and one is needed: give column.ravel(), or its rows one by one")
    if kind in ("float64", "float32", "float16", "double", "float", "halffloat") and not _nulls(column):
        if hasattr(column, "to_numpy"):
            column = column.to_numpy(zero_copy_only=False) if hasattr(column, "to_pylist") else column.to_numpy()
        if hasattr(column, "astype"):
            return column.astype("float64", copy=False), None
    is_arrow = hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__")
    # The native part takes an array of 64 bits without a sign for limbs. With one dimension they are numbers here.
    is_listed = any(part in kind for part in LISTED) or (kind == "uint64" and dimensions == 1 and not is_arrow)
    is_native = isinstance(column, (bytes, bytearray, _modmill.DeviceBatch))
    if is_native or ((kind or is_arrow) and not is_listed):
        return None, column
    return _of_list(listed(column, name), name)


def split(column: Any, name: str = "column") -> tuple[list[int], list[int], list[float], list[int]] | None:
    """The whole numbers of a list and their positions, and the floating-point ones and theirs; ``None`` if it has not both.

    >>> split([7, 0.5, 8]), split([7, 8])
    (([7, 8], [0, 2], [0.5], [1]), None)
    """
    if not isinstance(column, (list, tuple)) or set(map(type, column)) & {bytes, bytearray}:
        return None
    read = [_number(number, index, name) for index, number in enumerate(column)]
    whole = [index for index, number in enumerate(read) if isinstance(number, int)]
    floats = [index for index, number in enumerate(read) if isinstance(number, float)]
    if not whole or not floats:
        return None
    return [int(read[index]) for index in whole], whole, [float(read[index]) for index in floats], floats


def _nulls(column: Any) -> int:
    """The nulls of a column of Arrow or polars, or of a type of pandas that has nulls, whose name is capitalized."""
    if hasattr(column, "isna") and str(column.dtype)[:1].isupper():
        return int(column.isna().sum())
    count = getattr(column, "null_count", 0)
    return int(count() if callable(count) else count)


def listed(column: Any, name: str = "column") -> list[Any]:
    """The values of any column as a list."""
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    if isinstance(column, (str, dict)) or not hasattr(column, "__iter__"):
        raise TypeError(f"{name} is of type {type(column).__name__}; a number or a column of numbers was expected")
    return list(column)


def _of_list(items: list[Any], name: str) -> tuple[list[float] | None, Any]:
    kinds = set(map(type, items))
    if kinds == {float}:
        return items, None
    # The native part reads these, and names the items that are null.
    if kinds <= {int, bytes, bytearray, type(None)}:
        return None, items
    if kinds & {bytes, bytearray}:
        raise TypeError(f"{name} mixes bytes with other numbers")
    read = [_number(number, index, name) for index, number in enumerate(items)]
    if not any(isinstance(number, float) for number in read):
        return None, read
    return [_exact(number, index, name) for index, number in enumerate(read)], None


def _number(item: Any, index: int, name: str) -> int | float:
    # The nulls of Python and of pandas.
    if item is None or type(item).__name__ == "NAType":
        raise ValueError(f"{name}: item {index} is null")
    try:
        number = scalar(item)
    except ValueError as error:
        raise ValueError(f"{name}: item {index}: {error}") from None
    if number is None:
        raise TypeError(f"{name}: item {index} is of type {type(item).__name__}; an int or a float was expected")
    return number


def _exact(number: int | float, index: int, name: str) -> float:
    """The number as a ``float`` of the same value."""
    try:
        value = float(number)
    except OverflowError:
        value = float("inf")
    if value != number and isinstance(number, int):
        text = "is a whole number that no float holds; give whole numbers a column of their own, or encrypt with each=True"
        raise ValueError(f"{name}: item {index} {text}")
    return value
