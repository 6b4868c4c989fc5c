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

The interpreter's lock is released while the engine computes. Ctrl-C stops a long call within a fraction of a second.
"""

from __future__ import annotations

from typing import Any

from . import _modmill
from .engine import Engine
from .types import Errors, Numbers, Out, Progress

__all__ = ["gcd", "invert", "is_prime", "mul", "mulmod", "powmod", "powmod_base_list", "powmod_exp_list"]


def powmod(
    base: Numbers,
    exp: Numbers,
    mod: Numbers,
    *,
    secret: bool = True,
    width: int | None = None,
    out: Out = "like",
    errors: Errors = "raise",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
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
    return _modmill.powmod(base, exp, mod, secret, (width, out, errors, engine, progress))


def powmod_base_list(bases: Numbers, exp: int, mod: int) -> list[int]:
    """Return the powers of several bases with one public exponent, with the arguments of ``gmpy2.powmod_base_list``.

    >>> powmod_base_list([2, 3, 5], 10, 1009)
    [15, 527, 523]
    """
    powers: list[int] = powmod(bases, exp, mod, secret=False, out="ints")
    return powers


def powmod_exp_list(base: int, exps: Numbers, mod: int) -> list[int]:
    """Return the powers of one base with several public exponents, with the arguments of ``gmpy2.powmod_exp_list``.

    >>> powmod_exp_list(2, [10, 20, 30], 1009)
    [15, 225, 348]
    """
    powers: list[int] = powmod(base, exps, mod, secret=False, out="ints")
    return powers


def mulmod(
    a: Numbers,
    b: Numbers,
    mod: Numbers,
    *,
    width: int | None = None,
    out: Out = "like",
    errors: Errors = "raise",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """Return ``a * b % mod`` of each item.

    >>> mulmod([5, -7], 3, 11)
    [4, 1]
    """
    return _modmill.mulmod(a, b, mod, (width, out, errors, engine, progress))


def invert(
    a: Numbers,
    mod: Numbers,
    *,
    width: int | None = None,
    out: Out = "like",
    errors: Errors = "raise",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """Return the inverse of ``a`` modulo ``mod`` of each item. An item that shares a factor with ``mod`` has none.

    >>> invert([2, 3, 7], 101)
    [51, 34, 29]
    """
    return _modmill.invert(a, mod, (width, out, errors, engine, progress))


def gcd(
    a: Numbers,
    b: Numbers,
    *,
    width: int | None = None,
    out: Out = "like",
    errors: Errors = "raise",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """Return the greatest common divisor of each item. The time depends on the numbers, so they must be public.

    >>> gcd([48, 0, -6], [18, 5, 4])
    [6, 5, 2]
    """
    return _modmill.gcd(a, b, (width, out, errors, engine, progress))


def mul(
    a: Numbers,
    b: Numbers,
    *,
    width: int | None = None,
    out: Out = "like",
    errors: Errors = "raise",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """Return ``a * b`` of each item. Numbers may have millions of bits, and all threads share one product.

    >>> mul([2, -3], 10)
    [20, -30]
    >>> mul(3**1000000, 5**1000000) == 15**1000000
    True
    """
    return _modmill.mul(a, b, (width, out, errors, engine, progress))


def is_prime(
    n: Numbers,
    rounds: int = 25,
    *,
    width: int | None = None,
    out: Out = "like",
    errors: Errors = "raise",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """Tell whether each number is prime, by Miller-Rabin rounds to base 2 and to ``rounds`` random bases.

    A composite number passes with a probability below ``4 ** -rounds``. Columns of at most 64 bits are decided for
    certain. The answers are ``True`` or ``False``, in a list, an array or a column.

    >>> is_prime([2**127 - 1, 2**129 - 1, 7])
    [True, False, True]
    """
    return _modmill.is_prime(n, rounds, (width, out, errors, engine, progress))
