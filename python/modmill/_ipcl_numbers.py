"""The numbers of IPCL: their encoding, and big integers with its methods."""

from __future__ import annotations

import math
import numbers
from typing import Any

__all__ = ["BNUtils", "decode", "encode", "ipclBigNumber"]

MANTISSA_BITS = 53
"""The bits of a floating-point number: all are kept."""

SMALLEST = 1e-200
"""A number below this is encoded as zero."""


def encode(value: Any, max_int: int) -> tuple[int, int]:
    """The integer s and the exponent e with ``value == s * 2 ** -e``.

    >>> encode(7, 1000), encode(0.5, 1 << 60), encode(0.0, 1000)
    ((7, 0), (4503599627370496, 53), (0, 0))
    """
    if isinstance(value, numbers.Integral):
        number, exponent = int(value), 0
    elif isinstance(value, numbers.Real):
        value = float(value)
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be encrypted")
        if abs(value) < SMALLEST:
            return 0, 0
        mantissa, binary_exponent = math.frexp(value)
        number, exponent = int(math.ldexp(mantissa, MANTISSA_BITS)), MANTISSA_BITS - binary_exponent
    else:
        raise ValueError(f"a number must be an int or a float; this is of type {type(value).__name__}")
    if abs(number) > max_int:
        raise ValueError(f"{value} is too large: integers of the key are at most {max_int.bit_length()} bits long")
    return number, exponent


def decode(number: int, exponent: int) -> int | float:
    """``number * 2 ** -exponent``: an ``int`` if the exponent is not positive, else the nearest ``float``.

    >>> decode(7, 0), decode(7, -1), decode(7, 1)
    (7, 14, 3.5)
    """
    return number << -exponent if exponent <= 0 else number / (1 << exponent)


class ipclBigNumber(int):
    """An integer that is not negative, with the methods of IPCL's big numbers."""

    def to_bytes(self) -> bytes:  # type: ignore[override]
        """Little-endian bytes, a multiple of four.

        >>> ipclBigNumber(258).to_bytes()
        b'\\x02\\x01\\x00\\x00'
        """
        return int(self).to_bytes(4 * self.DwordSize(), "little")

    def BitSize(self) -> int:
        """The length in bits."""
        return self.bit_length()

    def DwordSize(self) -> int:
        """The length in words of 32 bits, at least one."""
        return max(1, -(-self.bit_length() // 32))


class BNUtils:
    """Conversions between ``int`` and big numbers."""

    @staticmethod
    def int2Bytes(val: int) -> bytes:
        """Little-endian bytes."""
        return int(val).to_bytes((val.bit_length() + 7) // 8, "little")

    @staticmethod
    def bytes2Int(val: bytes) -> int:
        """The number of little-endian bytes."""
        return int.from_bytes(val, "little")

    @staticmethod
    def int2BN(val: int) -> ipclBigNumber:
        """A big number.

        >>> BNUtils.BN2int(BNUtils.int2BN(2**100)) == 2**100
        True
        """
        if val < 0:
            raise ValueError("a big number is not negative")
        return ipclBigNumber(val)

    @staticmethod
    def BN2int(val: ipclBigNumber) -> int:
        """The ``int`` of a big number."""
        return int(val)
