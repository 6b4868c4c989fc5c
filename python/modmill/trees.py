"""Products and remainders of whole columns, and the factors that their numbers share.

Arguments and options are those of `modmill.arithmetic`. All numbers are public and not negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from . import _modmill
from .types import AsArrow, AsDevice, AsInts, AsNumpy, Ints, Numbers, OneNumber, Options, Reading

if TYPE_CHECKING:
    import numpy as np

    from ._modmill import Column, DeviceBatch

__all__ = ["ProductTree", "batch_gcd", "crt"]


@overload
def batch_gcd(moduli: Ints, **options: Unpack[AsInts]) -> list[int]: ...


@overload
def batch_gcd(moduli: Numbers, **options: Unpack[AsNumpy]) -> np.ndarray[Any, Any]: ...


@overload
def batch_gcd(moduli: Numbers, **options: Unpack[AsArrow]) -> Column: ...


@overload
def batch_gcd(moduli: Numbers, **options: Unpack[AsDevice]) -> DeviceBatch: ...


@overload
def batch_gcd(moduli: Numbers, **options: Unpack[Options]) -> Any: ...


def batch_gcd(moduli: Numbers, **options: Unpack[Options]) -> Any:
    """Return the greatest common divisor of each number and the product of all others: the factors that they share.

    Equal numbers share all of their factors. A number that is zero or null has no answer, and the others are compared without it.

    >>> batch_gcd([3 * 5, 5 * 7, 11 * 13])
    [5, 5, 1]
    """
    return _modmill.batch_gcd(moduli, options)


class ProductTree:
    """The products of a column of numbers, level by level.

    >>> tree = ProductTree([3, 5, 7])
    >>> tree.product()
    105
    >>> tree.remainders(101)
    [2, 1, 3]
    """

    def __init__(self, column: Numbers, **options: Unpack[Reading]) -> None:
        self._tree = _modmill.ProductTree(column, options)

    def __len__(self) -> int:
        return len(self._tree)

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the tree takes."""
        return self._tree.nbytes

    @overload
    def product(self, *, out: Literal["bytes"], **options: Unpack[Reading]) -> bytes: ...

    @overload
    def product(self, **options: Unpack[Reading]) -> int: ...

    def product(self, **options: Unpack[OneNumber]) -> Any:
        """Return the product of the column. It is an ``int``; ``out="bytes"`` is faster for millions of bits.

        A zero in the column raises `ItemError`, whose ``answers`` is the product of the other numbers.
        """
        return self._tree.product(options)

    def remainders(self, x: Numbers, **options: Unpack[Options]) -> Any:
        """Return the number ``x`` modulo every number of the column, in the form of the column."""
        return self._tree.remainders(x, options)

    def combine(self, a: Numbers, **options: Unpack[OneNumber]) -> Any:
        """Return the sum of ``a[i] * (product // column[i])``, of which only ``a[i]`` modulo ``column[i]`` counts.

        >>> ProductTree([3, 5]).combine([2, 4])
        22

        A zero in the column raises `ItemError`, whose ``answers`` is the sum over the other numbers.
        """
        return self._tree.combine(a, options)

    def shared_factors(self, others: Numbers = 1, **options: Unpack[Options]) -> Any:
        """Return the factors that each number shares with all others of the column and with a product of further numbers.

        So a column that is too long for one tree is cut into parts: each part is compared with the product of all other parts, modulo
        its own.

        >>> ProductTree([3 * 5, 5 * 7, 11 * 13]).shared_factors(3 * 13)
        [15, 5, 13]
        """
        return self._tree.shared_factors(others, options)


@overload
def crt(residues: Numbers, moduli: Numbers, *, out: Literal["bytes"], **options: Unpack[Reading]) -> bytes: ...


@overload
def crt(residues: Numbers, moduli: Numbers, **options: Unpack[Reading]) -> int: ...


def crt(residues: Numbers, moduli: Numbers, **options: Unpack[OneNumber]) -> Any:
    """Return the number below the product of all moduli that has the given residues, as an ``int`` or, with ``out="bytes"``, as ``bytes``.

    The moduli are coprime to each other. Those that are not are named by `ItemError`, whose ``answers`` is ``None``.

    >>> crt([2, 3, 2], [3, 5, 7])
    23
    """
    return _modmill.crt(residues, moduli, options)
