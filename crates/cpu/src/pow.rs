//! Exponentiation in a Montgomery domain.

use crate::domain::{Domain, Workspace};
use crate::kernel::{Kernel, MAX_LANES};
use crate::rows::Rows;
use modmill_core::limbs::{bit_length, bits_at};
use modmill_core::window::{SlidingStep, best_sliding_steps_vartime};

/// `x <- x^e` in Montgomery form, for a secret exponent a lane of declared width `bits`.
///
/// Fixed windows: after every `window` squarings one product, also for the digit zero, by a
/// table entry read with [`Kernel::select`]. The sequence of operations and addresses depends on
/// `bits` and `window` alone ("wide samples", section II: constant time by a fixed window and
/// the Orup/Walter range).
pub fn pow<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    exponents: &[&[u64]],
    bits: usize,
    window: u32,
    work: &mut Workspace,
) {
    let parts = if K::FETCHED.contains(&(size_of_val(x) << window)) { window as usize } else { 1 };
    let table = powers(domain, x, 1 << window, parts, work);
    let exponents = Exponents::new::<K>(exponents, bits);
    let mut indices = zeroize::Zeroizing::new([0u64; MAX_LANES]);
    let indices = &mut indices[..K::LANES];
    fixed_windows(domain, x, bits, window, &table, work, |place, part, out| {
        exponents.digits(place * window as usize, window, indices);
        domain.kernel().select(part, indices, out);
    });
    work.table = table.rows;
}

/// Exponents laid side by side, limb by limb, so that all lanes' digits are cut out together.
struct Exponents {
    limbs: Rows,
    lanes: usize,
}

impl Exponents {
    /// The low `bits` bits of an exponent a lane, and a row of zeros above; missing lanes repeat
    /// the last one.
    fn new<K: Kernel>(exponents: &[&[u64]], bits: usize) -> Self {
        let mut limbs = Rows::zeros((bits / 64 + 2) * K::LANES);
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
            // Shifted in two steps, so that shift = 0 takes nothing from the limb above.
            *digit = (low >> shift | high << 1 << (63 - shift)) & mask;
        }
    }
}

/// `x <- x^e` for one public exponent in all lanes, by sliding windows over its own bits.
pub fn pow_shared_vartime<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    exponent: &[u64],
    work: &mut Workspace,
) {
    let (window, steps) = best_sliding_steps_vartime(exponent);
    let Some((&first, rest)) = steps.split_first() else {
        return x.copy_from_slice(domain.one());
    };
    // Odd powers: entry i holds x^(2i + 1).
    let entries = 1usize << (window - 1);
    let mut table = take_table(entries * x.len(), work);
    table[..x.len()].copy_from_slice(x);
    if entries > 1 {
        domain.square(x, work);
        for entry in 1..entries {
            let (done, next) = table.split_at_mut(entry * x.len());
            next[..x.len()].copy_from_slice(&done[(entry - 1) * x.len()..]);
            domain.multiply(&mut next[..x.len()], x, work);
        }
    }
    let len = x.len();
    let odd = |power: u64| &table[power as usize / 2 * len..][..len];
    // The first step would square the number one: start from its odd power instead.
    x.copy_from_slice(odd(first.odd_power.unwrap_or(1)));
    for &SlidingStep { squarings, odd_power } in rest {
        for _ in 0..squarings {
            domain.square(x, work);
        }
        if let Some(power) = odd_power {
            domain.multiply(x, odd(power), work);
        }
    }
    work.table = table;
}

/// `x <- x^e` for a public exponent a lane: fixed windows in step, table entries read directly.
pub fn pow_each_vartime<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    exponents: &[&[u64]],
    window: u32,
    work: &mut Workspace,
) {
    let bits = exponents.iter().map(|exponent| bit_length(exponent)).max().unwrap_or(0);
    let table = powers(domain, x, 1 << window, 1, work);
    fixed_windows(domain, x, bits, window, &table, work, |place, table, out| {
        for lane in 0..K::LANES {
            let exponent = exponents[lane.min(exponents.len() - 1)];
            let entry = bits_at(exponent, place * window as usize, window) as usize * out.len();
            let column = table[entry + lane..].iter().step_by(K::LANES);
            for (to, from) in out[lane..].iter_mut().step_by(K::LANES).zip(column) {
                *to = *from;
            }
        }
    });
    work.table = table.rows;
}

/// The loop of a fixed window over exponents of `bits` bits; `read` fetches the entries for the
/// window at a place from a part of the table. A part is read after its square.
fn fixed_windows<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    bits: usize,
    window: u32,
    table: &Table,
    work: &mut Workspace,
    mut read: impl FnMut(usize, &[u64], &mut [u64]),
) {
    let places = bits.div_ceil(window as usize);
    if places == 0 {
        return x.copy_from_slice(domain.one());
    }
    for (part, out) in table.parts().zip(x.chunks_mut(table.part)) {
        read(places - 1, part, out);
    }
    let mut factor = Rows::zeros(x.len());
    // A table in one part is near; each of several parts is fetched by a square.
    let fetching = if table.parts().len() == 1 { 0 } else { table.parts().len() };
    for place in (0..places - 1).rev() {
        for _ in fetching..window as usize {
            domain.square(x, work);
        }
        for (part, out) in table.parts().zip(factor.chunks_mut(table.part)) {
            if fetching > 0 {
                domain.square_and_fetch(x, part, work);
            }
            read(place, part, out);
        }
        domain.multiply(x, &factor, work);
    }
}

/// Powers of a number, cut into parts of so many words: the first part of every entry, one after the
/// other, then the second ones, and so on.
struct Table {
    rows: Rows,
    entries: usize,
    part: usize,
}

impl Table {
    fn parts(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        self.rows.chunks(self.entries * self.part)
    }

    fn read(&self, entry: usize, out: &mut [u64]) {
        for (part, out) in self.parts().zip(out.chunks_mut(self.part)) {
            out.copy_from_slice(&part[entry * out.len()..][..out.len()]);
        }
    }

    fn write(&mut self, entry: usize, number: &[u64]) {
        let parts = self.rows.chunks_mut(self.entries * self.part);
        for (part, number) in parts.zip(number.chunks(self.part)) {
            part[entry * number.len()..][..number.len()].copy_from_slice(number);
        }
    }
}

/// The powers 0 to `entries - 1` of x, in at most so many parts; even ones by squaring.
fn powers<K: Kernel>(
    domain: &Domain<K>,
    x: &[u64],
    entries: usize,
    parts: usize,
    work: &mut Workspace,
) -> Table {
    let part = domain.kernel().digits().div_ceil(parts) * K::LANES;
    let mut table = Table { rows: take_table(entries * x.len(), work), entries, part };
    let mut power = Rows::zeros(x.len());
    table.write(0, domain.one());
    table.write(1, x);
    for entry in 2..entries {
        if entry % 2 == 0 {
            table.read(entry / 2, &mut power);
            domain.square(&mut power, work);
        } else {
            // The power before this one is still there.
            domain.multiply(&mut power, x, work);
        }
        table.write(entry, &power);
    }
    table
}

/// The workspace's table with `len` words, to be put back after use.
fn take_table(len: usize, work: &mut Workspace) -> Rows {
    let table = std::mem::take(&mut work.table);
    if table.len() == len { table } else { Rows::zeros(len) }
}
