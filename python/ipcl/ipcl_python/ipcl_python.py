"""The names of the module ``ipcl_python.ipcl_python``, computed by modmill."""

from modmill.ipcl import (
    BNUtils,
    PaillierEncryptedNumber,
    PaillierKeypair,
    PaillierPrivateKey,
    PaillierPublicKey,
    ipclBigNumber,
    ipclCipherText,
)

__all__ = [
    "BNUtils",
    "PaillierEncryptedNumber",
    "PaillierKeypair",
    "PaillierPrivateKey",
    "PaillierPublicKey",
    "ipclBigNumber",
    "ipclCipherText",
]
