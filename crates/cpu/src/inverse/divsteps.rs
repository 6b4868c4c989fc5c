//! Division steps on machine words.

/// Division steps per batch: the low 64 bits of f and g determine them, and a signed word holds their matrix.
pub(super) const BATCH: u32 = 62;

/// The matrix of a batch: `2^62 (f', g') = (u f + v g, q f + r g)` with `|u| + |v| <= 2^62` and
/// `|q| + |r| <= 2^62`.
#[derive(Clone, Copy)]
pub(super) struct StepMatrix {
    pub(super) u: i64,
    pub(super) v: i64,
    pub(super) q: i64,
    pub(super) r: i64,
}

/// Runs one batch on the low words of f and g, where f is odd. `zeta` is `-(delta + 1/2)`; it is negative
/// when delta is positive. The batch updates it.
///
/// A batch is two half batches of 31 steps. Their matrices fit in half words; the batch returns their
/// product.
pub(super) fn batch(zeta: &mut i64, f: u64, g: u64) -> StepMatrix {
    let (first, f, g) = half_batch(zeta, f, g);
    let (second, _, _) = half_batch(zeta, f, g);
    // A product of matrices with row norms of at most 2^31 has row norms of at most 2^62.
    StepMatrix {
        u: second.u * first.u + second.v * first.q,
        v: second.u * first.v + second.v * first.r,
        q: second.q * first.u + second.r * first.q,
        r: second.q * first.v + second.r * first.r,
    }
}

/// Runs 31 steps. Returns the matrix and the words f and g divided by 2^31, correct to 33 bits.
///
/// A row `(u, v)` is packed in one word as `u + v 2^32`, so a step treats f and its row in the same way as g
/// and its row. After i steps the entries of a row add up to at most 2^i in magnitude. No entry is -2^i: a
/// row `(-2^i, 0)` would require the two previous rows to be parallel, or to be one of them, but the
/// determinant is a power of two. So every entry is above -2^31 and at most 2^31.
#[inline(always)]
fn half_batch(zeta: &mut i64, mut f: u64, mut g: u64) -> (StepMatrix, u64, u64) {
    let mut f_row = 1u64;
    let mut g_row = 1u64 << 32;
    for _ in 0..BATCH / 2 {
        let odd = (g & 1).wrapping_neg();
        let positive = (*zeta >> 63) as u64;
        // If g is odd, g becomes g - f and f becomes g when delta is positive; otherwise g becomes g + f.
        let swap = odd & positive;
        g = g.wrapping_add((f ^ positive).wrapping_sub(positive) & odd);
        g_row = g_row.wrapping_add((f_row ^ positive).wrapping_sub(positive) & odd);
        f = f.wrapping_add(g & swap);
        f_row = f_row.wrapping_add(g_row & swap);
        // delta becomes 1 - delta after a swap, and 1 + delta otherwise.
        *zeta = (*zeta ^ swap as i64) - 1;
        g >>= 1;
        f_row <<= 1;
    }
    let ((u, v), (q, r)) = (unpack(f_row), unpack(g_row));
    (StepMatrix { u, v, q, r }, f, g)
}

/// Splits a packed row into its two entries, each above -2^31 and at most 2^31.
#[inline(always)]
fn unpack(row: u64) -> (i64, i64) {
    const BIAS: i64 = (1 << 31) - 1;
    let biased = row.wrapping_add(BIAS as u64 | (BIAS as u64) << 32);
    ((biased & 0xffff_ffff) as i64 - BIAS, (biased >> 32) as i64 - BIAS)
}
