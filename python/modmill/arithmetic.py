"""Arithmetic on columns of numbers.

The functions take numbers in these forms, and mix them freely:

* one number for all items: an ``int``, or ``bytes`` in big-endian order;
* a column with one number for each item: a list of ``int`` or of ``bytes``, an array of NumPy with the shape
  ``(items, limbs)`` and the type ``uint64``, lowest word first, or a column of Arrow (fixed-size binary, binary, large
  binary, binary view, all big-endian, or uint64) of pyarrow, polars, pandas or duckdb;
* a `DeviceBatch`, whose numbers are on a GPU.

These options are common to all functions:

``width``
    The width of columns and answers in bits. Without it the width follows from the way the numbers are written: the
    longest number of a list of integers, the longest string of a column of bytes, the row of an array. Numbers that do
    not fit raise ``ValueError``.
``max_bits``
    Items of lists and of columns of Arrow that are longer than this as they are written fail, and the others are computed.
    A column is as wide as its longest number, so that one long row of foreign data would cost memory for all of them.
``out``
    The form of the answers: ``"like"`` the first column among the arguments, ``"ints"``, ``"bytes"``, ``"numpy"``,
    ``"arrow"``, ``"device"``, or an array of NumPy that the answers are written to.
``errors``
    What becomes of items that have no answer. ``"raise"`` raises `ItemError`, which holds the other answers.
    ``"column"`` returns a pair: the answers and a column of reasons. An item that is null in any column fails.
``engine``
    The `Engine` that computes; all calls without one share an engine.
``progress``
    A function that is called with the number of items done and of all items, or a bar of tqdm.

The interpreter's lock is released while the engine computes. Ctrl-C stops a long call within a fraction of a second, but for
single items and products without a modulus, which run to their end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, Unpack, cast, overload

from . import _modmill
from .types import AsArrow, AsDevice, AsInts, AsNumpy, IntOrInts, Ints, Numbers, Options

if TYPE_CHECKING:
    import numpy as np

    from ._modmill import Column, DeviceBatch

__all__ = ["gcd", "invert", "is_prime", "mul", "mulmod", "powmod", "powmod_base_list", "powmod_exp_list"]


@overload
def powmod(base: SupportsIndex, exp: SupportsIndex, mod: SupportsIndex, *, secret: bool = ..., **options: Unpack[AsInts]) -> int: ...


@overload
def powmod(base: Ints, exp: IntOrInts, mod: IntOrInts, *, secret: bool = ..., **options: Unpack[AsInts]) -> list[int]: ...


@overload
def powmod(base: Numbers, exp: Numbers, mod: Numbers, *, secret: bool = ..., **options: Unpack[AsNumpy]) -> np.ndarray[Any, Any]: ...


@overload
def powmod(base: Numbers, exp: Numbers, mod: Numbers, *, secret: bool = ..., **options: Unpack[AsArrow]) -> Column: ...


@overload
def powmod(base: Numbers, exp: Numbers, mod: Numbers, *, secret: bool = ..., **options: Unpack[AsDevice]) -> DeviceBatch: ...


@overload
def powmod(base: Numbers, exp: Numbers, mod: Numbers, *, secret: bool = ..., **options: Unpack[Options]) -> Any: ...


def powmod(base: Numbers, exp: Numbers, mod: Numbers, *, secret: bool = True, **options: Unpack[Options]) -> Any:
    """Return ``base ** exp % mod`` of each item.

    With ``secret=True`` the engine's time does not depend on the values of bases and exponents, only on their widths.
    With ``secret=False`` exponents are public, and short ones are faster. Python's own integers are not constant-time,
    so that secrets are better kept in bytes, arrays or columns, which also tell their width.

    A negative exponent stands for the inverse of the base, as with Python's ``pow``.

    >>> powmod(3, 1000, 10**9 + 7)
    56888193
    >>> powmod([2, 3, 5], [10, 20, -1], 1009)
    [15, 254, 202]
    >>> powmod([b"\\x02", b"\\x03"], 5, b"\\xfb")
    [b' ', b'\\xf3']
    >>> powmod([2, 3], 5, [7, 0], errors="column")
    ([4, None], [None, 'the modulus is zero'])
    """
    return _modmill.powmod(base, exp, mod, secret, options)


def powmod_base_list(bases: Numbers, exp: int, mod: int) -> list[int]:
    """Return the powers of several bases with one public exponent, with the arguments of ``gmpy2.powmod_base_list``.

    >>> powmod_base_list([2, 3, 5], 10, 1009)
    [15, 527, 523]
    """
    return cast("list[int]", powmod(bases, exp, mod, secret=False, out="ints"))


def powmod_exp_list(base: int, exps: Numbers, mod: int) -> list[int]:
    """Return the powers of one base with several public exponents, with the arguments of ``gmpy2.powmod_exp_list``.

    >>> powmod_exp_list(2, [10, 20, 30], 1009)
    [15, 225, 348]
    """
    return cast("list[int]", powmod(base, exps, mod, secret=False, out="ints"))


@overload
def mulmod(a: SupportsIndex, b: SupportsIndex, mod: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def mulmod(a: Ints, b: IntOrInts, mod: IntOrInts, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def mulmod(a: Numbers, b: Numbers, mod: Numbers, **options: Unpack[AsNumpy]) -> np.ndarray[Any, Any]: ...


@overload
def mulmod(a: Numbers, b: Numbers, mod: Numbers, **options: Unpack[AsArrow]) -> Column: ...


@overload
def mulmod(a: Numbers, b: Numbers, mod: Numbers, **options: Unpack[AsDevice]) -> DeviceBatch: ...


@overload
def mulmod(a: Numbers, b: Numbers, mod: Numbers, **options: Unpack[Options]) -> Any: ...


def mulmod(a: Numbers, b: Numbers, mod: Numbers, **options: Unpack[Options]) -> Any:
    """Return ``a * b % mod`` of each item.

    >>> mulmod([5, -7], 3, 11)
    [4, 1]
    """
    return _modmill.mulmod(a, b, mod, options)


@overload
def invert(a: SupportsIndex, mod: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def invert(a: Ints, mod: IntOrInts, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def invert(a: Numbers, mod: Numbers, **options: Unpack[AsNumpy]) -> np.ndarray[Any, Any]: ...


@overload
def invert(a: Numbers, mod: Numbers, **options: Unpack[AsArrow]) -> Column: ...


@overload
def invert(a: Numbers, mod: Numbers, **options: Unpack[AsDevice]) -> DeviceBatch: ...


@overload
def invert(a: Numbers, mod: Numbers, **options: Unpack[Options]) -> Any: ...


def invert(a: Numbers, mod: Numbers, **options: Unpack[Options]) -> Any:
    """Return the inverse of ``a`` modulo ``mod`` of each item. An item that shares a factor with ``mod`` has none.

    >>> invert([2, 3, 7], 101)
    [51, 34, 29]
    """
    return _modmill.invert(a, mod, options)


@overload
def gcd(a: SupportsIndex, b: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def gcd(a: Ints, b: IntOrInts, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def gcd(a: Numbers, b: Numbers, **options: Unpack[AsNumpy]) -> np.ndarray[Any, Any]: ...


@overload
def gcd(a: Numbers, b: Numbers, **options: Unpack[AsArrow]) -> Column: ...


@overload
def gcd(a: Numbers, b: Numbers, **options: Unpack[AsDevice]) -> DeviceBatch: ...


@overload
def gcd(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any: ...


def gcd(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any:
    """Return the greatest common divisor of each item. The time depends on the numbers, so they must be public.

    >>> gcd([48, 0, -6], [18, 5, 4])
    [6, 5, 2]
    """
    return _modmill.gcd(a, b, options)


@overload
def mul(a: SupportsIndex, b: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def mul(a: Ints, b: IntOrInts, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def mul(a: Numbers, b: Numbers, **options: Unpack[AsNumpy]) -> np.ndarray[Any, Any]: ...


@overload
def mul(a: Numbers, b: Numbers, **options: Unpack[AsArrow]) -> Column: ...


@overload
def mul(a: Numbers, b: Numbers, **options: Unpack[AsDevice]) -> DeviceBatch: ...


@overload
def mul(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any: ...


def mul(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any:
    """Return ``a * b`` of each item. Numbers may have millions of bits, and all threads share one product.

    >>> mul([2, -3], 10)
    [20, -30]
    >>> mul(3**1000000, 5**1000000) == 15**1000000
    True
    """
    return _modmill.mul(a, b, options)


@overload
def is_prime(n: SupportsIndex, rounds: int = ..., **options: Unpack[AsInts]) -> bool: ...


@overload
def is_prime(n: Ints, rounds: int = ..., **options: Unpack[AsInts]) -> list[bool]: ...


@overload
def is_prime(n: Numbers, rounds: int = ..., **options: Unpack[Options]) -> Any: ...


def is_prime(n: Numbers, rounds: int = 25, **options: Unpack[Options]) -> Any:
    """Tell whether each number is prime, by Miller-Rabin rounds to base 2 and to ``rounds`` random bases.

    A composite number passes with a probability below ``4 ** -rounds``. Columns of at most 64 bits are decided for
    certain. The answers are ``True`` or ``False``, in a list, an array or a column.

    >>> is_prime([2**127 - 1, 2**129 - 1, 7])
    [True, False, True]
    """
    return _modmill.is_prime(n, rounds, options)
