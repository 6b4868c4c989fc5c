"""The limits of a call: memory that is not there, numbers that are too long, signals while it converts."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

import modmill

LITTLE_MEMORY = """
import resource
import pyarrow as pa
import modmill

engine = modmill.Engine(backend="cpu", threads=1)
long = 1 << 2**28
octets = [b"\\5"] * 1000 + [long.to_bytes(2**25 + 1, "big")]
column = pa.array(octets)
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
calls = {
    "ints": lambda: modmill.powmod([5] * 1000 + [long], 3, 10007, engine=engine),
    "bytes": lambda: modmill.powmod(octets, 3, 10007, engine=engine),
    "arrow": lambda: modmill.powmod(column, 3, 10007, engine=engine),
    "width": lambda: modmill.powmod([5] * 1000, 3, 10007, width=2**28, engine=engine),
    "answers": lambda: modmill.mulmod([5] * 1000, 3, long + 1, engine=engine),
    "divisors": lambda: modmill.gcd([5] * 1000, long, engine=engine),
    "upload": lambda: engine.upload([5] * 1000, 2**28),
}
for name, call in calls.items():
    try:
        call()
    except MemoryError as error:
        assert "memory ran out" in str(error), error
        print(name)
assert modmill.powmod([5] * 1000, 3, 10007, engine=engine) == [125] * 1000
"""


def test_memory_that_runs_out_is_an_error() -> None:
    run = subprocess.run([sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["ints", "bytes", "arrow", "width", "answers", "divisors", "upload"]


@pytest.mark.parametrize("width", [-1, 0, 2**34 + 1, 2**38, 2**64, 10**5000], ids=range(6))
def test_widths_are_checked_before_anything_else(width: int) -> None:
    for name in ["width", "max_bits"]:
        with pytest.raises(ValueError, match=f"{name} is .*; it must be an int from 1 to 17179869184"):
            modmill.powmod([5], 3, 7, **{name: width})


def test_options_of_wrong_types_are_named() -> None:
    with pytest.raises(TypeError, match="^width is of type str; it must be an int"):
        modmill.powmod([5], 3, 7, width="64")
    with pytest.raises(TypeError, match="^engine is of type str; it must be a modmill.Engine$"):
        modmill.powmod([5], 3, 7, engine="cpu")
    with pytest.raises(ValueError, match="^threads is -1; it must be an int from 1 to 4096"):
        modmill.Engine(threads=-1)
    with pytest.raises(ValueError, match="^rounds is -1; it must be an int from 0"):
        modmill.is_prime(7, -1)


def test_options_are_read_before_the_numbers() -> None:
    def numbers() -> Iterator[int]:
        raise AssertionError("the numbers were read")
        yield 1

    with pytest.raises(ValueError, match="out is"):
        modmill.powmod(numbers(), 3, 7, out="list")


@pytest.mark.parametrize("form", ["ints", "bytes", "arrow"])
def test_long_items_fail_alone(form: str) -> None:
    values = [5, 1 << 100, 7, None]
    octets = [None if value is None else value.to_bytes((value.bit_length() + 7) // 8, "big") for value in values]
    numbers = {"ints": values, "bytes": octets, "arrow": pa.array(octets)}[form]
    answers, reasons = modmill.powmod(numbers, 3, 10007, max_bits=64, errors="column", out="ints")
    bits = 101 if form == "ints" else 104
    assert answers == [125, None, 343, None]
    assert reasons == [None, f"base has {bits} bits, more than max_bits", None, "base is null"]
    with pytest.raises(modmill.ItemError, match=f"item 1: a has {bits} bits, more than max_bits"):
        modmill.mulmod(numbers, 3, 10007, max_bits=64)
    # The width of the others does not show the long one.
    assert modmill.powmod(numbers, 3, 10007, max_bits=64, errors="column", out="bytes")[0][0] == (125).to_bytes(2, "big")
    answers, _ = modmill.gcd(numbers, 10, max_bits=64, errors="column", out="numpy")
    assert answers.shape == (4, 1)
    answers, reasons = modmill.powmod(2, 3, numbers, max_bits=64, errors="column", out="ints")
    assert answers == [3, None, 1, None] and reasons[1] == f"mod has {bits} bits, more than max_bits"


def test_one_number_for_all_items_has_any_length() -> None:
    assert modmill.powmod([5, 7], 3, 2**521 - 1, max_bits=64) == [125, 343]
    with pytest.raises(ValueError, match="a: a row has 128 bits; the limit is 64"):
        modmill.gcd(np.ones((2, 2), np.uint64), 3, max_bits=64)


def test_one_modulus_of_zero() -> None:
    assert modmill.powmod([2, 3], 3, 0, errors="column") == ([None, None], ["the modulus is zero"] * 2)
    assert modmill.invert(2, 0, errors="column") == (None, "the modulus is zero")
    with pytest.raises(ValueError, match="^mod is zero$"):
        modmill.mulmod([2, 3], 3, 0)
    with pytest.raises(ValueError, match="^mod is negative$"):
        modmill.powmod(2, 3, -5)
    with pytest.raises(ValueError, match="^mod: item 1 is negative$"):
        modmill.powmod(2, 3, [5, -5])
    with pytest.raises(ValueError, match="^base has 1 item and exp has 2$"):
        modmill.powmod([2], [3, 4], 5)


class Alarm(Exception):
    pass


def test_signals_stop_conversions() -> None:
    """No handler's exception is lost, and it comes soon, whatever the call is at."""

    def ring(number: int, frame: object) -> None:
        raise Alarm

    numbers = list(range(2**70, 2**70 + 400_000))

    def call() -> None:
        modmill.mulmod(numbers, numbers, 2**89 - 1)

    before = time.monotonic()
    call()
    whole = time.monotonic() - before
    previous = signal.signal(signal.SIGALRM, ring)
    try:
        for part in range(1, 9):
            due = time.monotonic() + whole * part / 10
            signal.setitimer(signal.ITIMER_REAL, whole * part / 10)
            with pytest.raises(Alarm):
                while time.monotonic() < due + 60:
                    call()
            assert time.monotonic() - due < max(0.25, whole / 3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
