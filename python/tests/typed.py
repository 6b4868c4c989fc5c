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
assert_type(modmill.isqrt(7), int)
assert_type(modmill.isqrt_rem([7, 8]), tuple[list[int], list[int]])
assert_type(modmill.is_square([7, 8]), list[bool])
assert_type(modmill.f_divmod(7, 2), tuple[int, int])
assert_type(modmill.divexact([6, 9], 3), list[int])
assert_type(modmill.lcm([6, 9], [3, 4]), list[int])
assert_type(modmill.gcdext(6, 9), tuple[int, int, int])
assert_type(modmill.jacobi([2, 3], 7, width=8), list[int])
assert_type(modmill.fixed_base(2, 7, 64), modmill.FixedBase)
assert_type(modmill.product_mod([2, 3], 7), int)
assert_type(modmill.next_prime([2, 3]), list[int])
assert_type(modmill.is_strong_bpsw_prp(7), bool)
assert_type(modmill.batch_gcd([15, 35]), list[int])
assert_type(modmill.batch_gcd([15, 35], out="arrow"), modmill.Column)
assert_type(modmill.ProductTree([3, 5]).product(), int)
assert_type(modmill.ProductTree([3, 5]).product(out="bytes"), bytes)
assert_type(modmill.crt([2, 3], [3, 5]), int)
assert_type(modmill.audit.check([15]), modmill.Column)
assert_type(modmill.audit.check([15], errors="column"), tuple[modmill.Column, modmill.Column])
assert_type(modmill.__version__, str)
modmill.Engine(backend="gpu")  # type: ignore[arg-type]
modmill.powmod([2, 3], 3, 5, out="list")  # type: ignore[call-overload]
modmill.powmod([2, 3], 3, 5, widht=64)  # type: ignore[call-overload]
