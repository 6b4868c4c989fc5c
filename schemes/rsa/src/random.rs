//! Random bytes and numbers from the operating system.

use crate::Error;
use crate::padding::ct::{self, Flag};
pub(crate) use modmill_primes::random::number;

/// Overwrites `bytes` with random bytes.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    modmill_primes::random::fill(bytes).map_err(Error::from)
}

/// Overwrites `block` with a big-endian number from 1 to `limit - 1`, each with the same probability. The
/// limit has as many bytes as the block, and its first byte is not zero.
///
/// Numbers are drawn until one is in the range. The time tells how many were not, and nothing about the one
/// that is.
pub(crate) fn below(limit: &[u8], block: &mut [u8]) -> Result<(), Error> {
    let unused = limit.first().map_or(0, |first| first.leading_zeros());
    loop {
        fill(block)?;
        if let Some(first) = block.first_mut() {
            *first &= 0xff >> unused;
        }
        let zero = Flag::zero(block.iter().fold(0, |bits, byte| bits | byte));
        if zero.not().and(ct::less(block, limit)).declassify() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_limit_take_every_value() {
        for limit in [[0, 2], [0, 3], [0, 129], [1, 0], [1, 1], [1, 44]] {
            let limit = if limit[0] == 0 { &limit[1..] } else { &limit[..] };
            let value = |bytes: &[u8]| bytes.iter().fold(0, |value, &byte| 256 * value + usize::from(byte));
            let mut seen = vec![0; value(limit)];
            for _ in 0..100 * seen.len() {
                let mut block = vec![0; limit.len()];
                below(limit, &mut block).unwrap();
                seen[value(&block)] += 1;
            }
            assert_eq!(seen[0], 0);
            // A hundred are expected of each, give or take ten.
            assert!(seen[1..].iter().all(|&count| count > 20), "{limit:?}: {seen:?}");
        }
    }
}
