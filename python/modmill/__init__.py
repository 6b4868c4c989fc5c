"""Batch modular arithmetic on big integers, on CPUs and NVIDIA GPUs.

>>> import modmill
>>> modmill.powmod([2, 3, 5], 65537, 2**127 - 1)
[32, 4569278088761131322242499456678237192, 122630667861307842403878704284112573558]
"""

from . import _nvrtc
from ._modmill import Column, DeviceBatch
from ._nvrtc import nvrtc
from .arithmetic import gcd, invert, is_prime, mul, mulmod, powmod, powmod_base_list, powmod_exp_list
from .engine import Engine
from .errors import DeviceError, ItemError, UnavailableError

_nvrtc.locate()

__all__ = [
    "Column",
    "DeviceBatch",
    "DeviceError",
    "Engine",
    "ItemError",
    "UnavailableError",
    "gcd",
    "invert",
    "is_prime",
    "mul",
    "mulmod",
    "nvrtc",
    "powmod",
    "powmod_base_list",
    "powmod_exp_list",
]
