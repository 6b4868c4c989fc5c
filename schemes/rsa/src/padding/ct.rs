//! Decisions on secret bytes without branches.

use modmill::number::mask;

/// A boolean as a word of all ones or all zeros, which the compiler cannot recognise as a boolean.
#[derive(Clone, Copy)]
pub(crate) struct Flag(u64);

impl Flag {
    pub(crate) const TRUE: Self = Self(u64::MAX);

    pub(crate) fn equal(a: usize, b: usize) -> Self {
        Self(mask::equal(a as u64, b as u64))
    }

    pub(crate) fn zero(byte: u8) -> Self {
        Self::equal(byte.into(), 0)
    }

    /// `a < b`, for numbers below 2^63.
    pub(crate) fn less(a: usize, b: usize) -> Self {
        Self(mask::from_bit((a as u64).wrapping_sub(b as u64) >> 63))
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn not(self) -> Self {
        Self(!self.0)
    }

    /// `if_true` or `if_false`.
    pub(crate) fn choose(self, if_true: usize, if_false: usize) -> usize {
        (if_true as u64 & self.0 | if_false as u64 & !self.0) as usize
    }

    /// `if_true` or `if_false`.
    pub(crate) fn choose_byte(self, if_true: u8, if_false: u8) -> u8 {
        if_true & self.0 as u8 | if_false & !self.0 as u8
    }

    /// Returns the boolean for use in a branch. It must not be secret any more.
    pub(crate) fn declassify(self) -> bool {
        self.0 != 0
    }
}

/// Whether two byte strings are equal. Their lengths are public.
pub(crate) fn equal(a: &[u8], b: &[u8]) -> Flag {
    let difference = a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b));
    Flag::zero(difference).and(Flag::equal(a.len(), b.len()))
}

/// Whether one big-endian number is less than another of the same length.
pub(crate) fn less(a: &[u8], b: &[u8]) -> Flag {
    let borrow =
        a.iter().zip(b).rev().fold(0u16, |borrow, (&a, &b)| {
            (u16::from(a).wrapping_sub(b.into()).wrapping_sub(borrow) >> 8) & 1
        });
    Flag::equal(borrow.into(), 1)
}

/// Moves `bytes[start..]` to the front, for `start <= bytes.len()`. Addresses do not depend on `start`: the
/// bytes are shifted by every power of two, under a mask that says whether the shift is kept.
pub(crate) fn shift_to_front(bytes: &mut [u8], start: usize) {
    let mut step = 1;
    while step <= bytes.len() {
        let shifts = Flag::equal(start & step, step);
        for index in 0..bytes.len() {
            let from = bytes.get(index + step).copied().unwrap_or(0);
            bytes[index] = shifts.choose_byte(from, bytes[index]);
        }
        step *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_what_comparisons_say() {
        for a in [0, 1, 2, 254, 255, 256, 1 << 40] {
            for b in [0, 1, 2, 254, 255, 256, 1 << 40] {
                assert_eq!(Flag::equal(a, b).declassify(), a == b);
                assert_eq!(Flag::less(a, b).declassify(), a < b);
                assert_eq!(Flag::less(a, b).not().choose(a, b), a.max(b));
            }
        }
        assert!(equal(b"ab", b"ab").declassify() && !equal(b"ab", b"aB").declassify());
        assert!(!equal(b"ab", b"abc").declassify());
        let numbers = [0u16, 1, 2, 0xff, 0x100, 0x101, 0x1ff, 0x200, 0xff00, 0xffff];
        for (a, b) in numbers.into_iter().flat_map(|a| numbers.map(|b| (a, b))) {
            assert_eq!(less(&a.to_be_bytes(), &b.to_be_bytes()).declassify(), a < b);
        }
    }

    #[test]
    fn every_start_comes_to_the_front() {
        for len in 0..40u8 {
            for start in 0..=len {
                let mut bytes: Vec<u8> = (1..=len).collect();
                shift_to_front(&mut bytes, start.into());
                let expected: Vec<u8> = (start + 1..=len).chain(vec![0; start.into()]).collect();
                assert_eq!(bytes, expected);
            }
        }
    }
}
