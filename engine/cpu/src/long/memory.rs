//! Memory of long numbers. The threads that share a number clear it, and the next number takes the memory.
//!
//! A thread that clears limbs which another core has written waits for every line of them. So each thread
//! clears the share that it computed, and memory that is zero already is not cleared again.

use crate::fft::memory::{self, is_cleared_later};
use crate::fft::shares;
use crate::out_of_memory;
use modmill_core::sync::Mutex;
use modmill_core::try_vector;
use zeroize::{Zeroize, Zeroizing};

type Limbs = Zeroizing<Vec<u64>>;

/// Memory that is kept, and whether it is zero.
static FREE: Mutex<Vec<(Vec<u64>, bool)>> = Mutex::new(Vec::new());

/// The least number of limbs whose memory is kept.
const LONG: usize = 1 << 13;

/// The largest number of limbs that are kept: 32 MiB.
const KEPT: usize = 1 << 22;

/// Runs an operation that takes many products. Memory is not cleared after each of them, but once at its end,
/// even if it panics.
pub(super) fn clear_at_end<T>(operation: impl FnOnce() -> T) -> T {
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            if !is_cleared_later() {
                clear_free();
            }
        }
    }
    let _running = Running;
    memory::clear_at_end(operation)
}

/// Clears the memory that is kept.
fn clear_free() {
    let mut free = FREE.lock();
    let (zeros, mut used): (Vec<_>, Vec<_>) = free.drain(..).partition(|(_, is_zero)| *is_zero);
    *free = zeros;
    drop(free);
    for (limbs, is_zero) in &mut used {
        clear(limbs);
        *is_zero = true;
    }
    FREE.lock().append(&mut used);
}

/// Clears limbs. Each thread clears its share.
fn clear(limbs: &mut [u64]) {
    let share = shares::share(limbs.len(), 1);
    shares::each(limbs, share, |_, limbs| limbs.zeroize());
}

/// `len` zero limbs with capacity for one more. Growing into new memory would leave a copy of the old limbs
/// behind.
pub(super) fn zeros_with_room(len: usize) -> Limbs {
    let (mut limbs, is_zero) = take(len);
    if !is_zero {
        clear(&mut limbs);
    }
    limbs
}

/// `len` limbs of any value with capacity for one more.
pub(super) fn limbs_with_room(len: usize) -> Limbs {
    take(len).0
}

/// `len` limbs with capacity for one more, and whether they are zero.
fn take(len: usize) -> (Limbs, bool) {
    let new = || (try_vector(len + 1).unwrap_or_else(|error| out_of_memory::end(error)), true);
    let (mut limbs, is_zero) = if len < LONG { None } else { kept(len + 1) }.unwrap_or_else(new);
    limbs.truncate(len);
    (Zeroizing::new(limbs), is_zero)
}

/// Kept memory of exactly `len` limbs, and whether it is zero.
fn kept(len: usize) -> Option<(Vec<u64>, bool)> {
    let mut free = FREE.lock();
    let index = free.iter().position(|(limbs, _)| limbs.len() == len)?;
    Some(free.swap_remove(index))
}

/// Keeps the memory of a number that is not needed any more. It is cleared now or at the end of the
/// operation.
pub(super) fn recycle(mut limbs: Limbs) {
    let len = limbs.len();
    if len < LONG {
        return;
    }
    // Limbs above the end may be left of a longer number.
    let all = limbs.capacity();
    limbs.resize(all, 0);
    let is_zero = !is_cleared_later();
    if is_zero {
        clear(&mut limbs[..len]);
    }
    let mut free = FREE.lock();
    let kept: usize = free.iter().map(|(limbs, _)| limbs.len()).sum();
    if kept + all <= KEPT {
        free.push((std::mem::take(&mut *limbs), is_zero));
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
    #[test]
    fn memory_is_cleared_at_the_end_of_an_operation() {
        // No other test has numbers of this length.
        let len = LONG + 77;
        let is_zero = || {
            let free = FREE.lock();
            let mut kept = free.iter().filter(|(limbs, _)| limbs.len() == len + 1);
            kept.all(|(limbs, is_zero)| *is_zero && limbs.iter().all(|&limb| limb == 0))
        };
        clear_at_end(|| {
            let mut limbs = limbs_with_room(len);
            limbs.fill(7);
            recycle(limbs);
            assert!(!is_zero());
            assert!(zeros_with_room(len).iter().all(|&limb| limb == 0));
            let mut limbs = limbs_with_room(len);
            limbs.fill(7);
            recycle(limbs);
        });
        assert!(is_zero());
    }
}
