//! Columns of products and squares, tile by tile.
#![allow(unsafe_code)]

use super::tile::{self, Columns, V, for_rows};

/// Digits of one factor that a tile holds in registers.
pub(super) const BLOCK: usize = 10;

/// The columns of `x y`, for `n` digits of `x` and `m` digits of `y`.
///
/// # Safety
/// `t` has `n + m` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn multiply_columns(x: *const V, n: usize, y: *const V, m: usize, t: *mut V) {
    let mut row = 0;
    while row < n {
        let rows = block(n - row);
        // SAFETY: required of the caller. Earlier rows wrote columns 0..row + m.
        unsafe {
            let t = Columns { at: t.add(row), fresh: if row == 0 { 0 } else { m } };
            for_rows!(rows, R => tile::rectangle::<R>(t, x.add(row), y, m));
        }
        row += rows;
    }
}

/// The columns of `x^2`, for `n` digits.
///
/// # Safety
/// `t` has `2 n` columns.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) unsafe fn square_columns(x: *const V, n: usize, t: *mut V) {
    let mut row = 0;
    while row < n {
        let rows = block(n - row);
        // SAFETY: required of the caller; the blocks add up to n. Earlier rows wrote columns 0..row + n.
        unsafe {
            let t = Columns { at: t.add(2 * row), fresh: if row == 0 { 0 } else { n - row } };
            for_rows!(rows, R => tile::square_rows::<R>(t, x.add(row), n - row));
        }
        row += rows;
    }
}

/// The number of rows of the next block when `left` rows are left. The last two blocks share their rows
/// evenly.
pub(super) fn block(left: usize) -> usize {
    if left <= BLOCK { left } else { (left / 2).min(BLOCK) }
}
