//! Bands: several rows of a product summed in one pass.
//!
//! A row-oriented product ([Emmart-XMP], section II, figure 2) passes over the accumulator once for each limb
//! of one factor and propagates the carries along the row. A single row is one carry chain, and the
//! multiplier waits for it. A band runs [`BAND`] rows side by side, each one limb behind the previous row.
//! Their carry chains overlap, and the accumulator is read and written once for the whole band.

/// Rows in a band. Their limbs and carries occupy half of the sixteen registers.
pub(super) const BAND: usize = 4;

/// Columns per iteration of the loop.
const UNROLL: usize = 4;

/// One step of a row: returns the low limb of `limb + a b + carry` and stores the high limb in `carry`. The
/// sum is at most `(2^64 - 1)^2 + 2 (2^64 - 1) = 2^128 - 1`.
#[inline(always)]
pub(super) fn step(limb: u64, a: u64, b: u64, carry: &mut u64) -> u64 {
    let sum = u128::from(a) * u128::from(b) + u128::from(limb) + u128::from(*carry);
    *carry = (sum >> 64) as u64;
    sum as u64
}

/// `sum <- a b`. The length of `sum` is the sum of the lengths of the factors.
///
/// For the usual lengths the compiler knows the loop bounds.
pub(super) fn product(sum: &mut [u64], a: &[u64], b: &[u64]) {
    match (a.len(), b.len()) {
        (8, 8) => add_bands(&mut sum[..16], &a[..8], &b[..8]),
        (16, 16) => add_bands(&mut sum[..32], &a[..16], &b[..16]),
        (32, 32) => add_bands(&mut sum[..64], &a[..32], &b[..32]),
        (rows, columns) if rows <= columns => add_bands(sum, a, b),
        _ => add_bands(sum, b, a),
    }
}

/// `sum <- a b` for a factor `a` that is not longer than `b`.
#[inline(always)]
fn add_bands(sum: &mut [u64], a: &[u64], b: &[u64]) {
    sum.fill(0);
    let (bands, single) = a.as_chunks::<BAND>();
    let mut sum = sum;
    for rows in bands {
        add_band(sum, rows, b, 0);
        sum = &mut sum[BAND..];
    }
    for &row in single {
        add_band(sum, &[row], b, 0);
        sum = &mut sum[1..];
    }
}

/// `sum += rows b`. `b` is at least as long as the rows. `top` and the returned carry are those of
/// [`finish_band`].
#[inline(always)]
pub(super) fn add_band<const R: usize>(sum: &mut [u64], rows: &[u64; R], b: &[u64], top: u64) -> u64 {
    let mut carries = [0; R];
    for place in 0..R - 1 {
        let mut limb = sum[place];
        for k in 0..=place {
            limb = step(limb, rows[k], b[place - k], &mut carries[k]);
        }
        sum[place] = limb;
    }
    finish_band(&mut sum[R - 1..], rows, b, carries, top)
}

/// Completes a band from the first column that contains a product of every row. It adds
/// `rows[0] b[R-1] + ... + rows[R-1] b[0]` to `sum[0]` and continues up to the last carry. `carries` are the
/// carries of the rows so far. `top` is one more carry (0 or 1) into the column above the end of the first
/// row. Returns the carry (0 or 1) above the end of the last row.
#[inline(always)]
pub(super) fn finish_band<const R: usize>(
    sum: &mut [u64],
    rows: &[u64; R],
    b: &[u64],
    mut carries: [u64; R],
    mut top: u64,
) -> u64 {
    let (main, tail) = sum.split_at_mut(b.len() + 1 - R);
    let (unrolled, single) = main.as_chunks_mut::<UNROLL>();
    let (mut places, single_places) = (b, &b[unrolled.len() * UNROLL..]);
    for limbs in unrolled {
        let window = &places[..UNROLL + R - 1];
        for (j, limb) in limbs.iter_mut().enumerate() {
            for k in 0..R {
                *limb = step(*limb, rows[k], window[j + R - 1 - k], &mut carries[k]);
            }
        }
        places = &places[UNROLL..];
    }
    for (limb, window) in single.iter_mut().zip(single_places.windows(R)) {
        for k in 0..R {
            *limb = step(*limb, rows[k], window[R - 1 - k], &mut carries[k]);
        }
    }
    let last = &b[b.len() + 1 - R..];
    for (place, limb) in tail[..R].iter_mut().enumerate() {
        // Row `place` ends here. Two limbs and the bit `top` add up to a limb and a bit.
        let end = u128::from(*limb) + u128::from(carries[place]) + u128::from(top);
        *limb = end as u64;
        top = (end >> 64) as u64;
        for k in place + 1..R {
            *limb = step(*limb, rows[k], last[R - 1 + place - k], &mut carries[k]);
        }
    }
    top
}
