//! The families of kernels. Each file says how its family spreads numbers over threads, which layouts are
//! worth measuring, what its kernels are compiled with, and what they need of a device. This file calls the
//! one that a caller names.

pub(crate) mod layout;
mod narrow;
pub(crate) mod rns;
mod row;
mod samples;
mod two_pass;
mod wide;

use crate::device::Limits;
use layout::{KernelSet, Layout, Placement, Size};
use modmill_core::Family;
use rns::Rns;

/// Threads that may hold a number together.
const GROUPS: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// A family's kernels for numbers of this size; `None` if it has none in this layout.
pub(crate) fn kernel_set(
    family: Family,
    size: Size,
    layout: &Layout,
    placement: Placement,
) -> Option<KernelSet> {
    match family {
        Family::Row => row::kernels(size, layout),
        Family::TwoPass => two_pass::kernels(size, layout, placement),
        Family::Wide => wide::kernels(size, layout),
        Family::Narrow => narrow::kernels(size, layout),
        Family::Rns => Some(Rns::new(size.words, layout, placement)?.kernels()),
        _ => None,
    }
}

/// The memory in which a family's kernels keep their large data on a device; `None` if the device has no room
/// for it.
pub(crate) fn place(family: Family, size: Size, layout: &Layout, limits: &Limits) -> Option<Placement> {
    match family {
        Family::TwoPass => two_pass::place(size, layout, limits),
        Family::Rns => Rns::place(size.words, layout, limits),
        _ => Some(Placement::Fixed),
    }
}

/// The placement that every layout of a family has kernels for.
pub(crate) fn least_placement(family: Family) -> Placement {
    match family {
        Family::TwoPass => Placement::InTable(0),
        Family::Rns => Placement::Shared,
        _ => Placement::Fixed,
    }
}

/// The layouts of a family that are worth measuring for numbers of this size, as far as the device has room
/// for them.
pub(crate) fn layouts(family: Family, size: Size, limits: &Limits) -> Vec<Layout> {
    let in_groups = |layouts: &dyn Fn(u32) -> Vec<Layout>| GROUPS.into_iter().flat_map(layouts).collect();
    match family {
        Family::Row => in_groups(&|threads| row::layouts(size.words, threads)),
        Family::TwoPass => in_groups(&|threads| two_pass::layouts(size, threads, limits)),
        Family::Wide => in_groups(&|threads| wide::samples(size, threads).layouts(threads)),
        Family::Narrow => in_groups(&|threads| narrow::samples(size, threads).layouts(threads)),
        Family::Rns => Rns::layouts(size.words),
        _ => Vec::new(),
    }
}
