//! A Montgomery domain: a kernel with the constants to enter and leave Montgomery form.
//!
//! The constants are computed by the kernel's own products, in its own lanes. A modulus given per item
//! therefore costs a dozen products to set up instead of a division.

use crate::kernel::{Dividend, Kernel, RECIPROCAL};
use crate::lanes::{self, Bits};
use crate::power_of_two as two;
use crate::working_memory::{CleanStack, Rows, clear_stack};
use modmill_core::{Modulus, limbs, radix};
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

/// Arithmetic modulo `LANES` odd numbers of at least 3.
pub(crate) struct Domain<K: Kernel> {
    token: K::Token,
    kernel: K,
    /// The moduli as plain digits.
    modulus: Rows,
    /// Twice the moduli, as plain digits.
    twice: Rows,
    /// `R mod N`, which represents the number one.
    one: Rows,
    /// `R^2 mod N`: a product with it enters Montgomery form.
    entry: Rows,
    /// The constants of divisions, if they were made.
    reciprocal: OnceLock<Rows>,
}

/// The bound that a computation promises for the residues that it leaves. It decides how many times a
/// multiple of N is subtracted before they are stored.
pub(crate) enum Residue {
    /// It is below 4N.
    Wide,
    /// It is below 2N, and its digits are plain: the remainder of a division.
    Remainder,
}

/// The constants of one lane of a domain, cached with the modulus of that lane.
struct Column<K> {
    digits: usize,
    words: Rows,
    kernel: PhantomData<K>,
}

/// Working memory for one thread in one domain.
pub(crate) struct Workspace {
    /// The running value.
    pub x: Rows,
    /// The second factor.
    pub y: Rows,
    /// The window table. Its memory is reused from one group of lanes to the next.
    pub table: Rows,
    scratch: Rows,
    chunk: Rows,
    limbs: Rows,
    /// Working memory of divisions, made by the first one.
    division: Rows,
    /// A number of twice as many digits, and the limbs that it comes from, made by the first one.
    wide: [Rows; 2],
    _stack: CleanStack,
}

impl Workspace {
    /// Working memory for any domain of kernel `K` with moduli of at most `bits` bits.
    #[must_use]
    pub(crate) fn new<K: Kernel>(bits: usize) -> Self {
        let digits = Domain::<K>::digits_for(bits);
        let rows = || Rows::zeros(digits * K::LANES);
        Self {
            x: rows(),
            y: rows(),
            table: Rows::default(),
            scratch: Rows::zeros(K::scratch_words(digits)),
            chunk: rows(),
            limbs: Rows::zeros(Domain::<K>::limb_words(digits)),
            division: Rows::default(),
            wide: [Rows::default(), Rows::default()],
            _stack: CleanStack,
        }
    }
}

impl<K: Kernel> Domain<K> {
    /// The number of digits for moduli of `bits` bits.
    #[must_use]
    pub(crate) fn digits_for(bits: usize) -> usize {
        radix::digits_for(bits + K::ROOM, K::WIDTH)
    }

    /// A domain for odd moduli of at least 3 and at most `bits` bits, one per lane. Missing lanes repeat the
    /// last modulus.
    #[must_use]
    pub(crate) fn new(token: K::Token, bits: usize, moduli: &[&[u64]]) -> Self {
        let digits = Self::digits_for(bits);
        let rows = || Rows::zeros(digits * K::LANES);
        let mut limbs = Rows::zeros(Self::limb_words(digits));
        let (mut modulus, mut twice) = (rows(), rows());
        K::split(token, moduli, Bits::below(bits), &mut limbs, &mut modulus);
        clear_stack();
        let overflow = lanes::double::<K>(&modulus, &mut twice);
        // Without room above N, 2N may not fit in R. Every value below R is then below 2N, so nothing is
        // subtracted.
        for (lane, _) in overflow.iter().enumerate().filter(|(_, overflow)| **overflow != 0) {
            twice.iter_mut().skip(lane).step_by(K::LANES).for_each(|digit| *digit = 0);
        }
        let kernel = K::new(token, &modulus);
        let (one, entry) = Self::unity(token, &kernel, moduli, &mut limbs);
        Self { token, kernel, modulus, twice, one, entry, reciprocal: OnceLock::new() }
    }

    /// Like [`Domain::new`], for moduli that all have the same number of limbs and cache their constants
    /// between calls.
    #[must_use]
    pub(crate) fn prepared(token: K::Token, bits: usize, moduli: &[&Modulus]) -> Arc<Self> {
        let (first, digits) = (moduli[0], Self::digits_for(bits));
        if moduli.iter().all(|modulus| modulus.is_clone_of(first)) && Self::digits_for(first.bits()) == digits
        {
            return first.constants(|modulus| Self::new(token, modulus.bits(), &[modulus.value()]));
        }
        let columns: Vec<_> = moduli.iter().map(|modulus| modulus.known_constants::<Column<K>>()).collect();
        let fits = |column: &Option<Arc<Column<K>>>| column.as_ref().is_some_and(|it| it.digits == digits);
        if columns.iter().all(fits) {
            let mut domain = Self::blank(token, digits);
            for lane in 0..K::LANES {
                if let Some(column) = &columns[lane.min(columns.len() - 1)] {
                    domain.write_lane(lane, column);
                }
            }
            return Arc::new(domain);
        }
        let values: Vec<&[u64]> = moduli.iter().map(|modulus| modulus.value()).collect();
        let mut domain = Self::new(token, bits, &values);
        for (lane, (modulus, column)) in moduli.iter().zip(&columns).enumerate() {
            if column.is_none() && Self::digits_for(modulus.bits()) == digits {
                modulus.constants(|_| domain.read_lane(lane));
            }
        }
        Arc::new(domain)
    }

    fn blank(token: K::Token, digits: usize) -> Self {
        let rows = || Rows::zeros(digits * K::LANES);
        let kernel = K::blank(token, digits);
        let reciprocal = OnceLock::new();
        Self { token, kernel, modulus: rows(), twice: rows(), one: rows(), entry: rows(), reciprocal }
    }

    /// All constants that depend on the moduli.
    fn constants(&mut self) -> Vec<&mut [u64]> {
        let own = [&mut self.modulus, &mut self.twice, &mut self.one, &mut self.entry];
        own.into_iter().map(|rows| &mut rows[..]).chain(self.kernel.constants()).collect()
    }

    fn read_lane(&mut self, lane: usize) -> Column<K> {
        let digits = self.kernel.digits();
        let constants = self.constants();
        let len = constants.iter().map(|rows| rows.len() / K::LANES).sum();
        let mut words = Rows::zeros(len);
        let column = constants.iter().flat_map(|rows| rows.iter().skip(lane).step_by(K::LANES));
        words.iter_mut().zip(column).for_each(|(to, from)| *to = *from);
        Column { digits, words, kernel: PhantomData }
    }

    fn write_lane(&mut self, lane: usize, column: &Column<K>) {
        let constants = self.constants();
        let lane = constants.into_iter().flat_map(|rows| rows.iter_mut().skip(lane).step_by(K::LANES));
        lane.zip(column.words.iter()).for_each(|(to, from)| *to = *from);
    }

    /// Words that hold the limbs of one number of `digits` digits per lane.
    fn limb_words(digits: usize) -> usize {
        lanes::limb_words(K::LANES, (digits * K::WIDTH as usize).div_ceil(64) + 1)
    }

    /// One and R^2 in Montgomery form, for each lane.
    ///
    /// Each modulus is shifted up until it fills R: `S = N 2^s` with `R/2 < S < R`. Then `u = R - S` is
    /// congruent to R modulo N and below R/2. Two squarings keep it congruent to R, since one squared is one,
    /// and bring it below `R/16 + 2.1 N`. The product with `2u` represents the number two and is below R/4.
    /// From two, square-and-multiply over the binary digits of `log2 R` leads to `2^(log2 R) = R` in
    /// Montgomery form, which is R^2. Each squaring squares the excess over N relative to R. After these five
    /// or more squarings the result is below 2.1 N, whatever the size of N.
    fn unity(token: K::Token, kernel: &K, moduli: &[&[u64]], limbs: &mut [u64]) -> (Rows, Rows) {
        let bits = K::WIDTH as usize * kernel.digits();
        let words = bits.div_ceil(64);
        let mut complements = Zeroizing::new(Vec::with_capacity(moduli.len() * words));
        for modulus in moduli {
            let start = complements.len();
            complements.resize(start + words, 0);
            let complement = &mut complements[start..];
            limbs::shift_left(modulus, bits - limbs::bit_length(modulus), complement);
            limbs::negate(complement);
        }
        let complements: Vec<&[u64]> = complements.chunks_exact(words).collect();
        let rows = || Rows::zeros(kernel.digits() * K::LANES);
        let (mut one, mut two) = (rows(), rows());
        K::split(token, &complements, Bits::below(bits), limbs, &mut one);
        lanes::double::<K>(&one, &mut two);
        K::encode(&mut one);
        K::encode(&mut two);
        let mut scratch = Rows::zeros(K::scratch_words(kernel.digits()));
        kernel.square(&mut one, 2, &mut scratch);
        kernel.multiply(&mut two, &one, &mut scratch);
        let mut entry = two.clone();
        for place in (0..bits.ilog2()).rev() {
            kernel.square(&mut entry, 1, &mut scratch);
            if bits >> place & 1 == 1 {
                kernel.multiply(&mut entry, &two, &mut scratch);
            }
        }
        (one, entry)
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> &K {
        &self.kernel
    }

    /// The number one in Montgomery form.
    pub(crate) fn one(&self) -> &[u64] {
        &self.one
    }

    /// `R^2 mod N`, which represents R in Montgomery form.
    pub(crate) fn entry(&self) -> &[u64] {
        &self.entry
    }

    /// Loads one number of declared width `bits` per lane into `out`, as plain residues (not in Montgomery
    /// form). The numbers may be of any size. The time depends on the declared width only.
    ///
    /// Numbers below `R / 2^ROOM` are copied. Longer numbers are divided if there is a reciprocal. Otherwise
    /// they are reduced by Horner's rule over chunks below R/32; each step is one product and one sum, and
    /// its result is below `2.2 N + R/32`.
    pub(crate) fn load(&self, numbers: &[&[u64]], bits: usize, out: &mut [u64], work: &mut Workspace) {
        let capacity = K::WIDTH as usize * self.kernel.digits() - K::ROOM;
        if bits <= capacity {
            K::split(self.token, numbers, Bits::below(bits), &mut work.limbs, out);
            return K::encode(out);
        }
        if bits <= self.dividend_bits() {
            return self.remainder(numbers, bits, out, work);
        }
        let chunk_bits = K::WIDTH as usize * self.kernel.digits() - 5;
        let shift = self.power_of_two(chunk_bits, work);
        let Workspace { scratch, chunk, limbs, .. } = work;
        let mut load = |index: usize, rows: &mut [u64]| {
            let start = index * chunk_bits;
            let chunk = Bits { start, end: bits.min(start + chunk_bits) };
            K::split(self.token, numbers, chunk, limbs, rows);
            K::encode(rows);
        };
        let top = bits.div_ceil(chunk_bits) - 1;
        load(top, out);
        for index in (0..top).rev() {
            self.kernel.multiply(out, &shift, scratch);
            load(index, chunk);
            self.kernel.add(out, chunk);
        }
    }

    /// `2^place` in Montgomery form, for `2^place` below R.
    fn power_of_two(&self, place: usize, work: &mut Workspace) -> Rows {
        let mut power = Rows::zeros(self.one.len());
        let (digit, bit) = (place / K::WIDTH as usize, place % K::WIDTH as usize);
        power[digit * K::LANES..][..K::LANES].fill(1 << bit);
        K::encode(&mut power);
        self.kernel.multiply(&mut power, &self.entry, &mut work.scratch);
        power
    }

    /// Loads numbers and brings them into Montgomery form.
    pub(crate) fn enter(&self, numbers: &[&[u64]], bits: usize, out: &mut [u64], work: &mut Workspace) {
        self.load(numbers, bits, out, work);
        self.multiply(out, &self.entry, work);
    }

    /// `x <- x y / R`.
    pub(crate) fn multiply(&self, x: &mut [u64], y: &[u64], work: &mut Workspace) {
        self.kernel.multiply(x, y, &mut work.scratch);
    }

    /// `x <- x^2 / R`, repeated `times` times.
    pub(crate) fn square(&self, x: &mut [u64], times: u32, work: &mut Workspace) {
        self.kernel.square(x, times, &mut work.scratch);
    }

    /// Makes the reciprocal of the one modulus of all lanes, and what else divisions need, if the kernel has
    /// a use for it. It pays off from the second group of lanes on.
    ///
    /// `R^2 - (R^2 mod N)` is a multiple of N. Their quotient is less than R times `2^(2 WIDTH)`, and the
    /// product with the inverse of N modulo that power of two, which divides `R^2`.
    pub(crate) fn prepare_division(&self, modulus: &Modulus) {
        let digits = self.kernel.digits();
        let fits = digits >= RECIPROCAL && digits == Self::digits_for(modulus.bits());
        let (Some(division), true) = (K::DIVISION, fits) else { return };
        self.reciprocal.get_or_init(|| {
            let mut work = Workspace::new::<K>(modulus.bits());
            let mut entry = self.entry.clone();
            let mut square = Zeroizing::new(vec![0; modulus.value().len()]);
            let stride = square.len();
            self.store(&mut entry, &mut square, stride, &mut work);
            let bits = K::WIDTH as usize * (digits + RECIPROCAL - 1);
            let inverse = two::inverse_of_odd_residue(&two::reduce(modulus.value(), bits), bits);
            let negated = two::sub(&two::reduce(&[0], bits), &two::reduce(&square, bits), bits);
            let quotient = two::mul(&negated, &inverse, bits);
            let mut limbs = Rows::zeros(lanes::limb_words(K::LANES, quotient.len()));
            let mut constants = Rows::zeros((division.constant_words)(digits));
            let reciprocal = &mut constants[K::LANES..(digits + RECIPROCAL) * K::LANES];
            K::split(self.token, &[&quotient], Bits::below(bits), &mut limbs, reciprocal);
            (division.complete)(&self.kernel, &mut constants);
            constants
        });
    }

    /// `x <- x y mod N`, or the square of x, for plain numbers as [`Domain::load`] leaves them. The result is
    /// a remainder, or below `2.3 N`.
    pub(crate) fn multiply_plain(&self, x: &mut [u64], y: Option<&[u64]>, work: &mut Workspace) -> Residue {
        let dividend = y.map_or(Dividend::Square, Dividend::Product);
        if self.divide(x, dividend, work) {
            return Residue::Remainder;
        }
        match y {
            Some(y) => self.multiply(x, y, work),
            None => self.square(x, 1, work),
        }
        // Cancels the factor 1/R.
        self.kernel.multiply(x, &self.entry, &mut work.scratch);
        Residue::Wide
    }

    /// The length of the numbers that [`Domain::remainder`] takes, in bits; zero without a reciprocal.
    pub(crate) fn dividend_bits(&self) -> usize {
        self.reciprocal.get().map_or(0, |_| 2 * K::WIDTH as usize * self.kernel.digits() - 4)
    }

    /// The remainders of one number per lane, of a declared width of at most [`Domain::dividend_bits`], below
    /// `1.07 N`. The time depends on the declared width only.
    pub(crate) fn remainder(&self, numbers: &[&[u64]], bits: usize, out: &mut [u64], work: &mut Workspace) {
        let digits = 2 * self.kernel.digits();
        let [mut wide, mut limbs] = std::mem::take(&mut work.wide);
        if wide.is_empty() {
            wide = Rows::zeros(digits * K::LANES);
            limbs = Rows::zeros(Self::limb_words(digits));
        }
        K::split(self.token, numbers, Bits::below(bits), &mut limbs, &mut wide);
        self.divide(out, Dividend::Number(&wide), work);
        work.wide = [wide, limbs];
    }

    /// Replaces x by a remainder, if there is a reciprocal.
    fn divide(&self, x: &mut [u64], dividend: Dividend<'_>, work: &mut Workspace) -> bool {
        let (Some(division), Some(reciprocal)) = (K::DIVISION, self.reciprocal.get()) else { return false };
        if work.division.is_empty() {
            work.division = Rows::zeros((division.scratch_words)(self.kernel.digits()));
        }
        (division.remainder)(&self.kernel, x, dividend, reciprocal, &mut work.division);
        true
    }

    /// Leaves Montgomery form by a product with one. The result is at most `2.1 N`.
    pub(crate) fn leave(&self, x: &mut [u64], work: &mut Workspace) {
        let Workspace { scratch, chunk: one, .. } = work;
        one.fill(0);
        one[..K::LANES].fill(1);
        K::encode(one);
        self.kernel.multiply(x, one, scratch);
    }

    /// Writes plain residues below 4N as canonical numbers of `stride` limbs, lane after lane, for as many
    /// lanes as `out` holds.
    pub(crate) fn store(&self, x: &mut [u64], out: &mut [u64], stride: usize, work: &mut Workspace) {
        K::decode(x);
        K::reduce_once(self.token, x, &self.twice, &mut work.chunk);
        self.store_remainder(x, out, stride, work);
    }

    /// [`Domain::store`] for remainders of divisions, which are below 2N.
    pub(crate) fn store_remainder(
        &self,
        x: &mut [u64],
        out: &mut [u64],
        stride: usize,
        work: &mut Workspace,
    ) {
        K::reduce_once(self.token, x, &self.modulus, &mut work.chunk);
        K::join(self.token, x, &mut work.limbs, out, stride);
    }
}
