//! Sorting the items of a call into what backends can compute together.

use modmill_core::{Items, KERNEL_MAX_BITS, Moduli, limbs};
use modmill_cpu::Cpu;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The items of a call by the kind of their modulus. Parity and length of a modulus are public.
#[derive(Default)]
pub(crate) struct Sorted {
    /// Items whose modulus is zero: errors.
    pub(crate) zero: Vec<usize>,
    /// Items whose modulus is odd and at least 3, or too long for all but transforms, by the limbs it
    /// needs: transforms take even moduli as they are.
    pub(crate) odd: BTreeMap<usize, Group>,
    /// Items whose modulus is even, but those.
    pub(crate) even: Vec<usize>,
}

/// Items whose moduli are of about one size.
pub(crate) struct Group {
    pub(crate) items: Vec<usize>,
    /// Length of the longest modulus, in bits.
    pub(crate) bits: usize,
    /// Length of the shortest modulus, in bits.
    pub(crate) shortest_bits: usize,
}

impl Default for Group {
    fn default() -> Self {
        Self { items: Vec::new(), bits: 0, shortest_bits: usize::MAX }
    }
}

impl Sorted {
    /// Adds an item. One modulo 1 appears nowhere: its answer is zero.
    fn add(&mut self, item: usize, modulus: &[u64]) {
        let bits = limbs::bit_length(modulus);
        match limbs::trailing_zeros(modulus) {
            None => self.zero.push(item),
            Some(_) if is_computed_whole(modulus, bits) => {
                let group = self.odd.entry(bits.div_ceil(64)).or_default();
                group.items.push(item);
                group.bits = group.bits.max(bits);
                group.shortest_bits = group.shortest_bits.min(bits);
            }
            Some(0) => {}
            Some(_) => self.even.push(item),
        }
    }

    /// These items, and then those of another.
    fn and(mut self, mut after: Self) -> Self {
        self.zero.append(&mut after.zero);
        self.even.append(&mut after.even);
        for (limbs, mut more) in after.odd {
            let group = self.odd.entry(limbs).or_default();
            group.items.append(&mut more.items);
            group.bits = group.bits.max(more.bits);
            group.shortest_bits = group.shortest_bits.min(more.shortest_bits);
        }
        self
    }
}

/// Items that one thread looks at, at least.
const GRAIN: usize = 1 << 14;

/// Sorts items by their modulus, each list in the order of the items. A GPU waits for this, so that all threads of the
/// pool look at the moduli of a large batch. The caller's own thread looks at those of a small one.
pub(crate) fn sort(pool: &Cpu, moduli: Moduli<'_>, items: Items<'_>) -> Sorted {
    let add = |mut sorted: Sorted, place: usize| {
        let item = items.get(place);
        sorted.add(item, moduli.get(item));
        sorted
    };
    let count = items.len();
    if count <= GRAIN {
        return (0..count).fold(Sorted::default(), add);
    }
    let places = (0..count).into_par_iter().with_min_len(GRAIN);
    pool.install(|| places.fold(Sorted::default, add).reduce(Sorted::default, Sorted::and))
}

/// Whether backends compute modulo this number as it is: it is odd and at least 3, or too long for all but transforms.
fn is_computed_whole(modulus: &[u64], bits: usize) -> bool {
    bits > KERNEL_MAX_BITS || bits > 1 && modulus[0] & 1 == 1
}

/// The lengths of some moduli in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) longest: usize,
    pub(crate) shortest: usize,
}

impl Lengths {
    /// The lengths of both; `None` if they need different numbers of limbs.
    fn and(self, other: Self) -> Option<Self> {
        let longest = self.longest.max(other.longest);
        let shortest = self.shortest.min(other.shortest);
        (longest.div_ceil(64) == shortest.div_ceil(64)).then_some(Self { longest, shortest })
    }
}

/// The lengths of the moduli of `count` items, if they are one group: most calls need no list of their items.
pub(crate) fn lengths_of_all(pool: &Cpu, moduli: Moduli<'_>, count: usize) -> Option<Lengths> {
    let lengths = |item: usize| {
        let modulus = moduli.get(item);
        let bits = limbs::bit_length(modulus);
        is_computed_whole(modulus, bits).then_some(Lengths { longest: bits, shortest: bits })
    };
    let count = if let Moduli::Shared(_) = moduli { count.min(1) } else { count };
    if count <= GRAIN {
        let join = |all: Option<Lengths>, item| match (all, lengths(item)?) {
            (None, first) => Some(Some(first)),
            (Some(all), next) => all.and(next).map(Some),
        };
        return (0..count).try_fold(None, join)?;
    }
    // This takes less time than a thread is interrupted for, so that some cores stay free for what interrupts.
    let threads = pool.threads() - pool.threads() / 4;
    let all = (0..count).into_par_iter().with_min_len(GRAIN.max(count.div_ceil(threads))).map(lengths);
    pool.install(|| all.try_reduce_with(Lengths::and))?
}
