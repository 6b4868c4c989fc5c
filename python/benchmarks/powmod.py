"""Powers a second on one core: by columns of Arrow, by lists of integers, by arrays without any conversion, and gmpy2.

    python benchmarks/powmod.py [--bits 1024 2048 4096] [--seconds 1] [--rounds 5]

All four compute the same batch, in turns, so that a machine that is busy at times is busy for all of them. A rate is that of
the best turn, by the processor's time. Every answer is compared with gmpy2's. Bases, exponents and moduli differ from item to
item, and are as long as the modulus. Needs gmpy2, numpy and pyarrow.

The cost of conversions is also measured by itself, because a busy machine's rates differ by more than that from turn to turn. It
is the time of a product with one, which takes the engine next to nothing, over the time of the same product on arrays: one
number in and one out. A power converts three in and one out, so that three times this cost is a bound. The last two columns are
the shares of the library's rate that this bound leaves.
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
import pyarrow as pa

import modmill

ENGINE = modmill.Engine(backend="cpu", threads=1)


def octets(numbers: list[int], bits: int) -> pa.Array:
    return pa.array([number.to_bytes(bits // 8, "big") for number in numbers], pa.binary(bits // 8))


def limbs(numbers: list[int], bits: int) -> np.ndarray:
    rows = b"".join(number.to_bytes(bits // 8, "little") for number in numbers)
    return np.frombuffer(rows, dtype="uint64").reshape(len(numbers), bits // 64)


class Batch:
    """A batch in all forms."""

    def __init__(self, bits: int, count: int, rng: random.Random) -> None:
        self.base = [rng.getrandbits(bits) for _ in range(count)]
        self.exp = [rng.getrandbits(bits) | 1 << (bits - 1) for _ in range(count)]
        self.mod = [rng.getrandbits(bits) | 1 << (bits - 1) | 1 for _ in range(count)]
        numbers = [self.base, self.exp, self.mod]
        self.count = count
        self.columns = [octets(column, bits) for column in numbers]
        self.arrays = [limbs(column, bits) for column in numbers]
        self.answers = np.empty_like(self.arrays[0])
        self.mpz = [[gmpy2.mpz(number) for number in column] for column in numbers]

    def ways(self) -> dict[str, Callable[[], Any]]:
        return {
            "arrays": lambda: modmill.powmod(*self.arrays, out=self.answers, engine=ENGINE),
            "arrow": lambda: pa.array(modmill.powmod(*self.columns, engine=ENGINE)),
            "ints": lambda: modmill.powmod(self.base, self.exp, self.mod, engine=ENGINE),
            "gmpy2": lambda: [gmpy2.powmod(b, e, m) for b, e, m in zip(*self.mpz)],
        }

    def check(self) -> None:
        ways = self.ways()
        expected = [int(power) for power in ways["gmpy2"]()]
        ways["arrays"]()
        assert [int.from_bytes(row.tobytes(), "little") for row in self.answers] == expected
        assert [int.from_bytes(row, "big") for row in ways["arrow"]().to_pylist()] == expected
        assert ways["ints"]() == expected


def rates(bits: int, seconds: float, rounds: int) -> dict[str, float]:
    rng = random.Random(bits)
    probe = Batch(bits, 64, rng)
    probe.check()
    started = time.process_time()
    probe.ways()["arrays"]()
    rate = 64 / (time.process_time() - started)
    batch = Batch(bits, max(64, int(rate * seconds) // 8 * 8), rng)
    # gmpy2 is slower, and a part of the batch takes it as long.
    part = Batch(bits, max(16, batch.count // 8), rng)
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, compute in {**batch.ways(), "gmpy2": part.ways()["gmpy2"]}.items():
            count = part.count if name == "gmpy2" else batch.count
            started = time.process_time()
            compute()
            best[name] = max(best.get(name, 0.0), count / (time.process_time() - started))
    return best


def conversions(bits: int, rounds: int) -> dict[str, float]:
    """Seconds for one number in and one out, over those of arrays."""
    batch = Batch(bits, 4096, random.Random(bits))
    ways: dict[str, Callable[[], Any]] = {
        "arrays": lambda: modmill.mul(batch.arrays[0], 1, out="numpy", engine=ENGINE),
        "arrow": lambda: pa.array(modmill.mul(batch.columns[0], 1, engine=ENGINE)),
        "ints": lambda: modmill.mul(batch.base, 1, engine=ENGINE),
    }
    best: dict[str, float] = {}
    for _ in range(4 * rounds):
        for name, compute in ways.items():
            started = time.process_time()
            compute()
            best[name] = min(best.get(name, 1.0), (time.process_time() - started) / batch.count)
    return {name: max(0.0, seconds - best["arrays"]) for name, seconds in best.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bits", type=int, nargs="+", default=[1024, 2048, 4096])
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(ENGINE.explain("powmod", options.bits[0], 1000).splitlines()[0])
    print(
        "| bits | arrays/s | Arrow/s | ints/s | gmpy2/s | Arrow / arrays | ints / arrays | Arrow / gmpy2 "
        "| Arrow, us in and out | ints, us in and out | Arrow, share | ints, share |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for bits in options.bits:
        found = rates(bits, options.seconds, options.rounds)
        arrays, arrow, ints, peer = (found[name] for name in ["arrays", "arrow", "ints", "gmpy2"])
        cost = conversions(bits, options.rounds)
        share = {name: 1 / (1 + 3 * seconds * arrays) for name, seconds in cost.items()}
        print(
            f"| {bits} | {arrays:.0f} | {arrow:.0f} | {ints:.0f} | {peer:.0f} "
            f"| {arrow / arrays:.3f} | {ints / arrays:.3f} | {arrow / peer:.2f} "
            f"| {1e6 * cost['arrow']:.2f} | {1e6 * cost['ints']:.2f} | {share['arrow']:.3f} | {share['ints']:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
