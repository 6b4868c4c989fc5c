"""Products and remainders of columns, and audits, against Python's own integers."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import modmill
from modmill import audit

BITS = [1, 8, 63, 64, 65, 200]

numbers = st.sampled_from(BITS).flatmap(lambda bits: st.integers(1, 2**bits - 1))
columns = st.lists(numbers, min_size=1, max_size=40)
examples = settings(max_examples=40, deadline=None)


@examples
@given(columns, st.lists(st.integers(0, 2**300), min_size=1, max_size=3))
def test_trees(column: list[int], others: list[int]) -> None:
    product = math.prod(column)
    rests = [product // n for n in column]
    assert modmill.batch_gcd(column) == [math.gcd(n, rest) for n, rest in zip(column, rests)]
    tree = modmill.ProductTree(column)
    assert (len(tree), tree.product()) == (len(column), product)
    assert int.from_bytes(tree.product(out="bytes")) == product
    assert tree.nbytes >= product.bit_length() // 8
    for x in [0, product - 1, product * others[0] + 1, *others]:
        assert tree.remainders(x) == [x % n for n in column]
        assert tree.shared_factors(x) == [math.gcd(n, rest * x) for n, rest in zip(column, rests)]
    a = [others[item % len(others)] for item in range(len(column))]
    assert tree.combine(a) == sum(x % n * rest for x, n, rest in zip(a, column, rests))


def test_parts_of_a_column_are_compared_by_their_products() -> None:
    column = [(2 * n + 1) * (6 * n + 5) for n in range(1, 100)]
    expected = modmill.batch_gcd(column)
    parts = [column[:40], column[40:]]
    trees = [modmill.ProductTree(part) for part in parts]
    first, second = (tree.product(out="bytes") for tree in trees)
    found = trees[0].shared_factors(modmill.mulmod(second, 1, first)) + trees[1].shared_factors(first)
    assert found == expected


def test_residues_of_many_moduli() -> None:
    moduli = [n for n in range(2, 600) if all(n % d for d in range(2, n))]
    product = math.prod(moduli)
    for x in [0, 1, product - 1, product // 3]:
        residues = [x % n for n in moduli]
        assert modmill.crt(residues, moduli) == x
        assert int.from_bytes(modmill.crt(residues, pa.array(moduli, pa.uint64()), out="bytes")) == x
    assert modmill.crt([], []) == 0
    with pytest.raises(modmill.ItemError, match="item 0: the moduli share a factor") as caught:
        modmill.crt([1, 2, 3], [6, 5, 4])
    assert [item for item, _ in caught.value.failed] == [0, 2]
    assert caught.value.answers is None
    with pytest.raises(ValueError, match="residues has 1 item and moduli has 2"):
        modmill.crt([1], [2, 3])


def test_forms_of_columns() -> None:
    moduli = [15, 35, 143, 0, 2**80 - 1, 2**80 - 1]
    divisors = [5, 5, 11, None, 2**80 - 1, 2**80 - 1]
    # 2 ** 80 - 1 is a multiple of 15 and of 11.
    divisors[0] = 15
    answers, reasons = modmill.batch_gcd(moduli, errors="column")
    assert answers == divisors
    assert reasons == [None, None, None, "the modulus is zero", None, None]
    octets = pa.array([None if n == 0 else n.to_bytes(10) for n in moduli], pa.binary())
    column, reasons = modmill.batch_gcd(octets, errors="column")
    assert [answer and int.from_bytes(answer) for answer in column.to_pylist()] == divisors
    assert reasons.to_pylist()[3] == "moduli is null"
    array = modmill.batch_gcd([n for n in moduli if n], out="numpy")
    assert array.shape == (5, 2) and int(array[0, 0]) == 15
    tree = modmill.ProductTree(pa.array([3, 5, 7], pa.uint64()))
    assert pa.array(tree.remainders(101)).to_pylist() == [bytes([n]).rjust(8, b"\0") for n in (2, 1, 3)]
    assert tree.remainders(101, out="ints") == [2, 1, 3]
    zeros = modmill.ProductTree([3, 0])
    with pytest.raises(modmill.ItemError, match="item 1: the modulus is zero") as caught:
        zeros.remainders(5)
    assert caught.value.answers == [2, None]
    for call, answer in [
        (lambda: zeros.product(), 3),
        (lambda: zeros.product(out="bytes"), b"\x03"),
        (lambda: zeros.combine([5, 1]), 2),
    ]:
        with pytest.raises(modmill.ItemError, match="item 1: the modulus is zero") as caught:
            call()
        assert caught.value.failed == [(1, "the modulus is zero")]
        found = caught.value.answers
        assert (found.lstrip(b"\0") if isinstance(found, bytes) else found) == answer
    assert modmill.batch_gcd([]) == []


def test_progress_of_trees() -> None:
    told: list[tuple[int, int]] = []
    column = [n * n + 1 for n in range(1, 5000)]
    modmill.batch_gcd(column, progress=lambda done, total: told.append((done, total)))
    assert told[0] == (0, len(column)) and told[-1] == (len(column), len(column))

    def stop(done: int, total: int) -> None:
        if done:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        modmill.ProductTree(column, progress=stop)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: modmill.batch_gcd(15), ValueError, "moduli is one number"),
        (lambda: modmill.batch_gcd([15, -15]), ValueError, "moduli: item 1 is negative"),
        (lambda: modmill.ProductTree([3, None]), ValueError, "column: item 1 is null"),
        (lambda: modmill.ProductTree([3], out="ints"), TypeError, "unexpected keyword argument 'out'"),
        (lambda: modmill.ProductTree([3]).remainders([1, 2]), ValueError, "1"),
        (lambda: modmill.ProductTree([3]).remainders(-1), ValueError, "x: item 0 is negative"),
        (lambda: modmill.ProductTree([3]).combine([1, 2]), ValueError, "numerators"),
        (lambda: modmill.crt([1], [3], errors="column"), TypeError, "unexpected keyword argument 'errors'"),
        (lambda: audit.check([15], ids=[]), ValueError, "moduli has 1 items and ids has 0"),
        (lambda: audit.check([-15]), ValueError, "negative"),
        (lambda: audit.check([15], ids="a"), TypeError, "ids is str"),
        (lambda: audit.check([15], ids=b"a"), TypeError, "ids is bytes"),
        (lambda: audit.Corpus("/nonexistent").check([15], ids=["a"]), ValueError, "there is no corpus"),
        (lambda: audit.Corpus("/nonexistent").check([15]), TypeError, "ids"),
        (lambda: audit.Corpus("/nonexistent").add([15, 35], ids=["a", None]), ValueError, "ids: item 1 is null"),
    ],
)
def test_bad_arguments(call: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()  # type: ignore[operator]


P = modmill.next_prime([2**61, 2**64, 2**65, 2**66, 2**67, 2**68])


def test_audits() -> None:
    moduli = [P[0] * P[1], P[0] * P[2], P[3] * P[4], P[3] * P[4], P[5] ** 2, P[5] * 21, P[1], None, 1]
    names = pa.array([f"key {item}" for item in range(8)] + [None])
    findings, reasons = audit.check(moduli, ids=names, errors="column")
    assert reasons.to_pylist() == [None] * 7 + ["moduli is null", "the modulus is 1"]
    table = pa.table(findings)
    assert table.column_names == ["kind", "ids", "modulus", "factors", "partners", "more_partners"]
    rows = table.to_pylist()
    assert rows == findings.to_pylist()
    told = [(row["kind"], row["ids"], row["partners"]) for row in rows]
    assert told == [
        ("all_primes_shared", ["key 0"], ["key 1", "key 6"]),
        ("shared_prime", ["key 1"], ["key 0"]),
        ("duplicate", ["key 2", "key 3"], []),
        ("power", ["key 4"], []),
        ("all_primes_shared", ["key 4"], ["key 5"]),
        ("small_factor", ["key 5"], []),
        ("all_primes_shared", ["key 5"], ["key 4"]),
        ("prime", ["key 6"], []),
        ("all_primes_shared", ["key 6"], ["key 0"]),
    ]
    for row in rows:
        if row["kind"] != "duplicate":
            factors = [int.from_bytes(factor) for factor in row["factors"]]
            assert math.prod(factors) == int.from_bytes(row["modulus"])
    with pytest.raises(modmill.ItemError, match="item 7: moduli is null") as caught:
        audit.check(moduli, ids=names, memory=1)
    assert caught.value.answers.to_pylist() == rows


def test_one_long_modulus_fails_alone() -> None:
    """A number of a million bits among short ones, which would make every one as long: 25 GB."""
    moduli = [P[0] * P[1], 2**1_000_000 + 1, P[0] * P[2], *[P[3] ** 2] * 200_000]
    octets = pa.array([n.to_bytes(n.bit_length() // 8 + 1) for n in moduli], pa.binary())
    for column in (moduli, octets):
        for options in ({}, {"max_bits": 10**7}):
            findings, reasons = audit.check(column, ids=["key"] * len(moduli), errors="column", **options)
            assert [row["kind"] for row in findings.to_pylist()] == ["shared_prime", "shared_prime", "power"]
            (failed,) = [(item, reason) for item, reason in enumerate(reasons.to_pylist()) if reason]
            assert failed[0] == 1 and failed[1].endswith("bits, more than max_bits")


def test_corpora(tmp_path: Path) -> None:
    corpus = audit.Corpus(tmp_path / "corpus")
    assert len(corpus.add([P[0] * P[1], P[2] * P[3]], ids=["old", "healthy"])) == 0
    new = pa.array([(P[0] * P[4]).to_bytes(17), (P[2] * P[3]).to_bytes(17)], pa.binary())
    for call in (corpus.check, corpus.add):
        findings = call(new, ids=["new", "again"]).to_pylist()
        told = {(row["kind"], *row["ids"]): row["partners"] for row in findings}
        assert told == {
            ("shared_prime", "new"): ["old"],
            ("shared_prime", "old"): ["new"],
            ("duplicate", "again", "healthy"): [],
        }
    assert len(corpus) == 3
    (tmp_path / "corpus" / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        len(corpus)
