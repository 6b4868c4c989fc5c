"""Types of answers, checked by mypy and never run."""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import modmill

assert_type(modmill.powmod(2, 3, 5), int)
assert_type(modmill.powmod([2, 3], 3, 5, secret=False), list[int])
assert_type(modmill.powmod([2, 3], [3, 4], [5, 6], out="ints"), list[int])
assert_type(modmill.powmod([2, 3], 3, 5, out="numpy"), "np.ndarray[Any, Any]")
assert_type(modmill.powmod([2, 3], 3, 5, out="arrow", width=64), modmill.Column)
assert_type(modmill.powmod([2, 3], 3, 5, out="device"), modmill.DeviceBatch)
assert_type(modmill.powmod([2, 3], 3, 5, errors="column"), Any)
assert_type(modmill.mulmod(2, 3, 5), int)
assert_type(modmill.invert([2, 3], 5, max_bits=64), list[int])
assert_type(modmill.gcd([2, 3], 5, out="arrow"), modmill.Column)
assert_type(modmill.mul([2, 3], [4, 5]), list[int])
assert_type(modmill.is_prime(7), bool)
assert_type(modmill.is_prime([7, 8], 10), list[bool])
assert_type(modmill.__version__, str)
modmill.Engine(backend="gpu")  # type: ignore[arg-type]
modmill.powmod([2, 3], 3, 5, out="list")  # type: ignore[call-overload]
modmill.powmod([2, 3], 3, 5, widht=64)  # type: ignore[call-overload]
