"""RSA in batches: keys, signatures and encryption.

>>> import modmill.rsa
>>> key = modmill.rsa.generate(2048)
>>> messages = [b"one", b"two", b"three"]
>>> signatures = modmill.rsa.sign(key, messages)
>>> modmill.rsa.verify(key.public_key, messages, signatures)
[True, True, True]
>>> ciphertexts = modmill.rsa.encrypt(key.public_key, messages)
>>> modmill.rsa.decrypt(key, ciphertexts)
[b'one', b'two', b'three']

Messages are ``bytes``, a list of ``bytes`` or a column of Arrow, and the answers have the same form. The options ``out``,
``errors``, ``engine`` and ``progress`` are those of `modmill.arithmetic`. The result of every private operation is
checked with the public exponent before it is returned.

A public key is pickled. A private key is pickled only on request, by ``key.picklable()``.
"""

from __future__ import annotations

from typing import Any, Literal, Unpack

from . import _modmill
from ._modmill import RsaPrivateKey as PrivateKey
from ._modmill import RsaPublicKey as PublicKey
from .engine import Engine
from .types import OfStrings, Strings, Watched

__all__ = ["PrivateKey", "PublicKey", "decrypt", "encrypt", "generate", "generate_many", "load", "sign", "verify"]


def generate(bits: int = 2048, *, allow_small: bool = False, engine: Engine | None = None) -> PrivateKey:
    """Return a new private key with the public exponent 65537. Keys below 2048 bits need ``allow_small``.

    >>> generate(512, allow_small=True).bits
    512
    """
    return _modmill.rsa_generate(bits, 1, allow_small, engine)[0]


def generate_many(
    bits: int, count: int, *, allow_small: bool = False, engine: Engine | None = None
) -> list[PrivateKey]:
    """Return ``count`` new private keys. Their primes are searched for together, which takes less time for each.

    >>> len(generate_many(512, 3, allow_small=True))
    3
    """
    return _modmill.rsa_generate(bits, count, allow_small, engine)


def load(data: bytes | str, password: bytes | None = None, *, allow_small: bool = False) -> PrivateKey | PublicKey:
    """Read a public or private key in PEM, DER or JSON, which may be encrypted.

    >>> key = generate(2048)
    >>> load(key.to_pem()).public_key == key.public_key
    True
    >>> load(key.to_pem(b"secret"), b"secret").bits
    2048
    """
    octets = data.encode() if isinstance(data, str) else data
    return _modmill.rsa_load(octets, password, allow_small)


def sign(
    key: PrivateKey,
    messages: Strings,
    *,
    padding: Literal["pss", "pkcs1v15"] = "pss",
    hash: str = "sha256",
    **options: Unpack[OfStrings],
) -> Any:
    """Return the signature of each message.

    >>> key = generate(1024, allow_small=True)
    >>> len(sign(key, b"message", padding="pkcs1v15", hash="sha512"))
    128
    """
    return key.sign(messages, padding, hash, options)


def verify(
    key: PublicKey,
    messages: Strings,
    signatures: Strings,
    *,
    padding: Literal["pss", "pkcs1v15"] = "pss",
    hash: str = "sha256",
    **options: Unpack[Watched],
) -> Any:
    """Tell of each message whether its signature is right. PSS takes salts of any length.

    >>> key = generate(1024, allow_small=True)
    >>> verify(key.public_key, [b"a", b"b"], sign(key, [b"a", b"c"]))
    [True, False]
    """
    return key.verify(messages, signatures, padding, hash, options)


def encrypt(
    key: PublicKey,
    messages: Strings,
    *,
    padding: Literal["oaep", "pkcs1v15"] = "oaep",
    hash: str = "sha256",
    label: bytes = b"",
    **options: Unpack[OfStrings],
) -> Any:
    """Return the ciphertext of each message. A message that is too long for the key fails.

    >>> key = generate(1024, allow_small=True)
    >>> encrypt(key.public_key, [b"short", bytes(1000)], errors="column")[1]
    [None, 'the message has 1000 bytes; at most 62 fit']
    """
    return key.encrypt(messages, padding, hash, label, options)


def decrypt(
    key: PrivateKey,
    ciphertexts: Strings,
    *,
    padding: Literal["oaep", "pkcs1v15"] = "oaep",
    hash: str = "sha256",
    label: bytes = b"",
    **options: Unpack[OfStrings],
) -> Any:
    """Return the message of each ciphertext.

    With OAEP a wrong ciphertext fails. With PKCS #1 v1.5 it decrypts to a random-looking message, so that nobody learns
    which paddings are wrong.

    >>> key = generate(1024, allow_small=True)
    >>> decrypt(key, encrypt(key.public_key, b"message", label=b"l"), label=b"l")
    b'message'
    >>> decrypt(key, [bytes(128)], errors="column")
    ([None], ['the ciphertext does not decrypt'])
    """
    return key.decrypt(ciphertexts, padding, hash, label, options)
