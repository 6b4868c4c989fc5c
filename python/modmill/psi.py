"""Private set intersection: a party learns which of its items another party has too. Both learn the sizes of the sets, no more.

Each party blinds its own items with a secret exponent and sends them. The other blinds them again. Items that both have
blinded are equal exactly if the items are:

>>> from modmill import psi
>>> alice, bob = psi.Party(), psi.Party()
>>> twice_hers = bob.blind_again(alice.blind([b"ann", b"ben", b"cid"]))
>>> twice_his = alice.blind_again(bob.blind([b"ben", b"dora"]))
>>> psi.intersect(alice.tags(twice_hers), alice.tags(twice_his))
[1]

`receive` and `send` run the whole protocol over a socket, for sets that need not fit the memory:

>>> import socket, threading
>>> here, there = socket.socketpair()
>>> sender = threading.Thread(target=psi.send, args=([b"ben", b"dora"], there))
>>> sender.start()
>>> psi.receive([b"ann", b"ben", b"cid"], here)
[1]
>>> sender.join()

Items are ``bytes``. Both parties have to follow the protocol: docs/use/psi.md of the repository says what each learns, and what it
does not protect against.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from . import _modmill
from .engine import Engine
from .types import Out, Progress, Strings

__all__ = ["Party", "Stream", "intersect", "receive", "send"]


class Stream(Protocol):
    """A socket, or another object with these two methods. TLS sockets serve as well."""

    def recv(self, size: int, /) -> bytes: ...

    def sendall(self, data: bytes, /) -> Any: ...


class Party:
    """One party of an intersection: a group and a secret exponent.

    ``group`` is ``"ffdhe2048"``, ``"ffdhe3072"`` or ``"ffdhe4096"``, of RFC 7919. A party serves one intersection: items that it
    blinds twice look the same both times. It is pickled only on request, by ``picklable()``.

    >>> Party("ffdhe2048").group
    'ffdhe2048'
    """

    def __init__(self, group: str = "ffdhe3072") -> None:
        self._party = _modmill.PsiParty(group)

    @property
    def group(self) -> str:
        """The name of the group."""
        return self._party.group

    def blind(
        self, items: Strings, *, out: Out = "like", engine: Engine | None = None, progress: Progress | None = None
    ) -> Any:
        """Return the party's own items, hashed into the group and blinded: 384 bytes each with the default group.

        >>> [len(element) for element in Party().blind([b"ann", b"ben"])]
        [384, 384]
        """
        return self._party.blind(items, {"out": out, "engine": engine, "progress": progress})

    def blind_again(
        self, elements: Strings, *, out: Out = "like", engine: Engine | None = None, progress: Progress | None = None
    ) -> Any:
        """Return what the other party has blinded, blinded by this party too, in the same order.

        >>> Party().blind_again([bytes(384)])
        Traceback (most recent call last):
        ValueError: element 0 is not between 2 and p - 2
        """
        return self._party.blind_again(elements, {"out": out, "engine": engine, "progress": progress})

    def tags(self, elements: Strings) -> Any:
        """Return a short name of 16 bytes for each element that both parties have blinded.

        >>> alice, bob = Party(), Party()
        >>> alice.tags(bob.blind_again(alice.blind([b"ann"]))) == bob.tags(alice.blind_again(bob.blind([b"ann"])))
        True
        """
        return self._party.tags(elements)

    def picklable(self) -> Party:
        """Return the same party, which can be pickled. Whoever reads the pickle can test guesses of the party's items."""
        party = Party.__new__(Party)
        party._party = self._party.picklable()
        return party

    def __repr__(self) -> str:
        return repr(self._party)


def intersect(own: Strings, other: Strings) -> list[int]:
    """Return the positions of ``own`` tags that are among the ``other`` tags, in ascending order.

    >>> intersect([bytes(16), b"b" * 16], [b"b" * 16])
    [1]
    """
    return _modmill.psi_intersect(own, other)


def receive(
    items: Iterable[bytes],
    stream: Stream,
    *,
    group: str = "ffdhe3072",
    reveal: Literal["items", "size"] = "items",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Any:
    """Run the protocol as the party that learns the intersection.

    Return the positions of the common items among ``items``, or with ``reveal="size"`` their number. ``items`` may be a
    generator: items are blinded block by block, and wait in temporary files. The other party runs `send` with the same
    ``group`` and ``reveal``. A party that breaks the protocol or closes the connection early is a ``ConnectionError``: nothing is returned
    unless it sent as many elements as it announced, each once. What is wrong with the arguments is a ``ValueError``.
    """
    return _modmill.psi_run(True, items, stream, group, reveal, {"engine": engine, "progress": progress})


def send(
    items: Iterable[bytes],
    stream: Stream,
    *,
    group: str = "ffdhe3072",
    reveal: Literal["items", "size"] = "items",
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> int:
    """Run the protocol as the party that learns nothing but the number of the receiver's items, which is returned.

    Errors are those of `receive`.
    """
    return int(_modmill.psi_run(False, items, stream, group, reveal, {"engine": engine, "progress": progress}))
