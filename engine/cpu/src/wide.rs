//! Wide samples: modular products in floating point. The derivation is in `docs/algorithms/wide.md`.

pub(crate) mod leaf;
pub(crate) mod leaves;
pub(crate) mod samples;
#[cfg(test)]
pub(crate) mod tests;

use crate::kernel::{BatchKernel, Kernel};
use crate::lanes::{Bits, Lanes};
use crate::working_memory::Rows;
use leaves::{Leaves, Part};
use modmill_core::limbs::inverse_of_odd;
use modmill_core::{Family, Isa, KERNEL_MAX_BITS, radix};
use samples::{bias, make_initial};

/// Montgomery arithmetic modulo one odd number per vector lane, in floating point.
pub(crate) struct Wide<S: Leaves> {
    token: S::Token,
    digits: usize,
    modulus: Rows,
    /// `-N^-1` modulo the lowest block of digits.
    inverse: Rows,
    /// `2^-(WIDTH r) mod N`, where `r` digits remain after the division into blocks; empty if r is zero.
    fold_first: Rows,
    /// `2^-(WIDTH BLOCK) mod N`; empty if there is only one block.
    fold: Rows,
    /// The initial values of the columns of a product, which cancel all exponents.
    product_start: Vec<u64>,
    /// The initial values of the columns of a square, before it is doubled.
    square_start: Vec<u64>,
    /// The initial values of the columns that the last block visits again.
    last_start: Vec<u64>,
}

impl<S: Leaves> Lanes for Wide<S> {
    const LANES: usize = S::LANES;
    const WIDTH: u32 = S::WIDTH;
}

impl<S: Leaves> Kernel for Wide<S> {
    const ROOM: usize = 4;
    const FAMILY: Family = Family::Wide;
    const ISA: Isa = S::ISA;
    const AT_ONCE: usize = S::AT_ONCE;
    type Token = S::Token;

    fn new(token: S::Token, moduli: &[u64]) -> Self {
        let mut kernel = Self::blank(token, moduli.len() / S::LANES);
        S::convert(token, moduli, &mut kernel.modulus);
        kernel.inverse = negated_inverse::<S>(moduli, kernel.digits.min(S::BLOCK));
        if kernel.digits > S::BLOCK {
            kernel.fold = kernel.inverse_power(S::BLOCK);
            kernel.fold_first = kernel.inverse_power(kernel.digits % S::BLOCK);
        }
        kernel
    }

    fn blank(token: S::Token, digits: usize) -> Self {
        let () = Self::SUMS_FIT;
        assert!(digits <= Self::MAX_DIGITS);
        let rows = |digits: usize| Rows::zeros(digits * S::LANES);
        let has_folds = digits > S::BLOCK;
        let mut kernel = Self {
            token,
            digits,
            modulus: rows(digits),
            inverse: rows(digits.min(S::BLOCK)),
            fold_first: rows(if has_folds && !digits.is_multiple_of(S::BLOCK) { digits } else { 0 }),
            fold: rows(if has_folds { digits } else { 0 }),
            product_start: Vec::new(),
            square_start: Vec::new(),
            last_start: Vec::new(),
        };
        kernel.set_starts();
        kernel
    }

    fn digits(&self) -> usize {
        self.digits
    }

    fn constants(&mut self) -> Vec<&mut [u64]> {
        let rows = [&mut self.modulus, &mut self.inverse, &mut self.fold_first, &mut self.fold];
        rows.into_iter().map(|rows| &mut rows[..]).collect()
    }

    fn scratch_words(digits: usize) -> usize {
        (2 * digits + 4 * S::BLOCK) * S::LANES
    }

    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        S::fill(self.token, scratch, &self.product_start);
        Self::multiply_columns(self.token, scratch, x, y);
        self.reduce(scratch, x);
    }

    fn square(&self, x: &mut [u64], times: u32, scratch: &mut [u64]) {
        for _ in 0..times {
            S::fill(self.token, scratch, &self.square_start);
            Self::cross_columns(self.token, scratch, x);
            S::double_and_square(self.token, scratch, x);
            self.reduce(scratch, x);
        }
    }

    fn add(&self, x: &mut [u64], y: &[u64]) {
        S::add_numbers(self.token, x, y);
    }

    fn arrange(&self, numbers: &mut [u64], digits: usize) {
        S::arrange(self.token, numbers, digits);
    }

    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        S::select(self.token, table, indices, out);
    }

    fn split(token: S::Token, numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64]) {
        S::split(token, numbers, bits, limbs, rows);
    }

    fn join(token: S::Token, rows: &[u64], limbs: &mut [u64], numbers: &mut [u64], stride: usize) {
        S::join(token, rows, limbs, numbers, stride);
    }

    fn reduce_once(token: S::Token, x: &mut [u64], m: &[u64], space: &mut [u64]) {
        S::reduce_once(token, x, m, space);
    }

    fn encode(digits: &mut [u64]) {
        for digit in digits {
            *digit = (*digit as f64).to_bits();
        }
    }

    fn decode(digits: &mut [u64]) {
        let mut carries = [0; 8];
        for vector in digits.chunks_exact_mut(S::LANES) {
            for (digit, carry) in vector.iter_mut().zip(&mut carries) {
                let sum = f64::from_bits(*digit) as u64 + *carry;
                *digit = sum & (u64::MAX >> (64 - S::WIDTH));
                *carry = sum >> S::WIDTH;
            }
        }
    }
}

impl<S: Leaves> BatchKernel for Wide<S> {
    fn select_shared(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        S::select_shared(self.token, table, indices, out);
    }

    fn product(token: S::Token, x: &[u64], y: &[u64], out: &mut [u64]) {
        let () = Self::SUMS_FIT;
        assert!(x.len().min(y.len()) / S::LANES <= Self::MAX_DIGITS);
        let samples = |plain: &[u64]| {
            let mut samples = Rows::zeros(plain.len());
            S::convert(token, plain, &mut samples);
            samples
        };
        let (x, y) = if x.len() <= y.len() { (x, y) } else { (y, x) };
        let (nx, ny) = (x.len() / S::LANES, y.len() / S::LANES);
        let mut start = Self::biases(nx + ny);
        Self::charge_product(&mut start, nx, ny);
        S::fill(token, out, &start);
        Self::multiply_columns(token, out, &samples(x), &samples(y));
        S::finish_plain(token, out);
    }
}

impl<S: Leaves> Wide<S> {
    /// The number of digits of the longest modulus.
    const MAX_DIGITS: usize = radix::digits_for(KERNEL_MAX_BITS + Self::ROOM, S::WIDTH);

    /// A column receives up to `digits` products of the factors, as many of the reduction, and one block more
    /// of the last pass. Each product adds a high half of at most `2^WIDTH` to one column, and a low half to
    /// another column. A low half is below `2^WIDTH`, or of either sign and at most half of that. Carries of
    /// less than `2^WIDTH` come on top. The sum must stay below the bias or, without a bias, fit in 64 bits.
    const SUMS_FIT: () = {
        let products = (2 * Self::MAX_DIGITS + 2 * S::BLOCK) as u128;
        let limit = if S::BIAS == 0 { 1 << 64 } else { S::BIAS as u128 };
        assert!((2 * products + 1) << S::WIDTH < limit);
    };

    /// The size of the first block of the reduction. If one block is shorter than the others, it is the
    /// first: a fold of `F` digits leaves a value `F` digits longer than N, which the next block must remove.
    fn first_block(digits: usize) -> usize {
        match digits % S::BLOCK {
            0 => S::BLOCK.min(digits),
            odd => odd,
        }
    }

    /// `columns += x y`. `x` is not longer than `y`.
    fn multiply_columns(token: S::Token, columns: &mut [u64], x: &[u64], y: &[u64]) {
        let block = S::BLOCK * S::LANES;
        for (index, held) in x.chunks(block).enumerate() {
            S::pass(token, Part::Whole, &mut columns[index * block..], held, y);
        }
    }

    /// The number of rows of the next pass over products of different digits, when `count` digits are left.
    fn cross_rows(count: usize) -> usize {
        count.div_ceil(2).min(S::BLOCK)
    }

    /// Adds each product of two different digits of x to the columns, once.
    fn cross_columns(token: S::Token, columns: &mut [u64], x: &[u64]) {
        let count = x.len() / S::LANES;
        let mut done = 0;
        while done + 1 < count {
            let rows = Self::cross_rows(count - done);
            S::cross_pass(token, rows, &mut columns[2 * done * S::LANES..], &x[done * S::LANES..]);
            done += rows;
        }
    }

    /// Reduces the columns to `columns / R`. All blocks of digits except the last are folded, which needs no
    /// quotients. The last block is reduced by Montgomery's method.
    ///
    /// Each fold computes its lowest columns first. The next samples are then ready early, and their carry
    /// chain is hidden behind the rest of the fold.
    fn reduce(&self, scratch: &mut [u64], x: &mut [u64]) {
        let (lanes, token) = (S::LANES, self.token);
        let (columns, rest) = scratch.split_at_mut((2 * self.digits + S::BLOCK) * lanes);
        let mut blocks = rest.chunks_exact_mut(S::BLOCK * lanes);
        let mut block = || blocks.next().expect("scratch_words leaves three");
        let (mut held, mut next, quotient) = (block(), block(), block());
        let mut rows = Self::first_block(self.digits);
        let mut prepare = |columns: &mut [u64], samples: &mut [u64], last: bool| {
            S::low_samples(token, columns, samples, last.then_some(&self.last_start));
            if last {
                S::quotient(token, samples, &self.inverse, &mut quotient[..samples.len()]);
            }
        };
        let mut done = 0;
        prepare(columns, &mut held[..rows * lanes], rows == self.digits);
        while done + rows < self.digits {
            done += rows;
            let columns = &mut columns[done * lanes..];
            let fold = if rows == S::BLOCK { &self.fold } else { &self.fold_first };
            S::pass(token, Part::Head, columns, &held[..rows * lanes], fold);
            prepare(columns, next, done + S::BLOCK == self.digits);
            S::pass(token, Part::Tail, columns, &held[..rows * lanes], fold);
            std::mem::swap(&mut held, &mut next);
            rows = S::BLOCK;
        }
        let columns = &mut columns[done * lanes..];
        S::pass(token, Part::Whole, columns, &quotient[..rows * lanes], &self.modulus);
        S::finish(token, columns, rows, x);
    }

    /// `2^-(WIDTH rows) mod N`, by one Montgomery block on the number one. Its quotient is the negated
    /// inverse: the result `(1 + q N) / 2^(WIDTH rows)` is below N.
    fn inverse_power(&self, rows: usize) -> Rows {
        if rows == 0 {
            return Rows::zeros(0);
        }
        let count = self.digits + rows;
        let mut start = Self::biases(count);
        charge_pass::<S>(&mut start, rows, self.digits);
        start[0] = start[0].wrapping_add(1);
        let mut columns = Rows::zeros(count * S::LANES);
        S::fill(self.token, &mut columns, &start);
        S::pass(self.token, Part::Whole, &mut columns, &self.inverse[..rows * S::LANES], &self.modulus);
        let mut power = Rows::zeros(self.modulus.len());
        S::finish(self.token, &columns, rows, &mut power);
        power
    }

    /// The initial values of `count` columns without any charges.
    fn biases(count: usize) -> Vec<u64> {
        (0..count).map(bias::<S>).collect()
    }

    /// Charges the exponents that [`Self::multiply_columns`] adds, for `nx <= ny`.
    fn charge_product(start: &mut [u64], nx: usize, ny: usize) {
        for done in (0..nx).step_by(S::BLOCK) {
            charge_pass::<S>(&mut start[done..], S::BLOCK.min(nx - done), ny);
        }
    }

    /// Computes the initial values of the columns of products and squares.
    fn set_starts(&mut self) {
        let digits = self.digits;
        let count = 2 * digits + S::BLOCK;
        // The reduction: all folds, and the last block, which visits its own columns again.
        let mut reduction = Self::biases(count);
        let mut rows = Self::first_block(digits);
        let mut done = 0;
        while done + rows < digits {
            done += rows;
            charge_pass::<S>(&mut reduction[done..], rows, digits);
            rows = S::BLOCK;
        }
        let mut last = Self::biases(rows);
        last.resize(rows + digits, 0);
        charge_pass::<S>(&mut last, rows, digits);
        for (column, charge) in reduction[digits..].iter_mut().zip(last.drain(rows..)) {
            *column = column.wrapping_add(charge);
        }
        self.last_start = last;
        // The column above the last block receives two carries.
        reduction[digits] = reduction[digits].wrapping_sub(S::CARRIED_BIAS);
        self.product_start = reduction.clone();
        Self::charge_product(&mut self.product_start, digits, digits);
        for i in 0..digits {
            charge::<S>(&mut reduction, 2 * i, 1);
        }
        // Values that are not doubled start halved. They are even, since exponents and biases end in zeros.
        self.square_start = reduction.iter().map(|start| start >> 1).collect();
        let mut done = 0;
        while done + 1 < digits {
            let rows = Self::cross_rows(digits - done);
            charge_cross::<S>(&mut self.square_start[2 * done..], rows, digits - done);
            done += rows;
        }
    }
}

/// Subtracts the exponents that `products` products add to a column and to the column above it.
fn charge<S: Leaves>(start: &mut [u64], column: usize, products: usize) {
    let chains = products.div_ceil(S::CHAIN) as u64;
    start[column] = start[column].wrapping_add(make_initial::<S>(0, chains));
    start[column + 1] = start[column + 1].wrapping_add(make_initial::<S>(chains, 0));
}

/// Charges a pass of `rows` held samples over `count` streamed samples.
fn charge_pass<S: Leaves>(start: &mut [u64], rows: usize, count: usize) {
    for column in 0..rows + count - 1 {
        charge::<S>(start, column, rows.min(column + 1).min(rows + count - 1 - column));
    }
}

/// Charges a pass over the products of `rows` samples with all later samples, of `count` in all.
fn charge_cross<S: Leaves>(start: &mut [u64], rows: usize, count: usize) {
    for column in 1..rows + count - 1 {
        charge::<S>(start, column, rows.min(column.div_ceil(2)) - (column + 1).saturating_sub(count));
    }
}

/// `-N^-1` modulo `2^(WIDTH count)` in each lane, as samples.
fn negated_inverse<S: Leaves>(moduli: &[u64], count: usize) -> Rows {
    let mask = u64::MAX >> (64 - S::WIDTH);
    let mut inverse = Rows::zeros(count * S::LANES);
    for lane in 0..S::LANES {
        let modulus: Vec<u64> = moduli.iter().skip(lane).step_by(S::LANES).take(count).copied().collect();
        let first = inverse_of_odd(modulus[0]).wrapping_neg();
        // Each digit makes 1 + q N divisible by one more power of 2^WIDTH.
        let mut sum = vec![0u64; count];
        sum[0] = 1;
        for i in 0..count {
            let q = first.wrapping_mul(sum[i]) & mask;
            let mut carry = 0;
            for (sum, &digit) in sum[i..].iter_mut().zip(&modulus) {
                carry += u128::from(q) * u128::from(digit) + u128::from(*sum);
                *sum = carry as u64 & mask;
                carry >>= S::WIDTH;
            }
            inverse[i * S::LANES + lane] = (q as f64).to_bits();
        }
    }
    inverse
}
