"""Paillier's encryption with the names of Intel's package ``ipcl_python``, for programs that were written for that one.

>>> from modmill.ipcl import PaillierKeypair
>>> public, private = PaillierKeypair.generate_keypair(1024)
>>> a, b = public.encrypt([1.5, 2.25]), public.encrypt([10, -20])
>>> private.decrypt(a * 4 + b)
[16.0, -11.0]
>>> private.decrypt((a + 1).sum())
5.75

Numbers are encoded as in IPCL's sources: ``s * 2 ** -exponent`` with an exponent for each number, which is not encrypted. Ciphertexts
and exponents exchange with IPCL both ways; in its release 2.0.0 an exponent counts four of ours. Nothing counts the bits of sums
and products: what exceeds the key is noticed at the decryption if at all. `modmill.paillier` counts them.

A program that imports ``ipcl_python`` finds these names after ``pip install ./python/ipcl`` in a checkout. Unlike other keys of
modmill, private keys are pickled as they are, because programs for IPCL hand them to worker processes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from . import _modmill
from ._ipcl_numbers import BNUtils, decode, encode, ipclBigNumber
from ._ipcl_text import ipclCipherText, listed, matrix, position_of
from ._paillier_numbers import options as _options

__all__ = [
    "BNUtils",
    "PaillierEncryptedNumber",
    "PaillierKeypair",
    "PaillierPrivateKey",
    "PaillierPublicKey",
    "ipclBigNumber",
    "ipclCipherText",
]


class PaillierKeypair:
    """Makes keys."""

    @staticmethod
    def generate_keypair(n_length: int = 1024, enable_DJN: bool = True) -> tuple[PaillierPublicKey, PaillierPrivateKey]:
        """Return a new key with an n of ``n_length`` bits, for the short exponents of Damgård, Jurik and Nielsen if so wanted."""
        private = _modmill.paillier_generate(n_length, "short" if enable_DJN else "full", None)
        return PaillierPublicKey(private.public_key), PaillierPrivateKey(private)


class PaillierPublicKey:
    """A public key. Keys with the same n are equal.

    ``key`` is another key, or n. With n, ``enable_DJN`` says whether masks have short exponents; ``n_length`` is not looked at, because n
    has its length.
    """

    def __init__(
        self,
        key: _modmill.PaillierPublicKey | PaillierPublicKey | int,
        n_length: int | None = None,
        enable_DJN: bool | None = None,
    ) -> None:
        self.pubkey: _modmill.PaillierPublicKey
        self._is_short: bool
        if isinstance(key, PaillierPublicKey):
            self.pubkey, self._is_short = key.pubkey, key._is_short
        elif isinstance(key, _modmill.PaillierPublicKey):
            self.pubkey, self._is_short = key, key.has_base
        elif isinstance(key, int) and n_length is not None and enable_DJN is not None:
            self.pubkey, self._is_short = _modmill.PaillierPublicKey.of_modulus(key), enable_DJN
        else:
            raise ValueError("the key must be a public key, or n with n_length and enable_DJN")
        self.n = self.pubkey.n
        self.max_int = self.n // 3 - 1
        self.nsquare = self.n * self.n

    def _masking(self) -> _modmill.PaillierPublicKey:
        """The key that masks are made with. A base for short exponents is made when it is first needed."""
        if self._is_short and not self.pubkey.has_base:
            self.pubkey = self.pubkey.with_new_base(None)
        return self.pubkey

    def encrypt(self, values: Any, apply_obfuscator: bool = True) -> PaillierEncryptedNumber:
        """Encrypt a number, or a list or an array of one dimension. Without the obfuscator anyone can read the ciphertexts."""
        several = listed(values)
        encoded = [encode(value, self.max_int) for value in ([values] if several is None else several)]
        key = self._masking() if apply_obfuscator else self.pubkey
        numbers = [number for number, _ in encoded]
        native = _modmill.PaillierCiphertexts.encrypt(key, numbers, apply_obfuscator, _options())
        return PaillierEncryptedNumber(self, ipclCipherText(self.pubkey, native), [exponent for _, exponent in encoded], len(encoded))

    def raw_encrypt(self, plaintext: Any) -> PaillierEncryptedNumber:
        """Encrypt without masks."""
        return self.encrypt(plaintext, apply_obfuscator=False)

    def apply_obfuscator(self, x: int | ipclCipherText) -> Any:
        """Return another ciphertext of the same number, or a list of them for a column."""
        column = x if isinstance(x, ipclCipherText) else ipclCipherText(self.pubkey, x)
        texts = ipclCipherText(self.pubkey, column.native.randomize(self._masking(), _options())).getTexts()
        return texts if isinstance(x, ipclCipherText) else texts[0]

    def __eq__(self, other: object) -> bool:
        # Each process may have made a base of its own for the same n.
        return isinstance(other, PaillierPublicKey) and self.n == other.n

    def __hash__(self) -> int:
        return hash(self.n)

    def __repr__(self) -> str:
        return repr(self.pubkey)

    def __reduce__(self) -> Any:
        return (_public_key, (self._masking().to_bytes(),))


# Programs for IPCL hand keys to worker processes with every number. The powers of a key's base are made once in each.
@functools.lru_cache(maxsize=16)
def _public_key(data: bytes) -> PaillierPublicKey:
    return PaillierPublicKey(_modmill.PaillierPublicKey.from_bytes(data))


@functools.lru_cache(maxsize=16)
def _private_key(data: bytes) -> PaillierPrivateKey:
    return PaillierPrivateKey(_modmill.PaillierPrivateKey.from_bytes(data))


class PaillierPrivateKey:
    """A private key: of a key that was generated, or of a public key with its primes p and q."""

    def __init__(
        self,
        key: _modmill.PaillierPrivateKey | _modmill.PaillierPublicKey | PaillierPublicKey,
        p: int | None = None,
        q: int | None = None,
    ) -> None:
        if isinstance(key, _modmill.PaillierPrivateKey):
            self.prikey = key
            return
        if p is None or q is None or not isinstance(key, (PaillierPublicKey, _modmill.PaillierPublicKey)):
            raise KeyError("the key must be a private key, or a public key with p and q")
        self.prikey = _modmill.PaillierPrivateKey.of_primes(p, q)
        if key.n != self.prikey.public_key.n:
            raise ValueError("n is not the product of p and q")

    def _decrypted(self, number: PaillierEncryptedNumber) -> list[int]:
        if number.public_key.n != self.prikey.public_key.n:
            raise ValueError("the number was encrypted with another key")
        return number.ciphertext().native.decrypt(self.prikey, _options())

    def raw_decrypt(self, ciphertext: PaillierEncryptedNumber) -> int | list[int]:
        """Return the numbers below n that stand for the numbers: a list, or a single one."""
        n = ciphertext.public_key.n
        numbers = [number % n for number in self._decrypted(ciphertext)]
        return numbers[0] if len(numbers) == 1 else numbers

    def decrypt(self, encrypted_number: PaillierEncryptedNumber) -> Any:
        """Return the numbers: a list, or a single one. A number with the exponent 0 is an ``int``."""
        pairs = zip(self._decrypted(encrypted_number), encrypted_number.exponent(), strict=True)
        numbers = [decode(number, exponent) for number, exponent in pairs]
        return numbers[0] if len(numbers) == 1 else numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PaillierPrivateKey) and self.prikey.public_key.n == other.prikey.public_key.n

    def __hash__(self) -> int:
        return hash(self.prikey.public_key.n)

    def __repr__(self) -> str:
        return repr(self.prikey)

    def __reduce__(self) -> Any:
        return (_private_key, (self.prikey.to_bytes(),))


class PaillierEncryptedNumber:
    """One or more encrypted numbers with their exponents.

    ``+`` and ``-`` take other numbers of the same key or numbers in the clear, ``*`` and ``/`` numbers in the clear, ``@`` a matrix in
    the clear. A single number serves all numbers of the other side.
    """

    # An array of NumPy on the left leaves the operation to this class, instead of taking the numbers one by one.
    __array_ufunc__ = None

    def __init__(self, public_key: PaillierPublicKey, ciphertext: ipclCipherText, exponents: Sequence[int], length: int) -> None:
        if ciphertext.public_key.n != public_key.n:
            raise ValueError("the ciphertexts belong to another key")
        if not len(ciphertext) == len(exponents) == length:
            raise ValueError(f"{len(ciphertext)} ciphertexts, {len(exponents)} exponents and a length of {length}")
        self.public_key = public_key
        self._ciphertext = ciphertext
        self._exponents = list(exponents)

    def _new(self, native: _modmill.PaillierCiphertexts, exponents: list[int]) -> PaillierEncryptedNumber:
        return PaillierEncryptedNumber(self.public_key, ipclCipherText(self.public_key.pubkey, native), exponents, len(native))

    @property
    def _native(self) -> _modmill.PaillierCiphertexts:
        return self._ciphertext.native

    def ciphertext(self) -> ipclCipherText:
        """The ciphertexts."""
        return self._ciphertext

    def ciphertextBN(self, idx: int | None = None) -> Any:
        """The ciphertexts as numbers, or that of one position."""
        return self._ciphertext.getTexts() if idx is None else self._ciphertext[position_of(idx, len(self))]

    def exponent(self, idx: int | None = None) -> Any:
        """The exponents, or that of one position."""
        return list(self._exponents) if idx is None else self._exponents[position_of(idx, len(self))]

    def apply_obfuscator(self) -> None:
        """Replace the ciphertexts by others of the same numbers."""
        native = self._native.randomize(self.public_key._masking(), _options())
        self._ciphertext = ipclCipherText(self.public_key.pubkey, native)

    def length(self) -> int:
        """The number of numbers."""
        return len(self._exponents)

    __len__ = length

    def __getitem__(self, key: int | slice) -> PaillierEncryptedNumber:
        positions = range(len(self))[key]
        picked = [positions] if isinstance(positions, int) else list(positions)
        return self._new(self._native.gathered(picked), [self._exponents[position] for position in picked])

    def __iter__(self) -> Iterator[PaillierEncryptedNumber]:
        return (self[position] for position in range(len(self)))

    def _raised(self, exponents: list[int]) -> _modmill.PaillierCiphertexts:
        """The ciphertexts with other exponents, which are not below their own. A single number may get several."""
        count = len(exponents)
        own = self._exponents * (count // len(self))
        native = self._native if len(self) == count else self._native.gathered([0] * count)
        if own == exponents:
            return native
        return native.multiply([1 << new - old for old, new in zip(own, exponents, strict=True)], False, _options())

    def __add__(self, other: Any) -> PaillierEncryptedNumber:
        if not isinstance(other, PaillierEncryptedNumber):
            other = self.public_key.raw_encrypt(other)
        if self.public_key != other.public_key:
            raise ValueError("the numbers were encrypted with different keys")
        if self._exponents == other._exponents:
            return self._new(self._native.add(other._native, _options()), list(self._exponents))
        if len(self) != len(other) and sorted((len(self), len(other)))[0] != 1:
            raise ValueError(f"{len(self)} numbers and {len(other)} numbers cannot be added")
        count = max(len(self), len(other))
        pairs = zip(self._exponents * (count // len(self)), other._exponents * (count // len(other)), strict=True)
        exponents = [max(pair) for pair in pairs]
        return self._new(self._raised(exponents).add(other._raised(exponents), _options()), exponents)

    __radd__ = __add__

    def __neg__(self) -> PaillierEncryptedNumber:
        return self * -1

    def __sub__(self, other: Any) -> PaillierEncryptedNumber:
        if not isinstance(other, PaillierEncryptedNumber):
            other = self.public_key.raw_encrypt(other)
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> PaillierEncryptedNumber:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> PaillierEncryptedNumber:
        several = listed(other)
        if several is not None and len(several) != len(self):
            raise ValueError(f"{len(self)} numbers cannot be multiplied by {len(several)} numbers")
        encoded = [encode(value, self.public_key.max_int) for value in ([other] if several is None else several)]
        factors = [factor for factor, _ in encoded]
        shifts = [exponent for _, exponent in encoded] * (len(self) if several is None else 1)
        exponents = [own + shift for own, shift in zip(self._exponents, shifts, strict=True)]
        return self._new(self._native.multiply(factors, True, _options()), exponents)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> PaillierEncryptedNumber:
        several = listed(other)
        return self * (1.0 / other if several is None else [1.0 / value for value in several])

    def sum(self) -> PaillierEncryptedNumber:
        """The sum, a single number."""
        greatest = max(self._exponents, default=0)
        if all(exponent == greatest for exponent in self._exponents):
            return self._new(self._native.sum(_options()), [greatest])
        return self.dot([1] * len(self))

    def mean(self) -> PaillierEncryptedNumber:
        """The mean, a single number."""
        return self.sum() / len(self)

    def dot(self, other: Any) -> PaillierEncryptedNumber:
        """The sum of the products by numbers in the clear, a single number. The time depends on them."""
        weights = listed(other)
        if weights is None or len(weights) != len(self):
            raise ValueError(f"there are {len(self)} numbers, and not as many weights")
        encoded = [encode(value, self.public_key.max_int) for value in weights]
        exponents = [own + exponent for own, (_, exponent) in zip(self._exponents, encoded, strict=True)]
        greatest = max(exponents, default=0)
        # The weights take up the differences of the exponents, so that all products share their squarings.
        scaled = [weight << greatest - exponent for (weight, _), exponent in zip(encoded, exponents, strict=True)]
        return self._new(self._native.dot(scaled, _options()), [greatest])

    def __matmul__(self, other: Any) -> PaillierEncryptedNumber:
        """The product of this matrix, row by row, and a matrix or a vector in the clear, row by row."""
        columns = list(zip(*matrix(other, is_column=True), strict=True))
        inner = len(columns[0])
        if len(self) % inner:
            raise ValueError(f"{len(self)} numbers are no rows of {inner}")
        rows = [self[start : start + inner] for start in range(0, len(self), inner)]
        return self._joined([row.dot(column) for row in rows for column in columns])

    def __rmatmul__(self, other: Any) -> PaillierEncryptedNumber:
        """The product of a matrix or a vector in the clear and this matrix, row by row."""
        rows = matrix(other, is_column=False)
        inner = len(rows[0])
        if len(self) % inner:
            raise ValueError(f"{len(self)} numbers are no columns of {inner}")
        count = len(self) // inner
        columns = [self[start::count] for start in range(count)]
        return self._joined([column.dot(row) for row in rows for column in columns])

    def _joined(self, numbers: list[PaillierEncryptedNumber]) -> PaillierEncryptedNumber:
        natives = [number._native for number in numbers]
        exponents = [exponent for number in numbers for exponent in number._exponents]
        return self._new(_modmill.PaillierCiphertexts.joined(self.public_key.pubkey, natives), exponents)

    def __reduce__(self) -> Any:
        # Whoever reads the bytes has the key with the base, which is pickled with them.
        native = _modmill.PaillierCiphertexts.joined(self.public_key._masking(), [self._native])
        return (_encrypted_number, (self.public_key, native.to_bytes(), self._exponents))

    def __repr__(self) -> str:
        return f"<modmill.ipcl.PaillierEncryptedNumber of {len(self)} numbers>"


def _encrypted_number(public_key: PaillierPublicKey, data: bytes, exponents: list[int]) -> PaillierEncryptedNumber:
    native = _modmill.PaillierCiphertexts.from_bytes(public_key.pubkey, data)
    return PaillierEncryptedNumber(public_key, ipclCipherText(public_key.pubkey, native), exponents, len(exponents))
