"""Paillier's operations a second on one core: modmill's columns and python-paillier's numbers.

    python benchmarks/paillier.py [--bits 2048] [--count 256] [--rounds 3]

Both compute in turns, so that a machine that is busy at times is busy for both. A rate is that of the best turn, by the processor's time.
Python-paillier computes fewer items, because it takes long. What one encrypts the other decrypts. Needs phe, and gmpy2 to be fair to it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Callable
from typing import Any

import gmpy2  # noqa: F401  python-paillier is several times as slow without it
import phe

import modmill
from modmill.paillier import EncryptedColumn, generate

ENGINE = modmill.Engine(backend="cpu", threads=1)

Work = Callable[[], Any]


def best(ways: dict[str, tuple[Work, int]], rounds: int) -> dict[str, float]:
    """The rates of several ways, each a function and the number of its items, in turns."""
    rates = dict.fromkeys(ways, 0.0)
    for _ in range(rounds + 1):
        for name, (work, items) in ways.items():
            start = time.process_time()
            work()
            rates[name] = max(rates[name], items / (time.process_time() - start))
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    full, full_private = generate(arguments.bits, short=False, engine=ENGINE)
    short, short_private = generate(arguments.bits, engine=ENGINE)
    members = json.loads(full_private.to_json())
    p, q = (phe.util.base64_to_int(members[name]) for name in "pq")
    their_public = phe.PaillierPublicKey(full.n)
    their_private = phe.PaillierPrivateKey(their_public, p, q)

    rng = random.Random(1)
    values = [rng.uniform(-1000, 1000) for _ in range(arguments.count)]
    few = values[:16]
    ours = full.encrypt(values, engine=ENGINE)
    theirs = [their_public.encrypt(value) for value in values]
    assert full_private.decrypt(EncryptedColumn.from_phe(full, theirs)) == values
    assert [their_private.decrypt(number) for number in ours.to_phe(their_public)[:16]] == few

    operations: dict[str, dict[str, tuple[Work, int]]] = {
        "encrypt": {
            "r^n": (lambda: full.encrypt(values, engine=ENGINE), len(values)),
            "short exponents": (lambda: short.encrypt(values, engine=ENGINE), len(values)),
            "owner": (lambda: full_private.encrypt(values, engine=ENGINE), len(values)),
            "owner, short exponents": (lambda: short_private.encrypt(values, engine=ENGINE), len(values)),
            "phe": (lambda: [their_public.encrypt(value).ciphertext() for value in few], len(few)),
        },
        "decrypt": {
            "modmill": (lambda: full_private.decrypt(ours, engine=ENGINE), len(values)),
            "phe": (lambda: [their_private.decrypt(number) for number in theirs[:16]], len(few)),
        },
        "add": {
            "modmill": (lambda: ours.add(ours, engine=ENGINE), len(values)),
            "phe": (lambda: [number + number for number in theirs], len(theirs)),
        },
    }
    print(f"n of {arguments.bits} bits, {arguments.count} items, one core, items a second")
    for operation, ways in operations.items():
        # Additions are short: a few of them say more of the machine's interruptions than of themselves.
        rates = best(ways, 200 if operation == "add" else arguments.rounds)
        for name, rate in rates.items():
            print(f"{operation:<8} {name:<24} {rate:>12.0f} {rate / rates['phe']:>9.1f} x phe")


if __name__ == "__main__":
    main()
