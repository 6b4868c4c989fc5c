//! A transform of 32 points on a radix-16 unit (section 7.3).

use super::SIDE;
use crate::field::times_power_of_two;
use crate::radix16::{Direction, RADIX, radix16};
use modmill_core::goldilocks::{add, sub};

/// Cycles of the radix-16 unit for one transform: the even and the odd inputs, and the two halves of the
/// outputs.
pub(super) const CYCLES: u64 = 4;

/// `X_k = sum x_j 64^(j k)`, canonical, or with `64^(-j k)` in the inverse direction. `64 = 2^6` is the root
/// of order 32.
pub(super) fn radix32(x: &[u64; SIDE], direction: Direction) -> [u64; SIDE] {
    let half = |odd: usize| radix16(&std::array::from_fn(|j| x[2 * j + odd]), Direction::Forward);
    let (even, odd) = (half(0), half(1));
    std::array::from_fn(|output| {
        let k = match direction {
            Direction::Forward => output,
            Direction::Inverse => (SIDE - output) % SIDE,
        };
        let turned = times_power_of_two(odd[k % RADIX], 6 * (k % RADIX) as u32);
        match k < RADIX {
            true => add(even[k], turned),
            // 64^16 = 2^96 = -1.
            false => sub(even[k - RADIX], turned),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::goldilocks::{inverse, mul, pow, reduce};

    #[test]
    fn both_directions_are_transforms() {
        let random =
            |seed: u64| std::array::from_fn(|j| (seed * 32 + j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for x in (1..20).map(random).chain([[u64::MAX; 32]]) {
            for (direction, root) in [(Direction::Forward, 64), (Direction::Inverse, inverse(64))] {
                let expected: [u64; 32] = std::array::from_fn(|k| {
                    let terms =
                        x.iter().enumerate().map(|(j, &word)| mul(reduce(word), pow(root, (j * k) as u64)));
                    terms.fold(0, add)
                });
                assert_eq!(radix32(&x, direction), expected);
            }
        }
    }
}
