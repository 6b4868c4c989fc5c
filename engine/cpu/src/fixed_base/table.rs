//! The table of a fixed base: for every place of a window and every digit d there, the power
//! `base^(d 2^(w place))`.

use crate::cost;
use crate::domain::{Domain, Workspace};
use crate::kernel::Kernel;
use crate::path::CpuPath;
use crate::threads::Share;
use crate::working_memory::Rows;
use modmill_core::Operand;
use modmill_core::limbs::bits_at;
use rayon::prelude::*;

/// The order of the words of a table within one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A digit of all entries side by side, for reads that pass over all entries.
    DigitByDigit,
    /// All digits of an entry side by side, for direct reads.
    EntryByEntry,
}

/// The most bytes of a table.
const MOST_BYTES: usize = 64 << 20;

/// The least window, in bits. Sixteen entries are read from a shared table at once.
const LEAST_WINDOW: u32 = 4;

/// The longest window for secret exponents: a read passes over all entries.
const MOST_SECRET: u32 = 8;

/// The longest window for public exponents. A table takes `2^w / w` products for each bit of the exponents.
const MOST_PUBLIC: u32 = 10;

/// The window with the least time for a power; `None` if even the table of the least window is too long.
pub(super) fn window(path: CpuPath, bits: usize, exponent_bits: usize, layout: Layout) -> Option<u32> {
    let places = |window: u32| exponent_bits.div_ceil(window as usize).max(1);
    let fits = |window: &u32| {
        let words = places(*window).saturating_mul(path.digits(bits) << *window);
        words.saturating_mul(8) <= MOST_BYTES
    };
    match layout {
        Layout::DigitByDigit => {
            let cycles = |window: u32| places(window) as f64 * cost::shared_factor(path, bits, window);
            (LEAST_WINDOW..=MOST_SECRET).filter(fits).min_by(|&a, &b| cycles(a).total_cmp(&cycles(b)))
        }
        // Direct reads cost the same for all windows. Of windows with as many places the shortest is taken.
        Layout::EntryByEntry => {
            (LEAST_WINDOW..=MOST_PUBLIC).filter(fits).min_by_key(|&window| places(window))
        }
    }
}

/// A table in Montgomery form, one number for each entry.
pub(super) struct Table {
    words: Rows,
    window: u32,
    places: usize,
    digits: usize,
}

impl Table {
    /// The table of a base for exponents of `exponent_bits` bits. All lanes of `domain` have one modulus of
    /// `bits` bits.
    ///
    /// First the powers `base^(2^(w place))` of all places are found by squaring. Then each lane computes the
    /// entries of a place of its own, so that all lanes are used.
    pub(super) fn new<K: Kernel>(
        domain: &Domain<K>,
        base: Operand<'_>,
        bits: usize,
        exponent_bits: usize,
        window: u32,
        layout: Layout,
    ) -> Self {
        let digits = domain.kernel().digits();
        let places = exponent_bits.div_ceil(window as usize).max(1);
        let mut first = Rows::zeros(places * digits);
        let mut work = Workspace::new::<K>(bits);
        let mut x = std::mem::take(&mut work.x);
        domain.enter(&[base.limbs(0)], base.bits(), &mut x, &mut work);
        for (place, power) in first.chunks_exact_mut(digits).enumerate() {
            if place > 0 {
                domain.square(&mut x, window, &mut work);
            }
            power.iter_mut().zip(x.iter().step_by(K::LANES)).for_each(|(to, from)| *to = *from);
        }
        work.x = x;

        let entries = 1 << window;
        let mut words = Rows::zeros(places * entries * digits);
        let parts =
            words.par_chunks_mut(K::LANES * entries * digits).zip(first.par_chunks(K::LANES * digits));
        parts.each_with(
            || Workspace::new::<K>(bits),
            |work, (words, first)| fill(domain, words, first, entries, layout, work),
        );
        Self { words, window, places, digits }
    }

    pub(super) fn bytes(&self) -> usize {
        8 * self.words.len()
    }

    pub(super) fn window(&self) -> u32 {
        self.window
    }

    pub(super) fn places(&self) -> usize {
        self.places
    }

    /// All words of a place.
    pub(super) fn place(&self, place: usize) -> &[u64] {
        let len = self.words.len() / self.places;
        &self.words[place * len..][..len]
    }

    /// Reads the entries of public exponents from a table that is laid out entry by entry. Missing lanes
    /// repeat the last exponent.
    pub(super) fn read_vartime<K: Kernel>(&self, place: usize, exponents: &[&[u64]], out: &mut [u64]) {
        for lane in 0..K::LANES {
            let exponent = exponents[lane.min(exponents.len() - 1)];
            let entry = bits_at(exponent, place * self.window as usize, self.window) as usize;
            let entry = &self.place(place)[entry * self.digits..][..self.digits];
            out[lane..].iter_mut().step_by(K::LANES).zip(entry).for_each(|(to, from)| *to = *from);
        }
    }
}

/// Fills the words of at most `LANES` places, one place in each lane, from the first powers of the places.
fn fill<K: Kernel>(
    domain: &Domain<K>,
    words: &mut [u64],
    first: &[u64],
    entries: usize,
    layout: Layout,
    work: &mut Workspace,
) {
    let digits = domain.kernel().digits();
    let mut base = Rows::zeros(domain.one().len());
    let last = first.len() / digits - 1;
    for lane in 0..K::LANES {
        let power = &first[lane.min(last) * digits..][..digits];
        base[lane..].iter_mut().step_by(K::LANES).zip(power).for_each(|(to, from)| *to = *from);
    }
    let mut power = Rows::zeros(base.len());
    power.copy_from_slice(domain.one());
    for entry in 0..entries {
        match entry {
            0 => {}
            1 => power.copy_from_slice(&base),
            _ => domain.multiply(&mut power, &base, work),
        }
        for (lane, place) in words.chunks_exact_mut(entries * digits).enumerate() {
            let column = power[lane..].iter().step_by(K::LANES);
            let (start, step) = match layout {
                Layout::DigitByDigit => (entry, entries),
                Layout::EntryByEntry => (entry * digits, 1),
            };
            place[start..].iter_mut().step_by(step).zip(column).for_each(|(to, from)| *to = *from);
        }
    }
}
