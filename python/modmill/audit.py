"""Audits of RSA keys: those that share a prime with another one, and moduli that are easy to factor by themselves.

>>> from modmill import audit
>>> moduli = [65537 * 65539, 65537 * 65543, 65551 * 65557]
>>> findings = audit.check(moduli, ids=["router", "camera", "laptop"])
>>> for finding in findings.to_pylist():
...     print(finding["kind"], finding["ids"], finding["partners"])
shared_prime ['router'] ['camera']
shared_prime ['camera'] ['router']

Findings are a column of Arrow whose items have these fields; ``pyarrow.table(findings)`` and ``polars.DataFrame(findings)`` read it
without a copy:

``kind``
    ``"shared_prime"``, ``"all_primes_shared"``, ``"duplicate"``, ``"small_factor"``, ``"prime"`` or ``"power"``.
``ids``
    The names of the key. `check` names a key without a name by its position.
``modulus``, ``factors``
    Big-endian bytes. The factors multiply to the modulus.
``partners``, ``more_partners``
    The names of other keys that share a factor, at most 1000, and the number of further ones.

A modulus that is null, zero, one or longer than ``max_bits`` is an item that fails: it raises `ItemError`, whose ``answers`` are the
findings about the others, or with ``errors="column"`` the call returns the findings and a column of reasons. ``max_bits`` is 65 536 by
default and at most.

Findings make keys of others readable: audit your own, and those that you may. docs/use/audit.md of the repository says what a
finding means.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Unpack, overload

from . import _modmill
from .types import Audited, Numbers

if TYPE_CHECKING:
    from ._modmill import Column

__all__ = ["Corpus", "check"]


@overload
def check(
    moduli: Numbers, *, ids: Iterable[Any] | None = ..., errors: Literal["raise"] = ..., **options: Unpack[Audited]
) -> Column: ...


@overload
def check(
    moduli: Numbers, *, ids: Iterable[Any] | None = ..., errors: Literal["column"], **options: Unpack[Audited]
) -> tuple[Column, Column]: ...


def check(
    moduli: Numbers,
    *,
    ids: Iterable[Any] | None = None,
    errors: Literal["raise", "column"] = "raise",
    memory: int | None = None,
    **options: Any,
) -> Any:
    """Return the findings about a column of moduli, with their names: a list or a column of text.

    ``memory`` limits the bytes for trees: more moduli than that holds are audited in parts.
    """
    names = None if ids is None else _names(ids, needs_all=False)
    return _modmill.audit(moduli, names, None, False, memory, {**options, "errors": errors})


class Corpus:
    """A collection of keys in a folder, with which new keys are compared without auditing the old ones again.

    The program reads and adds to the same folders, by ``modmill audit --corpus``. Only one of those that use a folder may add keys to it
    at a time.

    Every key has a name in ``ids``, by which later findings name it.

    >>> import tempfile
    >>> corpus = Corpus(tempfile.mkdtemp())
    >>> len(corpus.add([65537 * 65539, 65551 * 65557], ids=["router", "laptop"]))
    0
    >>> [(finding["ids"], finding["partners"]) for finding in corpus.check([65537 * 65543], ids=["camera"]).to_pylist()]
    [(['camera'], ['router']), (['router'], ['camera'])]
    >>> len(corpus)
    2
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path

    def __len__(self) -> int:
        return _modmill.audit_corpus_len(self.path)

    def check(
        self,
        moduli: Numbers,
        *,
        ids: Iterable[Any],
        errors: Literal["raise", "column"] = "raise",
        memory: int | None = None,
        **options: Unpack[Audited],
    ) -> Any:
        """Return the findings about new keys, and about old ones that share a factor with a new one."""
        names = _names(ids, needs_all=True)
        return _modmill.audit(moduli, names, self.path, False, memory, {**options, "errors": errors})

    def add(
        self,
        moduli: Numbers,
        *,
        ids: Iterable[Any],
        errors: Literal["raise", "column"] = "raise",
        memory: int | None = None,
        **options: Unpack[Audited],
    ) -> Any:
        """Return the same findings, and add the keys to the corpus. A folder that is absent or empty becomes one.

        Keys without a reason to fail are added, also if others fail.

        The findings about old keys are told once: keys that the corpus has share nothing new with the others. They are lost if the
        program ends before it has kept them. Call `check` first, write its findings, and then `add` where that matters.
        """
        names = _names(ids, needs_all=True)
        return _modmill.audit(moduli, names, self.path, True, memory, {**options, "errors": errors})


def _names(ids: Iterable[Any], needs_all: bool) -> list[str]:
    """Return names as text. A name that is null is the position of its key, or an error if all are needed."""
    if isinstance(ids, (str, bytes)):
        raise TypeError(f"ids is {type(ids).__name__}; it must be a list or a column of names")
    names = list(ids.to_pylist() if hasattr(ids, "to_pylist") else ids)
    if needs_all and None in names:
        raise ValueError(f"ids: item {names.index(None)} is null; a corpus needs the names of all keys")
    return [str(position if name is None else name) for position, name in enumerate(names)]
