//! Inputs that break arithmetic: the ends of every range, long carries, and lengths next to every
//! boundary of every digit size in use.

use crate::rng::Rng;
use num_bigint::BigUint;

/// The digit sizes of the kernels, in bits: limbs, IFMA digits and 52-bit samples, 51-bit samples.
const WIDTHS: [usize; 3] = [64, 52, 51];

/// `2^bits`.
#[must_use]
pub fn power_of_two(bits: usize) -> BigUint {
    BigUint::from(1u8) << bits
}

/// `2^bits - 1`.
#[must_use]
pub fn ones(bits: usize) -> BigUint {
    power_of_two(bits) - 1u8
}

/// Lengths at, one off, and two off every multiple of every digit size, up to `limit` bits.
#[must_use]
pub fn boundary_lengths(limit: usize) -> Vec<usize> {
    let multiples =
        WIDTHS.iter().flat_map(|&width| (1..).map(move |i| i * width).take_while(|&m| m <= limit));
    let mut lengths: Vec<usize> = multiples.flat_map(|m| m - 2..=m + 2).filter(|&m| m <= limit).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// A number of at most `bits` bits that consists of long runs of ones and of zeros, as GMP's
/// `mpz_rrandomb` makes them. Carries and borrows travel far in it.
pub fn runs(bits: usize, rng: &mut Rng) -> BigUint {
    let mut number = BigUint::ZERO;
    let (mut at, mut one) = (0, rng.word() & 1 == 1);
    while at < bits {
        let length = (1 + rng.below(1 + bits / 3)).min(bits - at);
        if one {
            number |= ones(length) << at;
        }
        (at, one) = (at + length, !one);
    }
    number
}

/// A number of at most `bits` bits whose digits of `width` bits are the most error-prone ones: 0, 1, half
/// the base, one less than half, and all ones.
pub fn extreme_digits(bits: usize, width: usize, rng: &mut Rng) -> BigUint {
    let digits = [BigUint::ZERO, BigUint::from(1u8), power_of_two(width - 1), ones(width - 1), ones(width)];
    let mut number = BigUint::ZERO;
    for place in (0..bits).step_by(width) {
        number |= rng.pick(&digits) << place;
    }
    number & ones(bits)
}

/// Fixed hard numbers of at most `bits` bits: all ones, single bits, carry ripples, and digits
/// of exactly 2^51 and 2^52 at the boundaries of such digits.
#[must_use]
pub fn patterns(bits: usize) -> Vec<BigUint> {
    let mut numbers = vec![BigUint::ZERO, BigUint::from(1u8), BigUint::from(2u8), ones(bits)];
    for place in [bits / 3, bits / 2, bits.saturating_sub(2), bits.saturating_sub(1), 51, 52, 63, 64] {
        numbers.extend([power_of_two(place), ones(place), power_of_two(place) + 1u8]);
        numbers.push(ones(bits) ^ power_of_two(place.min(bits.saturating_sub(1))));
    }
    for width in WIDTHS {
        for digit in [BigUint::from(1u8), power_of_two(width - 1), ones(width - 1)] {
            let all = (0..bits).step_by(width).fold(BigUint::ZERO, |number, place| number | &digit << place);
            numbers.push(all);
        }
        // Digits of all ones and of zero in turn.
        let turns = (0..bits).step_by(2 * width).fold(BigUint::ZERO, |number, at| number | ones(width) << at);
        numbers.extend([&turns << width, turns]);
    }
    numbers.retain(|number| number.bits() <= bits as u64);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A hard or random number of at most `bits` bits.
pub fn number(bits: usize, rng: &mut Rng) -> BigUint {
    match rng.below(8) {
        0 => {
            let patterns = patterns(bits);
            rng.pick(&patterns).clone()
        }
        1 | 2 => runs(bits, rng),
        3 => {
            let width = *rng.pick(&WIDTHS);
            extreme_digits(bits, width, rng)
        }
        4 => {
            let shorter = rng.below(bits + 1);
            rng.number(shorter)
        }
        _ => rng.number(bits),
    }
}

/// Bases for a modulus: the ends of its range and its middle, then hard and random ones below it.
pub fn residues(modulus: &BigUint, count: usize, rng: &mut Rng) -> Vec<BigUint> {
    let half = modulus >> 1;
    let from_top = |distance: u8| if modulus.bits() > 1 { modulus - distance } else { BigUint::ZERO };
    let mut residues: Vec<BigUint> = vec![
        BigUint::ZERO,
        BigUint::from(1u8),
        BigUint::from(2u8),
        from_top(1),
        from_top(2),
        &half + 1u8,
        half,
    ];
    while residues.len() < count {
        residues.push(number(modulus.bits() as usize, rng));
    }
    residues.iter().map(|residue| residue % modulus).take(count).collect()
}

/// Odd moduli of exactly `bits` bits: the smallest and the largest, hard ones, and moduli congruent to 1 and
/// -1 modulo the base of every digit size, for which Montgomery's factor is an end of its range.
pub fn odd_moduli(bits: usize, count: usize, rng: &mut Rng) -> Vec<BigUint> {
    let top = power_of_two(bits - 1);
    let mut moduli = vec![
        ones(bits),
        &top + 1u8,
        ones(bits) ^ BigUint::from(2u8),
        &top + 3u8,
        (&top << 1) - 5u8.min((1 << bits.min(3)) - 1),
    ];
    while moduli.len() < count {
        moduli.push(number(bits, rng));
    }
    moduli.truncate(count);
    for modulus in &mut moduli {
        *modulus &= ones(bits);
        modulus.set_bit(bits as u64 - 1, true);
        modulus.set_bit(0, true);
    }
    moduli
}

/// Even moduli of exactly `bits` bits, `bits >= 2`: powers of two, twice an odd number, an odd
/// number times a large power of two, and hard ones.
pub fn even_moduli(bits: usize, count: usize, rng: &mut Rng) -> Vec<BigUint> {
    let top = power_of_two(bits - 1);
    let mut moduli = vec![
        top.clone(),
        ones(bits),
        &top | (&top >> 1) | (&top >> 2),
        (rng.number(bits) >> (bits / 2)) << (bits / 2),
        &top + 2u8,
    ];
    while moduli.len() < count {
        let zeros = rng.below(bits);
        moduli.push((number(bits, rng) >> zeros) << zeros);
    }
    moduli.truncate(count);
    for modulus in &mut moduli {
        *modulus &= ones(bits);
        modulus.set_bit(bits as u64 - 1, true);
        modulus.set_bit(0, false);
    }
    moduli
}

/// Exponents of at most `bits` bits whose windows are short, full of ones, or empty.
#[must_use]
pub fn exponents(bits: usize) -> Vec<BigUint> {
    let mut exponents: Vec<BigUint> =
        [0u32, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 65537]
            .map(BigUint::from)
            .to_vec();
    for length in [bits / 2, bits.saturating_sub(1), bits] {
        exponents.extend([power_of_two(length), ones(length), power_of_two(length) + 1u8]);
    }
    // Windows of all zeros between windows of one bit.
    for step in [4, 5, 6, 13] {
        exponents.push((0..bits).step_by(step).fold(BigUint::ZERO, |number, at| number | power_of_two(at)));
    }
    exponents.retain(|exponent| exponent.bits() <= bits as u64);
    exponents.sort_unstable();
    exponents.dedup();
    exponents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_have_the_length_and_parity_asked_for() {
        let mut rng = Rng::new(7);
        for bits in 1..150 {
            for modulus in odd_moduli(bits, 12, &mut rng) {
                assert_eq!((modulus.bits(), modulus.bit(0)), (bits as u64, true), "{modulus:x}");
            }
        }
        for bits in 2..150 {
            for modulus in even_moduli(bits, 12, &mut rng) {
                assert_eq!((modulus.bits(), modulus.bit(0)), (bits as u64, false), "{modulus:x}");
            }
        }
    }

    #[test]
    fn everything_stays_within_its_length() {
        let mut rng = Rng::new(8);
        for bits in 1..200 {
            assert!(patterns(bits).iter().all(|number| number.bits() <= bits as u64));
            assert!(exponents(bits).iter().all(|number| number.bits() <= bits as u64));
            for _ in 0..30 {
                assert!(number(bits, &mut rng).bits() <= bits as u64);
            }
            let modulus = rng.exact(bits);
            assert!(residues(&modulus, 12, &mut rng).iter().all(|residue| residue < &modulus));
        }
    }

    #[test]
    fn boundaries_of_all_digits_are_there() {
        let lengths = boundary_lengths(600);
        for length in [49, 50, 53, 62, 63, 64, 65, 66, 102, 104, 510, 512, 514, 520, 574, 578] {
            assert!(lengths.contains(&length), "{length}");
        }
    }
}
