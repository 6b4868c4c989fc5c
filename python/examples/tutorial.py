"""A walk through the package. Every step prints what it computed.

    python examples/tutorial.py
"""

import random

import numpy as np
import pyarrow as pa

import modmill
from modmill import rsa

# One call computes many powers. A number serves all items; a list has one for each.
prime = 2**521 - 1
print("powers:", [hex(power)[:12] for power in modmill.powmod([2, 3, 5], 65537, prime)])

# The answers are Python's own.
assert modmill.powmod(3, 10**6, prime) == pow(3, 10**6, prime)

# Columns of Arrow hold numbers as big-endian bytes of a fixed size. They come from pyarrow, polars, pandas or duckdb, and
# the answers go back to any of them without a copy.
random.seed(1)
numbers = [random.randrange(prime) for _ in range(1000)]
column = pa.array([number.to_bytes(66, "big") for number in numbers], pa.binary(66))
squares = pa.array(modmill.mulmod(column, column, prime))
print("squares:", squares.type, len(squares))
assert int.from_bytes(squares[7].as_py(), "big") == numbers[7] ** 2 % prime

# Arrays of NumPy hold 64-bit words, the lowest first. They are read and written in place.
limbs = np.frombuffer(b"".join(number.to_bytes(72, "little") for number in numbers), dtype="uint64").reshape(1000, 9)
inverses = np.empty_like(limbs)
modmill.invert(limbs, prime, out=inverses)
print("inverses:", inverses.shape, inverses.dtype)
assert int.from_bytes(inverses[7].tobytes(), "little") == pow(numbers[7], -1, prime)

# An item that has no answer does not cost the others theirs.
try:
    modmill.invert([2, 3, 7], 15)
except modmill.ItemError as error:
    print("failed:", error.failed)
    print("answers:", error.answers)
answers, reasons = modmill.invert([2, 3, 7], 15, errors="column")
print("reasons:", reasons)

# A long call tells of its progress, and Ctrl-C stops it.
modmill.powmod(numbers, numbers, prime, progress=lambda done, total: print(f"progress: {done} of {total}"))

# An engine fixes how many threads compute, and where; it explains what it would do.
engine = modmill.Engine(backend="cpu", threads=1)
print(engine.explain("powmod", 2048, 1000))

# RSA signs, verifies, encrypts and decrypts whole columns.
key = rsa.generate(2048)
messages = [f"message {item}".encode() for item in range(20)]
signatures = rsa.sign(key, messages)
print("verified:", sum(rsa.verify(key.public_key, messages, signatures)), "of", len(messages))
assert rsa.decrypt(key, rsa.encrypt(key.public_key, messages)) == messages
