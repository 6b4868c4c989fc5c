//! Reading a table by secret indices: all of it streams past, and each entry is moved into registers
//! under a mask of the lanes that want it. Instructions and addresses are the same for all indices.
#![allow(unsafe_code)]

use super::tile::{V, for_rows, load, store, zero};
use super::{LANES, MAX_AT_ONCE, block};
use std::arch::x86_64::*;

/// Digits of an entry gathered in registers at a time.
const DIGITS: usize = 20;

/// Likewise when [`MAX_AT_ONCE`] entries are.
pub(super) const FAR_DIGITS: usize = DIGITS / MAX_AT_ONCE;

/// Numbers of `n` digits, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Table {
    pub(super) rows: *const V,
    pub(super) entries: usize,
    pub(super) n: usize,
}

impl Table {
    /// An entry for each lane, from a table that is near.
    ///
    /// # Safety
    /// The table is as it says, `out` has `n` digits, `indices` a word a lane.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) unsafe fn read(self, indices: &[u64], out: *mut V) {
        let mut digit = 0;
        while digit < self.n {
            let left = self.n - digit;
            let digits = if left >= DIGITS { DIGITS } else { block(left) };
            // SAFETY: the caller's promise.
            unsafe {
                match digits {
                    DIGITS => self.read_digits::<DIGITS, 1>(digit, indices, out),
                    _ => for_rows!(digits, W => self.read_digits::<W, 1>(digit, indices, out)),
                }
            }
            digit += digits;
        }
    }

    /// [`MAX_AT_ONCE`] entries for each lane: what is loaded from afar is used as often.
    ///
    /// # Safety
    /// As for `read`, with so many numbers in `out` and words a lane in `indices`, and at least
    /// [`FAR_DIGITS`] digits.
    #[target_feature(enable = "avx512f,avx512ifma")]
    pub(super) unsafe fn read_far(self, indices: &[u64], out: *mut V) {
        for digit in (0..self.n).step_by(FAR_DIGITS) {
            // The last digits may be read twice.
            let digit = digit.min(self.n - FAR_DIGITS);
            // SAFETY: the caller's promise.
            unsafe { self.read_digits::<FAR_DIGITS, MAX_AT_ONCE>(digit, indices, out) };
        }
    }

    /// Digits `digit..digit + W` of `M` entries for each lane.
    ///
    /// # Safety
    /// As for `read`, with `M` numbers in `out` and words a lane in `indices`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn read_digits<const W: usize, const M: usize>(self, digit: usize, indices: &[u64], out: *mut V) {
        // SAFETY: the caller's promise; `indices` may be unaligned.
        unsafe {
            let mut wanted = [zero(); M];
            for (k, wanted) in wanted.iter_mut().enumerate() {
                *wanted = _mm512_loadu_si512(indices.as_ptr().add(k * LANES).cast());
            }
            // What no later entry replaces is entry 0.
            let mut found = [[zero(); M]; W];
            for (j, found) in found.iter_mut().enumerate() {
                *found = [load(self.rows.add(digit + j)); M];
            }
            for entry in 1..self.entries {
                let index = _mm512_set1_epi64(entry as i64);
                let row = self.rows.add(entry * self.n + digit);
                let lanes: [__mmask8; M] = wanted.map(|wanted| _mm512_cmpeq_epi64_mask(wanted, index));
                for (j, found) in found.iter_mut().enumerate() {
                    let value = load(row.add(j));
                    for (found, &lanes) in found.iter_mut().zip(&lanes) {
                        *found = _mm512_mask_mov_epi64(*found, lanes, value);
                    }
                }
            }
            for (j, found) in found.iter().enumerate() {
                for (k, &found) in found.iter().enumerate() {
                    store(out.add(k * self.n + digit + j), found);
                }
            }
        }
    }
}
