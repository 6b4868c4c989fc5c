//! Memory of long numbers. The threads that share a number clear it, and the next number takes the memory.
//!
//! A thread that clears limbs which another core has written waits for every line of them. So each thread clears the share that it
//! computed, and memory that is zero already is not cleared again.

use crate::fft::shares;
use std::sync::{Mutex, PoisonError};
use zeroize::{Zeroize, Zeroizing};

type Limbs = Zeroizing<Vec<u64>>;

/// Memory that is kept, all zero.
static FREE: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

/// The least number of limbs whose memory is kept.
const LONG: usize = 1 << 13;

/// The largest number of limbs that are kept: 32 MiB.
const KEPT: usize = 1 << 22;

/// `len` zero limbs with capacity for one more. Growing into new memory would leave a copy of the old limbs
/// behind.
pub(super) fn zeros_with_room(len: usize) -> Limbs {
    let kept = if len < LONG { None } else { take(len + 1) };
    let mut limbs = Zeroizing::new(kept.unwrap_or_else(|| vec![0; len + 1]));
    limbs.truncate(len);
    limbs
}

/// Kept memory of exactly `len` limbs.
fn take(len: usize) -> Option<Vec<u64>> {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let index = free.iter().position(|limbs| limbs.len() == len)?;
    Some(free.swap_remove(index))
}

/// Clears a number that is not needed any more and keeps its memory.
pub(super) fn recycle(mut limbs: Limbs) {
    let len = limbs.len();
    if len < LONG {
        return;
    }
    // Limbs above the end may be left of a longer number.
    let all = limbs.capacity();
    limbs.resize(all, 0);
    shares::each(&mut limbs[..len], shares::share(len, 1), |_, limbs| limbs.zeroize());
    let cleared = std::mem::take(&mut *limbs);
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept: usize = free.iter().map(Vec::len).sum();
    if kept + all <= KEPT {
        free.push(cleared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_as_zeros() {
        for len in [1, LONG - 1, LONG, LONG + 5] {
            for used in [len - 1, len, len + 1] {
                let mut limbs = zeros_with_room(len);
                assert!(limbs.len() == len && limbs.iter().all(|&limb| limb == 0));
                limbs.resize(len + 1, 0);
                limbs.fill(7);
                limbs.truncate(used);
                recycle(limbs);
            }
            let mut limbs = zeros_with_room(len);
            let memory = limbs.as_ptr();
            limbs.push(0);
            assert!(limbs.as_ptr() == memory && limbs.iter().all(|&limb| limb == 0));
        }
    }
}
