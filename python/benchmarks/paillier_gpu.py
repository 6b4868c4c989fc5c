"""Paillier's operations a second on GPUs, from columns of Arrow to columns of Arrow.

    python benchmarks/paillier_gpu.py [--bits 2048] [--count 1048576] [--rounds 4] [--slice 65536] [--threads 6]

Every operation is measured as one call with the whole column, and as calls with slices of it in threads: then the GPU computes one slice while
others are read and written. A rate is of the wall clock, from the caller's column to the caller's column: the best turn and the median. The
decrypted columns are compared with what was encrypted. "encrypt to a column" leaves the ciphertexts in an `EncryptedColumn`. The kernels are compiled before.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pyarrow

import modmill
from modmill.paillier import EncryptedColumn, generate, warm

# Floating-point numbers are rounded to multiples of 16 to this power.
EXPONENT = -14


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--count", type=int, default=1 << 20)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--slice", type=int, default=1 << 16)
    parser.add_argument("--threads", type=int, default=6)
    arguments = parser.parse_args()
    engine = modmill.Engine(backend="cuda")
    for items in (arguments.count, arguments.slice):
        warm(arguments.bits, items, engine=engine)
    public, private = generate(arguments.bits, engine=engine)
    numbers = pyarrow.array(numpy.random.default_rng(1).integers(-(2**62), 2**62, arguments.count))

    def encrypt(plain: Any) -> Any:
        return pyarrow.array(public.encrypt_to_arrow(plain, engine=engine))

    def decrypt(ciphertexts: Any) -> Any:
        return pyarrow.array(private.decrypt_to_arrow(ciphertexts, engine=engine))

    floats = pyarrow.array(numpy.random.default_rng(2).standard_normal(arguments.count))

    def encrypt_floats(plain: Any) -> Any:
        return pyarrow.array(public.encrypt_to_arrow(plain, EXPONENT, engine=engine))

    def decrypt_floats(ciphertexts: Any) -> Any:
        return pyarrow.array(private.decrypt_to_arrow(ciphertexts, EXPONENT, engine=engine))

    def encrypt_column(plain: Any) -> EncryptedColumn:
        return public.encrypt(plain, engine=engine)

    def add_up(ciphertexts: Any) -> EncryptedColumn:
        return EncryptedColumn.from_arrow(public, ciphertexts, 0, 64).sum(engine=engine)

    ciphertexts = encrypt(numbers)
    assert decrypt(ciphertexts) == numbers
    encrypted_floats = encrypt_floats(floats)
    assert numpy.abs(decrypt_floats(encrypted_floats).to_numpy() - floats.to_numpy()).max() <= 16.0**EXPONENT
    assert private.decrypt(add_up(ciphertexts), engine=engine) == [sum(numbers.to_pylist())]
    pool = ThreadPoolExecutor(arguments.threads)

    def in_slices(work: Callable[[Any], Any], column: Any) -> list[Any]:
        starts = range(0, len(column), arguments.slice)
        return list(pool.map(work, [column.slice(start, arguments.slice) for start in starts]))

    assert pyarrow.concat_arrays(in_slices(decrypt, pyarrow.concat_arrays(in_slices(encrypt, numbers)))) == numbers
    print(f"n of {arguments.bits} bits, {arguments.count} items, items a second: best and median of one call, of slices")
    for name, work, column in [
        ("encrypt", encrypt, numbers),
        ("encrypt to a column", encrypt_column, numbers),
        ("encrypt floats", encrypt_floats, floats),
        ("decrypt", decrypt, ciphertexts),
        ("decrypt floats", decrypt_floats, encrypted_floats),
        ("sum", add_up, ciphertexts),
    ]:
        rates: list[float] = []
        for way in (work, lambda column, work=work: in_slices(work, column)):
            seconds = []
            for _ in range(arguments.rounds):
                start = time.perf_counter()
                answer = way(column)
                seconds.append(time.perf_counter() - start)
                # Its memory is given back after the clock is read, and before the next turn.
                del answer
            rates += [arguments.count / min(seconds), arguments.count / statistics.median(seconds)]
        print(f"{name:<20}" + "".join(f"{rate:>12.0f}" for rate in rates))


if __name__ == "__main__":
    main()
