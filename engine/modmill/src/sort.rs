//! Sorting the items of a call into what backends can compute together.

use modmill_core::{Batch, BatchView, Items, KERNEL_MAX_BITS, Moduli, Modulus, limbs};
use modmill_cpu::Cpu;
use modmill_cpu::threads::Share;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// The items of a call by the kind of their modulus. Parity and length of a modulus are public.
#[derive(Default)]
pub(crate) struct Sorted {
    /// Items whose modulus is zero: errors.
    pub(crate) zero: Vec<usize>,
    /// Items whose modulus is odd and at least 3, or too long for all but transforms, by the limbs it
    /// needs: transforms take even moduli as they are.
    pub(crate) odd: BTreeMap<usize, Group>,
    /// Items whose modulus is even and not in `odd`.
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

/// Sorts items by their modulus, each list in the order of the items. A GPU waits for this, so that all
/// threads of the pool look at the moduli of a large batch. The caller's own thread looks at those of a small
/// one.
pub(crate) fn sort(pool: &Cpu, moduli: Moduli<'_>, items: Items<'_>) -> Sorted {
    let add = |mut sorted: Sorted, place: usize| {
        let item = items.get(place);
        sorted.add(item, moduli.get(item));
        sorted
    };
    let count = items.len();
    let places = (0..count).into_par_iter().with_min_len(GRAIN);
    pool.install_if(count > GRAIN, || places.sum_by(Sorted::default, add, Sorted::and))
}

/// Whether backends compute modulo this number as it is: it is odd and at least 3, or too long for all but
/// transforms.
fn is_computed_whole(modulus: &[u64], bits: usize) -> bool {
    bits > KERNEL_MAX_BITS || bits > 1 && modulus[0] & 1 == 1
}

/// Whether kernels compute modulo this number: it is odd, at least 3, and not too long.
pub(crate) fn is_for_kernels(modulus: &Modulus) -> bool {
    (2..=KERNEL_MAX_BITS).contains(&modulus.bits()) && modulus.value()[0] & 1 == 1
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
    if let Moduli::Resident(resident) = moduli {
        let find = |values: &Batch| {
            let lengths = lengths_of_all(pool, Moduli::from(values), values.len())?;
            Some((lengths.longest, lengths.shortest))
        };
        let (longest, shortest) = resident.lengths(find)?;
        return Some(Lengths { longest, shortest });
    }
    let count = if let Moduli::Shared(_) = moduli { count.min(1) } else { count };
    let look = |items: Range<usize>| match moduli {
        Moduli::Each(view) => lengths_together(view.slice(items)),
        Moduli::Shared(_) | Moduli::Prepared(_) | Moduli::Resident(_) => {
            lengths_one_by_one(items.map(|item| moduli.get(item)))
        }
    };
    if count <= GRAIN {
        return look(0..count);
    }
    let parts = (0..count.div_ceil(GRAIN)).into_par_iter().with_max_len(1);
    let all = parts.map(|part| look(part * GRAIN..count.min((part + 1) * GRAIN)));
    let all: Vec<_> = pool.install(|| all.list());
    all.into_iter().reduce(|first, second| first?.and(second?))?
}

/// The lengths of some moduli, if they are one group.
fn lengths_one_by_one<'a>(moduli: impl Iterator<Item = &'a [u64]>) -> Option<Lengths> {
    let mut all: Option<Lengths> = None;
    for modulus in moduli {
        let bits = limbs::bit_length(modulus);
        let lengths = Lengths { longest: bits, shortest: bits };
        if !is_computed_whole(modulus, bits) {
            return None;
        }
        all = Some(all.map_or(Some(lengths), |all| all.and(lengths))?);
    }
    all
}

/// The lengths of moduli that lie one after the other in memory. The copies to a GPU take hardly longer than
/// this look, so it reads the lowest and the highest limb of a modulus and no more, where that tells enough.
fn lengths_together(moduli: BatchView<'_>) -> Option<Lengths> {
    let stride = moduli.bits().div_ceil(64);
    if moduli.is_empty() || moduli.bits() > KERNEL_MAX_BITS || stride == 0 {
        return lengths_one_by_one(moduli.iter());
    }
    let (mut odd, mut least, mut most) = (1, u64::MAX, 0);
    for modulus in moduli.as_limbs().chunks_exact(stride) {
        let top = modulus[stride - 1];
        odd &= modulus[0];
        least = least.min(top);
        most = most.max(top);
    }
    if odd == 0 || least == 0 {
        // An even modulus is not computed whole, and a shorter one may make a group of its own.
        return if odd == 0 { None } else { lengths_one_by_one(moduli.iter()) };
    }
    let bits = |top: u64| 64 * stride - top.leading_zeros() as usize;
    let lengths = Lengths { longest: bits(most), shortest: bits(least) };
    (lengths.shortest > 1).then_some(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both looks, which agree.
    fn look(moduli: &Batch) -> Option<(usize, usize)> {
        let found = lengths_together(moduli.view());
        assert_eq!(found, lengths_one_by_one(moduli.iter()));
        found.map(|lengths| (lengths.longest, lengths.shortest))
    }

    #[test]
    fn moduli_of_one_group_are_seen_at_once() {
        let of = |texts: &[&str]| Batch::from_hex(texts).unwrap();
        assert_eq!(look(&of(&["f3", "5", "3"])), Some((8, 2)));
        assert_eq!(look(&Batch::zeros(64, 0)), None, "there is nothing to compute");
        assert_eq!(look(&of(&["f3", "1"])), None, "one has no place in a group");
        assert_eq!(look(&of(&["f3", "4"])), None, "an even one");
        assert_eq!(look(&of(&["f3", "0"])), None, "zero");
        let wide = "80000000000000000000000000000001";
        assert_eq!(look(&of(&[wide, "10000000000000001"])), Some((128, 65)));
        assert_eq!(look(&of(&[wide, "ffffffffffffffff"])), None, "another number of limbs");
        assert_eq!(
            look(&of(&["0000000000000000ffffffffffffffff", "00000000000000000000000000000003"])),
            Some((64, 2))
        );
        let mut long = Batch::zeros(KERNEL_MAX_BITS + 64, 2);
        (0..2).for_each(|item| long.get_mut(item)[KERNEL_MAX_BITS / 64] = 6);
        assert_eq!(
            look(&long),
            Some((KERNEL_MAX_BITS + 3, KERNEL_MAX_BITS + 3)),
            "even ones go by transforms"
        );
    }

    #[test]
    fn a_large_batch_is_looked_at_in_parts() {
        let cpu = Cpu::new(modmill_cpu::Settings { threads: Some(2), ..Default::default() }).unwrap();
        let mut moduli = Batch::zeros(70, 3 * GRAIN + 5);
        moduli.as_limbs_mut().chunks_mut(2).for_each(|modulus| modulus.copy_from_slice(&[7, 0x20]));
        let lengths = |moduli: &Batch| lengths_of_all(&cpu, moduli.into(), moduli.len());
        assert_eq!(lengths(&moduli), Some(Lengths { longest: 70, shortest: 70 }));
        moduli.get_mut(2 * GRAIN)[1] = 1;
        assert_eq!(lengths(&moduli), Some(Lengths { longest: 70, shortest: 65 }));
        moduli.get_mut(3 * GRAIN + 4)[0] = 8;
        assert_eq!(lengths(&moduli), None);
    }
}
