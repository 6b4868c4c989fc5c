"""Paillier's operations a second on one core with the three kinds of keys, in turns.

    python benchmarks/subgroup.py [--bits 2048] [--count 256] [--rounds 3]

A rate is that of the best turn, by the processor's time. Every kind decrypts what it encrypted.
"""

from __future__ import annotations

import argparse
import os

from paillier import ENGINE, best

from modmill.paillier import generate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    numbers = list(range(arguments.count))
    kinds = {
        "full": generate(arguments.bits, short=False, engine=ENGINE),
        "short": generate(arguments.bits, engine=ENGINE),
        "subgroup": generate(arguments.bits, subgroup=True, engine=ENGINE),
    }
    columns = {kind: public.encrypt(numbers, engine=ENGINE) for kind, (public, _) in kinds.items()}
    assert all(private.decrypt(columns[kind], engine=ENGINE) == numbers for kind, (_, private) in kinds.items())
    print(f"n of {arguments.bits} bits, {arguments.count} items, one core, items a second")
    for operation in ("encrypt", "owner's encrypt", "decrypt"):
        ways = {}
        for kind, (public, private) in kinds.items():
            work = {
                "encrypt": lambda public=public: public.encrypt(numbers, engine=ENGINE),
                "owner's encrypt": lambda private=private: private.encrypt(numbers, engine=ENGINE),
                "decrypt": lambda private=private, kind=kind: private.decrypt(columns[kind], engine=ENGINE),
            }[operation]
            ways[kind] = (work, len(numbers))
        rates = best(ways, arguments.rounds)
        for kind, rate in rates.items():
            print(f"{operation:<16} {kind:<9} {rate:>9.0f} {rate / rates['full']:>6.2f} x full")


if __name__ == "__main__":
    main()
