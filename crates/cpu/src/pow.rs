//! Exponentiation in a Montgomery domain.

use crate::domain::{Domain, Workspace};
use crate::kernel::Kernel;
use crate::rows::Rows;
use modmill_core::limbs::{bit_length, bits_at};
use modmill_core::window::{SlidingStep, best_sliding_steps_vartime};

/// `x <- x^e` in Montgomery form, for one secret exponent per lane of declared width `bits`.
///
/// The exponentiation uses fixed windows. After every `window` squarings there is one product, even for the
/// digit zero, with a table entry that [`Kernel::select`] reads. The sequence of operations and addresses
/// depends on `bits` and `window` only ([Emmart-wide], section II: constant time by a fixed window and the
/// Orup/Walter range).
pub(crate) fn pow<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    exponents: &[&[u64]],
    bits: usize,
    window: u32,
    work: &mut Workspace,
) {
    let mut table = powers(domain, x, 1 << window, work);
    domain.kernel().arrange(&mut table, domain.kernel().digits());
    let exponents = Exponents::new::<K>(exponents, bits, window);
    let mut indices = Rows::zeros(K::AT_ONCE * K::LANES);
    fixed_windows(domain, x, bits, window, K::AT_ONCE, work, |place, factors| {
        for (place, indices) in (place..).zip(indices.chunks_exact_mut(K::LANES)) {
            exponents.digits(place * window as usize, window, indices);
        }
        domain.kernel().arrange(&mut indices, 1);
        domain.kernel().select(&table, &indices, factors);
    });
    work.table = table;
}

/// Exponents interleaved limb by limb, so that the window digits of all lanes are extracted together.
struct Exponents {
    limbs: Rows,
    lanes: usize,
}

impl Exponents {
    /// The low `bits` bits of one exponent per lane. Zeros above them fill the last group of windows that is
    /// read at once. Missing lanes repeat the last exponent.
    fn new<K: Kernel>(exponents: &[&[u64]], bits: usize, window: u32) -> Self {
        let mut limbs = Rows::zeros(((bits + K::AT_ONCE * window as usize) / 64 + 2) * K::LANES);
        for lane in 0..K::LANES {
            let exponent = exponents[lane.min(exponents.len() - 1)];
            for (index, start) in (0..bits).step_by(64).enumerate() {
                limbs[index * K::LANES + lane] = bits_at(exponent, start, (bits - start).min(64) as u32);
            }
        }
        Self { limbs, lanes: K::LANES }
    }

    /// The `window` bits from bit `start` up, for each lane.
    fn digits(&self, start: usize, window: u32, digits: &mut [u64]) {
        let (row, shift) = (start / 64 * self.lanes, start % 64);
        let (low, high) = self.limbs[row..][..2 * self.lanes].split_at(self.lanes);
        let mask = (1 << window) - 1;
        for ((digit, low), high) in digits.iter_mut().zip(low).zip(high) {
            // The shift has two steps, so that shift = 0 takes nothing from the limb above.
            *digit = (low >> shift | high << 1 << (63 - shift)) & mask;
        }
    }
}

/// `x <- x^e` for one public exponent in all lanes, by sliding windows of at most `longest_window` bits.
pub(crate) fn pow_shared_vartime<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    exponent: &[u64],
    longest_window: u32,
    work: &mut Workspace,
) {
    let (window, steps) = best_sliding_steps_vartime(exponent, longest_window);
    let Some((&first, rest)) = steps.split_first() else {
        return x.copy_from_slice(domain.one());
    };
    // A table of odd powers: entry i holds `x^(2i + 1)`.
    let entries = 1usize << (window - 1);
    let mut table = take_table(entries * x.len(), work);
    table[..x.len()].copy_from_slice(x);
    if entries > 1 {
        domain.square(x, 1, work);
        for entry in 1..entries {
            let (done, next) = table.split_at_mut(entry * x.len());
            next[..x.len()].copy_from_slice(&done[(entry - 1) * x.len()..]);
            domain.multiply(&mut next[..x.len()], x, work);
        }
    }
    let len = x.len();
    let odd = |power: u64| &table[power as usize / 2 * len..][..len];
    // The first step would square the number one, so the power starts from the first table entry instead.
    x.copy_from_slice(odd(first.odd_power.unwrap_or(1)));
    for &SlidingStep { squarings, odd_power } in rest {
        domain.square(x, squarings, work);
        if let Some(power) = odd_power {
            domain.multiply(x, odd(power), work);
        }
    }
    work.table = table;
}

/// `x <- x^e` for one public exponent per lane, by fixed windows with direct table reads.
pub(crate) fn pow_each_vartime<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    exponents: &[&[u64]],
    window: u32,
    work: &mut Workspace,
) {
    let bits = exponents.iter().map(|exponent| bit_length(exponent)).max().unwrap_or(0);
    let table = powers(domain, x, 1 << window, work);
    fixed_windows(domain, x, bits, window, 1, work, |place, out| {
        for lane in 0..K::LANES {
            let exponent = exponents[lane.min(exponents.len() - 1)];
            let entry = bits_at(exponent, place * window as usize, window) as usize * out.len();
            let column = table[entry + lane..].iter().step_by(K::LANES);
            for (to, from) in out[lane..].iter_mut().step_by(K::LANES).zip(column) {
                *to = *from;
            }
        }
    });
    work.table = table;
}

/// The fixed-window loop over exponents of `bits` bits. `read` fetches the table entries of the `at_once`
/// windows that start at a place, one after the other.
fn fixed_windows<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    bits: usize,
    window: u32,
    at_once: usize,
    work: &mut Workspace,
    mut read: impl FnMut(usize, &mut [u64]),
) {
    let places = bits.div_ceil(window as usize);
    if places == 0 {
        return x.copy_from_slice(domain.one());
    }
    let mut factors = Rows::zeros(at_once * x.len());
    for place in (0..places).rev() {
        let (top, index) = (place + 1 == places, place % at_once);
        if top || index + 1 == at_once {
            read(place - index, &mut factors);
        }
        let factor = &factors[index * x.len()..][..x.len()];
        if top {
            x.copy_from_slice(factor);
            continue;
        }
        domain.square(x, window, work);
        domain.multiply(x, factor, work);
    }
}

/// The powers `x^0` to `x^(entries - 1)`, the even ones by squaring. The table has room for at least
/// `AT_ONCE` entries.
fn powers<K: Kernel>(domain: &Domain<K>, x: &[u64], entries: usize, work: &mut Workspace) -> Rows {
    let len = x.len();
    let mut table = take_table(entries.max(K::AT_ONCE) * len, work);
    table[..len].copy_from_slice(domain.one());
    table[len..2 * len].copy_from_slice(x);
    for entry in 2..entries {
        let (done, next) = table.split_at_mut(entry * len);
        let next = &mut next[..len];
        if entry % 2 == 0 {
            next.copy_from_slice(&done[entry / 2 * len..][..len]);
            domain.square(next, 1, work);
        } else {
            next.copy_from_slice(&done[(entry - 1) * len..]);
            domain.multiply(next, x, work);
        }
    }
    table
}

/// Takes the table of the workspace, with `len` words. The caller puts it back after use.
fn take_table(len: usize, work: &mut Workspace) -> Rows {
    let table = std::mem::take(&mut work.table);
    if table.len() == len { table } else { Rows::zeros(len) }
}
