"""Quotients, roots, multiples, cofactors, symbols and primes of columns of numbers, with the names of gmpy2.

Arguments and options are those of `modmill.arithmetic`. Only integers of Python hold negative answers.
"""

from __future__ import annotations

from typing import Any, SupportsIndex, Unpack, overload

from . import _modmill
from .types import AsInts, IntOrInts, Ints, Numbers, Options

__all__ = [
    "divexact",
    "f_divmod",
    "gcdext",
    "is_square",
    "is_strong_bpsw_prp",
    "is_strong_selfridge_prp",
    "isqrt",
    "isqrt_rem",
    "jacobi",
    "lcm",
    "next_prime",
]


@overload
def isqrt(n: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def isqrt(n: Ints, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def isqrt(n: Numbers, **options: Unpack[Options]) -> Any: ...


def isqrt(n: Numbers, **options: Unpack[Options]) -> Any:
    """Return the square root of each item, rounded down. The engine's time depends on the width of the numbers alone.

    >>> isqrt([15, 16, 10**40])
    [3, 4, 100000000000000000000]
    """
    return _modmill.isqrt(n, options)


@overload
def isqrt_rem(n: SupportsIndex, **options: Unpack[AsInts]) -> tuple[int, int]: ...


@overload
def isqrt_rem(n: Ints, **options: Unpack[AsInts]) -> tuple[list[int], list[int]]: ...


@overload
def isqrt_rem(n: Numbers, **options: Unpack[Options]) -> Any: ...


def isqrt_rem(n: Numbers, **options: Unpack[Options]) -> Any:
    """Return the square root ``s`` of each item, rounded down, and ``n - s * s``.

    >>> isqrt_rem([15, 16])
    ([3, 4], [6, 0])
    """
    return _modmill.isqrt_rem(n, options)


@overload
def is_square(n: SupportsIndex, **options: Unpack[AsInts]) -> bool: ...


@overload
def is_square(n: Ints, **options: Unpack[AsInts]) -> list[bool]: ...


@overload
def is_square(n: Numbers, **options: Unpack[Options]) -> Any: ...


def is_square(n: Numbers, **options: Unpack[Options]) -> Any:
    """Tell whether each item is a square. The time depends on the numbers, so they must be public.

    >>> is_square([15, 16, -16])
    [False, True, False]
    """
    return _modmill.is_square(n, options)


@overload
def f_divmod(a: SupportsIndex, b: SupportsIndex, **options: Unpack[AsInts]) -> tuple[int, int]: ...


@overload
def f_divmod(a: Ints, b: IntOrInts, **options: Unpack[AsInts]) -> tuple[list[int], list[int]]: ...


@overload
def f_divmod(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any: ...


def f_divmod(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any:
    """Return ``a // b`` and ``a % b`` of each item, for a positive ``b``. An item whose ``b`` is 0 fails.

    >>> f_divmod([17, -17], 5)
    ([3, -4], [2, 3])
    >>> f_divmod([17, 4], [5, 0], errors="column")
    (([3, None], [2, None]), [None, 'the modulus is zero'])
    """
    return _modmill.f_divmod(a, b, options)


@overload
def divexact(a: SupportsIndex, b: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def divexact(a: Ints, b: IntOrInts, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def divexact(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any: ...


def divexact(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any:
    """Return ``a // b`` of each item, for a positive ``b`` that divides ``a``. Other items fail.

    >>> divexact([15, -21], [5, 7])
    [3, -3]
    """
    return _modmill.divexact(a, b, options)


@overload
def lcm(a: SupportsIndex, b: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def lcm(a: Ints, b: IntOrInts, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def lcm(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any: ...


def lcm(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any:
    """Return the least common multiple of each item. The time depends on the numbers, so they must be public.

    >>> lcm([4, 0, -6], [6, 5, 4])
    [12, 0, 12]
    """
    return _modmill.lcm(a, b, options)


@overload
def gcdext(a: SupportsIndex, b: SupportsIndex, **options: Unpack[AsInts]) -> tuple[int, int, int]: ...


@overload
def gcdext(a: Ints, b: IntOrInts, **options: Unpack[AsInts]) -> tuple[list[int], list[int], list[int]]: ...


@overload
def gcdext(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any: ...


def gcdext(a: Numbers, b: Numbers, **options: Unpack[Options]) -> Any:
    """Return the greatest common divisor ``g`` of each item, and ``s`` and ``t`` with ``g == s * a + t * b``.

    The time depends on the numbers, so they must be public.

    >>> gcdext(240, 46)
    (2, -9, 47)
    """
    return _modmill.gcdext(a, b, options)


@overload
def jacobi(a: SupportsIndex, n: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def jacobi(a: Ints, n: IntOrInts, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def jacobi(a: Numbers, n: Numbers, **options: Unpack[Options]) -> Any: ...


def jacobi(a: Numbers, n: Numbers, **options: Unpack[Options]) -> Any:
    """Return the Jacobi symbol of ``a`` modulo an odd ``n`` of each item: 1, 0 or -1. An item whose ``n`` is even fails.

    Numbers may have up to 32768 bits. The time depends on them, so they must be public.

    >>> jacobi([2, 3, 14], 7)
    [1, -1, 0]
    """
    return _modmill.jacobi(a, n, options)


@overload
def next_prime(n: SupportsIndex, **options: Unpack[AsInts]) -> int: ...


@overload
def next_prime(n: Ints, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def next_prime(n: Numbers, **options: Unpack[Options]) -> Any: ...


def next_prime(n: Numbers, **options: Unpack[Options]) -> Any:
    """Return the least prime above each item, by `is_strong_bpsw_prp`. The time depends on the numbers.

    >>> next_prime([7, 2**64])
    [11, 18446744073709551629]
    """
    return _modmill.next_prime(n, options)


@overload
def is_strong_bpsw_prp(n: SupportsIndex, **options: Unpack[AsInts]) -> bool: ...


@overload
def is_strong_bpsw_prp(n: Ints, **options: Unpack[AsInts]) -> list[bool]: ...


@overload
def is_strong_bpsw_prp(n: Numbers, **options: Unpack[Options]) -> Any: ...


def is_strong_bpsw_prp(n: Numbers, **options: Unpack[Options]) -> Any:
    """Tell whether each item passes the Miller-Rabin round to base 2 and the strong Lucas test.

    No composite number is known that does, and none has at most 64 bits. The time depends on the numbers.

    >>> is_strong_bpsw_prp([2047, 5459, 2**127 - 1])
    [False, False, True]
    """
    return _modmill.is_strong_bpsw_prp(n, options)


@overload
def is_strong_selfridge_prp(n: SupportsIndex, **options: Unpack[AsInts]) -> bool: ...


@overload
def is_strong_selfridge_prp(n: Ints, **options: Unpack[AsInts]) -> list[bool]: ...


@overload
def is_strong_selfridge_prp(n: Numbers, **options: Unpack[Options]) -> Any: ...


def is_strong_selfridge_prp(n: Numbers, **options: Unpack[Options]) -> Any:
    """Tell whether each item passes the strong Lucas test with Selfridge's parameters. The time depends on the numbers.

    >>> is_strong_selfridge_prp([2047, 5459, 2**127 - 1])
    [False, True, True]
    """
    return _modmill.is_strong_selfridge_prp(n, options)
