"""Every operation against Python's own integers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import modmill

BITS = [1, 2, 63, 64, 65, 127, 128, 521, 1024, 1025]

numbers = st.sampled_from(BITS).flatmap(
    lambda bits: st.one_of(
        st.integers(0, 2**bits - 1),
        st.sampled_from([0, 1, 2**bits - 1, 2 ** (bits - 1)]),
    )
)
signed = st.one_of(numbers, numbers.map(lambda n: -n))
moduli = numbers.filter(lambda n: n > 0)
examples = settings(max_examples=60, deadline=None)


def python_pow(base: int, exp: int, mod: int) -> int | None:
    try:
        return pow(base, exp, mod)
    except ValueError:
        return None


@examples
@given(st.lists(st.tuples(signed, numbers, moduli), max_size=20), st.booleans())
def test_powmod(items: list[tuple[int, int, int]], secret: bool) -> None:
    base, exp, mod = map(list, zip(*items)) if items else ([], [], [])
    assert modmill.powmod(base, exp, mod, secret=secret) == [pow(b, e, m) for b, e, m in items]


@examples
@given(st.lists(st.tuples(signed, signed, moduli), min_size=1, max_size=10))
def test_powmod_with_negative_exponents(items: list[tuple[int, int, int]]) -> None:
    base, exp, mod = map(list, zip(*items))
    answers, reasons = modmill.powmod(base, exp, mod, errors="column")
    expected = [python_pow(b, e, m) for b, e, m in items]
    assert answers == expected
    assert [reason is None for reason in reasons] == [answer is not None for answer in expected]


@examples
@given(signed, st.lists(numbers, max_size=8), moduli)
def test_scalars_serve_all_items(base: int, exps: list[int], mod: int) -> None:
    assert modmill.powmod(base, exps, mod) == [pow(base, e, mod) for e in exps]
    assert modmill.powmod_exp_list(base, exps, mod) == [pow(base, e, mod) for e in exps]
    if exps:
        assert modmill.powmod(exps, exps[0], mod) == [pow(e, exps[0], mod) for e in exps]
        assert modmill.powmod_base_list(exps, exps[0], mod) == [pow(e, exps[0], mod) for e in exps]
        assert modmill.powmod(base, exps[0], [m + 1 for m in exps]) == [pow(base, exps[0], m + 1) for m in exps]
        assert modmill.powmod(base, exps[0], mod) == pow(base, exps[0], mod)


@examples
@given(st.lists(st.tuples(signed, signed, moduli), min_size=1, max_size=20))
def test_mulmod_mul_and_gcd(items: list[tuple[int, int, int]]) -> None:
    a, b, mod = map(list, zip(*items))
    assert modmill.mulmod(a, b, mod) == [x * y % m for x, y, m in items]
    assert modmill.mul(a, b) == [x * y for x, y in zip(a, b)]
    assert modmill.gcd(a, b) == [math.gcd(x, y) for x, y in zip(a, b)]


@examples
@given(st.lists(st.tuples(signed, moduli), min_size=1, max_size=20))
def test_invert(items: list[tuple[int, int]]) -> None:
    a, mod = map(list, zip(*items))
    expected = [python_pow(x, -1, m) for x, m in items]
    answers, reasons = modmill.invert(a, mod, errors="column")
    assert answers == expected
    if None in expected:
        with pytest.raises(modmill.ItemError) as caught:
            modmill.invert(a, mod)
        assert [index for index, _ in caught.value.failed] == [i for i, e in enumerate(expected) if e is None]
        assert caught.value.answers == expected
    else:
        assert modmill.invert(a, mod) == expected


def test_huge_products() -> None:
    a, b = 3**400_000, 7**300_000
    assert modmill.mul(a, b) == a * b
    assert modmill.mul(-a, b) == -a * b
    assert modmill.mulmod(a, b, 2**607 - 1) == a * b % (2**607 - 1)


def test_is_prime() -> None:
    def trial(n: int) -> bool:
        return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))

    small = list(range(-3, 500))
    assert modmill.is_prime(small) == [trial(n) for n in small]
    strong = [3215031751, 3474749660383, 341550071728321, 2**61 - 1]
    assert modmill.is_prime(strong) == [False, False, False, True]
    wide = [2**521 - 1, 2**521 - 3, (2**127 - 1) * (2**89 - 1), 2**607 - 1, 0, 1, 2, 9, 2047, -7]
    assert modmill.is_prime(wide) == [True, False, False, True, False, False, True, False, False, False]
    assert modmill.is_prime(2**127 - 1) is True
    assert modmill.is_prime([]) == []


def test_zero_moduli_fail_alone() -> None:
    with pytest.raises(modmill.ItemError, match=r"item 1: the modulus is zero \(and 1 more item\)") as caught:
        modmill.powmod([2, 3, 4, 5], 2, [7, 0, 9, 0])
    assert caught.value.failed == [(1, "the modulus is zero"), (3, "the modulus is zero")]
    assert caught.value.answers == [4, None, 7, None]
    with pytest.raises(ValueError, match="mod is zero"):
        modmill.powmod(2, 3, 0)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([1, 2], [1], 7), ValueError, "base has 2 items and exp has 1"),
        (([1], [1], -7), ValueError, "mod is negative"),
        ((["1"], 1, 7), TypeError, "base: item 0 is of type str"),
        (("12", 1, 7), TypeError, "base must be an int"),
        (([1, b"2"], 1, 7), TypeError, "base: item 1 is of type bytes; an int was expected"),
        (([b"2", 1], 1, 7), TypeError, "base: item 1 is of type int; bytes was expected"),
        ((1.5, 1, 7), TypeError, "base must be an int"),
        ((None, 1, 7), TypeError, "base must be an int"),
    ],
)
def test_bad_arguments(arguments: tuple[object, ...], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        modmill.powmod(*arguments)


def test_bad_options() -> None:
    with pytest.raises(ValueError, match="out is 'list'|out is \"list\""):
        modmill.powmod([1], 1, 7, out="list")
    with pytest.raises(TypeError, match="out must be"):
        modmill.powmod([1], 1, 7, out=3)
    with pytest.raises(ValueError, match="errors is"):
        modmill.powmod([1], 1, 7, errors="ignore")
    with pytest.raises(ValueError, match="width"):
        modmill.powmod([1], 1, 7, width=0)
    with pytest.raises(ValueError, match="base: item 1 does not fit in 8 bits"):
        modmill.powmod([1, 256], 1, 7, width=8)
