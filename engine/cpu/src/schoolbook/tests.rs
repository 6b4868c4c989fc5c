//! Kernels against an independent implementation.

use super::GROUPS;
use super::divide::{Inputs, Numbers, Rows, common_limbs};
use super::kernels::Kernels;
use super::root::Roots;
use crate::divsteps::Space;
use crate::test_support::{Random, big};
use num_bigint::BigUint;

fn limbs_of(number: &BigUint, len: usize) -> Vec<u64> {
    let mut limbs = number.to_u64_digits();
    limbs.resize(len, 0);
    limbs
}

/// Numbers of at most `bits` bits: ends of the range, single bits, runs of ones, digits of 30 bits that are
/// all ones or all half, random ones.
fn hard(bits: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let one = BigUint::from(1u8);
    let mut numbers = vec![BigUint::ZERO, (&one << bits) - &one, &one << (bits - 1)];
    for place in [1, 29, 30, 31, 59, 60, 64, bits / 2, bits - 1] {
        let power = &one << place.min(bits - 1);
        numbers.extend([&power - &one, &power + &one, (&one << bits) - &power]);
    }
    for pattern in [0x1fff_ffffu64, 0x2000_0000, 0x2000_0001, 0x3fff_ffff, 1] {
        let digits = (0..bits.div_ceil(30)).fold(BigUint::ZERO, |sum, _| (sum << 30) + pattern);
        numbers.push(digits % (&one << bits));
    }
    numbers.extend((0..8).map(|_| big(&random.limbs(bits.div_ceil(64))) % (&one << bits)));
    let runs = (0..4).map(|_| {
        let limbs: Vec<u64> = (0..bits.div_ceil(64)).map(|_| (random.word() & 1).wrapping_neg()).collect();
        big(&limbs) % (&one << bits)
    });
    numbers.extend(runs);
    numbers
        .iter()
        .filter(|number| number.bits() <= bits as u64)
        .map(|number| limbs_of(number, bits.div_ceil(64)))
        .collect()
}

/// A number, a factor of it if there is one, and a divisor.
type Item = (Vec<u64>, Option<Vec<u64>>, Vec<u64>);

/// Checks the quotients and remainders of some items.
fn check_division<V: Kernels>(items: &[Item], [a_bits, b_bits]: [usize; 2], space: &mut Space<V>) {
    let a: Vec<&[u64]> = items.iter().map(|item| &item.0[..]).collect();
    let b: Vec<&[u64]> = items.iter().filter_map(|item| item.1.as_deref()).collect();
    let divisors: Vec<&[u64]> = items.iter().map(|item| &item.2[..]).collect();
    let limbs = common_limbs(&divisors).expect("one length");
    let inputs = Inputs {
        a: Numbers { limbs: &a, bits: a_bits },
        b: (!b.is_empty()).then_some(Numbers { limbs: &b, bits: b_bits }),
        divisors: &divisors,
        limbs,
    };
    let quotient_limbs = if b.is_empty() { a_bits.div_ceil(64) } else { 0 };
    let mut quotients = vec![0; quotient_limbs * items.len()];
    let mut remainders = vec![0; (limbs + 1) * items.len()];
    V::divide(
        inputs,
        space,
        [
            Rows { limbs: &mut quotients, stride: quotient_limbs },
            Rows { limbs: &mut remainders, stride: limbs + 1 },
        ],
    );
    for (index, (a, b, n)) in items.iter().enumerate() {
        let value = big(a) * b.as_ref().map_or(BigUint::from(1u8), |b| big(b));
        let row = &remainders[index * (limbs + 1)..][..limbs + 1];
        assert_eq!(row, limbs_of(&(&value % big(n)), limbs + 1), "{a:x?} {b:x?} mod {n:x?}");
        if b.is_none() {
            let row = &quotients[index * quotient_limbs..][..quotient_limbs];
            assert_eq!(row, limbs_of(&(value / big(n)), quotient_limbs), "{a:x?} by {n:x?}");
        }
    }
}

fn check_divisions<V: Kernels>(token: V::Token) {
    let mut random = Random::new(41);
    let mut space = Space::<V>::new(token);
    for limbs in [1, 2, 3, 4, 5, 8, 15, 16, 17, 32, 64] {
        let mut divisors = hard(64 * limbs, &mut random);
        divisors.extend((1..=64).step_by(9).map(|bits| random.bits(64 * limbs - 64 + bits)));
        divisors.retain(|n| n[limbs - 1] > 0);
        for a_bits in
            [1, 64 * limbs - 40, 64 * limbs, 64 * limbs + 1, 128 * limbs - 7, 128 * limbs, 192 * limbs + 50]
        {
            let mut items = Vec::new();
            let numbers = hard(a_bits, &mut random);
            for (index, n) in divisors.iter().enumerate() {
                let n = big(n);
                let len = a_bits.div_ceil(64);
                let quotient = (BigUint::from(1u8) << a_bits) / &n;
                let mut some: Vec<BigUint> =
                    numbers.iter().skip(index % 3).step_by(3).map(|a| big(a)).collect();
                // Multiples of the divisor and their neighbours.
                for multiple in [&quotient * &n, &quotient / 2u8 * &n, n.clone()] {
                    some.extend([&multiple + 1u8, &multiple + &n - 1u8, multiple.clone()]);
                    if multiple > BigUint::ZERO {
                        some.push(multiple - 1u8);
                    }
                }
                some.retain(|a| a.bits() <= a_bits as u64);
                items.extend(some.iter().map(|a| (limbs_of(a, len), None, limbs_of(&n, limbs))));
            }
            for count in [GROUPS * V::LANES, 1, V::LANES - 1, V::LANES + 1] {
                for items in items.chunks(count).take(if count > 8 { usize::MAX } else { 5 }) {
                    check_division(items, [a_bits, 0], &mut space);
                }
            }
        }
        for [a_bits, b_bits] in
            [[64 * limbs; 2], [64 * limbs + 3, 17], [64 * limbs - 5, 64 * limbs + 90], [30 * limbs - 1, 90]]
        {
            let (a, b) = (hard(a_bits, &mut random), hard(b_bits, &mut random));
            let mut items = Vec::new();
            for (index, a) in a.iter().enumerate() {
                for (step, b) in b.iter().enumerate().skip(index % 4).step_by(4) {
                    let n = &divisors[(index + step) % divisors.len()];
                    items.push((a.clone(), Some(b.clone()), n.clone()));
                }
            }
            for items in items.chunks(GROUPS * V::LANES) {
                check_division(items, [a_bits, b_bits], &mut space);
            }
        }
    }
}

fn check_roots<V: Kernels>(token: V::Token) {
    let mut random = Random::new(43);
    let mut space = Space::<V>::new(token);
    for bits in (1..12).map(|limbs| 64 * limbs).chain([1, 2, 63, 65, 100, 191, 1000, 1024, 2048, 2050, 4096])
    {
        let one = BigUint::from(1u8);
        let mut numbers: Vec<BigUint> = hard(bits, &mut random).iter().map(|a| big(a)).collect();
        let roots = hard(bits.div_ceil(2), &mut random);
        for root in roots.iter().map(|root| big(root)) {
            let square = &root * &root;
            numbers.extend([&square + &one, &square + &root + &root, square.clone()]);
            if square > BigUint::ZERO {
                numbers.push(square - &one);
            }
        }
        numbers.extend((1..=bits).step_by(11).map(|bits| big(&random.bits(bits))));
        numbers.retain(|a| a.bits() <= bits as u64);
        let numbers: Vec<Vec<u64>> = numbers.iter().map(|a| limbs_of(a, bits.div_ceil(64))).collect();
        let stride = bits.div_ceil(64).div_ceil(2);
        for count in [GROUPS * V::LANES, 1, V::LANES - 1, V::LANES + 1] {
            for items in numbers.chunks(count).take(if count > 8 { usize::MAX } else { 5 }) {
                let limbs: Vec<&[u64]> = items.iter().map(|a| &a[..]).collect();
                let mut rows = vec![7; stride * items.len()];
                let numbers = Numbers { limbs: &limbs, bits };
                V::roots(Roots { numbers, rows: Rows { limbs: &mut rows, stride } }, &mut space);
                for (a, row) in items.iter().zip(rows.chunks(stride)) {
                    assert_eq!(row, limbs_of(&big(a).sqrt(), stride), "{bits} bits: {a:x?}");
                }
            }
        }
    }
}

#[test]
fn quotients_and_remainders_in_lanes() {
    if let Some(token) = crate::isa::detect_avx512() {
        check_divisions::<crate::avx512::words::Eight>(token);
    }
    if let Some(token) = crate::isa::detect_avx2() {
        check_divisions::<crate::avx2::words::Four>(token);
    }
}

#[test]
fn square_roots_in_lanes() {
    if let Some(token) = crate::isa::detect_avx512() {
        check_roots::<crate::avx512::words::Eight>(token);
    }
    if let Some(token) = crate::isa::detect_avx2() {
        check_roots::<crate::avx2::words::Four>(token);
    }
}
