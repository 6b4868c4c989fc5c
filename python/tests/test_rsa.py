"""RSA: against Python's own arithmetic, and against itself."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest

import modmill
from modmill import rsa


@pytest.fixture(scope="module")
def key() -> rsa.PrivateKey:
    return rsa.generate(1024, allow_small=True)


def test_a_signature_is_the_padded_digest(key: rsa.PrivateKey) -> None:
    import hashlib

    signature = rsa.sign(key, b"message", padding="pkcs1v15")
    public = key.public_key
    digest = hashlib.sha256(b"message").digest()
    info = bytes.fromhex("3031300d060960864801650304020105000420") + digest
    block = b"\x00\x01" + b"\xff" * (128 - 3 - len(info)) + b"\x00" + info
    assert pow(int.from_bytes(signature, "big"), public.e, public.n) == int.from_bytes(block, "big")
    assert (public.bits, public.e, public.n.bit_length()) == (1024, 65537, 1024)


@pytest.mark.parametrize("padding", ["pss", "pkcs1v15"])
@pytest.mark.parametrize("hash", ["sha256", "sha384", "sha3-256"])
def test_signatures(key: rsa.PrivateKey, padding: str, hash: str) -> None:
    messages = [b"", b"one", b"two" * 1000]
    signatures = rsa.sign(key, messages, padding=padding, hash=hash)
    assert [len(signature) for signature in signatures] == [128] * 3
    options = {"padding": padding, "hash": hash}
    assert rsa.verify(key.public_key, messages, signatures, **options) == [True] * 3
    assert rsa.verify(key.public_key, messages, signatures[::-1], **options) == [False, True, False]
    assert rsa.verify(key.public_key, b"one", signatures[1], **options) is True
    assert rsa.verify(key.public_key, messages, [b"", None, bytes(128)], **options) == [False] * 3
    assert rsa.sign(key, [], **options) == [] and rsa.verify(key.public_key, [], [], **options) == []


@pytest.mark.parametrize("padding", ["oaep", "pkcs1v15"])
def test_encryption(key: rsa.PrivateKey, padding: str) -> None:
    messages = [b"", b"one", b"x" * 62]
    ciphertexts = rsa.encrypt(key.public_key, messages, padding=padding)
    assert rsa.decrypt(key, ciphertexts, padding=padding) == messages
    with pytest.raises(modmill.ItemError, match="item 1: the message has 500 bytes") as caught:
        rsa.encrypt(key.public_key, [b"one", bytes(500), None], padding=padding)
    assert [index for index, _ in caught.value.failed] == [1, 2]
    assert rsa.decrypt(key, caught.value.answers[0], padding=padding) == b"one"


def test_columns(key: rsa.PrivateKey) -> None:
    messages = pa.chunked_array([[b"one", None], [b"three"]], pa.large_binary())
    signatures, reasons = rsa.sign(key, messages, errors="column")
    array = pa.array(signatures)
    assert array.type == pa.binary(128) and array.null_count == 1
    assert pa.array(reasons).to_pylist() == [None, "messages is null", None]
    assert pa.array(rsa.verify(key.public_key, messages, signatures)).to_pylist() == [True, False, True]
    given = pa.array([b"one", b"three"])
    ciphertexts = rsa.encrypt(key.public_key, given)
    assert pa.array(rsa.decrypt(key, ciphertexts)).to_pylist() == [b"one", b"three"]
    assert rsa.decrypt(key, ciphertexts, out="bytes") == [b"one", b"three"]


def test_keys_are_written_and_read(key: rsa.PrivateKey) -> None:
    for data in [key.to_pem(), key.to_pem().encode(), key.to_der()]:
        again = rsa.load(data, allow_small=True)
        assert isinstance(again, rsa.PrivateKey) and again.public_key == key.public_key
    again = rsa.load(key.to_pem(b"secret"), b"secret", allow_small=True)
    assert again.public_key == key.public_key
    public = rsa.load(key.public_key.to_pem(), allow_small=True)
    assert isinstance(public, rsa.PublicKey) and public == key.public_key and hash(public) == hash(key.public_key)
    with pytest.raises(ValueError, match="does not decrypt"):
        rsa.load(key.to_pem(b"secret"), b"wrong", allow_small=True)
    with pytest.raises(ValueError, match="at least 2048"):
        rsa.load(key.to_pem())
    with pytest.raises(ValueError, match="not a key"):
        rsa.load(b"nonsense")
    assert len({key.to_der() for key in rsa.generate_many(512, 3, allow_small=True)}) == 3


def test_pickling(key: rsa.PrivateKey) -> None:
    assert pickle.loads(pickle.dumps(key.public_key)) == key.public_key
    with pytest.raises(TypeError, match="only on request"):
        pickle.dumps(key)
    again = pickle.loads(pickle.dumps(key.picklable()))
    assert again.public_key == key.public_key
    assert pickle.loads(pickle.dumps(again)).bits == 1024
    assert str(key.public_key.n) not in repr(key) + repr(key.public_key)


def test_bad_arguments(key: rsa.PrivateKey) -> None:
    with pytest.raises(ValueError, match="unknown hash"):
        rsa.sign(key, b"", hash="md5")
    with pytest.raises(ValueError, match="padding is"):
        rsa.sign(key, b"", padding="none")
    with pytest.raises(TypeError, match="messages must be bytes"):
        rsa.sign(key, "text")
    with pytest.raises(TypeError, match="messages: item 1 is of type str"):
        rsa.sign(key, [b"", "text"])
    with pytest.raises(ValueError, match="2 signatures for 1 messages"):
        rsa.verify(key.public_key, [b""], [b"", b""])
    with pytest.raises(ValueError, match="cannot generate a key of 1024 bits"):
        rsa.generate(1024)


def test_progress(key: rsa.PrivateKey) -> None:
    told: list[tuple[int, int]] = []
    rsa.sign(key, [b"message"] * 200, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, 200) and told[-1] == (200, 200)
