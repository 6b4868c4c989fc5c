//! Memory of transforms: zeroized after use, kept for the next product, in large pages where it is long.
//!
//! A product of numbers of n limbs needs several blocks of many times n. New memory comes from the
//! system page by page, which costs as much as a third of a product; so blocks are kept, up to a limit.
#![allow(unsafe_code)]

use super::point::Point;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroize;

/// Blocks that are not in use, all zero.
static FREE: Mutex<Vec<Vec<Point>>> = Mutex::new(Vec::new());

/// Points that are kept at most: 64 MiB.
const KEPT: usize = 1 << 20;

/// Points from which large pages are asked for: 4 MiB.
const LARGE: usize = 1 << 16;

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
    #[cfg(target_os = "linux")]
    if len >= LARGE {
        use rustix::mm::{Advice, madvise};
        const PAGE: usize = 1 << 21;
        let (start, bytes) = (block.as_mut_ptr().cast::<u8>(), len * size_of::<Point>());
        let skipped = start.align_offset(PAGE).min(bytes);
        // SAFETY: the range is within the memory that was just reserved, and the advice changes none of
        // its contents. It may be ignored.
        let _ = unsafe {
            madvise(start.add(skipped).cast(), (bytes - skipped) / PAGE * PAGE, Advice::LinuxHugepage)
        };
    }
    block.resize(len, Point::ZERO);
    block
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
        for point in &mut self.block[..self.len] {
            point.0.zeroize();
        }
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
        for len in [1, 100, 130, LARGE + 7] {
            let mut block = Points::zeros(len);
            assert!(block.len() == len && block.iter().all(|point| *point == Point::ZERO));
            block.fill(Point([7; 8]));
        }
        assert!(Points::zeros(90).iter().all(|point| *point == Point::ZERO));
    }
}
