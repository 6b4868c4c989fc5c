"""IPCL's ciphertexts without exponents, and the forms of its arguments."""

from __future__ import annotations

from typing import Any

from . import _modmill
from ._ipcl_numbers import ipclBigNumber
from ._paillier_numbers import options as _options

__all__ = ["ipclCipherText", "listed", "matrix", "position_of"]


class ipclCipherText:
    """Ciphertexts of one key, without exponents. ``data`` is a number or a list of numbers."""

    def __init__(self, public_key: _modmill.PaillierPublicKey, data: Any) -> None:
        self.public_key = public_key
        if isinstance(data, _modmill.PaillierCiphertexts):
            self.native = data
        else:
            numbers = [data] if isinstance(data, int) else list(data)
            self.native = _modmill.PaillierCiphertexts.from_numbers(public_key, numbers, _options())

    def getTexts(self) -> list[ipclBigNumber]:
        """The ciphertexts as numbers."""
        return [ipclBigNumber(number) for number in self.native.numbers("ints")]

    def getSize(self) -> int:
        """The number of ciphertexts."""
        return len(self.native)

    __len__ = getSize

    def __getitem__(self, key: int | slice) -> Any:
        positions = range(len(self.native))[key]
        if isinstance(positions, int):
            return ipclCipherText(self.public_key, self.native.gathered([positions])).getTexts()[0]
        return ipclCipherText(self.public_key, self.native.gathered(list(positions))).getTexts()

    def __add__(self, other: ipclCipherText) -> ipclCipherText:
        return ipclCipherText(self.public_key, self.native.add(other.native, _options()))


def listed(values: Any) -> list[Any] | None:
    """The numbers of a list or an array of one or more dimensions, or ``None`` if it is a single number."""
    values = values.tolist() if hasattr(values, "tolist") else values
    return list(values) if isinstance(values, (list, tuple, range)) else None


def position_of(position: int, length: int) -> int:
    """The position, if there is one."""
    if not 0 <= position < length:
        raise IndexError(f"there is no number {position} among {length}")
    return position


def matrix(values: Any, *, is_column: bool) -> list[list[Any]]:
    """The rows of a matrix, or of a vector as a matrix of one column or one row."""
    rows = listed(values)
    if not rows:
        raise ValueError("the matrix is empty or no matrix")
    nested = [listed(row) for row in rows]
    if all(row is None for row in nested):
        return [[value] for value in rows] if is_column else [rows]
    full = [row for row in nested if row]
    if len(full) != len(rows) or any(len(row) != len(full[0]) for row in full):
        raise ValueError("the rows of the matrix differ in length")
    return full
