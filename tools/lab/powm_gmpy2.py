#!/usr/bin/env python3
"""The work of `modmill powm`, by gmpy2 on all cores: JSON Lines in, JSON Lines out.

    pip install gmpy2
    python3 tools/lab/powm_gmpy2.py tasks.jsonl powers.jsonl
    python3 tools/lab/powm_gmpy2.py --make 20000 --bits 2048 tasks.jsonl
"""

import argparse
import json
import multiprocessing
import secrets


def answer(line):
    """One line of tasks as one line of answers."""
    import gmpy2

    task = json.loads(line)
    base, exponent, modulus = (gmpy2.mpz(task[name], 16) for name in ("base", "exp", "mod"))
    return json.dumps({"result": gmpy2.powmod(base, exponent, modulus).digits(16)}, separators=(",", ":")) + "\n"


def make(path, count, bits):
    """Writes random tasks with odd moduli and exponents of full length."""
    top = 1 << (bits - 1)
    with open(path, "w") as file:
        for _ in range(count):
            base, exponent, modulus = secrets.randbits(bits - 1), secrets.randbits(bits) | top, secrets.randbits(bits) | top | 1
            file.write('{"base":"%x","exp":"%x","mod":"%x"}\n' % (base, exponent, modulus))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make", type=int, metavar="COUNT")
    parser.add_argument("--bits", type=int, default=2048)
    parser.add_argument("tasks")
    parser.add_argument("answers", nargs="?")
    arguments = parser.parse_args()
    if arguments.make:
        return make(arguments.tasks, arguments.make, arguments.bits)
    with open(arguments.tasks) as tasks, open(arguments.answers, "w") as answers, multiprocessing.Pool() as pool:
        answers.writelines(pool.imap(answer, tasks, chunksize=64))


if __name__ == "__main__":
    main()
