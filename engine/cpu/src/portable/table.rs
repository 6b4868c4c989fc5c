//! Reads at secret indices from the table of one number, under masks.

use modmill_core::mask;

/// Reads entry `index` of a table whose entries are as long as `out`.
pub(super) fn read(table: &[u64], index: u64, out: &mut [u64]) {
    let stride = out.len();
    let rest = read_blocks::<16>(table, stride, index, out);
    let rest = read_blocks::<8>(&table[stride - rest.len()..], stride, index, rest);
    let rest = read_blocks::<4>(&table[stride - rest.len()..], stride, index, rest);
    read_blocks::<1>(&table[stride - rest.len()..], stride, index, rest);
}

/// Reads one entry of a table whose entries are `stride` limbs apart. A block of C limbs stays in registers
/// while all entries pass through it. Returns the limbs of `out` that are not filled yet.
fn read_blocks<'a, const C: usize>(
    table: &[u64],
    stride: usize,
    index: u64,
    out: &'a mut [u64],
) -> &'a mut [u64] {
    let (blocks, rest) = out.as_chunks_mut::<C>();
    for (place, block) in blocks.iter_mut().enumerate() {
        let mut limbs = [0; C];
        for (entry, row) in table[place * C..].chunks(stride).enumerate() {
            let mask = mask::equal(entry as u64, index);
            for (to, from) in limbs.iter_mut().zip(&row[..C]) {
                *to |= from & mask;
            }
        }
        *block = limbs;
    }
    rest
}
