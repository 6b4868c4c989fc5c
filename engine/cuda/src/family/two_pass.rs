//! The family `two_pass`: blocks of words in shared memory or in tables, and a window of columns in
//! registers.

use super::layout::{Cut, KernelSet, Layout, Placement, Size};
use crate::device::Limits;

/// Blocks and how many a multiprocessor holds, where shared memory is short.
const SMALL_BLOCKS: [(u32, u32); 3] = [(64, 2), (64, 1), (32, 1)];

/// The kernels for numbers of a size, if there are any in this layout. `placement` says how many of a
/// number's three arrays are in its table: none, N, or N and the quotient.
pub(super) fn kernels(size: Size, layout: &Layout, placement: Placement) -> Option<KernelSet> {
    let Placement::InTable(in_table @ ..=2) = placement else { return None };
    let &Layout { threads, block, cut: Some(Cut::Tile(tile)), .. } = layout else { return None };
    let words = size.words;
    if !divides(words, threads, tile) || (threads > 1 && in_table > 0) {
        return None;
    }
    let exchanged = if threads > 1 { 96 * (words / tile) + (tile - tile / threads) * block } else { 0 };
    Some(KernelSet {
        radix_bits: 32 * words,
        input_bits: size.bits() as usize,
        entry_bytes: 16 * (words / threads).div_ceil(4) as usize,
        shared_bytes: 4 * ((3 - in_table) * words * block / threads + exchanged),
        defines: vec![("TILE", tile), ("IN_TABLE", in_table)],
    })
}

/// As many arrays in shared memory as let a multiprocessor hold all blocks of the layout. A group of
/// threads has no table of its own, and keeps all of them in shared memory.
pub(super) fn place(size: Size, layout: &Layout, limits: &Limits) -> Option<Placement> {
    let fits = |in_table: &u32| {
        let set = kernels(size, layout, Placement::InTable(*in_table));
        set.is_some_and(|set| {
            limits.resident_blocks(layout.block, set.shared_bytes) >= layout.resident.max(1)
        })
    };
    (0..=2).find(fits).map(Placement::InTable)
}

/// The layouts worth measuring with `threads` threads to a number. The wider the tiles, the fewer words
/// go over from one to the next. Registers set the limit, which a group of threads shares, and so does
/// the cache for instructions. Small blocks are for devices whose shared memory does not hold the usual
/// ones.
pub(super) fn layouts(size: Size, threads: u32, limits: &Limits) -> Vec<Layout> {
    let (words, part) = (size.words, size.words / threads);
    if threads > 1 && part < 32 {
        return Vec::new();
    }
    let tiles: &[&[u32]] = match threads {
        1 => &[&[16, 12, 8, 4]],
        2 => &[&[32, 24], &[16]],
        _ => &[&[32, 24]],
    };
    let blocks: &[(u32, u32)] = match part {
        ..32 => &[(128, 4)],
        _ => &[(128, 2), (128, 1), (128, 3)],
    };
    let tiles = tiles.iter().filter_map(|tiles| tiles.iter().find(|&&tile| divides(words, threads, tile)));
    let mut found = Vec::new();
    for &tile in tiles {
        let cut = Some(Cut::Tile(tile));
        let layout = |&(block, resident): &(u32, u32)| Layout { threads, block, resident, cut };
        let fits = |layout: &Layout| place(size, layout, limits).is_some();
        let usual: Vec<Layout> = blocks.iter().map(layout).filter(fits).collect();
        let small = if usual.is_empty() { &SMALL_BLOCKS[..] } else { &[] };
        found.extend(usual.into_iter().chain(small.iter().map(layout)));
    }
    found
}

/// Whether tiles make up a number, and threads share a tile evenly.
fn divides(words: u32, threads: u32, tile: u32) -> bool {
    tile > 0 && tile.is_multiple_of(4 * threads) && words.is_multiple_of(tile)
}
