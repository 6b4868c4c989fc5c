"""Steps over tables of Arrow: a step takes a table and returns it with its answers in new columns.

>>> import pyarrow as pa
>>> from modmill import tables
>>> step = tables.Powmod(base="number", exp=65537, mod=2**127 - 1, out="power")
>>> answers = step(pa.table({"number": pa.array([b"\\x02", None, b"\\x05"])}))
>>> answers.column_names
['number', 'power', 'error']
>>> int.from_bytes(answers["power"][2].as_py(), "big") == pow(5, 65537, 2**127 - 1)
True
>>> answers["error"].to_pylist()
[None, 'base is null', None]

A step is called with a ``pyarrow.Table`` or a ``pyarrow.RecordBatch``, and returns the same kind. It serves wherever a program
hands out tables in pieces: `modmill.ray`, ``map_batches`` of polars, ``mapInArrow`` of Spark. The types of its answers depend on
the types of its columns and on its settings, and never on values, so that the answers of all pieces fit together.

Arguments of operations are names of columns (``str``), or one number for all rows (``int`` or ``bytes``). A row that has no answer
has null there, and the reason in the column ``error``. Wrong arguments raise ``TypeError`` or ``ValueError``.

A step is pickled with its settings and keys. A private key is pickled only if it was made by ``picklable()``. Instead of a key a
step takes a function that returns one, which is called once, by the process that computes; no key travels then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from . import arithmetic, rsa
from ._paillier_steps import PaillierDecrypt, PaillierEncrypt, PaillierSum
from ._psi_steps import PsiBlind, PsiTags
from ._steps import Keyed, Step, pa
from .engine import Engine

__all__ = [
    "PaillierDecrypt",
    "PaillierEncrypt",
    "PaillierSum",
    "Powmod",
    "PsiBlind",
    "PsiTags",
    "RsaSign",
    "RsaVerify",
    "Step",
]


class Powmod(Step):
    """Powers ``base ** exp % mod``, by `modmill.powmod`.

    ``secret`` and ``max_bits`` are those of `modmill.powmod`. ``width`` is the width of the answers in bits. Without it the answers are as wide as the
    modulus, if that is one number or a column of fixed-size binary or of integers; else they have the type binary.

    >>> step = Powmod(base=3, exp="e", mod=1009, out="power", error=None)
    >>> step(pa.table({"e": pa.array([10, 20], pa.uint64())}))["power"].to_pylist()
    [b'\\x02\\x0f', b'\\x00\\xfe']
    """

    def __init__(
        self,
        *,
        base: str | int | bytes,
        exp: str | int | bytes,
        mod: str | int | bytes,
        out: str = "power",
        error: str | None = "error",
        secret: bool = True,
        width: int | None = None,
        max_bits: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        super().__init__(out, error, engine, base=base, exp=exp, mod=mod)
        for name, argument in self.arguments.items():
            if not isinstance(argument, (str, int, bytes)):
                kind = type(argument).__name__
                raise TypeError(f"{name} is {kind}; it is the name of a column, or one number as int or bytes")
        if not any(isinstance(argument, str) for argument in self.arguments.values()):
            raise ValueError("base, exp and mod are single numbers; at least one is the name of a column")
        self.secret = secret
        self.width = width
        self.max_bits = max_bits

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        return [argument for argument in self.arguments.values() if isinstance(argument, str)]

    def _compute(self, table: Any) -> tuple[Any, Any]:
        base, exp, mod = (
            self._column(table, name) if isinstance(argument, str) else argument
            for name, argument in self.arguments.items()
        )
        answers, reasons = arithmetic.powmod(
            base,
            exp,
            mod,
            secret=self.secret,
            width=self.width,
            max_bits=self.max_bits,
            out="arrow",
            errors="column",
            engine=self.engine,
        )
        powers = pa.array(answers)
        mod_type = getattr(mod, "type", None)
        is_wide = mod_type is None or pa.types.is_fixed_size_binary(mod_type) or pa.types.is_integer(mod_type)
        if self.width is None and not is_wide:
            # The width is that of the longest modulus of this piece; other pieces may have others.
            powers = powers.cast(pa.binary())
        return powers, pa.array(reasons)


class RsaSign(Keyed[rsa.PrivateKey]):
    """Signatures of messages, by `modmill.rsa.sign`.

    >>> key = rsa.generate(2048)
    >>> messages = pa.table({"message": pa.array([b"one", b"two"])})
    >>> signed = RsaSign(key, message="message", out="signature", error=None)(messages)
    >>> RsaVerify(key.public_key, message="message", signature="signature")(signed)["valid"].to_pylist()
    [True, True]
    """

    def __init__(
        self,
        key: rsa.PrivateKey | Callable[[], rsa.PrivateKey],
        *,
        message: str,
        out: str = "signature",
        error: str | None = "error",
        padding: Literal["pss", "pkcs1v15"] = "pss",
        hash: str = "sha256",
        engine: Engine | None = None,
    ) -> None:
        super().__init__(key, out, error, engine, message=message)
        self.padding: Literal["pss", "pkcs1v15"] = padding
        self.hash = hash

    def _compute(self, table: Any) -> tuple[Any, Any]:
        messages = self._column(table, "message")
        signatures, reasons = rsa.sign(
            self.key,
            messages,
            padding=self.padding,
            hash=self.hash,
            out="arrow",
            errors="column",
            engine=self.engine,
        )
        answers = pa.array(signatures)
        if answers.null_count == len(answers):
            # A column without any string does not know the width of signatures.
            answers = pa.nulls(len(answers), pa.binary((self.key.bits + 7) // 8))
        return answers, pa.array(reasons)


class RsaVerify(Keyed[rsa.PublicKey]):
    """Whether signatures are right, by `modmill.rsa.verify`. A null message or signature is not right."""

    def __init__(
        self,
        key: rsa.PublicKey | Callable[[], rsa.PublicKey],
        *,
        message: str,
        signature: str,
        out: str = "valid",
        padding: Literal["pss", "pkcs1v15"] = "pss",
        hash: str = "sha256",
        engine: Engine | None = None,
    ) -> None:
        super().__init__(key, out, None, engine, message=message, signature=signature)
        self.padding: Literal["pss", "pkcs1v15"] = padding
        self.hash = hash

    def _compute(self, table: Any) -> tuple[Any, Any]:
        messages = self._column(table, "message")
        signatures = self._column(table, "signature")
        valid = rsa.verify(self.key, messages, signatures, padding=self.padding, hash=self.hash, engine=self.engine)
        return pa.array(valid), None
