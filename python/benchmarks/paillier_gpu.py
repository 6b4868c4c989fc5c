"""Paillier's operations a second on GPUs, from columns of Arrow to columns of Arrow.

    python benchmarks/paillier_gpu.py [--bits 2048] [--count 500000] [--rounds 5]

A rate is of the wall clock, from the caller's column to the caller's column: the best turn and the median. The decrypted columns are compared
with what was encrypted. `modmill warm --backend cuda --ops pow --bits 2048,4096 --shared-modulus --batch 131072` compiles the kernels before.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy
import pyarrow

import modmill
from modmill.paillier import EncryptedColumn, generate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--count", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    engine = modmill.Engine(backend="cuda")
    public, private = generate(arguments.bits, engine=engine)
    numbers = pyarrow.array(numpy.random.default_rng(1).integers(-(2**62), 2**62, arguments.count))
    ciphertexts = pyarrow.array(public.encrypt(numbers, engine=engine).to_arrow())

    def column() -> EncryptedColumn:
        return EncryptedColumn.from_arrow(public, ciphertexts, 0, 64)

    encrypted = column()
    assert pyarrow.array(private.decrypt_to_arrow(encrypted, engine=engine)) == numbers
    total = sum(numbers.to_pylist())
    assert private.decrypt(encrypted.sum(engine=engine), engine=engine) == [total]
    operations: dict[str, Callable[[], Any]] = {
        "encrypt": lambda: public.encrypt(numbers, engine=engine).to_arrow(),
        "encrypt, kept as a column": lambda: public.encrypt(numbers, engine=engine),
        "decrypt": lambda: private.decrypt_to_arrow(column(), engine=engine),
        "decrypt, of a column": lambda: private.decrypt_to_arrow(encrypted, engine=engine),
        "sum": lambda: column().sum(engine=engine),
    }
    print(f"n of {arguments.bits} bits, {arguments.count} items, items a second: best and median")
    for name, work in operations.items():
        seconds = []
        for _ in range(arguments.rounds):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
        print(f"{name:<28} {arguments.count / min(seconds):>12.0f} {arguments.count / statistics.median(seconds):>12.0f}")


if __name__ == "__main__":
    main()
