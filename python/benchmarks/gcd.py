"""Greatest common divisors a second on one core: a batch of modmill, and a loop of gmpy2.

    python benchmarks/gcd.py [--bits 512 1024 2048 4096] [--count 20000] [--rounds 5]

Both compute the same numbers, in turns, so that a machine that is busy at times is busy for both. A rate is that of the best
turn, by the processor's time. Every answer is compared with gmpy2's. The numbers of a pair share a factor of a quarter of their
length. Needs gmpy2 and numpy.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np

import modmill

ENGINE = modmill.Engine(backend="cpu", threads=1)


def limbs(numbers: list[int], bits: int) -> np.ndarray:
    rows = b"".join(number.to_bytes(bits // 8, "little") for number in numbers)
    return np.frombuffer(rows, dtype="uint64").reshape(len(numbers), bits // 64)


def pairs(bits: int, count: int) -> tuple[list[int], list[int]]:
    rng = random.Random(bits)
    shared = [rng.getrandbits(bits // 4) | 1 for _ in range(count)]
    a, b = ([rng.getrandbits(bits - bits // 4) * factor for factor in shared] for _ in range(2))
    return a, b


def rates(bits: int, count: int, rounds: int) -> dict[str, float]:
    a, b = pairs(bits, count)
    arrays = [limbs(a, bits), limbs(b, bits)]
    mpz = [[gmpy2.mpz(number) for number in column] for column in (a, b)]
    ways: dict[str, Callable[[], Any]] = {
        "arrays": lambda: modmill.gcd(*arrays, out="numpy", engine=ENGINE),
        "ints": lambda: modmill.gcd(a, b, engine=ENGINE),
        "gmpy2": lambda: [gmpy2.gcd(x, y) for x, y in zip(*mpz)],
    }
    expected = [int(divisor) for divisor in ways["gmpy2"]()]
    assert ways["ints"]() == expected
    assert [int.from_bytes(row.tobytes(), "little") for row in ways["arrays"]()] == expected
    best = dict.fromkeys(ways, 0.0)
    for _ in range(rounds):
        for name, compute in ways.items():
            started = time.process_time()
            compute()
            best[name] = max(best[name], count / (time.process_time() - started))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, nargs="+", default=[512, 1024, 2048, 4096])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print("| bits | arrays/s | ints/s | gmpy2/s | arrays / gmpy2 | ints / gmpy2 |")
    print("|---|---|---|---|---|---|")
    for bits in options.bits:
        found = rates(bits, options.count, options.rounds)
        arrays, ints, peer = (found[name] for name in ["arrays", "ints", "gmpy2"])
        print(
            f"| {bits} | {arrays:.0f} | {ints:.0f} | {peer:.0f} | {arrays / peer:.2f} | {ints / peer:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
