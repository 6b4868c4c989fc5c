//! The radix-16 unit (section 5.3.1): sixteen sums of sixteen rotated words.

use crate::field::{ORDER_OF_TWO, RotatedSum};

/// Words that a unit takes and gives in a cycle.
pub const RADIX: usize = 16;

/// The direction of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From samples to their transform.
    Forward,
    /// From a transform to N times the samples.
    Inverse,
}

/// The transform of 16 points, canonical: `X_k = sum x_j 4096^(j k)` (equation 5.2), or with `4096^(-j k)` in
/// the inverse direction. `4096 = 2^12` is the root of order 16. Inputs are any words of 64 bits.
///
/// ```
/// use modmill_hardware::{Direction, radix16};
/// let mut x = [0; 16];
/// x[1] = 1;
/// assert_eq!(radix16(&x, Direction::Forward)[2], 1 << 24);
/// ```
#[must_use]
pub fn radix16(x: &[u64; RADIX], direction: Direction) -> [u64; RADIX] {
    std::array::from_fn(|output| {
        // The inverse is the forward transform with its outputs k and -k exchanged.
        let k = match direction {
            Direction::Forward => output,
            Direction::Inverse => (RADIX - output) % RADIX,
        };
        let mut sum = RotatedSum::default();
        for (j, &word) in x.iter().enumerate() {
            sum.add(word, (12 * j * k) as u32 % ORDER_OF_TWO);
        }
        sum.reduce()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::goldilocks::{add, inverse, mul, pow, reduce};

    fn direct(x: &[u64; RADIX], root: u64) -> [u64; RADIX] {
        std::array::from_fn(|k| {
            let terms = x.iter().enumerate().map(|(j, &word)| mul(reduce(word), pow(root, (j * k) as u64)));
            terms.fold(0, add)
        })
    }

    #[test]
    fn both_directions_are_transforms() {
        let hard = [[u64::MAX; 16], [0; 16], std::array::from_fn(|j| if j % 2 == 0 { u64::MAX } else { 0 })];
        let random = (1..30u64)
            .map(|seed| std::array::from_fn(|j| (seed * 16 + j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        for x in hard.into_iter().chain(random) {
            assert_eq!(radix16(&x, Direction::Forward), direct(&x, 4096));
            assert_eq!(radix16(&x, Direction::Inverse), direct(&x, inverse(4096)));
        }
    }
}
