"""Several short numbers in one ciphertext."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from . import _modmill
from ._paillier_numbers import as_floats, listed, options
from .engine import Engine
from .types import Progress

if TYPE_CHECKING:
    from .paillier import PublicKey

__all__ = ["PackedColumn", "Packing"]


@dataclass(frozen=True)
class Packing:
    """How numbers are packed: numbers of ``value_bits`` bits, 1 to 64, of which at least ``terms`` can be added.

    Signed numbers are from ``-2 ** (value_bits - 1)`` to ``2 ** (value_bits - 1) - 1``, others from 0 to ``2 ** value_bits - 1``. With an
    ``exponent`` below 0 numbers are ``float``, rounded to multiples of ``16 ** exponent``, and the bits are those of the multiples.

    >>> from modmill.paillier import generate
    >>> public, private = generate(2048)
    >>> packing = Packing(16, terms=1024)
    >>> packing.slots(public)
    78
    >>> a, b = packing.encrypt(public, [5, -7, 300]), packing.encrypt(public, [1, -1, -301])
    >>> private.decrypt(a + b)
    [6, -8, -1]
    >>> gradients = Packing(24, terms=100, exponent=-4)
    >>> private.decrypt(gradients.encrypt(public, [0.25, -1.5]) * 3)
    [0.75, -4.5]
    """

    value_bits: int
    terms: int
    signed: bool = True
    exponent: int = 0

    def __post_init__(self) -> None:
        # A power of two: the number of terms that the slots have room for.
        terms = _modmill.paillier_slots(*self._layout, None)[1]
        object.__setattr__(self, "terms", min(terms, (1 << 64) - 1))

    @property
    def _layout(self) -> tuple[int, int, bool]:
        return self.value_bits, self.terms, self.signed

    def slots(self, key: PublicKey) -> int:
        """The numbers that a ciphertext of ``key`` holds."""
        return _modmill.paillier_slots(*self._layout, key._key)[0]

    def encrypt(
        self, key: PublicKey, column: Any, *, engine: Engine | None = None, progress: Progress | None = None
    ) -> PackedColumn:
        """Pack and encrypt a column. A number that has too many bits raises ``ValueError``."""
        floats, whole = as_floats(column)
        if floats is not None or self.exponent:
            whole = self._rounded(floats if whole is None else whole)
        native = _modmill.PaillierPackedColumn.encrypt(key._key, self._layout, whole, options(engine, progress))
        return PackedColumn(native, self)

    def _rounded(self, numbers: Any) -> list[int]:
        """The multiples of ``16 ** exponent`` that are nearest to numbers."""
        if not self.exponent:
            raise ValueError("column has floating-point numbers: a packing for them has an exponent")
        values = listed(numbers)
        unit = Fraction(16) ** self.exponent
        try:
            return [round(Fraction(number) / unit) for number in values]
        except (ValueError, OverflowError):
            index = next(index for index, number in enumerate(values) if number - number != 0)
            raise ValueError(f"item {index} is not finite") from None

    def _numbers(self, multiples: list[int]) -> list[Any]:
        if self.exponent >= 0:
            return [multiple << 4 * self.exponent for multiple in multiples]
        return [multiple / 16**-self.exponent for multiple in multiples]


# After the decorator, which looks into the module that the class names.
Packing.__module__ = "modmill.paillier"


class PackedColumn:
    """Encrypted numbers, several in a ciphertext. ``+`` takes a column with the same packing, ``*`` a positive ``int``.

    The column counts of how many terms its numbers are sums, and a sum of more terms than its packing allows raises ``OverflowError``.
    ``PrivateKey.decrypt`` decrypts it. It is pickled with its public key.
    """

    __module__ = "modmill.paillier"
    __slots__ = ("_column", "packing")
    __array_ufunc__ = None

    def __init__(self, column: _modmill.PaillierPackedColumn, packing: Packing) -> None:
        self._column = column
        self.packing = packing

    @property
    def terms(self) -> int:
        """The number of terms that each number is a sum of."""
        return self._column.terms

    @property
    def ciphertexts(self) -> int:
        """The number of ciphertexts."""
        return self._column.ciphertexts

    def add(self, other: PackedColumn, *, engine: Engine | None = None, progress: Progress | None = None) -> PackedColumn:
        """Return the sums with another column."""
        if self.packing != other.packing:
            raise ValueError("the columns are packed in different ways")
        return PackedColumn(self._column.add(other._column, options(engine, progress)), self.packing)

    @staticmethod
    def sum(columns: Iterable[PackedColumn], *, engine: Engine | None = None) -> PackedColumn:
        """Return the sums of columns, number by number.

        >>> from modmill.paillier import generate
        >>> public, private = generate(1024)
        >>> packing = Packing(8, terms=3)
        >>> private.decrypt(PackedColumn.sum(packing.encrypt(public, [party, -party]) for party in (1, 2, 3)))
        [6, -6]
        """
        total = None
        for column in columns:
            total = column if total is None else total.add(column, engine=engine)
        if total is None:
            raise ValueError("there are no columns")
        return total

    def __len__(self) -> int:
        return len(self._column)

    def __add__(self, other: Any) -> PackedColumn:
        return self.add(other) if isinstance(other, PackedColumn) else NotImplemented

    def __mul__(self, factor: Any) -> PackedColumn:
        if not hasattr(factor, "__index__"):
            return NotImplemented
        if factor < 1:
            raise ValueError(f"the factor is {factor}; packed numbers are multiplied by positive integers")
        return PackedColumn(self._column.multiply(factor, options()), self.packing)

    __rmul__ = __mul__

    def to_bytes(self) -> bytes:
        """Write the column with its layout, the fingerprint of its key and a checksum. Whoever reads it knows the packing."""
        return self._column.to_bytes()

    @staticmethod
    def from_bytes(key: PublicKey, data: bytes, packing: Packing) -> PackedColumn:
        """Read what ``to_bytes`` wrote, for the same key and the same packing."""
        column = _modmill.PaillierPackedColumn.from_bytes(key._key, data)
        if column.layout != packing._layout:
            raise ValueError("the column is packed in another way")
        return PackedColumn(column, packing)

    def __reduce__(self) -> Any:
        from .paillier import PublicKey

        return (PackedColumn.from_bytes, (PublicKey(self._column.public_key), self.to_bytes(), self.packing))

    def __repr__(self) -> str:
        return f"<modmill.paillier.PackedColumn of {len(self)} numbers in {self.ciphertexts} ciphertexts>"
