//! Division steps on machine words.

/// Division steps per batch: the low 64 bits of f and g determine them, and a signed word holds their matrix.
pub(crate) const BATCH: u32 = 62;

/// The number of division steps from delta = 1/2 that bring g to zero, for odd f and g below `2^bits`.
///
/// `(9437 bits + 1) / 4096` steps, rounded up, suffice when `0 <= g <= f <= 2^bits` (proved in HOL Light,
/// theorem DIVSTEP_ENDTOEND_BITS_SIMPLE). If an odd g is larger than f, the first step leads from
/// `(1/2, f, g)` to `(1/2, g, (g - f) / 2)`, which satisfies the condition.
pub(crate) fn division_steps(bits: usize) -> usize {
    1 + (9437 * bits + 1).div_ceil(4096)
}

/// The matrix of a batch: `2^62 (f', g') = (u f + v g, q f + r g)` with `|u| + |v| <= 2^62` and
/// `|q| + |r| <= 2^62`.
#[derive(Clone, Copy)]
pub(crate) struct StepMatrix {
    pub(crate) u: i64,
    pub(crate) v: i64,
    pub(crate) q: i64,
    pub(crate) r: i64,
}

/// Runs one batch on the low words of f and g, where f is odd. `zeta` is `-(delta + 1/2)`; it is negative
/// when delta is positive. The batch updates it.
///
/// A batch is two half batches of 31 steps. Their matrices fit in half words; the batch returns their
/// product.
pub(crate) fn batch(zeta: &mut i64, f: u64, g: u64) -> StepMatrix {
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

/// [`batch`] in time that depends on f and g, from their low 62 bits. `eta` is `-delta`.
///
/// Steps in which g is even only shift, so they are taken together. Where g is odd, a multiple of f clears up
/// to six of its low bits at once, as far as delta keeps its sign (libsecp256k1, `modinv64_var`).
pub(crate) fn batch_vartime(eta: &mut i64, mut f: u64, mut g: u64) -> StepMatrix {
    let (mut u, mut v, mut q, mut r) = (1u64, 0u64, 0u64, 1u64);
    let mut left = BATCH;
    loop {
        // A bit above those that are left ends the count.
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        *eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            return StepMatrix { u: u as i64, v: v as i64, q: q as i64, r: r as i64 };
        }
        let is_swapped = *eta < 0;
        if is_swapped {
            *eta = -*eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
        }
        // Delta changes its sign after eta + 1 more steps.
        let limit = u64::from(left).min(*eta as u64 + 1);
        let low = u64::MAX >> (64 - limit);
        let factor = if is_swapped {
            // -g / f modulo 64: f (2 - f^2) is 1 / f modulo 64 for every odd f.
            f.wrapping_mul(g).wrapping_mul(f.wrapping_mul(f).wrapping_sub(2)) & low & 63
        } else {
            // -g / f modulo 16. Here delta is small as a rule, so that a shorter formula serves as well.
            let inverse = f.wrapping_add((f.wrapping_add(1) & 4) << 1);
            inverse.wrapping_neg().wrapping_mul(g) & low & 15
        };
        g = g.wrapping_add(f.wrapping_mul(factor));
        q = q.wrapping_add(u.wrapping_mul(factor));
        r = r.wrapping_add(v.wrapping_mul(factor));
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
