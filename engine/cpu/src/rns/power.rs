//! Powers in a residue number system.

use super::domain::{RnsDomain, RnsFactor, RnsValue};
use modmill_core::mask;
use modmill_core::window::{SlidingStep, best_sliding_steps_vartime, fixed_digits};

impl RnsDomain {
    /// `x <- x^e` in Montgomery form for a secret exponent of declared width `bits`. Every fixed window ends
    /// in a product, and every table read passes over the whole table.
    pub(crate) fn pow(&self, x: &mut RnsValue, exponent: &[u64], bits: usize, window: u32) {
        let mut table = vec![self.factor(self.one())];
        let mut power = x.clone();
        let base = self.factor(x);
        for _ in 1..1 << window {
            table.push(self.factor(&power));
            self.multiply(&mut power, &base);
        }
        x.clone_from(self.one());
        for (place, digit) in fixed_digits(exponent, bits, window).enumerate() {
            // The first digit multiplies the number one, which is not squared.
            for _ in 0..if place == 0 { 0 } else { window } {
                self.square(x);
            }
            self.multiply(x, &select(&table, digit));
        }
    }

    /// `x <- x^e` in Montgomery form for a public exponent, by sliding windows of at most `longest_window`
    /// bits.
    pub(crate) fn pow_vartime(&self, x: &mut RnsValue, exponent: &[u64], longest_window: u32) {
        let (window, steps) = best_sliding_steps_vartime(exponent, longest_window);
        // A table of odd powers: entry i holds `x^(2i + 1)`.
        let mut table = vec![self.factor(x)];
        if window > 1 {
            let mut power = x.clone();
            self.square(x);
            let square = self.factor(x);
            for _ in 1..1 << (window - 1) {
                self.multiply(&mut power, &square);
                table.push(self.factor(&power));
            }
        }
        x.clone_from(self.one());
        for (place, SlidingStep { squarings, odd_power }) in steps.into_iter().enumerate() {
            for _ in 0..if place == 0 { 0 } else { squarings } {
                self.square(x);
            }
            if let Some(power) = odd_power {
                self.multiply(x, &table[power as usize / 2]);
            }
        }
    }
}

/// The table entry at a secret index, read under masks. The index is below the number of entries.
fn select(table: &[RnsFactor], index: u64) -> RnsFactor {
    let mut chosen = RnsFactor { a: vec![0; table[0].a.len()].into(), b: vec![0; table[0].b.len()].into() };
    for (entry, place) in table.iter().zip(0..) {
        let mask = mask::equal(place, index) as u32;
        for (to, from) in [(&mut chosen.a, &entry.a), (&mut chosen.b, &entry.b)] {
            for (to, &from) in to.iter_mut().zip(from.iter()) {
                *to |= from & mask;
            }
        }
    }
    chosen
}
