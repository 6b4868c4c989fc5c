use super::*;
use crate::domain::{Domain, Workspace};
use crate::isa::detect_ifma;
use crate::pow::pow;
use crate::test_support::{Random, big};
use modmill_core::radix;
use num_bigint::BigUint;

fn rows(numbers: &[BigUint; LANES], digits: usize) -> Rows {
    let mut rows = Rows::zeros(digits * LANES);
    for (lane, number) in numbers.iter().enumerate() {
        radix::split(&number.to_u64_digits(), WIDTH, LANES, &mut rows[lane..]);
    }
    rows
}

fn number(digits: &[u64], lane: usize) -> BigUint {
    let own = digits[lane..].iter().step_by(LANES).rev();
    own.fold(BigUint::ZERO, |sum, &digit| (sum << WIDTH) + (digit & MASK))
}

/// Numbers below `2^bits`: zero, one, the largest, a single bit, runs of ones, and random ones.
fn numbers(bits: usize, random: &mut Random) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let all = (&one << bits) - &one;
    let mut numbers = vec![BigUint::ZERO, one.clone(), all.clone(), &one << (bits - 1)];
    numbers.push(&all ^ ((&one << (bits / 2)) - &one));
    numbers.extend((0..4).map(|_| big(&random.bits(bits))));
    numbers
}

#[test]
fn products_and_squares_are_right_and_in_range() {
    let Some(token) = detect_ifma() else { return };
    let mut random = Random::new(31);
    for digits in 1..=DIGITS * MOST {
        let bits = digits * WIDTH as usize;
        let r = BigUint::from(1u8) << bits;
        let odd = |number: &BigUint| (number | BigUint::from(1u8)).max(BigUint::from(3u8));
        let moduli: Vec<BigUint> = numbers(bits - Pair::ROOM, &mut random).iter().map(odd).collect();
        let mut scratch = Rows::zeros(Pair::scratch_words(digits));
        for pair in 0..moduli.len() {
            let moduli = [&moduli[pair], &moduli[(pair + 3) % moduli.len()]].map(Clone::clone);
            let kernel = Pair::new(token, &rows(&moduli, digits));
            let (xs, ys) = (numbers(bits - 1, &mut random), numbers(bits - 1, &mut random));
            for place in 0..xs.len() {
                let x = [&xs[place], &xs[(place + 5) % xs.len()]].map(Clone::clone);
                let y = [&ys[(place + pair) % ys.len()], &ys[place]].map(Clone::clone);
                let (mut product, mut square) = (rows(&x, digits), rows(&x, digits));
                kernel.multiply(&mut product, &rows(&y, digits), &mut scratch);
                kernel.square(&mut square, 1, &mut scratch);
                for lane in 0..LANES {
                    for (found, y) in [(&product, &y[lane]), (&square, &x[lane])] {
                        let (found, modulus, exact) = (number(found, lane), &moduli[lane], &x[lane] * y);
                        assert_eq!((&found * &r) % modulus, &exact % modulus, "{digits} digits, lane {lane}");
                        assert!(found <= &exact / &r + modulus, "{digits} digits, lane {lane}");
                    }
                }
            }
        }
    }
}

/// Carries that run through many digits are rare in products, so that they are made here.
#[test]
fn carries_run_through_all_digits() {
    if detect_ifma().is_none() {
        return;
    }
    fn check<const N: usize>(words: &[u64]) {
        let mut out = vec![0; words.len()];
        // SAFETY: the instruction set was detected, and there are N vectors of words.
        unsafe { store(&mut out, &carried::<N>(&load::<N>(words))) };
        for lane in 0..LANES {
            let own = words[lane..].iter().step_by(LANES).rev();
            let sum = own.fold(BigUint::ZERO, |sum, &word| (sum << WIDTH) + word);
            let modulus = BigUint::from(1u8) << (words.len() / LANES * WIDTH as usize);
            assert_eq!(number(&out, lane), sum % modulus, "{words:x?}, lane {lane}");
        }
    }
    let mut random = Random::new(32);
    for _ in 0..20_000 {
        // Mostly digits of ones, among them some that carry and some that stop a carry.
        let word = |random: &mut Random| match random.below(24) {
            0 => MASK + 1 + (random.word() & 0xffff),
            1 => random.word() >> 4,
            2 => MASK - 1,
            3 => MASK << 8 | 0xff,
            _ => MASK,
        };
        let words: Vec<u64> = (0..12 * WORDS).map(|_| word(&mut random)).collect();
        check::<1>(&words[..WORDS]);
        check::<5>(&words[..5 * WORDS]);
        check::<8>(&words[..8 * WORDS]);
        check::<12>(&words);
    }
}

#[test]
fn powers_with_every_window() {
    let Some(token) = detect_ifma() else { return };
    const EXPONENT: usize = 70;
    let mut random = Random::new(33);
    for (bits, window) in [(64, 1), (200, 2), (521, 3), (1024, 4), (1024, 5), (1536, 5), (2048, 6), (2400, 7)]
    {
        let count = usize::div_ceil(bits, 64);
        let limbs = |number: &BigUint, count: usize| {
            let mut limbs = number.to_u64_digits();
            limbs.resize(count, 0);
            limbs
        };
        let moduli: Vec<_> =
            numbers(bits, &mut random).iter().map(|number| number | BigUint::from(3u8)).collect();
        let (bases, exponents) = (numbers(bits, &mut random), numbers(EXPONENT, &mut random));
        for place in 0..bases.len() {
            let two = |numbers: &[BigUint], count| {
                [place, (place + 4) % numbers.len()].map(|place| limbs(&numbers[place], count))
            };
            let (n, a, e) = (two(&moduli, count), two(&bases, count), two(&exponents, EXPONENT.div_ceil(64)));
            let [n_rows, a_rows, e_rows] =
                [&n, &a, &e].map(|numbers| numbers.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let domain = Domain::<Pair>::new(token, bits, &n_rows);
            let mut work = Workspace::new::<Pair>(bits);
            let mut x = Rows::zeros(work.x.len());
            domain.enter(&a_rows, bits, &mut x, &mut work);
            pow(&domain, &mut x, &e_rows, EXPONENT, window, &mut work);
            domain.leave(&mut x, &mut work);
            let mut out = vec![0; count * LANES];
            domain.store(&mut x, &mut out, count, &mut work);
            for lane in 0..LANES {
                let at = (place + 4 * lane) % bases.len();
                let power = bases[at].modpow(&exponents[at], &moduli[at]);
                assert_eq!(
                    out[lane * count..][..count],
                    limbs(&power, count),
                    "{bits} bits, window {window}"
                );
            }
        }
    }
}
