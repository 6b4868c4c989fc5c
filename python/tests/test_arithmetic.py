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


@examples
@given(st.lists(st.tuples(signed, signed, moduli), min_size=1, max_size=20))
def test_quotients_multiples_and_cofactors(items: list[tuple[int, int, int]]) -> None:
    a, b, mod = map(list, zip(*items))
    assert modmill.f_divmod(a, mod) == ([x // m for x, m in zip(a, mod)], [x % m for x, m in zip(a, mod)])
    assert modmill.divexact([x * m for x, m in zip(a, mod)], mod) == a
    assert modmill.lcm(a, b) == [math.lcm(x, y) for x, y in zip(a, b)]
    divisors, first, second = modmill.gcdext(a, b)
    assert divisors == [math.gcd(x, y) for x, y in zip(a, b)]
    assert divisors == [s * x + t * y for s, x, t, y in zip(first, a, second, b)]


@examples
@given(st.lists(numbers, min_size=1, max_size=20))
def test_square_roots(items: list[int]) -> None:
    roots = [math.isqrt(n) for n in items]
    assert modmill.isqrt(items) == roots
    assert modmill.isqrt_rem(items) == (roots, [n - r * r for n, r in zip(items, roots)])
    assert modmill.is_square(items) == [r * r == n for n, r in zip(items, roots)]
    assert modmill.is_square([r * r for r in roots]) == [True] * len(roots)


def test_jacobi() -> None:
    def symbol(a: int, p: int) -> int:
        power = pow(a, (p - 1) // 2, p)
        return -1 if power == p - 1 else power

    primes = [3, 5, 7, 11, 13, 2**61 - 1, 2**127 - 1]
    pairs = [(a, p) for p in primes for a in [*range(-8, 9), 2**80 + 1]]
    a, p = map(list, zip(*pairs))
    assert modmill.jacobi(a, p) == [symbol(x, y) for x, y in pairs]
    assert modmill.jacobi(a, [3 * y * 5 for y in p]) == [symbol(x, y) * symbol(x, 3) * symbol(x, 5) for x, y in pairs]
    assert modmill.jacobi(2, 7) == 1
    assert modmill.jacobi([2, 3], [4, 7], errors="column") == (
        [None, -1],
        ["there is no symbol modulo an even number", None],
    )


def test_next_primes_and_their_tests() -> None:
    def trial(n: int) -> bool:
        return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))

    small = list(range(-3, 300))
    assert modmill.next_prime(small) == [next(m for m in range(max(n + 1, 2), 400) if trial(m)) for n in small]
    assert modmill.next_prime([2**64, 2**128, 2**256]) == [2**64 + 13, 2**128 + 51, 2**256 + 297]
    assert modmill.is_strong_bpsw_prp(small) == [trial(n) for n in small]
    strong = [5459, 5777, 10877, 2047, 3215031751, 2**127 - 1]
    assert modmill.is_strong_selfridge_prp(strong) == [True, True, True, False, False, True]
    assert modmill.is_strong_bpsw_prp(strong) == [False] * 5 + [True]


def test_several_answers_have_the_same_failed_items() -> None:
    with pytest.raises(modmill.ItemError, match="item 1: the modulus is zero") as caught:
        modmill.f_divmod([7, 8, 9], [2, 0, 4])
    assert caught.value.answers == ([3, None, 2], [1, None, 1])
    with pytest.raises(modmill.ItemError, match="item 0: the number has no exact quotient"):
        modmill.divexact([7, 8], 4)
    with pytest.raises(ValueError, match="n: item 1 is negative"):
        modmill.isqrt([4, -4])
    roots, rests = modmill.isqrt_rem([b"\x10", b"\x11"])
    assert (roots, rests) == ([b"\x04", b"\x04"], [b"\x00", b"\x01"])


@examples
@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=8), moduli)
def test_fixed_bases_and_products(items: list[tuple[int, int, int, int]], mod: int) -> None:
    a, b, c, d = map(list, zip(*items))
    prepared = modmill.fixed_base(a[0], mod, 1025)
    for secret in (True, False):
        assert prepared.pow(b, secret=secret) == [pow(a[0], e, mod) for e in b]
        powers = [pow(w, x, mod) * pow(y, z, mod) % mod for w, x, y, z in items]
        assert modmill.multi_pow([a, c], [b, d], mod, secret=secret) == powers
    assert prepared.pow(b[0]) == pow(a[0], b[0], mod)
    assert modmill.product_mod([-n for n in a], mod) == math.prod(-n for n in a) % mod
    with pytest.raises(ValueError, match="bases: item 0 is negative"):
        modmill.multi_pow([[-1]], [[1]], 7)


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
