"""Threads and forks of one process that sign through libcrypto: batches across threads, children that sign as well."""

import ctypes
import ctypes.util
import hashlib
import os
import threading
import time

import common

common.again_with_provider()
# Python's own libcrypto, if it has one, or the system's.
try:
    import _ssl  # noqa: F401  loads libcrypto

    crypto = ctypes.CDLL("libcrypto.so.3")
except (ImportError, OSError):
    try:
        crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
    except (TypeError, OSError):
        common.left_out("there is no libcrypto that can be loaded")

pointer = ctypes.c_void_p
for name in ["BIO_new_file", "PEM_read_bio_PrivateKey", "EVP_MD_CTX_new", "EVP_MD_fetch", "EVP_get_digestbyname"]:
    getattr(crypto, name).restype = pointer
crypto.OPENSSL_init_crypto(ctypes.c_uint64(0x40), None)

bio = pointer(crypto.BIO_new_file(common.path("key2048.pem").encode(), b"r"))
KEY = pointer(crypto.PEM_read_bio_PrivateKey(bio, None, None, None))
assert KEY.value, "the key cannot be read"
SHA256 = pointer(crypto.EVP_get_digestbyname(b"SHA256"))


def sign(message):
    context = pointer(crypto.EVP_MD_CTX_new())
    assert crypto.EVP_DigestSignInit(context, None, SHA256, None, KEY) == 1
    size = ctypes.c_size_t(256)
    out = ctypes.create_string_buffer(256)
    assert crypto.EVP_DigestSign(context, out, ctypes.byref(size), message, ctypes.c_size_t(len(message))) == 1
    crypto.EVP_MD_CTX_free(context)
    return out.raw[: size.value]


def verify(message, signature):
    context = pointer(crypto.EVP_MD_CTX_new())
    assert crypto.EVP_DigestVerifyInit(context, None, SHA256, None, KEY) == 1
    size = ctypes.c_size_t(len(signature))
    right = crypto.EVP_DigestVerify(context, signature, size, message, ctypes.c_size_t(len(message)))
    crypto.EVP_MD_CTX_free(context)
    return right == 1


def work(number, rounds, failed):
    try:
        for turn in range(rounds):
            message = hashlib.sha256(f"{number} {turn}".encode()).digest()
            assert verify(message, sign(message)), (number, turn)
    except AssertionError as error:
        failed.append(error)


def threads(count, rounds, beside=lambda: None):
    failed = []
    # Daemons, so that a thread that hangs does not keep the program from telling.
    running = [threading.Thread(target=work, args=(number, rounds, failed), daemon=True) for number in range(count)]
    for thread in running:
        thread.start()
    beside()
    end = time.monotonic() + 120
    for thread in running:
        thread.join(max(0, end - time.monotonic()))
    hanging = sum(thread.is_alive() for thread in running)
    assert not hanging, f"{hanging} of {count} threads wait for ever"
    assert not failed, failed


def forks():
    """Children that are forked while threads sign, with locks and batches in any state."""
    for turn in range(40):
        child = os.fork()
        if child == 0:
            message = b"from a child"
            os._exit(0 if verify(message, sign(message)) else 1)
        end = time.monotonic() + 30
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.kill(child, 9)
                raise AssertionError(f"child {turn} hangs")
            time.sleep(0.002)
        assert status == 0, f"child {turn} ends with {status}"


threads(1, 20)
threads(16, 60)
threads(8, 60, forks)
# The provider says how many operations shared a batch when OpenSSL ends and nothing holds it any more.
crypto.EVP_PKEY_free(KEY)
crypto.BIO_free(bio)
crypto.OPENSSL_cleanup()
operations, batches = common.statistics()
print(f"{operations} signatures in {batches} batches")
assert operations >= 20 + 16 * 60 + 8 * 60, operations
assert batches < operations, "threads share no batches"
os._exit(0)
