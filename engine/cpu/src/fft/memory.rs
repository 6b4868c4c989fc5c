//! Memory of transforms: zeroized at the end of an operation, reused by the next product, in large pages if
//! it is long.
//!
//! A product of numbers of n limbs needs several blocks, each many times longer than n. The system hands out
//! new memory page by page, which costs up to a third of a product. So freed blocks are cached, up to a
//! limit.
#![allow(unsafe_code)]

use super::point::Point;
use crate::out_of_memory;
use crate::threads::Share;
use modmill_core::Error;
use modmill_core::sync::Mutex;
use rayon::prelude::*;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{Ordering, compiler_fence};

/// The cached blocks.
static FREE: Mutex<Vec<Free>> = Mutex::new(Vec::new());

/// The largest number of cached points: 128 MiB, enough for two threads with factors of 64 Mbit.
const KEPT: usize = 1 << 21;

/// The number of points of a block that are one task.
const PIECE: usize = 1 << 9;

/// The number of points that one thread clears at a time.
const SHARE: usize = 1 << 12;

/// The number of bytes from which large pages are requested.
const LARGE: usize = 4 << 20;

/// Memory that waits for its next use.
struct Free {
    block: Vec<Point>,
    /// The field that it served.
    field: usize,
    /// The number of points at its beginning that are not cleared yet.
    used: usize,
}

thread_local! {
    /// The number of operations of this thread that clear their memory at their end.
    static OPERATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Runs an operation that takes many products. Blocks are not cleared after each of its products, but once at
/// its end, even if it panics.
pub(crate) fn clear_at_end<T>(operation: impl FnOnce() -> T) -> T {
    struct Running;
    impl Drop for Running {
        fn drop(&mut self) {
            OPERATIONS.set(OPERATIONS.get() - 1);
            if !is_cleared_later() {
                clear_free();
            }
        }
    }
    OPERATIONS.set(OPERATIONS.get() + 1);
    let _running = Running;
    operation()
}

/// Whether an operation of this thread will clear memory that is given back now.
pub(crate) fn is_cleared_later() -> bool {
    OPERATIONS.get() > 0
}

/// Clears the memory that waits for its next use.
fn clear_free() {
    let mut free = FREE.lock();
    let (cleared, mut used): (Vec<_>, Vec<_>) = free.drain(..).partition(|free| free.used == 0);
    *free = cleared;
    drop(free);
    for Free { block, used, .. } in &mut used {
        clear_shared(&mut block[..*used]);
        *used = 0;
    }
    FREE.lock().append(&mut used);
}

/// A block of points, which may hold secrets.
pub(crate) struct Points {
    block: Vec<Point>,
    len: usize,
    field: usize,
    /// The number of points at the beginning of the block that have to be cleared.
    used: usize,
}

impl Points {
    /// A block of `len` points for a field, of any value. A block that served the same field before is
    /// preferred: the thread that computes in this field has it in its cache.
    pub(crate) fn new(len: usize, field: usize) -> Self {
        let mut free = FREE.lock();
        let fits = |free: &Free| free.block.len() >= len && free.block.len() <= 2 * len;
        let found = free
            .iter()
            .position(|free| free.field == field && fits(free))
            .or_else(|| free.iter().position(fits));
        let (block, used) = match found {
            Some(index) => {
                let free = free.swap_remove(index);
                (free.block, free.used)
            }
            None => {
                drop(free);
                (allocate(len), 0)
            }
        };
        Self { block, len, field, used: used.max(len) }
    }

    /// Clears blocks that are not needed any more, unless that is done later. `each` runs a function on every
    /// piece of them.
    pub(crate) fn put_back(mut blocks: Vec<Self>, each: impl FnOnce(Vec<&mut [Point]>, fn(&mut [Point]))) {
        if is_cleared_later() || blocks.is_empty() {
            return;
        }
        each(
            blocks.iter_mut().flat_map(|block| block.block[..block.used].chunks_mut(PIECE)).collect(),
            clear,
        );
        blocks.iter_mut().for_each(|block| block.used = 0);
    }
}

fn allocate(len: usize) -> Vec<Point> {
    let mut block: Vec<Point> = Vec::new();
    if block.try_reserve_exact(len).is_err() {
        out_of_memory::end(Error::no_memory(len.saturating_mul(size_of::<Point>())));
    }
    let memory = &mut block.spare_capacity_mut()[..len];
    prefer_large_pages(memory);
    // The first access to a page is most of the cost, so threads share it.
    shared(memory, |points| points.fill(MaybeUninit::new(Point::ZERO)));
    // SAFETY: `len` points have just been written.
    unsafe { block.set_len(len) };
    block
}

/// Requests large pages for long memory. Page by page, new memory is slow to allocate and to free.
pub(crate) fn prefer_large_pages<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    if size_of_val(memory) >= LARGE {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 1 << 21;
        let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
        let skipped = start.align_offset(PAGE).min(bytes);
        // SAFETY: the range covers whole pages of a slice that is borrowed mutably. The advice changes no
        // contents and may be ignored.
        let _ = unsafe {
            madvise(start.add(skipped).cast(), (bytes - skipped) / PAGE * PAGE, Advice::LinuxHugepage)
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// Clears points. The compiler cannot remove these writes.
fn clear(points: &mut [Point]) {
    for point in points {
        // SAFETY: a reference is valid for writing.
        unsafe { std::ptr::write_volatile(point, Point::ZERO) };
    }
    compiler_fence(Ordering::SeqCst);
}

/// Clears points on all threads of the current pool.
fn clear_shared(points: &mut [Point]) {
    shared(points, clear);
}

/// Applies `work` to all points. The threads of the current pool share the work if there is a pool.
fn shared<T: Send>(points: &mut [T], work: impl Fn(&mut [T]) + Send + Sync) {
    if points.len() <= SHARE || rayon::current_thread_index().is_none() {
        work(points);
    } else {
        points.par_chunks_mut(SHARE).each(work);
    }
}

impl Deref for Points {
    type Target = [Point];

    fn deref(&self) -> &[Point] {
        &self.block[..self.len]
    }
}

impl DerefMut for Points {
    fn deref_mut(&mut self) -> &mut [Point] {
        &mut self.block[..self.len]
    }
}

impl Drop for Points {
    fn drop(&mut self) {
        let mut free = FREE.lock();
        let kept: usize = free.iter().map(|free| free.block.len()).sum();
        let is_kept = kept + self.block.len() <= KEPT;
        if !(is_kept && is_cleared_later()) && self.used > 0 {
            drop(free);
            clear_shared(&mut self.block[..self.used]);
            self.used = 0;
            free = FREE.lock();
        }
        if is_kept {
            let block = std::mem::take(&mut self.block);
            free.push(Free { block, field: self.field, used: self.used });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether all memory of a field that waits for its next use is zero.
    fn is_zero(field: usize) -> bool {
        let free = FREE.lock();
        let mut blocks = free.iter().filter(|free| free.field == field).map(|free| &free.block);
        blocks.all(|block| block.iter().all(|point| *point == Point::ZERO))
    }

    // Every test has fields of its own: tests share the memory, and run side by side.

    #[test]
    fn blocks_are_cleared_when_they_are_put_back() {
        for len in [1, 100, LARGE / size_of::<Point>() + 7] {
            Points::new(len, 70).fill(Point([7; 8]));
            assert!(is_zero(70));
            let mut block = Points::new(len, 71);
            block.fill(Point([7; 8]));
            Points::put_back(vec![block], |pieces, clear| pieces.into_iter().for_each(clear));
            assert!(is_zero(71));
        }
    }

    #[test]
    fn blocks_are_cleared_at_the_end_of_an_operation() {
        let len = 3 * PIECE + 5;
        clear_at_end(|| {
            clear_at_end(|| Points::new(len, 72).fill(Point([7; 8])));
            // A shorter block in the same memory does not hide what is behind it.
            drop(Points::new(len - 1, 72));
        });
        assert!(is_zero(72));
        // A block may outlive the operation that made it, as the transform of a modulus does.
        let mut kept = clear_at_end(|| Points::new(len, 72));
        kept.fill(Point([7; 8]));
        drop(kept);
        assert!(is_zero(72));
        let failing = || {
            clear_at_end(|| {
                Points::new(len, 72).fill(Point([7; 8]));
                panic!("an operation fails");
            })
        };
        assert!(std::panic::catch_unwind(failing).is_err());
        assert!(is_zero(72));
    }
}
