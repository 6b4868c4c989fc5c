"""The steps of `modmill.tables` for private set intersection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._steps import Keyed, pa
from .engine import Engine
from .psi import Party

__all__ = ["PsiBlind", "PsiTags"]


class PsiBlind(Keyed[Party]):
    """A party's own items, blinded: what it sends to the other party. A null item raises ``ValueError``.

    >>> alice, bob = Party("ffdhe2048"), Party("ffdhe2048")
    >>> hers = PsiBlind(alice, column="item", out="element")(pa.table({"item": [b"ann", b"ben"]}))
    >>> his = PsiBlind(bob, column="item", out="element")(pa.table({"item": [b"ben", b"dora"]}))
    >>> tags = PsiTags(bob, column="element")(hers)["tag"].to_pylist()
    >>> [tag in PsiTags(alice, column="element")(his)["tag"].to_pylist() for tag in tags]
    [False, True]
    """

    def __init__(
        self, party: Party | Callable[[], Party], *, column: str, out: str = "element", engine: Engine | None = None
    ) -> None:
        super().__init__(party, out, None, engine, column=column)

    def _compute(self, table: Any) -> tuple[Any, Any]:
        items = self._column(table)
        kind = pa.binary(int(self.key.group.removeprefix("ffdhe")) // 8)
        if not len(items):
            return pa.nulls(0, kind), None
        return pa.array(self.key.blind(items, out="arrow", engine=self.engine)).cast(kind), None


class PsiTags(Keyed[Party]):
    """The tags, 16 bytes each, of elements that the other party has blinded and that this party blinds again.

    Items that both parties have get the same tags, whichever party blinded them first.
    """

    def __init__(
        self, party: Party | Callable[[], Party], *, column: str, out: str = "tag", engine: Engine | None = None
    ) -> None:
        super().__init__(party, out, None, engine, column=column)

    def _compute(self, table: Any) -> tuple[Any, Any]:
        elements = self._column(table)
        if not len(elements):
            return pa.nulls(0, pa.binary(16)), None
        twice = pa.array(self.key.blind_again(elements, out="arrow", engine=self.engine))
        return pa.array(self.key.tags(twice)).cast(pa.binary(16)), None
