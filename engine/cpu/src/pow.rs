//! Exponentiation in a Montgomery domain.

use crate::domain::{Domain, Workspace};
use crate::kernel::Kernel;
use crate::working_memory::Rows;
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
    let mut factors = [SecretFactors::new(domain, x, exponents, bits, window, work)];
    fixed_windows(domain, x, window, &mut factors, work);
    let [SecretFactors { table, .. }] = factors;
    work.table = table;
}

/// The factors of the fixed windows of one power for each lane, the lowest window first.
pub(crate) trait Factors {
    /// The number of windows.
    fn places(&self) -> usize;

    /// The factor of the window at `place`, for each lane. Places are asked for from the highest one down.
    fn at(&mut self, place: usize) -> &[u64];
}

/// Factors by secret exponents.
pub(crate) struct SecretFactors<'d, K: Kernel> {
    domain: &'d Domain<K>,
    table: Rows,
    exponents: Exponents,
    places: usize,
    window: u32,
    indices: Rows,
    /// The factors of the windows that are read at once.
    read: Rows,
}

impl<'d, K: Kernel> SecretFactors<'d, K> {
    /// The factors of `x^e` for exponents of declared width `bits`. The table is taken from `work` if it
    /// fits.
    pub(crate) fn new(
        domain: &'d Domain<K>,
        x: &[u64],
        exponents: &[&[u64]],
        bits: usize,
        window: u32,
        work: &mut Workspace,
    ) -> Self {
        let mut table = powers(domain, x, 1 << window, work);
        domain.kernel().arrange(&mut table, domain.kernel().digits());
        Self {
            domain,
            table,
            exponents: Exponents::new::<K>(exponents, bits, window),
            places: bits.div_ceil(window as usize),
            window,
            indices: Rows::zeros(K::AT_ONCE * K::LANES),
            read: Rows::zeros(K::AT_ONCE * x.len()),
        }
    }
}

impl<K: Kernel> Factors for SecretFactors<'_, K> {
    fn places(&self) -> usize {
        self.places
    }

    fn at(&mut self, place: usize) -> &[u64] {
        let Self { domain, table, exponents, window, indices, read, .. } = self;
        let index = place % K::AT_ONCE;
        if place + 1 == self.places || index + 1 == K::AT_ONCE {
            for (place, indices) in (place - index..).zip(indices.chunks_exact_mut(K::LANES)) {
                exponents.digits(place * *window as usize, *window, indices);
            }
            domain.kernel().arrange(indices, 1);
            domain.kernel().select(table, indices, read);
        }
        let len = read.len() / K::AT_ONCE;
        &read[index * len..][..len]
    }
}

/// Exponents interleaved limb by limb, so that the window digits of all lanes are extracted together.
pub(crate) struct Exponents {
    limbs: Rows,
    lanes: usize,
}

impl Exponents {
    /// The low `bits` bits of one exponent per lane. Zeros above them fill the last group of windows that is
    /// read at once. Missing lanes repeat the last exponent.
    pub(crate) fn new<K: Kernel>(exponents: &[&[u64]], bits: usize, window: u32) -> Self {
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
    pub(crate) fn digits(&self, start: usize, window: u32, digits: &mut [u64]) {
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
    let mut factors = [PublicFactors::new(domain, x, exponents, window, work)];
    fixed_windows(domain, x, window, &mut factors, work);
    let [PublicFactors { table, .. }] = factors;
    work.table = table;
}

/// Factors by public exponents, read directly.
pub(crate) struct PublicFactors<'a> {
    table: Rows,
    exponents: &'a [&'a [u64]],
    lanes: usize,
    places: usize,
    window: u32,
    factor: Rows,
}

impl<'a> PublicFactors<'a> {
    /// The factors of `x^e`. The table is taken from `work` if it fits.
    pub(crate) fn new<K: Kernel>(
        domain: &Domain<K>,
        x: &[u64],
        exponents: &'a [&'a [u64]],
        window: u32,
        work: &mut Workspace,
    ) -> Self {
        let bits = exponents.iter().map(|exponent| bit_length(exponent)).max().unwrap_or(0);
        Self {
            table: powers(domain, x, 1 << window, work),
            exponents,
            lanes: K::LANES,
            places: bits.div_ceil(window as usize),
            window,
            factor: Rows::zeros(x.len()),
        }
    }
}

impl Factors for PublicFactors<'_> {
    fn places(&self) -> usize {
        self.places
    }

    fn at(&mut self, place: usize) -> &[u64] {
        let Self { table, exponents, lanes, window, factor, .. } = self;
        for lane in 0..*lanes {
            let exponent = exponents[lane.min(exponents.len() - 1)];
            let entry = bits_at(exponent, place * *window as usize, *window) as usize * factor.len();
            let column = table[entry + lane..].iter().step_by(*lanes);
            for (to, from) in factor[lane..].iter_mut().step_by(*lanes).zip(column) {
                *to = *from;
            }
        }
        factor
    }
}

/// Multiplies powers in Montgomery form, all by fixed windows of `window` bits: `x` becomes the product of
/// the powers that `powers` has the factors of. The powers share one chain of squarings.
pub(crate) fn fixed_windows<K: Kernel>(
    domain: &Domain<K>,
    x: &mut [u64],
    window: u32,
    powers: &mut [impl Factors],
    work: &mut Workspace,
) {
    let places = powers.iter().map(Factors::places).max().unwrap_or(0);
    if places == 0 {
        return x.copy_from_slice(domain.one());
    }
    for place in (0..places).rev() {
        let is_top = place + 1 == places;
        if !is_top {
            domain.square(x, window, work);
        }
        let mut is_empty = is_top;
        for power in powers.iter_mut().filter(|power| place < power.places()) {
            let factor = power.at(place);
            if std::mem::take(&mut is_empty) {
                x.copy_from_slice(factor);
            } else {
                domain.multiply(x, factor, work);
            }
        }
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
