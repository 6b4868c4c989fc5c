"""Columns of encrypted numbers."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from . import _modmill
from ._paillier_arrow import agreed
from ._paillier_numbers import as_floats, listed, options, scalar
from .engine import Engine
from .types import Out, Progress

if TYPE_CHECKING:
    from .paillier import PublicKey

__all__ = ["EncryptedColumn"]


class EncryptedColumn:
    """A column of encrypted numbers, which is pickled with its public key.

    ``+`` and ``-`` take another column, or numbers in the clear; ``*`` and ``/`` take numbers in the clear, one for all items or one for
    each; ``@`` takes weights or a matrix in the clear, on either side. ``column[...]`` takes a position, a slice, a list of positions or
    a mask of truth values, and returns a column.

    >>> from modmill.paillier import generate
    >>> public, private = generate(1024)
    >>> column = public.encrypt([3, 5, -8, 10])
    >>> private.decrypt(column[0]), private.decrypt(column[1:3]), private.decrypt(column[[True, False, False, True]])
    ([3], [5, -8], [3, 10])
    >>> private.decrypt(column / 4), private.decrypt(column.mean())
    ([0.75, 1.25, -2.0, 2.5], [2.5])
    >>> private.decrypt([[1, 1, 1, 1], [0, 2, 0, 1]] @ column)
    [10, 20]
    """

    __module__ = "modmill.paillier"
    __slots__ = ("_column", "_is_fresh")

    # Arrays of NumPy and series of pandas on the left leave the operation to this class, instead of taking the numbers one by one.
    __array_ufunc__ = None
    __pandas_priority__ = 5000

    def __init__(self, column: _modmill.PaillierColumn, is_fresh: bool = False) -> None:
        self._column = column
        # Whether the masks are random and nobody has seen other ciphertexts with them.
        self._is_fresh = is_fresh

    @property
    def public_key(self) -> PublicKey:
        """The key that encrypted the column."""
        from .paillier import PublicKey

        return PublicKey(self._column.public_key)

    @property
    def exponent(self) -> int | list[int]:
        """The exponent of all numbers to base 16, or a list with one for each. It is not encrypted."""
        return self._column.exponent

    @property
    def magnitude_bits(self) -> int:
        """The bound of all integers: their magnitudes are below 2 to this power. It is not encrypted."""
        return self._column.magnitude_bits

    def sum(self, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return the encrypted sum, a column of one number."""
        return EncryptedColumn(self._column.sum(options(engine, progress)))

    def mean(self, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return the encrypted mean, a column of one number. It is the sum divided as ``/`` divides."""
        if not len(self):
            raise ValueError("a column without numbers has no mean")
        return self.sum(engine=engine, progress=progress) / len(self)

    def sum_by(
        self, keys: Any, *, engine: Engine | None = None, progress: Progress | None = None
    ) -> tuple[list[Any], EncryptedColumn]:
        """Return the different keys in the order of their first items, and the encrypted sums of the items with each.

        >>> from modmill.paillier import generate
        >>> public, private = generate(1024)
        >>> names, sums = public.encrypt([10, 20, 30, 40]).sum_by(["north", "south", "north", "north"])
        >>> names, private.decrypt(sums)
        (['north', 'south'], [80, 20])
        """
        labels = listed(keys, "keys")
        if len(labels) != len(self):
            raise ValueError(f"there are {len(labels)} keys for {len(self)} numbers")
        places: dict[Any, int] = {}
        groups = [places.setdefault(key, len(places)) for key in labels]
        return list(places), EncryptedColumn(self._column.sums(groups, len(places), options(engine, progress)))

    def dot(self, weights: Any, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return the encrypted sum of the products by public weights, a column of one number. The time depends on the weights."""
        return EncryptedColumn(self._column.dot(as_floats(weights, "weights"), options(engine, progress)))

    def add(self, other: Any, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return the sums with another column, or with numbers in the clear: one for all items or one for each."""
        return self._sums(other, False, options(engine, progress))

    def multiply(
        self, factors: Any, *, secret: bool = True, engine: Engine | None = None, progress: Progress | None = None
    ) -> EncryptedColumn:
        """Return the products by numbers in the clear. With ``secret=False`` the time depends on the factors, and is shorter."""
        if isinstance(factors, EncryptedColumn):
            raise TypeError("two encrypted columns cannot be multiplied: the factors are numbers in the clear")
        return EncryptedColumn(self._column.multiply(as_floats(factors, "factors"), secret, options(engine, progress)))

    def randomize(self, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return other ciphertexts of the same numbers, which nobody can tell from new ones."""
        return EncryptedColumn(self._column.randomize(options(engine, progress)), True)

    def ciphertexts(self, out: Out = "ints") -> Any:
        """Return the ciphertexts as numbers: ``"ints"``, ``"bytes"``, ``"numpy"`` or ``"arrow"``."""
        return self._column.ciphertexts(out)

    def to_arrow(self, name: str | None = None) -> _modmill.Column:
        """Return the ciphertexts as a column of Arrow, big-endian, whose field says the exponent and the bound in its metadata.

        With ``name`` return a table of one column with that name, for ``pyarrow.table`` and others. Tables and files keep the metadata of
        their fields; an array of pyarrow alone has none.
        """
        return self._column.to_arrow(name)

    @staticmethod
    def from_arrow(
        key: PublicKey, ciphertexts: Any, exponent: int | Sequence[int] | None = None, magnitude_bits: int | None = None
    ) -> EncryptedColumn:
        """Return the column of ciphertexts in any form of numbers, or in a table of one column.

        The exponent and the bound of the numbers are those that ``to_arrow`` wrote to the field; other ones are refused. Without such a
        field the exponent is 0 if it is not given. Without ``magnitude_bits``, a bound that the numbers are known to keep, they may be as
        large as the key allows, and nothing can be added to them.

        >>> from modmill.paillier import generate
        >>> public, private = generate(1024)
        >>> column = public.encrypt([7, -8.5])
        >>> private.decrypt(EncryptedColumn.from_arrow(public, column.to_arrow()) + 1)
        [8.0, -7.5]
        """
        exponent, magnitude_bits = agreed(ciphertexts, exponent, magnitude_bits)
        exponents = [exponent] if isinstance(exponent, int) else list(exponent)
        column = _modmill.PaillierColumn.from_ciphertexts(key._key, ciphertexts, exponents, magnitude_bits, options())
        return EncryptedColumn(column)

    def to_phe(self, public_key: Any) -> list[Any]:
        """Return a list of ``phe.EncryptedNumber`` for a ``phe.PaillierPublicKey`` with the same n.

        Numbers that were computed are masked again by python-paillier before it shows their ciphertexts, which takes as long as an
        encryption. Numbers as they were encrypted are not.
        """
        if public_key.n != self.public_key.n:
            raise ValueError("the key of python-paillier has another n")
        phe = importlib.import_module("phe")
        exponent = self.exponent
        exponents = [exponent] * len(self) if isinstance(exponent, int) else exponent
        pairs = zip(self.ciphertexts(), exponents, strict=True)
        numbers = [phe.EncryptedNumber(public_key, ciphertext, exponent) for ciphertext, exponent in pairs]
        for number in numbers:
            # python-paillier has no other way to say that a ciphertext is masked.
            number._EncryptedNumber__is_obfuscated = self._is_fresh
        return numbers

    @staticmethod
    def from_phe(key: PublicKey, numbers: Sequence[Any], magnitude_bits: int | None = None) -> EncryptedColumn:
        """Return the column of a list of ``phe.EncryptedNumber``. ``magnitude_bits`` is that of ``from_arrow``."""
        if any(number.public_key.n != key.n for number in numbers):
            raise ValueError("a number of python-paillier has another key")
        # python-paillier masks a ciphertext that nobody has seen yet when it is asked for.
        ciphertexts = [number.ciphertext() for number in numbers]
        column = EncryptedColumn.from_arrow(key, ciphertexts, [number.exponent for number in numbers], magnitude_bits)
        return EncryptedColumn(column._column, True)

    def to_bytes(self) -> bytes:
        """Write the column with its exponents, its bound, the fingerprint of its key and a checksum."""
        return self._column.to_bytes()

    @staticmethod
    def from_bytes(key: PublicKey, data: bytes) -> EncryptedColumn:
        """Read what ``to_bytes`` wrote, for the same key."""
        return EncryptedColumn(_modmill.PaillierColumn.from_bytes(key._key, data))

    @staticmethod
    def concat(columns: Iterable[EncryptedColumn]) -> EncryptedColumn:
        """Return the columns of one key one after the other.

        >>> from modmill.paillier import generate
        >>> public, private = generate(1024)
        >>> private.decrypt(EncryptedColumn.concat([public.encrypt([1, 2]), public.encrypt([0.5])]))
        [1, 2, 0.5]
        """
        parts = list(columns)
        if not parts:
            raise ValueError("there are no columns")
        natives = [part._column for part in parts]
        joined = _modmill.PaillierColumn.joined(natives[0].public_key, natives)
        return EncryptedColumn(joined, all(part._is_fresh for part in parts))

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, key: Any) -> EncryptedColumn:
        if isinstance(key, slice):
            items = list(range(len(self))[key])
        elif (position := scalar(key)) is not None and not isinstance(key, bool):
            items = [_position(position, len(self))]
        else:
            items = _positions(listed(key, "key"), len(self))
        return EncryptedColumn(self._column.gathered(items), self._is_fresh)

    def __iter__(self) -> Iterator[EncryptedColumn]:
        return (self[position] for position in range(len(self)))

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError('an encrypted column is no array: decrypt it, or take its ciphertexts("numpy")')

    def _sums(self, other: Any, is_difference: bool, options: Any) -> EncryptedColumn:
        if isinstance(other, EncryptedColumn):
            other = -other if is_difference else other
            return EncryptedColumn(self._column.add(other._column, options))
        single = scalar(other)
        clear = as_floats(other if single is None else [single] * len(self), "the numbers")
        return EncryptedColumn(self._column.add_clear(clear, is_difference, options))

    def __add__(self, other: Any) -> EncryptedColumn:
        return self._sums(other, False, options())

    __radd__ = __add__

    def __neg__(self) -> EncryptedColumn:
        return EncryptedColumn(self._column.negate(options()))

    def __sub__(self, other: Any) -> EncryptedColumn:
        return self._sums(other, True, options())

    def __rsub__(self, other: Any) -> EncryptedColumn:
        return (-self).__add__(other)

    def __mul__(self, factors: Any) -> EncryptedColumn:
        return self.multiply(factors)

    __rmul__ = __mul__

    def __truediv__(self, divisors: Any) -> EncryptedColumn:
        """The quotients: exact by one power of two, and else the products by the nearest ``float`` of ``1 / divisor``."""
        single = scalar(divisors)
        is_whole = isinstance(single, int) or (single is not None and single.is_integer())
        if single is not None and is_whole and int(single).bit_count() == 1:
            # 1 / 2^k = 2^(4 j - k) / 16^j
            places = int(single).bit_length() - 1
            digits = -(-places // 4)
            factor = (1 << 4 * digits - places) * (1 if single > 0 else -1)
            return EncryptedColumn(self._column.scaled(factor, -digits, options()))
        if single is not None:
            return self * (1.0 / single)
        floats, whole = as_floats(divisors, "the divisors")
        return self * [1.0 / divisor for divisor in listed(floats if whole is None else whole)]

    def __matmul__(self, weights: Any) -> EncryptedColumn:
        rows = _rows(weights)
        return self.dot(weights) if rows is None else self._dots(list(zip(*rows, strict=True)))

    def __rmatmul__(self, weights: Any) -> EncryptedColumn:
        rows = _rows(weights)
        return self.dot(weights) if rows is None else self._dots(rows)

    def _dots(self, rows: Sequence[Any]) -> EncryptedColumn:
        return EncryptedColumn.concat([self.dot(list(row)) for row in rows]) if rows else self[:0]

    def __reduce__(self) -> Any:
        return (_unpickled, (self.public_key, self.to_bytes(), self._is_fresh))

    def __repr__(self) -> str:
        return f"<modmill.paillier.EncryptedColumn of {len(self)} numbers, {self.public_key.bits} bits>"


def _unpickled(key: PublicKey, data: bytes, is_fresh: bool) -> EncryptedColumn:
    return EncryptedColumn(_modmill.PaillierColumn.from_bytes(key._key, data), is_fresh)


def _rows(values: Any) -> list[list[Any]] | None:
    """The rows of a matrix in the clear, or ``None`` if the values are no matrix."""
    if getattr(values, "ndim", 1) == 2 or (isinstance(values, (list, tuple)) and values and isinstance(values[0], (list, tuple))):
        rows = [listed(row) for row in (values.to_numpy() if hasattr(values, "to_numpy") else values)]
        if any(len(row) != len(rows[0]) for row in rows):
            raise ValueError("the rows of the matrix differ in length")
        return rows
    return None


def _position(position: int | float, length: int) -> int:
    index = operator.index(position)  # type: ignore[arg-type]
    if not -length <= index < length:
        raise IndexError(f"there is no item {index} in a column of {length}")
    return index % length


def _positions(keys: list[Any], length: int) -> list[int]:
    """The positions that a list of them or a mask of truth values names."""
    if keys and all(type(key).__name__ in ("bool", "bool_") for key in keys):
        if len(keys) != length:
            raise IndexError(f"the mask has {len(keys)} truth values for a column of {length}")
        return [index for index, is_taken in enumerate(keys) if is_taken]
    return [_position(key, length) for key in keys]
