"""Batch modular arithmetic on big integers, on CPUs and NVIDIA GPUs.

>>> import modmill
>>> modmill.powmod([2, 3, 5], 65537, 2**127 - 1)
[32, 4569278088761131322242499456678237192, 122630667861307842403878704284112573558]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from . import _nvrtc
from ._modmill import Column, DeviceBatch, __version__
from ._nvrtc import nvrtc
from .arithmetic import gcd, invert, is_prime, mul, mulmod, powmod, powmod_base_list, powmod_exp_list
from .engine import Engine
from .errors import DeviceError, ItemError, UnavailableError
from .integers import (
    divexact,
    f_divmod,
    gcdext,
    is_square,
    is_strong_bpsw_prp,
    is_strong_selfridge_prp,
    isqrt,
    isqrt_rem,
    jacobi,
    lcm,
    next_prime,
)
from .powers import FixedBase, fixed_base, multi_pow, product_mod
from .trees import ProductTree, batch_gcd, crt

_nvrtc.locate()

__all__ = [
    "Column",
    "DeviceBatch",
    "DeviceError",
    "Engine",
    "FixedBase",
    "ItemError",
    "ProductTree",
    "UnavailableError",
    "__version__",
    "batch_gcd",
    "crt",
    "divexact",
    "f_divmod",
    "fixed_base",
    "gcd",
    "gcdext",
    "invert",
    "is_prime",
    "is_square",
    "is_strong_bpsw_prp",
    "is_strong_selfridge_prp",
    "isqrt",
    "isqrt_rem",
    "jacobi",
    "lcm",
    "mul",
    "mulmod",
    "multi_pow",
    "next_prime",
    "nvrtc",
    "powmod",
    "powmod_base_list",
    "powmod_exp_list",
    "product_mod",
]

if TYPE_CHECKING:
    from . import audit, ipcl, paillier, psi, ray, rsa, tables
else:
    _MODULES = ("audit", "ipcl", "paillier", "psi", "ray", "rsa", "tables")

    def __getattr__(name):
        # Modules that need other packages, or time, are imported when they are first used.
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *_MODULES})
