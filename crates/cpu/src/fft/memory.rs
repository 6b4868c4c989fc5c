//! Memory of transforms: zeroized after use, reused by the next product, in large pages if it is long.
//!
//! A product of numbers of n limbs needs several blocks, each many times longer than n. The system hands out
//! new memory page by page, which costs up to a third of a product. So freed blocks are cached, up to a
//! limit.
#![allow(unsafe_code)]

use super::point::Point;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{Ordering, compiler_fence};
use std::sync::{Mutex, PoisonError};

/// The cached blocks, all zero, with the fields that they served.
static FREE: Mutex<Vec<(usize, Vec<Point>)>> = Mutex::new(Vec::new());

/// The largest number of cached points: 128 MiB, enough for two threads with factors of 64 Mbit.
const KEPT: usize = 1 << 21;

/// The number of points that one thread clears at a time.
const SHARE: usize = 1 << 12;

/// The number of bytes from which large pages are requested.
const LARGE: usize = 4 << 20;

/// A block of points, which may hold secrets.
pub(crate) struct Points {
    block: Vec<Point>,
    len: usize,
    field: usize,
}

impl Points {
    /// A block of `len` zero points for a field. A block that served the same field before is preferred: the thread
    /// that computes in this field has it in its cache.
    pub(crate) fn zeros(len: usize, field: usize) -> Self {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |block: &Vec<Point>| block.len() >= len && block.len() <= 2 * len;
        let found = free
            .iter()
            .position(|(last, block)| *last == field && fits(block))
            .or_else(|| free.iter().position(|(_, block)| fits(block)));
        let block = match found {
            Some(index) => free.swap_remove(index).1,
            None => {
                drop(free);
                allocate(len)
            }
        };
        Self { block, len, field }
    }
}

fn allocate(len: usize) -> Vec<Point> {
    let mut block: Vec<Point> = Vec::with_capacity(len);
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
    shared(points, |points| {
        for point in points {
            // SAFETY: a reference is valid for writing.
            unsafe { std::ptr::write_volatile(point, Point::ZERO) };
        }
    });
    compiler_fence(Ordering::SeqCst);
}

/// Applies `work` to all points. The threads of the current pool share the work if there is a pool.
fn shared<T: Send>(points: &mut [T], work: impl Fn(&mut [T]) + Send + Sync) {
    if points.len() <= SHARE || rayon::current_thread_index().is_none() {
        work(points);
    } else {
        points.par_chunks_mut(SHARE).for_each(work);
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
        clear(&mut self.block[..self.len]);
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: usize = free.iter().map(|(_, block)| block.len()).sum();
        if kept + self.block.len() <= KEPT {
            free.push((self.field, std::mem::take(&mut self.block)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_as_zeros() {
        for len in [1, 100, 130, LARGE / size_of::<Point>() + 7] {
            let mut block = Points::zeros(len, 0);
            assert!(block.len() == len && block.iter().all(|point| *point == Point::ZERO));
            block.fill(Point([7; 8]));
        }
        assert!(Points::zeros(90, 1).iter().all(|point| *point == Point::ZERO));
    }
}
