//! Powers modulo a long number, for all reduction methods.

use super::memory::{limbs_with_room, recycle};
use crate::fft::shares;
use modmill_core::limbs::{bit_length, bits_at};
use modmill_core::mask;
use modmill_core::window::{best_fixed_window, best_sliding_steps_vartime};
use zeroize::Zeroizing;

type Limbs = Zeroizing<Vec<u64>>;

/// Multiplication modulo N on a representation of the numbers below N.
pub(super) trait Reduction {
    /// The representation of 1.
    fn unit(&self) -> Limbs;
    /// The representation of a number below N.
    fn enter(&self, x: &[u64]) -> Limbs;
    /// The number below N that x represents.
    fn leave(&self, x: &[u64]) -> Limbs;
    fn multiply(&self, x: &[u64], y: &[u64]) -> Limbs;
    fn square(&self, x: &[u64]) -> Limbs;
}

/// The estimated cost of reading one table entry under a mask, in products modulo N.
const SCAN: f64 = 0.002;

/// Bits of the window for an exponent of `bits` bits.
#[must_use]
pub(crate) fn window(bits: usize) -> u32 {
    best_fixed_window(bits, SCAN)
}

/// `base^exponent` for a base below N and an exponent of `bits` bits. Fixed windows of `window` bits and
/// masked table reads make the time depend on `bits`, `window` and lengths only.
pub(super) fn pow(
    reduction: &impl Reduction,
    base: &[u64],
    exponent: &[u64],
    bits: usize,
    window: u32,
) -> Limbs {
    let window = window as usize;
    let base = reduction.enter(base);
    let mut table = vec![reduction.unit(), base.clone()];
    while table.len() < 1 << window {
        let power = match table.len() % 2 {
            0 => reduction.square(&table[table.len() / 2]),
            _ => reduction.multiply(&table[table.len() - 1], &base),
        };
        table.push(power);
    }
    let digits = bits.div_ceil(window);
    let digit = |place: usize| bits_at(exponent, place * window, window.min(bits - place * window) as u32);
    // The power starts with the table entry of the first digit, without squarings.
    let mut power = if digits == 0 { reduction.unit() } else { select(&table, digit(digits - 1)) };
    for place in (0..digits.saturating_sub(1)).rev() {
        for _ in 0..window {
            advance(&mut power, |power| reduction.square(power));
        }
        let entry = select(&table, digit(place));
        advance(&mut power, |power| reduction.multiply(power, &entry));
        recycle(entry);
    }
    leave(reduction, power, table)
}

/// `base^exponent` for a base below N and a public exponent, by sliding windows of at most `longest_window`
/// bits, without products by 1.
pub(super) fn pow_vartime(
    reduction: &impl Reduction,
    base: &[u64],
    exponent: &[u64],
    longest_window: u32,
) -> Limbs {
    if bit_length(exponent) == 0 {
        return reduction.leave(&reduction.unit());
    }
    let (window, steps) = best_sliding_steps_vartime(exponent, longest_window);
    // A table of odd powers.
    let mut table = vec![reduction.enter(base)];
    if window > 1 {
        let square = reduction.square(&table[0]);
        while table.len() < 1 << (window - 1) {
            table.push(reduction.multiply(&table[table.len() - 1], &square));
        }
    }
    let entry = |odd_power: u64| &table[odd_power as usize / 2];
    let mut power = entry(steps[0].odd_power.expect("an exponent begins with a bit")).clone();
    for step in &steps[1..] {
        for _ in 0..step.squarings {
            advance(&mut power, |power| reduction.square(power));
        }
        if let Some(odd_power) = step.odd_power {
            advance(&mut power, |power| reduction.multiply(power, entry(odd_power)));
        }
    }
    leave(reduction, power, table)
}

/// The number that `power` represents. The memory of it and of the table is kept.
fn leave(reduction: &impl Reduction, power: Limbs, table: Vec<Limbs>) -> Limbs {
    let number = reduction.leave(&power);
    table.into_iter().chain([power]).for_each(recycle);
    number
}

/// Replaces a number by the next one and keeps its memory.
fn advance(number: &mut Limbs, step: impl FnOnce(&[u64]) -> Limbs) {
    let next = step(number);
    recycle(std::mem::replace(number, next));
}

/// The table entry at a secret index, read under masks.
fn select(table: &[Limbs], index: u64) -> Limbs {
    let mut chosen = limbs_with_room(table[0].len());
    let share = shares::share(chosen.len(), 1);
    shares::each(&mut chosen, share, |first, chosen| {
        chosen.fill(0);
        for (number, entry) in table.iter().enumerate() {
            let mask = mask::equal(number as u64, index);
            for (to, from) in chosen.iter_mut().zip(&entry[first..]) {
                *to |= from & mask;
            }
        }
    });
    chosen
}
