"""Paillier's encryption of columns: whoever has the public key adds numbers that it cannot read.

>>> import modmill.paillier
>>> public, private = modmill.paillier.generate(2048)
>>> prices = public.encrypt([1.5, -2.25, 100.0])
>>> private.decrypt(prices.sum())
[99.25]
>>> votes = public.encrypt([1, 0, 1, 1])
>>> private.decrypt(votes * 2 + 1)
[3, 1, 3, 3]
>>> private.decrypt(prices.dot([2, 4, 0.5]))
[44.0]

A column of ``int`` may be given in any form of `modmill.arithmetic`; a column of ``float`` is a list, an array of NumPy or a
column of Arrow. Whole numbers decrypt to ``int`` and others to ``float``. All items of a column of ``float`` share one exponent,
which is not encrypted: the greatest that keeps all their bits, or the one that ``encrypt`` is given. Numbers and keys exchange with
python-paillier (``to_phe``, ``from_phe``, ``to_json``, ``from_json``).

An answer that might not fit the key raises ``OverflowError`` before it is computed. Ciphertexts hide numbers from those who read
them, and do not keep anybody from changing them: see docs/paillier.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from . import _modmill
from .engine import Engine
from .types import Out, Progress

__all__ = ["EncryptedColumn", "PrivateKey", "PublicKey", "generate", "warm"]


def generate(
    bits: int = 2048, *, short: bool = True, subgroup: bool = False, engine: Engine | None = None
) -> tuple[PublicKey, PrivateKey]:
    """Return a new key with an n of ``bits`` bits, 1024 to 8192.

    With ``short`` the key has a base for short exponents (Damgård, Jurik, Nielsen), which makes encryption several times as
    fast. Without it encryption is as Paillier wrote it. With ``subgroup`` the base generates a small subgroup (Ma, Han, Lei), and
    encryption and decryption are faster again: docs/paillier.md says on what assumption.

    >>> public, private = generate(1024)
    >>> public.bits
    1024
    >>> public, private = generate(1024, subgroup=True)
    >>> private.decrypt(public.encrypt([1, 2]).sum())
    [3]
    """
    private = PrivateKey(_modmill.paillier_generate(bits, _randomness(short, subgroup), engine))
    return private.public_key, private


def warm(
    bits: int = 2048, items: int = 1 << 20, *, short: bool = True, subgroup: bool = False, engine: Engine | None = None
) -> bool:
    """Compile the kernels of GPUs for columns of ``items`` numbers, and keep them for later processes.

    The arguments are those of :func:`generate`. Say whether there are GPUs; without one there is nothing to compile. Columns also work
    without it: they are computed by slower kernels until compiling the fastest ones pays.

    >>> warm(2048, engine=Engine(backend="cpu"))
    False
    """
    return _modmill.paillier_warm(bits, items, _randomness(short, subgroup), engine)


def _randomness(short: bool, subgroup: bool) -> str:
    return "subgroup" if subgroup else "short" if short else "full"


def _options(engine: Engine | None = None, progress: Progress | None = None) -> Any:
    return (None, "like", "raise", engine, progress)


def _floats(column: Any) -> Any:
    """The numbers as a list of ``float`` or a buffer of doubles, or ``None`` if all of them are whole. A null becomes no number (NaN)."""
    if isinstance(column, float):
        return [column]
    if not isinstance(column, (list, tuple)):
        kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
        if not any(name in kind for name in ("float", "double")):
            return None
        # Columns of Arrow, polars and pandas; an array of NumPy is one already.
        if hasattr(column, "to_numpy"):
            column = column.to_numpy(zero_copy_only=False) if hasattr(column, "to_pylist") else column.to_numpy()
        if str(getattr(column, "dtype", "")) == "float64" and getattr(column, "ndim", 0) == 1:
            return column
        listed = getattr(column, "to_pylist", None) or getattr(column, "tolist", None) or getattr(column, "to_list", None)
        column = listed() if listed is not None else list(column)
    if any(isinstance(number, float) for number in column):
        return [float(number) for number in column]
    return None


class PublicKey:
    """A public key. It encrypts columns; keys with the same n are equal."""

    __slots__ = ("_key",)

    def __init__(self, key: _modmill.PaillierPublicKey) -> None:
        self._key = key

    @property
    def bits(self) -> int:
        """The length of n in bits."""
        return self._key.bits

    @property
    def n(self) -> int:
        """The modulus."""
        return self._key.n

    def encrypt(
        self,
        column: Any,
        exponent: int | None = None,
        *,
        each: bool = False,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> EncryptedColumn:
        """Encrypt a column of ``int`` or ``float``.

        ``exponent`` rounds floating-point numbers to multiples of ``16 ** exponent``. With ``each`` every floating-point number has
        the exponent that python-paillier would choose, which shows how large it is.

        >>> public, private = generate(1024)
        >>> private.decrypt(public.encrypt([0.1, 0.5], exponent=-1))
        [0.125, 0.5]
        """
        return _encrypt(self._key, None, column, exponent, each, engine, progress)

    def encrypt_to_arrow(
        self,
        column: Any,
        exponent: int | None = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> _modmill.Column:
        """Encrypt a column of ``int`` or ``float`` to ciphertexts in a column of Arrow, big-endian.

        That takes less time and memory than ``encrypt(column).to_arrow()``. The exponent of whole numbers is 0. That of floating-point
        numbers, which are rounded to multiples of ``16 ** exponent``, has to be given: it is not written beside the ciphertexts.

        >>> public, private = generate(1024)
        >>> len(public.encrypt_to_arrow([0.5, -3.0], exponent=-4))
        2
        """
        options = _options(engine, progress)
        floats = _floats(column)
        if floats is None:
            _refuse_exponent(exponent)
            return self._key.encrypt_whole_to_arrow(column, options, _options(engine))
        if exponent is None:
            raise ValueError("the exponent of floating-point numbers has to be given, because ciphertexts do not tell it")
        return self._key.encrypt_floats_to_arrow(floats, exponent, options)

    def to_json(self, kid: str = "") -> str:
        """Write the key as ``pheutil`` of python-paillier does."""
        return self._key.to_json(kid)

    @staticmethod
    def from_json(text: str) -> PublicKey:
        """Read a key of ``pheutil``.

        >>> public, private = generate(1024)
        >>> PublicKey.from_json(public.to_json()) == public
        True
        """
        return PublicKey(_modmill.PaillierPublicKey.from_json(text))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> Any:
        return (PublicKey, (self._key,))

    def __repr__(self) -> str:
        return repr(self._key)


class PrivateKey:
    """A private key. It decrypts columns, and encrypts them faster. It is pickled only on request, by ``picklable()``."""

    __slots__ = ("_key",)

    def __init__(self, key: _modmill.PaillierPrivateKey) -> None:
        self._key = key

    @property
    def bits(self) -> int:
        """The length of n in bits."""
        return self._key.bits

    @property
    def public_key(self) -> PublicKey:
        """The public key."""
        return PublicKey(self._key.public_key)

    def decrypt(
        self, column: EncryptedColumn, *, engine: Engine | None = None, progress: Progress | None = None
    ) -> list[int] | list[float]:
        """Decrypt a column: to ``int`` if its numbers are whole, else to ``float``. Every number is checked before it is returned.

        >>> public, private = generate(1024)
        >>> private.decrypt(public.encrypt([2**70, -1]))
        [1180591620717411303424, -1]
        """
        return column._column.decrypt(self._key, _options(engine, progress))

    def decrypt_to_arrow(
        self,
        column: EncryptedColumn | Any,
        exponent: int | None = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> _modmill.Column:
        """Decrypt a column to one of Arrow: ``int64`` if its numbers are whole, else ``float64``. Every number is checked.

        ``column`` may be a column of Arrow with ciphertexts as ``encrypt_to_arrow`` makes them. ``exponent`` is then that of its numbers,
        and 0 if it is not given. A whole number that does not fit in 64 bits raises ``OverflowError``, and no number is returned.

        >>> public, private = generate(1024)
        >>> len(private.decrypt_to_arrow(public.encrypt([1.5, -0.25])))
        2
        >>> len(private.decrypt_to_arrow(public.encrypt_to_arrow([3, 4, 5])))
        3
        """
        options = _options(engine, progress)
        if not isinstance(column, EncryptedColumn):
            return _modmill.paillier_decrypt_arrow(self._key, column, exponent or 0, options, _options(engine))
        if exponent is not None:
            raise ValueError("exponent is for columns of Arrow; an encrypted column has its own")
        return _modmill.paillier_decrypt_column_to_arrow(column._column, self._key, options)

    def encrypt(
        self,
        column: Any,
        exponent: int | None = None,
        *,
        each: bool = False,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> EncryptedColumn:
        """Encrypt a column with the private key, which is faster than with the public key."""
        return _encrypt(self._key.public_key, self._key, column, exponent, each, engine, progress)

    def to_json(self, kid: str = "") -> str:
        """Write the key as ``pheutil`` of python-paillier does, unencrypted."""
        return self._key.to_json(kid)

    @staticmethod
    def from_json(text: str) -> PrivateKey:
        """Read a private key of ``pheutil``."""
        return PrivateKey(_modmill.PaillierPrivateKey.from_json(text))

    def picklable(self) -> PrivateKey:
        """Return the same key, which can be pickled."""
        return PrivateKey(self._key.picklable())

    def __reduce__(self) -> Any:
        # Pickling the native key fails unless it was asked for.
        return (PrivateKey, (self._key,))

    def __repr__(self) -> str:
        return repr(self._key)


def _encrypt(
    public: _modmill.PaillierPublicKey,
    owner: _modmill.PaillierPrivateKey | None,
    column: Any,
    exponent: int | None,
    each: bool,
    engine: Engine | None,
    progress: Progress | None,
) -> EncryptedColumn:
    options = _options(engine, progress)
    floats = _floats(column)
    if floats is None:
        _refuse_exponent(exponent)
        return EncryptedColumn(public.encrypt_whole(column, owner, options, _options(engine)))
    return EncryptedColumn(public.encrypt_floats(floats, exponent, each, owner, options))


def _refuse_exponent(exponent: int | None) -> None:
    if exponent:
        raise ValueError("exponent is for columns of float; this one has whole numbers")


class EncryptedColumn:
    """A column of encrypted numbers, which is pickled with its public key.

    ``+`` and ``-`` take another column, or numbers in the clear; ``*`` takes numbers in the clear, one for all items or one for each.
    """

    __slots__ = ("_column",)

    def __init__(self, column: _modmill.PaillierColumn) -> None:
        self._column = column

    @property
    def public_key(self) -> PublicKey:
        """The key that encrypted the column."""
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
        return EncryptedColumn(self._column.sum(_options(engine, progress)))

    def dot(self, weights: Any, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return the encrypted sum of the products by public weights, a column of one number. The time depends on the weights."""
        return EncryptedColumn(self._column.dot(_floats(weights), weights, _options(engine, progress)))

    def add(self, other: Any, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return the sums with another column, or with numbers in the clear: one for all items or one for each."""
        options = _options(engine, progress)
        if isinstance(other, EncryptedColumn):
            return EncryptedColumn(self._column.add(other._column, options))
        if isinstance(other, (int, float)):
            other = [other] * len(self)
        return EncryptedColumn(self._column.add_clear(_floats(other), other, options))

    def multiply(
        self, factors: Any, *, secret: bool = True, engine: Engine | None = None, progress: Progress | None = None
    ) -> EncryptedColumn:
        """Return the products by numbers in the clear. With ``secret=False`` the time depends on the factors, and is shorter."""
        options = _options(engine, progress)
        return EncryptedColumn(self._column.multiply(_floats(factors), factors, secret, options))

    def randomize(self, *, engine: Engine | None = None, progress: Progress | None = None) -> EncryptedColumn:
        """Return other ciphertexts of the same numbers, which nobody can tell from new ones."""
        return EncryptedColumn(self._column.randomize(_options(engine, progress)))

    def ciphertexts(self, out: Out = "ints") -> Any:
        """Return the ciphertexts as numbers: ``"ints"``, ``"bytes"``, ``"numpy"`` or ``"arrow"``."""
        return self._column.ciphertexts(out)

    def to_arrow(self) -> _modmill.Column:
        """Return the ciphertexts as a column of Arrow, big-endian. ``exponent`` and ``magnitude_bits`` go beside it."""
        return self._column.to_arrow()

    @staticmethod
    def from_arrow(
        key: PublicKey, ciphertexts: Any, exponent: int | Sequence[int] = 0, magnitude_bits: int | None = None
    ) -> EncryptedColumn:
        """Return the column of ciphertexts in any form of numbers.

        Without ``magnitude_bits``, a bound that the numbers are known to keep, they may be as large as the key allows, and nothing can
        be added to them.

        >>> public, private = generate(1024)
        >>> column = public.encrypt([7, -8])
        >>> private.decrypt(EncryptedColumn.from_arrow(public, column.to_arrow(), 0, 64) + 1)
        [8, -7]
        """
        exponents = [exponent] if isinstance(exponent, int) else list(exponent)
        column = _modmill.PaillierColumn.from_ciphertexts(key._key, ciphertexts, exponents, magnitude_bits, _options())
        return EncryptedColumn(column)

    def to_phe(self, public_key: Any) -> list[Any]:
        """Return a list of ``phe.EncryptedNumber`` for a ``phe.PaillierPublicKey`` with the same n."""
        if public_key.n != self.public_key.n:
            raise ValueError("the key of python-paillier has another n")
        phe = importlib.import_module("phe")
        exponent = self.exponent
        exponents = [exponent] * len(self) if isinstance(exponent, int) else exponent
        pairs = zip(self.ciphertexts(), exponents, strict=True)
        return [phe.EncryptedNumber(public_key, ciphertext, exponent) for ciphertext, exponent in pairs]

    @staticmethod
    def from_phe(key: PublicKey, numbers: Sequence[Any], magnitude_bits: int | None = None) -> EncryptedColumn:
        """Return the column of a list of ``phe.EncryptedNumber``. ``magnitude_bits`` is that of ``from_arrow``."""
        if any(number.public_key.n != key.n for number in numbers):
            raise ValueError("a number of python-paillier has another key")
        # python-paillier masks a ciphertext that nobody has seen yet when it is asked for.
        ciphertexts = [number.ciphertext() for number in numbers]
        return EncryptedColumn.from_arrow(key, ciphertexts, [number.exponent for number in numbers], magnitude_bits)

    def to_bytes(self) -> bytes:
        """Write the column with its exponents, its bound, the fingerprint of its key and a checksum."""
        return self._column.to_bytes()

    @staticmethod
    def from_bytes(key: PublicKey, data: bytes) -> EncryptedColumn:
        """Read what ``to_bytes`` wrote, for the same key."""
        return EncryptedColumn(_modmill.PaillierColumn.from_bytes(key._key, data))

    def __len__(self) -> int:
        return len(self._column)

    def __add__(self, other: Any) -> EncryptedColumn:
        return self.add(other)

    __radd__ = __add__

    def __neg__(self) -> EncryptedColumn:
        return EncryptedColumn(self._column.negate(_options()))

    def __sub__(self, other: Any) -> EncryptedColumn:
        if isinstance(other, EncryptedColumn):
            return self + -other
        numbers = [other] * len(self) if isinstance(other, (int, float)) else other
        return self + [-number for number in numbers]

    def __rsub__(self, other: Any) -> EncryptedColumn:
        return (-self).__add__(other)

    def __mul__(self, factors: Any) -> EncryptedColumn:
        return self.multiply(factors)

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return (EncryptedColumn, (self._column,))

    def __repr__(self) -> str:
        return f"<modmill.paillier.EncryptedColumn of {len(self)} numbers, {self.public_key.bits} bits>"
