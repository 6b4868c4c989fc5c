//! Passes over long numbers that threads share.

use crate::fft::shares;
use zeroize::Zeroizing;

/// The limbs of a number from `first` on, `len` of them or as many as there are.
pub(super) fn part_of(number: &[u64], first: usize, len: usize) -> &[u64] {
    let limbs = number.get(first..).unwrap_or_default();
    &limbs[..len.min(limbs.len())]
}

/// `x <- x 2^bits` for fewer than 64 bits. The bits above x are dropped.
pub(super) fn shift_up(x: &mut [u64], bits: usize) {
    if bits == 0 {
        return;
    }
    let share = shares::share(x.len(), 1);
    // The limb below each share, before it is shifted.
    let below: Zeroizing<Vec<u64>> = Zeroizing::new(
        (0..x.len()).step_by(share).map(|first| first.checked_sub(1).map_or(0, |i| x[i])).collect(),
    );
    shares::each(x, share, |first, limbs| {
        let mut below = below[first / share];
        for limb in limbs {
            (*limb, below) = (*limb << bits | below >> (64 - bits), *limb);
        }
    });
}

/// `x <- floor(x / 2^bits)` for fewer than 64 bits.
pub(super) fn shift_down(x: &mut [u64], bits: usize) {
    if bits == 0 {
        return;
    }
    let share = shares::share(x.len(), 1);
    // The limb above each share, before it is shifted.
    let above: Zeroizing<Vec<u64>> = Zeroizing::new(
        (share..)
            .step_by(share)
            .take(x.len().div_ceil(share))
            .map(|end| x.get(end).copied().unwrap_or(0))
            .collect(),
    );
    shares::each(x, share, |first, limbs| {
        let mut above = above[first / share];
        for limb in limbs.iter_mut().rev() {
            (*limb, above) = (*limb >> bits | above << (64 - bits), *limb);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Random, big};

    #[test]
    fn shifts_multiply_and_divide_on_any_number_of_threads() {
        let mut random = Random::new(109);
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for len in [1, 2, 1000, (1 << 15) + 3] {
                for bits in [0, 1, 31, 63] {
                    let x = random.limbs(len);
                    let (mut up, mut down) = (x.clone(), x.clone());
                    pool.install(|| {
                        shift_up(&mut up, bits);
                        shift_down(&mut down, bits);
                    });
                    let mut whole = up.clone();
                    whole.push(x[len - 1] >> 1 >> (63 - bits));
                    assert!(big(&whole) == big(&x) << bits, "{len} {bits}");
                    assert!(big(&down) == big(&x) >> bits, "{len} {bits}");
                }
            }
        }
    }
}
