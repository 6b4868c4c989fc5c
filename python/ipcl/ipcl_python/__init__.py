"""The names of Intel's package ``ipcl_python``, computed by modmill. `modmill.ipcl` documents them."""

from modmill.ipcl import PaillierEncryptedNumber, PaillierKeypair, PaillierPrivateKey, PaillierPublicKey

__all__ = ["PaillierEncryptedNumber", "PaillierKeypair", "PaillierPrivateKey", "PaillierPublicKey"]
