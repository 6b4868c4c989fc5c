//! Division steps on machine words.

/// Division steps in a batch: what the low 64 bits of f and g decide and a signed word can hold.
pub(super) const BATCH: u32 = 62;

/// A batch as a matrix: `2^62 (f', g') = (u f + v g, q f + r g)` with `|u| + |v| <= 2^62` and
/// `|q| + |r| <= 2^62`.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub(super) u: i64,
    pub(super) v: i64,
    pub(super) q: i64,
    pub(super) r: i64,
}

/// Runs one batch on the low words of f and g, f odd. `zeta` is `-(delta + 1/2)`, which is
/// negative when delta is positive, and moves on.
///
/// Two half batches of 31 steps, whose matrices fit in halves of a word, multiplied together.
pub(super) fn batch(zeta: &mut i64, f: u64, g: u64) -> Matrix {
    let (first, f, g) = half_batch(zeta, f, g);
    let (second, _, _) = half_batch(zeta, f, g);
    // Rows of norm at most 2^31 times a matrix whose rows are: at most 2^62 again.
    Matrix {
        u: second.u * first.u + second.v * first.q,
        v: second.u * first.v + second.v * first.r,
        q: second.q * first.u + second.r * first.q,
        r: second.q * first.v + second.r * first.r,
    }
}

/// 31 steps; returns the matrix and the words f and g divided by 2^31, right to 33 bits.
///
/// A row `(u, v)` is one word, `u + v 2^32`, so that a step treats f with its row just as g with
/// its own. After i steps the entries of a row add up to at most 2^i in magnitude, and none is
/// -2^i: a row `(-2^i, 0)` would need the two rows before it to be parallel, or to be one of
/// them, and the determinant is a power of two. So entries lie above -2^31 and up to 2^31.
#[inline(always)]
fn half_batch(zeta: &mut i64, mut f: u64, mut g: u64) -> (Matrix, u64, u64) {
    let mut f_row = 1u64;
    let mut g_row = 1u64 << 32;
    for _ in 0..BATCH / 2 {
        let odd = (g & 1).wrapping_neg();
        let positive = (*zeta >> 63) as u64;
        // g is odd: g - f if delta is positive, in which case f becomes g, else g + f.
        let swap = odd & positive;
        g = g.wrapping_add((f ^ positive).wrapping_sub(positive) & odd);
        g_row = g_row.wrapping_add((f_row ^ positive).wrapping_sub(positive) & odd);
        f = f.wrapping_add(g & swap);
        f_row = f_row.wrapping_add(g_row & swap);
        // delta <- 1 - delta on a swap, else 1 + delta.
        *zeta = (*zeta ^ swap as i64) - 1;
        g >>= 1;
        f_row <<= 1;
    }
    let ((u, v), (q, r)) = (unpack(f_row), unpack(g_row));
    (Matrix { u, v, q, r }, f, g)
}

/// The two halves, each above -2^31 and up to 2^31, of their packed sum.
#[inline(always)]
fn unpack(row: u64) -> (i64, i64) {
    const BIAS: i64 = (1 << 31) - 1;
    let biased = row.wrapping_add(BIAS as u64 | (BIAS as u64) << 32);
    ((biased & 0xffff_ffff) as i64 - BIAS, (biased >> 32) as i64 - BIAS)
}
