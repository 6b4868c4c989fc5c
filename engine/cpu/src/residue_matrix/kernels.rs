//! The inner loops: plain loops over words that compilers turn into vector instructions.

/// Rows that are added before sums are written again.
pub(super) const GROUP: usize = 8;

/// Adds to each sum the words of its column that the masks select.
#[inline(never)]
pub(super) fn add_selected(rows: [&[u32]; GROUP], masks: [u32; GROUP], sums: &mut [u64]) {
    let length = sums.len();
    let rows = rows.map(|row| &row[..length]);
    for (place, sum) in sums.iter_mut().enumerate() {
        *sum += (0..GROUP).map(|row| u64::from(rows[row][place] & masks[row])).sum::<u64>();
    }
}

/// Adds the low and the high halves of the products of words and factors.
#[inline(never)]
pub(super) fn add_products(rows: [&[u32]; GROUP], factors: [u32; GROUP], low: &mut [u64], high: &mut [u64]) {
    let length = low.len();
    let rows = rows.map(|row| &row[..length]);
    for (place, (low, high)) in low.iter_mut().zip(&mut high[..length]).enumerate() {
        let product = |row: usize| u64::from(rows[row][place]) * u64::from(factors[row]);
        *low += (0..GROUP).map(|row| product(row) & 0xffff_ffff).sum::<u64>();
        *high += (0..GROUP).map(|row| product(row) >> 32).sum::<u64>();
    }
}
