"""Items a second of Intel's Paillier library IPCL on one core, to be run in turns with paillier.py.

    python3.8 -m venv ipcl && ipcl/bin/pip install --no-deps ipcl-python==2.0.0 && ipcl/bin/pip install gmpy2 numpy
    OMP_NUM_THREADS=1 ipcl/bin/python benchmarks/ipcl.py

Its only wheel is for Python 3.8, so that it cannot share a process with modmill. A rate is that of the best of four calls, by the
processor's time, and of the best of 200 for additions, which are short; n has 2048 bits, and columns have 64 items.
"""

import time

from ipcl_python import PaillierKeypair

ITEMS = 64


def rate(work, calls=4):
    """Items a second of the best call."""
    best = float("inf")
    for _ in range(calls):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return ITEMS / best


def main():
    numbers = list(range(1, ITEMS + 1))
    public, private = PaillierKeypair.generate_keypair(2048, True)
    column = public.encrypt(numbers)
    assert list(private.decrypt(column)) == numbers
    plain, _ = PaillierKeypair.generate_keypair(2048, False)
    for name, work in [
        ("encrypt, r^n", lambda: plain.encrypt(numbers)),
        ("encrypt, DJN", lambda: public.encrypt(numbers)),
        ("decrypt", lambda: private.decrypt(column)),
        ("add", lambda: column + column),
    ]:
        print(f"{name:14} {rate(work, 200 if name == 'add' else 4):10.0f}")


if __name__ == "__main__":
    main()
