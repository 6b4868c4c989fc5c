#!/usr/bin/env python3
"""Writes the known answers of this folder with Python's own integers.

    python3 engine/testing/vectors/generate.py

pow.jsonl: {"base", "exp", "mod", "result"}, the form `modmill powm` reads.
inv.jsonl: {"a", "mod", "result"}, result null where there is no inverse.
Hexadecimal, big-endian. The seed is fixed: running this again changes nothing.
"""
import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
draw = random.Random(3526)


def number(bits):
    """A number of exactly `bits` bits."""
    return 1 << bits - 1 | draw.getrandbits(bits)


def runs(bits):
    """Long runs of ones and zeros."""
    value, at, one = 0, 0, True
    while at < bits:
        length = min(draw.randint(1, 1 + bits // 4), bits - at)
        value |= ((1 << length) - 1 if one else 0) << at
        at, one = at + length, not one
    return value | 1 << bits - 1


def write(name, lines):
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (HERE / name).write_text(text)


def powers():
    for bits in (2, 8, 51, 52, 63, 64, 65, 104, 128, 255, 256, 257, 512, 521, 1024, 1536, 2048, 3072, 4096):
        odd, even = number(bits) | 1, number(bits) & ~1
        yield number(bits) % odd, number(bits), odd
        yield runs(bits) % even, runs(bits), even
        if bits >= 51:
            yield (1 << bits) - 2, (1 << bits) - 1, (1 << bits) - 1
            yield (1 << bits - 1), 65537, (1 << bits - 1) + 1
            yield number(2 * bits), 3, (runs(bits // 2) | 1) << bits - bits // 2
            yield number(bits), number(32), 1 << bits - 1
    yield number(4096), 65537, number(8192) | 1
    yield number(8192), 17, number(16384) | 1
    yield 0, 0, 7
    yield 0, 0, 1
    yield 5, 0, 1
    yield 0, 5, 12


def inverses():
    for bits in (2, 8, 52, 63, 64, 65, 128, 256, 521, 1024, 2048, 4096):
        for modulus in (number(bits) | 1, number(bits) & ~1, (1 << bits) - 1, 1 << bits - 1, runs(bits)):
            for a in (number(bits), runs(bits) | 1, modulus - 1, 0, number(2 * bits)):
                yield a, modulus


write(
    "pow.jsonl",
    ({"base": f"{b:x}", "exp": f"{e:x}", "mod": f"{n:x}", "result": f"{pow(b, e, n):x}"} for b, e, n in powers()),
)
write(
    "inv.jsonl",
    (
        {"a": f"{a:x}", "mod": f"{n:x}", "result": f"{pow(a, -1, n):x}" if math.gcd(a, n) == 1 else None}
        for a, n in inverses()
    ),
)
