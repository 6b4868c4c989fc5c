//! Exponent windows: fixed windows for secret exponents, sliding windows for public ones.

use crate::limbs::{bit, bit_length, bits_at};

/// The longest window, in bits: a table of 256 powers is more than any exponent here pays for.
pub const MAX_WINDOW: u32 = 8;

/// The digits of `window` bits of an exponent of declared width `bits`, most significant first. The
/// number of digits depends on `bits` and `window` alone.
pub fn fixed_digits(exponent: &[u64], bits: usize, window: u32) -> impl Iterator<Item = u64> + '_ {
    let count = bits.div_ceil(window as usize);
    (0..count).rev().map(move |index| bits_at(exponent, index * window as usize, window))
}

/// One step of a sliding-window exponentiation: some squarings, then at most one product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlidingStep {
    /// The number of squarings, which come first.
    pub squarings: u32,
    /// The exponent of the odd power of the base to multiply by. Only the last step may have none.
    pub odd_power: Option<u64>,
}

/// The steps of a sliding window of at most `window` bits over a public exponent, most significant
/// first. The steps lead from 1 to the power. The exponent 0 has no steps.
#[must_use]
pub fn sliding_steps_vartime(exponent: &[u64], window: u32) -> Vec<SlidingStep> {
    let mut steps = Vec::new();
    let mut squarings = 0;
    let mut top = bit_length(exponent);
    while top > 0 {
        if bit(exponent, top - 1) == 0 {
            squarings += 1;
            top -= 1;
            continue;
        }
        let mut width = (window as usize).min(top);
        let mut digit = bits_at(exponent, top - width, width as u32);
        while digit & 1 == 0 {
            digit >>= 1;
            width -= 1;
        }
        squarings += width as u32;
        steps.push(SlidingStep { squarings, odd_power: Some(digit) });
        squarings = 0;
        top -= width;
    }
    if squarings > 0 {
        steps.push(SlidingStep { squarings, odd_power: None });
    }
    steps
}

/// The sliding window of at most `longest` bits with the fewest products for a public exponent, and its
/// steps. A window of w bits costs 2^(w-1) products for the table of odd powers (none for w = 1, where the
/// table is the base itself) and one for each step.
#[must_use]
pub fn best_sliding_steps_vartime(exponent: &[u64], longest: u32) -> (u32, Vec<SlidingStep>) {
    let table = |window: u32| if window == 1 { 0 } else { 1usize << (window - 1) };
    (1..=longest.clamp(1, MAX_WINDOW))
        .map(|window| (window, sliding_steps_vartime(exponent, window)))
        .min_by_key(|(window, steps)| table(*window) + steps.len())
        .unwrap_or_default()
}

/// The sliding window with the fewest products for a public exponent of `bits` bits whose digits are not
/// known: 2^(w-1) for the table of odd powers, and one for every w + 1 bits.
#[must_use]
pub fn best_sliding_window(bits: usize) -> u32 {
    let table = |window: u32| if window == 1 { 0 } else { 1usize << (window - 1) };
    (1..=MAX_WINDOW).min_by_key(|&window| table(window) + bits / (window as usize + 1)).unwrap_or(1)
}

/// The fixed window with the lowest cost for an exponent of `bits` bits, in units of one product. A
/// masked table read passes over all 2^w entries, and each entry costs `scan`.
#[must_use]
pub fn best_fixed_window(bits: usize, scan: f64) -> u32 {
    let cost = |w: u32| {
        let entries = f64::from(1u32 << w);
        entries + bits.div_ceil(w as usize) as f64 * (1.0 + scan * entries)
    };
    (1..=MAX_WINDOW).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exponents() -> Vec<Vec<u64>> {
        vec![
            vec![],
            vec![0],
            vec![1],
            vec![2],
            vec![65537],
            vec![u64::MAX, u64::MAX],
            vec![0, 1 << 63],
            vec![0x9e37_79b9_7f4a_7c15, 0xf39c_c060_5ced_c834, 0],
        ]
    }

    #[test]
    fn fixed_windows_spell_the_exponent() {
        for exponent in exponents() {
            for window in 1..=8 {
                let bits = 64 * exponent.len();
                let digits: Vec<u64> = fixed_digits(&exponent, bits, window).collect();
                assert_eq!(digits.len(), bits.div_ceil(window as usize));
                let mut spelled = vec![0u64; exponent.len() + 1];
                for digit in digits {
                    let before = spelled.clone();
                    crate::limbs::shift_left(&before, window as usize, &mut spelled);
                    crate::limbs::add_assign(&mut spelled, &[digit]);
                }
                assert_eq!(spelled[..exponent.len()], exponent, "window {window}");
            }
        }
    }

    #[test]
    fn sliding_windows_spell_the_exponent() {
        for exponent in exponents() {
            for window in 1..=6 {
                let mut spelled = vec![0u64; exponent.len() + 1];
                for step in sliding_steps_vartime(&exponent, window) {
                    let before = spelled.clone();
                    crate::limbs::shift_left(&before, step.squarings as usize, &mut spelled);
                    let power = step.odd_power.unwrap_or(0);
                    assert!(power < 1 << window && (step.odd_power.is_none() || power % 2 == 1));
                    crate::limbs::add_assign(&mut spelled, &[power]);
                }
                assert_eq!(spelled[..exponent.len()], exponent, "window {window}");
            }
        }
    }

    #[test]
    fn short_public_exponents_take_the_short_road() {
        // 65537 = 2^16 + 1: sixteen squarings and one product, no table beyond the base itself.
        let (window, steps) = best_sliding_steps_vartime(&[65537], MAX_WINDOW);
        assert_eq!((window, steps.len()), (1, 2));
        assert_eq!(steps[1], SlidingStep { squarings: 16, odd_power: Some(1) });
        assert_eq!([17, 256, 1024, 65_536].map(best_sliding_window), [2, 5, 6, 8]);
        // At full length, reading the table without showing the index costs a bit of window.
        assert_eq!(best_fixed_window(1024, 0.0), 6);
        assert_eq!(best_fixed_window(1024, 0.01), 5);
    }
}
