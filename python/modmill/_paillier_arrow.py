"""The metadata of a column of ciphertexts: the exponent and the bound of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["agreed", "labels"]

EXPONENT = "modmill.paillier.exponent"
BOUND = "modmill.paillier.magnitude_bits"


def labels(exponent: int, magnitude_bits: int) -> dict[str, str]:
    """The metadata of a field of ciphertexts."""
    return {EXPONENT: str(exponent), BOUND: str(magnitude_bits)}


def agreed(
    field: Any, exponent: int | Sequence[int] | None, magnitude_bits: int | None
) -> tuple[int | Sequence[int], int | None]:
    """The exponent and the bound that the caller gives or the metadata of ``field`` says. They must not differ.

    ``field`` is a field of pyarrow, a `modmill.Column`, or a table with one column. Without either, the exponent is 0 and the bound not
    known.

    >>> agreed(None, None, None), agreed(None, -2, 64)
    ((0, None), (-2, 64))
    """
    said = _metadata(field)
    bound = said.get(BOUND)
    if bound is not None and magnitude_bits is not None and int(bound) != magnitude_bits:
        raise ValueError(f"magnitude_bits is {magnitude_bits}, and the column says {bound}")
    named = said.get(EXPONENT)
    if named == "each" and (exponent is None or isinstance(exponent, int)):
        raise ValueError("every number of the column has an exponent of its own: give the list of them")
    if named not in (None, "each") and exponent is not None and exponent != int(named):
        raise ValueError(f"exponent is {exponent}, and the column says {named}")
    if exponent is None:
        exponent = 0 if named is None else int(named)
    return exponent, magnitude_bits if bound is None else int(bound)


def _metadata(field: Any) -> dict[str, str]:
    schema: Any = getattr(field, "schema", None)
    # A table of one column.
    if hasattr(schema, "names") and len(schema.names) == 1:
        field = schema.field(0)
    found = getattr(field, "metadata", None) or {}
    said = {_text(name): _text(value) for name, value in found.items()}
    for name in (EXPONENT, BOUND):
        if not said.get(name, "0").removeprefix("-").isdecimal() and (name, said[name]) != (EXPONENT, "each"):
            raise ValueError(f"the field of the column says {said[name]!r} for {name}")
    return said


def _text(part: str | bytes) -> str:
    return part.decode(errors="replace") if isinstance(part, bytes) else part
