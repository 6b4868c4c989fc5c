//! Schoolbook products, divisions and square roots of several numbers side by side, one number a lane.
//!
//! A number has digits of 30 bits in words of 64 bits. Sums of products of digits stay in the words without
//! carries for [`ROWS`] rows, and a double that comes from the highest digits gives the next digit of a
//! quotient or of a root. The kernels are written once over a [`Vector`](crate::divsteps::vector::Vector).
//! docs/algorithms/lanes.md derives the bounds.

pub(crate) mod divide;
mod estimate;
pub(crate) mod kernels;
pub(crate) mod root;
mod rows;
mod shift;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

use crate::divsteps::vector::Vector;

/// The groups of lanes that are computed side by side, so that one fills the latencies of the other.
pub(crate) const GROUPS: usize = 2;

/// The items that a thread computes side by side.
pub(crate) const fn items_at_once<V: Vector>() -> usize {
    GROUPS * V::LANES
}

/// Rows of products that are added up between two passes of carries: each is at most `2^59.02` in magnitude,
/// and what a pass leaves is below `2^34`.
const ROWS: usize = 14;
