//! Memory of transforms: zeroized after use, kept for the next product, in large pages where it is long.
//!
//! A product of numbers of n limbs needs several blocks of many times n. New memory comes from the
//! system page by page, which costs as much as a third of a product; so blocks are kept, up to a limit.
#![allow(unsafe_code)]

use super::point::Point;
use rayon::prelude::*;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{Ordering, compiler_fence};
use std::sync::{Mutex, PoisonError};

/// Blocks that are not in use, all zero.
static FREE: Mutex<Vec<Vec<Point>>> = Mutex::new(Vec::new());

/// Points that are kept at most: 128 MiB, all blocks of two threads for factors of 64 Mbit.
const KEPT: usize = 1 << 21;

/// Points that one thread clears at a time.
const SHARE: usize = 1 << 12;

/// Bytes from which large pages are asked for.
const LARGE: usize = 4 << 20;

/// A block of points, which may hold what is secret.
pub(crate) struct Points {
    block: Vec<Point>,
    len: usize,
}

impl Points {
    /// A block of zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |block: &Vec<Point>| block.len() >= len && block.len() <= 2 * len;
        let block = match free.iter().position(fits) {
            Some(index) => free.swap_remove(index),
            None => {
                drop(free);
                allocate(len)
            }
        };
        Self { block, len }
    }
}

fn allocate(len: usize) -> Vec<Point> {
    let mut block: Vec<Point> = Vec::with_capacity(len);
    let memory = &mut block.spare_capacity_mut()[..len];
    prefer_large_pages(memory);
    // The first touch of a page is most of the work.
    shared(memory, |points| points.fill(MaybeUninit::new(Point::ZERO)));
    // SAFETY: so many points have just been written.
    unsafe { block.set_len(len) };
    block
}

/// Asks for large pages where something long will be written: page by page, new memory takes long to come and to go.
pub(crate) fn prefer_large_pages<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    if size_of_val(memory) >= LARGE {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 1 << 21;
        let (start, bytes) = (memory.as_mut_ptr().cast::<u8>(), size_of_val(memory));
        let skipped = start.align_offset(PAGE).min(bytes);
        // SAFETY: whole pages of a slice that is ours; the advice changes nothing in them. It may be ignored.
        let _ = unsafe {
            madvise(start.add(skipped).cast(), (bytes - skipped) / PAGE * PAGE, Advice::LinuxHugepage)
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

/// Clears points for good.
fn clear(points: &mut [Point]) {
    shared(points, |points| {
        for point in points {
            // SAFETY: a reference is valid to write to; and the compiler leaves out no such write.
            unsafe { std::ptr::write_volatile(point, Point::ZERO) };
        }
    });
    compiler_fence(Ordering::SeqCst);
}

/// Runs work on all points, by the threads of the pool that this is called from, if any.
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
        let kept: usize = free.iter().map(Vec::len).sum();
        if kept + self.block.len() <= KEPT {
            free.push(std::mem::take(&mut self.block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_as_zeros() {
        for len in [1, 100, 130, LARGE / size_of::<Point>() + 7] {
            let mut block = Points::zeros(len);
            assert!(block.len() == len && block.iter().all(|point| *point == Point::ZERO));
            block.fill(Point([7; 8]));
        }
        assert!(Points::zeros(90).iter().all(|point| *point == Point::ZERO));
    }
}
