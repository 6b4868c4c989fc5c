"""Every container in and out: sliced, empty, with nulls, of odd widths, in chunks."""

from __future__ import annotations

import multiprocessing
import pickle
import random
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import modmill

MODULUS = 2**521 - 1


def limbs(values: list[int], width: int) -> np.ndarray:
    """An array of limbs."""
    size = -(-width // 64)
    rows = b"".join(value.to_bytes(8 * size, "little") for value in values)
    return np.frombuffer(rows, dtype="<u8").reshape(len(values), size)


def from_limbs(array: np.ndarray) -> list[int]:
    return [int.from_bytes(row.tobytes(), "little") for row in np.ascontiguousarray(array)]


def octets(values: list[int | None], size: int) -> list[bytes | None]:
    return [None if value is None else value.to_bytes(size, "big") for value in values]


def from_octets(values: list[bytes | None]) -> list[int | None]:
    return [None if value is None else int.from_bytes(value, "big") for value in values]


ARROW: dict[str, Callable[[list[bytes | None], int], Any]] = {
    "fixed": lambda rows, size: pa.array(rows, pa.binary(size)),
    "binary": lambda rows, size: pa.array(rows, pa.binary()),
    "large": lambda rows, size: pa.array(rows, pa.large_binary()),
    "view": lambda rows, size: pa.array(rows, pa.binary_view()),
    "chunked": lambda rows, size: pa.chunked_array([rows[:2], [], rows[2:]], pa.binary(size)),
    "table": lambda rows, size: pa.table({"numbers": pa.array(rows, pa.binary(size))}),
    "batch": lambda rows, size: pa.record_batch({"numbers": pa.array(rows, pa.binary(size))}),
    "polars": lambda rows, size: pl.Series(rows, dtype=pl.Binary),
    "polars frame": lambda rows, size: pl.DataFrame({"numbers": pl.Series(rows, dtype=pl.Binary)}),
    "pandas arrow": lambda rows, size: pd.Series(pa.array(rows, pa.binary(size)), dtype=pd.ArrowDtype(pa.binary(size))),
    "duckdb": lambda rows, size: duckdb.sql("select numbers from arrow_table"),
}


def column(kind: str, rows: list[bytes | None], size: int) -> Any:
    if kind == "duckdb":
        arrow_table = pa.table({"numbers": pa.array(rows, pa.binary())})  # noqa: F841 (duckdb finds it by its name)
        return duckdb.sql("select numbers from arrow_table").to_arrow_table()
    return ARROW[kind](rows, size)


@pytest.mark.parametrize("kind", ARROW)
@pytest.mark.parametrize("count", [0, 1, 5, 40])
@pytest.mark.parametrize("size", [1, 7, 8, 9, 66])
def test_arrow(kind: str, count: int, size: int, rng: random.Random) -> None:
    values = [rng.randrange(2 ** (8 * size)) for _ in range(count)]
    given = column(kind, octets(values, size), size)
    answers = modmill.powmod(given, 65537, MODULUS)
    assert isinstance(answers, modmill.Column)
    array = pa.array(answers)
    assert array.type == pa.binary(66)
    assert from_octets(array.to_pylist()) == [pow(value, 65537, MODULUS) for value in values]


@pytest.mark.parametrize("kind", ARROW)
def test_nulls_fail_alone(kind: str, rng: random.Random) -> None:
    values = [rng.randrange(2**64) if item % 3 else None for item in range(10)]
    given = column(kind, octets(values, 8), 8)
    answers, reasons = modmill.powmod(given, 3, MODULUS, errors="column")
    expected = [None if value is None else pow(value, 3, MODULUS) for value in values]
    assert from_octets(pa.array(answers).to_pylist()) == expected
    assert pa.array(reasons).to_pylist() == ["base is null" if value is None else None for value in values]
    with pytest.raises(modmill.ItemError, match="item 0: base is null") as caught:
        modmill.powmod(given, 3, MODULUS)
    assert [index for index, _ in caught.value.failed] == [0, 3, 6, 9]
    assert from_octets(pa.array(caught.value.answers).to_pylist()) == expected


@pytest.mark.parametrize("kind", ["fixed", "binary", "large", "view", "chunked", "polars"])
def test_slices(kind: str, rng: random.Random) -> None:
    values = [rng.randrange(2**200) for _ in range(20)]
    given = column(kind, octets(values, 25), 25)
    for start, length in [(0, 20), (1, 7), (3, 0), (13, 7), (19, 1)]:
        answers = modmill.mulmod(given.slice(start, length), 3, MODULUS, out="ints")
        assert answers == [3 * value % MODULUS for value in values[start : start + length]]


def test_columns_of_integers() -> None:
    for bits in (8, 16, 32, 64):
        signed = [1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, None, -1]
        unsigned = [0, 2**bits - 1, None, 7]
        for numbers, kind in [(signed, f"int{bits}"), (unsigned, f"uint{bits}")]:
            expected = [None if number is None else pow(number, 3, MODULUS) for number in numbers]
            for column in [pa.array(numbers, kind), pa.chunked_array([numbers[:2], numbers[2:]], kind), pl.Series(numbers)]:
                answers, reasons = modmill.powmod(column, 3, MODULUS, out="ints", errors="column")
                assert [None if reason else answer for answer, reason in zip(answers, reasons)] == expected, kind
    assert modmill.powmod(3, pa.array([2, -1]), 7, out="ints") == [2, 5]
    assert modmill.powmod(pa.array([5, 6]).slice(1), 2, 7, out="ints") == [1]
    with pytest.raises(TypeError, match="base is a column of Float64; numbers are columns of .* or integers"):
        modmill.powmod(pa.array([1.5]), 3, 7)


def test_rows_of_several_lengths_and_uint64() -> None:
    rows = [b"", b"\x05", b"\x00\x00\x01\x00", bytes(100) + b"\x07"]
    values = [0, 5, 256, 7]
    assert modmill.mulmod(pa.array(rows), 3, MODULUS, out="ints") == [3 * value for value in values]
    assert modmill.mulmod(pa.array(rows), 3, MODULUS, width=521, out="ints") == [3 * value for value in values]
    assert modmill.mulmod(rows, 3, MODULUS, out="ints") == [3 * value for value in values]
    words = [0, 1, 2**64 - 1]
    for given in [pa.array(words, pa.uint64()), pl.Series(words, dtype=pl.UInt64), np.array(words, dtype="uint64")]:
        assert modmill.mulmod(given, 3, MODULUS, out="ints") == [3 * word for word in words]
    assert modmill.mulmod(pa.nulls(2), 3, MODULUS, errors="column", out="ints")[0] == [None, None]


def test_numbers_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="base: item 1 does not fit in 9 bits"):
        modmill.powmod(pa.array([b"\x01\xff", b"\x02\x00"]), 3, 7, width=9)
    with pytest.raises(ValueError, match="base: item 1 does not fit in 8 bits"):
        modmill.powmod(pa.array([1, 256], pa.uint64()), 3, 7, width=8)
    with pytest.raises(ValueError, match="base: item 0 does not fit in 8 bits"):
        modmill.powmod([b"\x01\xff"], 3, 7, width=8)
    with pytest.raises(ValueError, match="base: item 0 does not fit in 8 bits"):
        modmill.powmod(np.array([[256]], dtype="uint64"), 3, 7, width=8)


def test_other_columns_are_refused() -> None:
    with pytest.raises(TypeError, match="base is a column of Float64"):
        modmill.powmod(pa.array([1.5]), 3, 7)
    with pytest.raises(TypeError, match="base is a column of the type \"_pli128\"; numbers are columns of"):
        modmill.powmod(pl.Series([1, 2], dtype=pl.Int128), 3, 7)
    with pytest.raises(TypeError, match="base is a table of 2 columns"):
        modmill.powmod(pa.table({"a": [1], "b": [2]}), 3, 7)
    with pytest.raises(TypeError, match=r"the shape \[2, 2, 2\]"):
        modmill.powmod(np.zeros((2, 2, 2), dtype="uint64"), 3, 7)


@pytest.mark.parametrize("count", [0, 1, 6])
def test_numpy(count: int, rng: random.Random) -> None:
    values = [rng.randrange(2**200) for _ in range(count)]
    array = limbs(values, 200)
    expected = [pow(value, value, MODULUS) for value in values]
    answers = modmill.powmod(array, array, MODULUS)
    assert answers.shape == (count, 9) and answers.dtype == np.uint64
    assert from_limbs(answers) == expected
    # Every other row of a larger array, rows from the end, and columns of a larger array.
    double = np.repeat(array, 2, axis=0)
    assert from_limbs(modmill.powmod(double[::2], double[1::2], MODULUS)) == expected
    assert from_limbs(modmill.powmod(array[::-1], array[::-1], MODULUS)) == expected[::-1]
    padded = np.zeros((count, 6), dtype="uint64")
    padded[:, :4] = array
    assert from_limbs(modmill.powmod(padded[:, :4], padded, MODULUS)) == expected
    assert from_limbs(modmill.powmod(np.asfortranarray(array), array, MODULUS)) == expected


def test_small_arrays_and_objects() -> None:
    expected = [pow(value, 5, 1009) for value in [1, 2, 3]]
    for dtype in ["int64", "int32", "uint8", "object"]:
        assert modmill.powmod(np.array([1, 2, 3], dtype=dtype), 5, 1009) == expected
    assert modmill.powmod(np.uint64(3), 5, 1009) == expected[2]
    assert modmill.powmod(pd.Series([1, 2, 3], dtype=object), 5, 1009) == expected
    assert modmill.powmod(pd.Series([b"\x01", b"\x02"], dtype=object), 5, 1009) == [b"\x00\x01", b"\x00\x20"]
    assert modmill.powmod(pd.Series([2**100, None], dtype=object), 5, 1009, errors="column")[0] == [
        pow(2**100, 5, 1009),
        None,
    ]
    assert modmill.powmod((1, 2, 3), 5, 1009) == expected
    assert modmill.powmod(range(1, 4), 5, 1009) == expected
    assert modmill.powmod((value for value in [1, 2, 3]), 5, 1009) == expected


def test_other_integers() -> None:
    gmpy2 = pytest.importorskip("gmpy2")
    assert modmill.powmod(gmpy2.mpz(3), gmpy2.mpz(5), gmpy2.mpz(1009)) == 243
    assert modmill.powmod([gmpy2.mpz(3), 4], 5, 1009) == [243, pow(4, 5, 1009)]


def test_forms_of_answers() -> None:
    values = [2, 3]
    expected = [pow(value, 100, MODULUS) for value in values]
    assert modmill.powmod(values, 100, MODULUS, out="ints") == expected
    assert from_octets(modmill.powmod(values, 100, MODULUS, out="bytes")) == expected
    assert from_limbs(modmill.powmod(values, 100, MODULUS, out="numpy")) == expected
    column = modmill.powmod(values, 100, MODULUS, out="arrow", width=1024)
    assert (len(column), column.type, column.null_count) == (2, "FixedSizeBinary(128)", 0)
    for array in [pa.array(column), pl.Series(column).to_arrow(), pa.chunked_array(column)]:
        assert from_octets(array.to_pylist()) == expected
    assert modmill.mulmod(column, 1, MODULUS, out="ints") == expected, "a column of ours comes in again"
    assert modmill.powmod(2, 100, MODULUS, out="bytes") == expected[0].to_bytes(66, "big")
    assert modmill.powmod(b"\x02", 100, MODULUS) == expected[0].to_bytes(66, "big")
    assert modmill.is_prime(pa.array([b"\x07", b"\x08"]), out="ints") == [True, False]
    assert pa.array(modmill.is_prime(pa.array([b"\x07", None, b"\x08"]), errors="column")[0]).to_pylist() == [
        True,
        None,
        False,
    ]
    assert modmill.is_prime(np.array([[7], [8]], dtype="uint64")).tolist() == [True, False]


def test_answers_in_an_array_of_the_callers() -> None:
    out = np.full((2, 9), 2**64 - 1, dtype="uint64")
    assert modmill.powmod([2, 3], 100, MODULUS, out=out) is out
    assert from_limbs(out) == [pow(value, 100, MODULUS) for value in [2, 3]]
    with pytest.raises(modmill.ItemError) as caught:
        modmill.invert([2, 0], MODULUS, out=out)
    assert caught.value.answers is out and from_limbs(out) == [pow(2, -1, MODULUS), 0]
    with pytest.raises(ValueError, match=r"out has the shape \[2, 9\]; the answers have \[2, 1\]"):
        modmill.powmod([2, 3], 100, 7, out=out)
    for wrong in [np.zeros((2, 18), dtype="uint64")[:, ::2], np.zeros((2, 9), dtype="int64"), limbs([1, 2], 521)]:
        with pytest.raises(TypeError, match="writable, contiguous array"):
            modmill.powmod([2, 3], 100, MODULUS, out=wrong)
    with pytest.raises(ValueError, match="item 1 is negative"):
        modmill.mul([1, -1], 2, out="numpy")


def test_many_rows_are_converted_by_several_threads(rng: random.Random, engine: modmill.Engine) -> None:
    values = [rng.randrange(2**72) for _ in range(20_000)]
    given = pa.array(octets(values, 9), pa.binary(9))
    answers = modmill.mulmod(given, given, 2**127 - 1, engine=engine)
    assert from_octets(pa.array(answers).to_pylist()) == [value * value % (2**127 - 1) for value in values]
    with pytest.raises(ValueError, match="a: item 10001 does not fit"):
        rows = [b"\x00"] * 10_001 + [b"\x02"] + [b"\x00"] * 5_000 + [b"\x02"]
        modmill.mulmod(pa.array(rows), 1, 7, width=1, engine=engine)


def test_columns_have_items_slices_and_lists() -> None:
    column = modmill.powmod([2, 3, 5, 7], 5, [1009, 0, 1009, 1009], out="arrow", errors="column")[0]
    expected = [(2**5).to_bytes(2, "big"), None, (5**5 % 1009).to_bytes(2, "big"), (7**5 % 1009).to_bytes(2, "big")]
    assert column.to_pylist() == expected
    assert [column[index] for index in range(-4, 4)] == expected * 2
    assert column[1:3].to_pylist() == expected[1:3] and len(column[5:]) == 0
    assert column[-2:][1] == expected[3]
    for index in (4, -5, 2**62, -(2**62)):
        with pytest.raises(IndexError, match="there is no item"):
            column[index]
    with pytest.raises(ValueError, match="step 1"):
        column[::2]
    assert repr(column) == "<modmill.Column of 4 x FixedSizeBinary(2), 1 null>"
    truths, reasons = modmill.is_prime(pa.array([b"\x07", None, b"\x08"]), errors="column")
    assert truths.to_pylist() == [True, None, False]
    assert reasons.to_pylist() == [None, "n is null", None]


def test_columns_are_pickled() -> None:
    numbers = modmill.mulmod([2, 3, None], 5, 1009, out="arrow", errors="column")
    truths = modmill.is_prime(pa.array([b"\x07", b"\x08"]))
    for column in [*numbers, truths, numbers[0][1:], modmill.mulmod([], 5, 1009, out="arrow")]:
        again = pickle.loads(pickle.dumps(column))
        assert again.to_pylist() == column.to_pylist()
        assert pa.array(again).equals(pa.array(column))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(product).to_pylist() == [b"\x00\x0f"]
    with pytest.raises(ValueError, match="cannot be handed over"):
        modmill.Column._unpickle(b"no stream")


def product() -> modmill.Column:
    return modmill.mulmod([3], 5, 1009, out="arrow")
