"""The steps of `modmill.tables` for Paillier's encryption."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

from ._paillier_arrow import agreed, labels
from ._steps import Keyed, pa
from .engine import Engine
from .paillier import EncryptedColumn, PrivateKey, PublicKey

__all__ = ["PaillierDecrypt", "PaillierEncrypt", "PaillierSum"]

NULL = "the number is null"


class PaillierEncrypt(Keyed[PublicKey | PrivateKey]):
    """Ciphertexts of a column of integers or of floating-point numbers.

    All pieces of a column share one exponent and one bound, which are written to the metadata of the column's field: whoever reads them
    there need not be told. ``exponent`` rounds floating-point numbers to multiples of ``16 ** exponent``; integers have 0. All numbers
    are below ``2 ** magnitude_bits`` in units of ``16 ** exponent``; one that is not has no answer. The private key encrypts faster
    than the public one. Every call draws new randomness.

    >>> from modmill import paillier
    >>> public, private = paillier.generate(1024)
    >>> votes = pa.table({"vote": [1, 0, None, 1]})
    >>> encrypted = PaillierEncrypt(public, column="vote", out="secret", magnitude_bits=32)(votes)
    >>> PaillierDecrypt(private, column="secret", out="again", error="why")(encrypted)["again"].to_pylist()
    [1, 0, None, 1]
    """

    def __init__(
        self,
        key: PublicKey | PrivateKey | Callable[[], PublicKey | PrivateKey],
        *,
        column: str,
        out: str = "encrypted",
        error: str | None = "error",
        exponent: int = 0,
        magnitude_bits: int = 64,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(key, out, error, engine, column=column)
        self.exponent = exponent
        self.magnitude_bits = magnitude_bits

    def _compute(self, table: Any) -> tuple[Any, Any]:
        column = self._column(table)
        is_float = pa.types.is_floating(column.type)
        if not is_float and not pa.types.is_integer(column.type):
            raise TypeError(f"the column {self.arguments['column']!r} has the type {column.type}; integers or floats are encrypted")
        if self.exponent != 0 and not is_float:
            raise ValueError(f"the column {self.arguments['column']!r} has integers, whose exponent is 0, not {self.exponent}")
        unit = 16.0**self.exponent if is_float else 1
        reasons = [self._refusal(number, unit) for number in column.to_pylist()]
        numbers = [number for number, reason in zip(column.to_pylist(), reasons, strict=True) if reason is None]
        kind = pa.binary((2 * self.key.bits + 7) // 8)
        if not numbers:
            return pa.nulls(len(column), kind), pa.array(reasons, pa.string())
        encrypted = self.key.encrypt(numbers, self.exponent if is_float else None, engine=self.engine)
        return spread(pa.array(encrypted.to_arrow()), reasons), pa.array(reasons, pa.string())

    def _field(self, type: Any) -> Any:
        return pa.field(self.out, type, metadata=labels(self.exponent, self.magnitude_bits))

    def _refusal(self, number: int | float | None, unit: int | float) -> str | None:
        """Why a number is not encrypted, if it is not."""
        if number is None:
            return NULL
        scaled = number if unit == 1 else number / unit
        if not isfinite(scaled) or abs(round(scaled)) >> self.magnitude_bits:
            return f"the number is not below 2^{self.magnitude_bits} in units of 16^{self.exponent}"
        return None


class PaillierDecrypt(Keyed[PrivateKey]):
    """Numbers of a column of ciphertexts with one ``exponent`` and one bound ``magnitude_bits``.

    Both are those that `PaillierEncrypt` wrote to the column's field, and other ones are refused. Where the field says nothing and they are
    not given, they are 0 and 64. The answers have the type int64 if the exponent is 0 or above, and else float64; ``type`` sets another. A number that does not
    fit the type has no answer, and neither has what is no ciphertext.
    """

    def __init__(
        self,
        key: PrivateKey | Callable[[], PrivateKey],
        *,
        column: str,
        out: str = "decrypted",
        error: str | None = "error",
        exponent: int | None = None,
        magnitude_bits: int | None = None,
        type: Any = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(key, out, error, engine, column=column)
        self.exponent = exponent
        self.magnitude_bits = magnitude_bits
        self.type = type

    def _compute(self, table: Any) -> tuple[Any, Any]:
        column = self._column(table)
        exponent, bits = settings(table, self.arguments["column"], self.exponent, self.magnitude_bits)
        kind = self.type or (pa.int64() if exponent >= 0 else pa.float64())

        def decrypt(ciphertexts: list[bytes]) -> list[Any]:
            encrypted = EncryptedColumn.from_arrow(self.key.public_key, ciphertexts, exponent, bits)
            decrypted = self.key.decrypt(encrypted, engine=self.engine)
            _fit(decrypted, kind)
            return decrypted

        # Wrong settings are refused even without a ciphertext.
        decrypt([])
        numbers: list[Any] = [None] * len(column)
        reasons: list[str | None] = [NULL] * len(column)
        _fill(decrypt, [item for item in enumerate(column.to_pylist()) if item[1] is not None], numbers, reasons)
        return pa.array(numbers, kind), pa.array(reasons, pa.string())


def _fit(numbers: list[Any], kind: Any) -> None:
    try:
        pa.array(numbers, kind)
    except (pa.ArrowInvalid, OverflowError):
        raise ValueError(f"the number does not fit the type {kind}") from None


def _fill(
    decrypt: Callable[[list[bytes]], list[Any]],
    items: list[tuple[int, bytes]],
    numbers: list[Any],
    reasons: list[str | None],
) -> None:
    """Decrypt items and write numbers and reasons to their places. A part that fails is halved until the wrong items are found."""
    try:
        decrypted = decrypt([ciphertext for _, ciphertext in items])
    except (ValueError, OverflowError) as error:
        if len(items) == 1:
            reasons[items[0][0]] = str(error)
            return
        middle = len(items) // 2
        _fill(decrypt, items[:middle], numbers, reasons)
        _fill(decrypt, items[middle:], numbers, reasons)
        return
    for (row, _), number in zip(items, decrypted, strict=True):
        numbers[row], reasons[row] = number, None


def settings(table: Any, column: str, exponent: int | None, magnitude_bits: int | None) -> tuple[int, int]:
    """The exponent and the bound of a column of a table."""
    found, bits = agreed(table.schema.field(column), exponent, magnitude_bits)
    if not isinstance(found, int):
        raise TypeError(f"exponent must be one int for all numbers of the column {column!r}")
    return found, 64 if bits is None else bits


class PaillierSum(Keyed[PublicKey]):
    """The sum of a column of ciphertexts: a table of one row, with the ciphertext, the bound and the exponent of the sum.

    Exponent and bound of the column are found as by `PaillierDecrypt`. `join` adds the sums of all pieces up. A null has no sum, and raises ``ValueError``.

    >>> from modmill import paillier
    >>> public, private = paillier.generate(1024)
    >>> encrypted = pa.table(public.encrypt([1, 2, 3]).to_arrow("c"))
    >>> step = PaillierSum(public, column="c")
    >>> private.decrypt(step.join([step(encrypted), step(encrypted.slice(0, 2))]))
    [9]
    """

    def __init__(
        self,
        key: PublicKey | Callable[[], PublicKey],
        *,
        column: str,
        exponent: int | None = None,
        magnitude_bits: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(key, "ciphertext", None, engine, column=column)
        self.exponent = exponent
        self.magnitude_bits = magnitude_bits

    def __call__(self, table: Any) -> Any:
        """Return the sum of a piece."""
        column = self._column(table)
        if column.null_count:
            raise ValueError(f"{column.null_count} rows of the column {self.arguments['column']!r} are null; leave them out of the sum")
        exponent, bits = settings(table, self.arguments["column"], self.exponent, self.magnitude_bits)
        total = EncryptedColumn.from_arrow(self.key, column, exponent, bits).sum(engine=self.engine)
        sums = {self.out: pa.array(total.to_arrow()), "magnitude_bits": [total.magnitude_bits], "exponent": [total.exponent]}
        return pa.table(sums)

    def join(self, pieces: list[Any]) -> EncryptedColumn:
        """Return the encrypted sum of the sums of pieces, which is 0 if there are none."""
        ciphertexts = [row for piece in pieces for row in piece.column(self.out).to_pylist()]
        bounds = [bits for piece in pieces for bits in piece.column("magnitude_bits").to_pylist()]
        exponents = [exponent for piece in pieces for exponent in piece.column("exponent").to_pylist()]
        shared = exponents[0] if len(set(exponents)) == 1 else exponents or self.exponent
        parts = EncryptedColumn.from_arrow(self.key, ciphertexts, shared, max(bounds, default=1))
        return parts.sum(engine=self.engine)


def spread(answers: Any, reasons: list[str | None]) -> Any:
    """Put answers where there is no reason against one, and nulls elsewhere."""
    places, place = [], 0
    for reason in reasons:
        places.append(place if reason is None else None)
        place += reason is None
    return answers.take(pa.array(places, pa.int64()))
