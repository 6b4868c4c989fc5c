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
which is not encrypted: the greatest that keeps all their bits, or the one that ``encrypt`` is given. A whole number among them that no
``float`` holds is refused. Numbers and keys exchange with python-paillier (``to_phe``, ``from_phe``, ``to_json``, ``from_json``).
`Packing` puts several short numbers into one ciphertext.

An answer that might not fit the key raises ``OverflowError`` before it is computed. Ciphertexts hide numbers from those who read
them, and do not keep anybody from changing them: see docs/use/paillier.md.
"""

from __future__ import annotations

from typing import Any

from . import _modmill
from ._paillier_arrow import agreed
from ._paillier_column import EncryptedColumn
from ._paillier_numbers import as_floats, options, split
from ._paillier_packing import PackedColumn, Packing
from .engine import Engine
from .types import Progress

__all__ = ["EncryptedColumn", "PackedColumn", "Packing", "PrivateKey", "PublicKey", "generate", "warm"]


def generate(
    bits: int = 2048, *, short: bool = True, subgroup: bool = False, engine: Engine | None = None
) -> tuple[PublicKey, PrivateKey]:
    """Return a new key with an n of ``bits`` bits, 1024 to 8192.

    With ``short`` the key has a base for short exponents (Damgård, Jurik, Nielsen), which makes encryption several times as
    fast. Without it encryption is as Paillier wrote it. With ``subgroup`` the base generates a small subgroup (Ma, Han, Lei), and
    encryption and decryption are faster again: docs/use/paillier.md says on what assumption.

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


class PublicKey:
    """A public key. It encrypts columns. Keys are equal if their n are, and their bases for short exponents."""

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
        the exponent that python-paillier would choose, which shows how large it is, and whole numbers among them stay whole.

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
        numbers, which are rounded to multiples of ``16 ** exponent``, has to be given. It is written to the metadata of the field, as
        ``EncryptedColumn.to_arrow`` does.

        >>> public, private = generate(1024)
        >>> len(public.encrypt_to_arrow([0.5, -3.0], exponent=-4))
        2
        """
        floats, whole = as_floats(column)
        if floats is None:
            _refuse_exponent(exponent)
        elif exponent is None:
            raise ValueError("the exponent of floating-point numbers has to be given, because ciphertexts do not tell it")
        return _modmill.paillier_encrypt_to_arrow(self._key, (floats, whole), exponent, options(engine, progress))

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
        self, column: EncryptedColumn | PackedColumn, *, engine: Engine | None = None, progress: Progress | None = None
    ) -> list[int] | list[float]:
        """Decrypt a column: whole numbers to ``int``, others to ``float``. Every number is checked before it is returned.

        A number is whole if its exponent is 0 or above, as in python-paillier.

        >>> public, private = generate(1024)
        >>> private.decrypt(public.encrypt([2**70, -1]))
        [1180591620717411303424, -1]
        """
        if isinstance(column, PackedColumn):
            return column.packing._numbers(column._column.decrypt(self._key, options(engine, progress)))
        if not isinstance(column, EncryptedColumn):
            raise TypeError(f"column is of type {type(column).__name__}; an EncryptedColumn or a PackedColumn was expected")
        return column._column.decrypt(self._key, options(engine, progress))

    def decrypt_to_arrow(
        self,
        column: EncryptedColumn | Any,
        exponent: int | None = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> _modmill.Column:
        """Decrypt a column to one of Arrow: ``int64`` if its numbers are whole, else ``float64``. Every number is checked.

        ``column`` may be a column of Arrow with ciphertexts as ``encrypt_to_arrow`` makes them. ``exponent`` is then that of its numbers:
        what its field says, or 0 if nothing says it. A whole number that does not fit in 64 bits raises ``OverflowError``, and no number is returned.

        >>> public, private = generate(1024)
        >>> len(private.decrypt_to_arrow(public.encrypt([1.5, -0.25])))
        2
        >>> len(private.decrypt_to_arrow(public.encrypt_to_arrow([3, 4, 5])))
        3
        """
        if not isinstance(column, EncryptedColumn):
            one, _ = agreed(column, exponent, None)
            if not isinstance(one, int):
                raise TypeError("exponent must be one int for all numbers")
            return _modmill.paillier_decrypt_arrow(self._key, column, one, options(engine, progress))
        if exponent is not None:
            raise ValueError("exponent is for columns of Arrow; an encrypted column has its own")
        return _modmill.paillier_decrypt_column_to_arrow(column._column, self._key, options(engine, progress))

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
    mixed = split(column) if each else None
    if mixed is not None:
        whole, whole_places, floats, float_places = mixed
        parts = [_encrypt(public, owner, part, None, each, engine, progress) for part in (whole, floats)]
        # Item k of both parts together goes to the place that it was at.
        places = {place: item for item, place in enumerate(whole_places + float_places)}
        return EncryptedColumn.concat(parts)[[places[place] for place in range(len(places))]]
    floats, whole = as_floats(column)
    if floats is None:
        _refuse_exponent(exponent)
    native = _modmill.paillier_encrypt(public, (floats, whole), exponent, each, owner, options(engine, progress))
    return EncryptedColumn(native, True)


def _refuse_exponent(exponent: int | None) -> None:
    if exponent:
        raise ValueError("exponent is for columns of float; this one has whole numbers")
