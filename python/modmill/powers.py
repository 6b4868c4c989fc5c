"""Powers of one base, products of powers, and products of columns.

Arguments and options are those of `modmill.arithmetic`. Numbers are not negative, but for those of `product_mod`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, Unpack, cast

from . import _modmill
from .types import Numbers, Options

if TYPE_CHECKING:
    from ._modmill import Engine

__all__ = ["FixedBase", "fixed_base", "multi_pow", "product_mod"]


class FixedBase:
    """A base that `fixed_base` prepared."""

    def __init__(self, prepared: _modmill.FixedBase) -> None:
        self._prepared = prepared

    def pow(self, exp: Numbers, *, secret: bool = True, **options: Unpack[Options]) -> Any:
        """Return the power of the base by each exponent.

        With ``secret=True`` the engine's time does not depend on the exponents, only on their width.

        >>> fixed_base(3, 1009, 64).pow([10, 20])
        [527, 254]
        """
        return self._prepared.pow(exp, secret, options)


def fixed_base(base: SupportsIndex | bytes, mod: SupportsIndex | bytes, exp_bits: int, *, engine: Engine | None = None) -> FixedBase:
    """Prepare a base for powers modulo one number by many exponents of at most ``exp_bits`` bits.

    The powers read a table instead of squaring, so that a power takes a fraction of the time of `powmod`.

    >>> powers = fixed_base(2, 2**127 - 1, 128)
    >>> powers.pow(2**100) == pow(2, 2**100, 2**127 - 1)
    True
    """
    options: Options = {} if engine is None else {"engine": engine}
    return FixedBase(_modmill.fixed_base(base, mod, exp_bits, options))


def multi_pow(
    bases: Sequence[Numbers], exps: Sequence[Numbers], mod: Numbers, *, secret: bool = True, **options: Unpack[Options]
) -> Any:
    """Return the product of ``base ** exp`` over all bases and exponents, modulo ``mod``, of each item.

    The powers share their squarings. Each base and each exponent is a column, or one number for all items.

    >>> multi_pow([[2, 3], 5], [10, [1, 2]], 1009)
    [75, 58]
    """
    return _modmill.multi_pow(list(bases), list(exps), mod, secret, options)


def product_mod(numbers: Numbers, mod: SupportsIndex | bytes, **options: Unpack[Options]) -> int:
    """Return the product of all numbers of a column, modulo ``mod``.

    >>> product_mod(range(1, 21), 1009)
    649
    """
    return cast("int", _modmill.product_mod(numbers, mod, options))
