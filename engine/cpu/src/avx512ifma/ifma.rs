//! Eight numbers at a time with AVX-512 IFMA. The derivation is in `docs/algorithms/ifma.md`.
#![allow(unsafe_code)]

mod barrett;
mod columns;
mod cyclic;
mod karatsuba;
pub(crate) mod pair;
mod tile;

use crate::avx512::{lanes, shared_table, table};
use crate::isa::Ifma as Token;
use crate::kernel::{BatchKernel, Dividend, Division, Kernel, RECIPROCAL};
use crate::lanes::{Bits, Lanes};
use crate::working_memory::Rows;
use columns::{BLOCK, block, multiply_columns};
use modmill_core::limbs::inverse_of_odd;
use modmill_core::{Family, Isa, KERNEL_MAX_BITS};
use tile::{Finish, Store, V, for_rows};

const LANES: usize = 8;
const WIDTH: u32 = 52;
const MASK: u64 = (1 << WIDTH) - 1;

// A column of a tiled product receives at most 2 n + 2 halves below 2^52 (n low, n high) and a carry, and is
// read as a signed number. The tests of `karatsuba` count what the reduction adds.
const _: () = assert!(2 * (KERNEL_MAX_BITS / WIDTH as usize + 2) + 4 <= 1 << 11);

/// The IFMA kernel: eight odd moduli, 52-bit digits, AVX-512 IFMA.
pub(crate) struct Ifma {
    n: usize,
    modulus: Rows,
    /// `-N^-1 mod 2^52`, one word per lane.
    negated_inverse: Rows,
    /// `2^-52 mod N`.
    fold: Rows,
    /// For long moduli: the number of digits that one fold removes, and `2^(-52 digits) mod N`.
    long_fold: Option<(usize, Rows)>,
}

impl Lanes for Ifma {
    const LANES: usize = LANES;
    const WIDTH: u32 = WIDTH;
}

impl Kernel for Ifma {
    const ROOM: usize = 4;
    const FAMILY: Family = Family::Ifma;
    const ISA: Isa = Isa::Avx512Ifma;
    const AT_ONCE: usize = table::AT_ONCE;
    const DIVISION: Option<Division<Self>> = Some(Division {
        constant_words: Self::division_constants,
        complete: Self::complete_division,
        scratch_words: Self::division_words,
        remainder: Self::remainder,
    });
    type Token = Token;

    fn new(token: Token, moduli: &[u64]) -> Self {
        let mut kernel = Self::blank(token, moduli.len() / LANES);
        kernel.modulus.copy_from_slice(moduli);
        for (to, &low) in kernel.negated_inverse.iter_mut().zip(moduli) {
            *to = inverse_of_odd(low).wrapping_neg() & MASK;
        }
        kernel.fold = kernel.negative_power(1);
        if let Some((half, _)) = kernel.long_fold {
            kernel.long_fold = Some((half, kernel.negative_power(half)));
        }
        kernel
    }

    fn blank(_token: Token, n: usize) -> Self {
        let rows = || Rows::zeros(n * LANES);
        let long_fold = (n >= karatsuba::FOLD).then(|| ((n - 1) / 2, rows()));
        Self { n, modulus: rows(), negated_inverse: Rows::zeros(LANES), fold: rows(), long_fold }
    }

    fn digits(&self) -> usize {
        self.n
    }

    fn constants(&mut self) -> Vec<&mut [u64]> {
        let rows = [&mut self.modulus, &mut self.negated_inverse, &mut self.fold];
        let long = self.long_fold.as_mut().map(|(_, rows)| rows);
        rows.into_iter().chain(long).map(|rows| &mut rows[..]).collect()
    }

    fn scratch_words(digits: usize) -> usize {
        (2 * digits + karatsuba::scratch(digits)) * LANES
    }

    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        self.check(&[x, y], scratch);
        // SAFETY: the token proved AVX-512 IFMA when this kernel was created; the sizes were checked.
        unsafe {
            let t = row_mut(scratch);
            karatsuba::multiply::<false>(row(x), row(y), self.n, t, t.add(2 * self.n));
            self.reduce(t, row_mut(x));
        }
    }

    fn square(&self, x: &mut [u64], times: u32, scratch: &mut [u64]) {
        self.check(&[x], scratch);
        // SAFETY: as in `multiply`.
        unsafe { self.squares(row_mut(x), times, row_mut(scratch)) }
    }

    fn add(&self, x: &mut [u64], y: &[u64]) {
        add_digits::<LANES>(x, y);
    }

    fn arrange(&self, numbers: &mut [u64], digits: usize) {
        // SAFETY: as in `multiply`.
        unsafe { table::transpose(numbers, digits) }
    }

    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        // SAFETY: as in `multiply`.
        unsafe { table::read(table, indices, out) }
    }

    fn split(_token: Token, numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64]) {
        // SAFETY: the token proves the instruction set.
        unsafe { lanes::split(numbers, bits, limbs, rows) }
    }

    fn join(_token: Token, rows: &[u64], limbs: &mut [u64], numbers: &mut [u64], stride: usize) {
        // SAFETY: as in `split`.
        unsafe { lanes::join(rows, limbs, numbers, stride) }
    }

    fn reduce_once(_token: Token, x: &mut [u64], m: &[u64], space: &mut [u64]) {
        // SAFETY: as in `split`.
        unsafe { lanes::reduce_once(x, m, space) }
    }

    fn decode(digits: &mut [u64]) {
        for digit in digits {
            *digit &= MASK;
        }
    }
}

impl BatchKernel for Ifma {
    fn select_shared(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        // SAFETY: as in `multiply`.
        unsafe { shared_table::read(table, indices, out) }
    }

    fn product(_token: Token, x: &[u64], y: &[u64], out: &mut [u64]) {
        let (n, m) = (x.len() / LANES, y.len() / LANES);
        assert!(x.len() == n * LANES && y.len() == m * LANES && out.len() == (n + m) * LANES);
        assert!(aligned(x) && aligned(y) && aligned(out));
        // SAFETY: as in `multiply`; a rectangle of R rows writes at most n + R columns.
        unsafe {
            if n == m {
                let mut space = Rows::zeros(karatsuba::scratch(n) * LANES);
                karatsuba::multiply::<true>(row(x), row(y), n, row_mut(out), row_mut(&mut space));
            } else {
                multiply_columns(row(x), n, row(y), m, row_mut(out));
            }
            tile::normalize(row_mut(out), n + m);
        }
    }
}

impl Ifma {
    fn check(&self, numbers: &[&[u64]], scratch: &[u64]) {
        assert!(numbers.iter().all(|number| number.len() == self.n * LANES && aligned(number)));
        assert!(scratch.len() >= Self::scratch_words(self.n) && aligned(scratch));
    }

    fn division_constants(digits: usize) -> usize {
        barrett::constants(digits) * LANES
    }

    fn complete_division(&self, constants: &mut [u64]) {
        assert!(constants.len() == Self::division_constants(self.n) && aligned(constants));
        // SAFETY: the token proved AVX-512 IFMA when this kernel was created; the size was checked.
        unsafe { barrett::complete(row(&self.modulus), self.n, row_mut(constants)) }
    }

    fn division_words(digits: usize) -> usize {
        (2 * digits + barrett::ABOVE + barrett::scratch(digits)) * LANES
    }

    fn remainder(&self, x: &mut [u64], dividend: Dividend<'_>, constants: &[u64], scratch: &mut [u64]) {
        let n = self.n;
        assert!(n >= RECIPROCAL && x.len() == n * LANES && aligned(x));
        assert!(constants.len() == Self::division_constants(n) && aligned(constants));
        assert!(scratch.len() >= Self::division_words(n) && aligned(scratch));
        let (t, space) = scratch.split_at_mut((2 * n + barrett::ABOVE) * LANES);
        // SAFETY: the token proved AVX-512 IFMA when this kernel was created; the sizes were checked.
        // Karatsuba's scratch space is part of that of the division.
        unsafe {
            match dividend {
                Dividend::Product(y) => {
                    assert!(y.len() == x.len() && aligned(y));
                    karatsuba::multiply::<true>(row(x), row(y), n, row_mut(t), row_mut(space));
                }
                Dividend::Square => karatsuba::square(row(x), n, row_mut(t), row_mut(space)),
                Dividend::Number(number) => t[..2 * n * LANES].copy_from_slice(number),
            }
            let modulus = row(&self.modulus);
            barrett::remainder(row_mut(t), modulus, row(constants), n, row_mut(x), row_mut(space));
        }
    }

    /// `2^(-52 digits) mod N`, by `digits` Montgomery steps on the number one. Each step gives
    /// `(t + q N) / 2^52 <= N`.
    fn negative_power(&self, digits: usize) -> Rows {
        let mut t = Rows::zeros((self.n + 1) * LANES);
        t[..LANES].fill(1);
        let mut power = Rows::zeros(self.n * LANES);
        for _ in 0..digits {
            // SAFETY: the kernel under construction has its token; `t` has n + 1 columns.
            unsafe {
                let inverse = tile::load(row(&self.negated_inverse));
                Finish::new(row(&self.modulus), inverse, row_mut(&mut power)).run(row(&t), self.n);
            }
            Self::decode(&mut power);
            t[..self.n * LANES].copy_from_slice(&power);
        }
        power
    }

    /// `x <- x^2 / R`, repeated `times` times.
    ///
    /// # Safety
    /// `x` points to `n` digits and `t` to `scratch_words(n)` words, both aligned.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn squares(&self, x: *mut V, times: u32, t: *mut V) {
        for _ in 0..times {
            // SAFETY: required of the caller.
            unsafe {
                karatsuba::square(x, self.n, t, t.add(2 * self.n));
                self.reduce(t, x);
            }
        }
    }

    /// Writes `t / R mod N`, below `t / R + 2.01 N + 1`, to `out`. All digits except the last are folded
    /// away: half of them at once if that is faster, the rest in blocks. The last digit is removed by a
    /// Montgomery step.
    ///
    /// # Safety
    /// `t` points to `scratch_words(n)` words and `out` to `n` digits, both aligned.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn reduce(&self, mut t: *mut V, out: *mut V) {
        let (n, fold) = (self.n, row(&self.fold));
        let mut left = n - 1;
        // SAFETY: the folds add up to n - 1 digits, so no tile passes column 2 n. The scratch space of
        // Karatsuba's method for n digits is larger than that of folding half of them.
        unsafe {
            let finish = Finish::new(row(&self.modulus), tile::load(row(&self.negated_inverse)), out);
            if let Some((digits, power)) = &self.long_fold {
                karatsuba::fold(t, row(power), *digits, n, t.add(2 * n));
                t = t.add(*digits);
                left -= digits;
            }
            while left > BLOCK {
                let rows = block(left);
                let sink = Store(t.add(rows));
                for_rows!(rows, R => tile::fold::<R>(t, fold, n, sink));
                t = t.add(rows);
                left -= rows;
            }
            match left {
                0 => finish.run(t, n),
                _ => for_rows!(left, R => tile::fold::<R>(t, fold, n, finish)),
            }
        }
    }
}

/// `x <- x + y` for numbers whose digits are the lower 52 bits of their words, in `LANES` lanes.
fn add_digits<const LANES: usize>(x: &mut [u64], y: &[u64]) {
    assert!(x.len() == y.len());
    let mut passed = [0u64; LANES];
    for (x, y) in x.chunks_exact_mut(LANES).zip(y.chunks_exact(LANES)) {
        for (lane, passed) in passed.iter_mut().enumerate() {
            let sum = (x[lane] & MASK) + (y[lane] & MASK) + *passed;
            x[lane] = sum & MASK;
            *passed = sum >> WIDTH;
        }
    }
}

fn aligned(words: &[u64]) -> bool {
    words.as_ptr().cast::<V>().is_aligned()
}

fn row(words: &[u64]) -> *const V {
    words.as_ptr().cast()
}

fn row_mut(words: &mut [u64]) -> *mut V {
    words.as_mut_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, Workspace};
    use crate::isa::detect_ifma;
    use crate::pow::pow;
    use crate::test_support::{Random, big};
    use modmill_core::radix;
    use num_bigint::BigUint;

    pub(super) fn rows(numbers: &[BigUint], n: usize) -> Rows {
        let mut rows = Rows::zeros(n * LANES);
        for (lane, number) in numbers.iter().enumerate() {
            radix::split(&number.to_u64_digits(), WIDTH, LANES, &mut rows[lane..]);
        }
        rows
    }

    pub(super) fn number(digits: &[u64], lane: usize) -> BigUint {
        digits[lane..]
            .iter()
            .step_by(LANES)
            .rev()
            .fold(BigUint::ZERO, |sum, &digit| (sum << WIDTH) + (digit & MASK))
    }

    /// Numbers below `2^bits`: zero, one, the largest, a run of ones, a single bit, and random numbers.
    pub(super) fn numbers(bits: usize, seed: u64) -> Vec<BigUint> {
        let one = BigUint::from(1u8);
        let mut random = Random::new(seed);
        let all_ones = (&one << bits) - &one;
        let mut numbers = vec![BigUint::ZERO, one.clone(), all_ones.clone(), &one << (bits - 1)];
        numbers.push(&all_ones ^ ((&one << (bits / 2)) - &one));
        while numbers.len() < LANES {
            numbers.push(big(&random.limbs(bits.div_ceil(64))) % (&one << bits));
        }
        numbers
    }

    /// Eight odd moduli of at least 3 that fit with room in `n` digits, including the longest possible one.
    pub(super) fn moduli(n: usize) -> Vec<BigUint> {
        let bits = n * WIDTH as usize - Ifma::ROOM;
        let odd = |number: BigUint| (number | BigUint::from(1u8)).max(BigUint::from(3u8));
        numbers(bits, n as u64).into_iter().map(odd).collect()
    }

    #[test]
    fn products_and_squares_are_right_and_in_range() {
        let Some(token) = detect_ifma() else { return };
        for n in (1..=45).chain([49, 59, 60, 69, 70, 71, 79, 80, 101, 119, 120, 158, 193, 239, 240, 241, 632])
        {
            let moduli = moduli(n);
            let kernel = Ifma::new(token, &rows(&moduli, n));
            let r = BigUint::from(1u8) << (n * WIDTH as usize);
            let mut scratch = Rows::zeros(Ifma::scratch_words(n));
            for seed in 0..4 {
                let xs = numbers(n * WIDTH as usize - 1, seed);
                let mut ys = numbers(n * WIDTH as usize - 1, seed + 77);
                ys.rotate_left(seed as usize);
                let mut product = rows(&xs, n);
                kernel.multiply(&mut product, &rows(&ys, n), &mut scratch);
                let mut square = rows(&xs, n);
                kernel.square(&mut square, 1, &mut scratch);
                for lane in 0..LANES {
                    for (found, y) in [(&product, &ys[lane]), (&square, &xs[lane])] {
                        let (found, modulus) = (number(found, lane), &moduli[lane]);
                        let exact = &xs[lane] * y;
                        assert_eq!((&found * &r) % modulus, &exact % modulus, "n {n}, lane {lane}");
                        assert!(
                            found <= &exact / &r + modulus * 2u8 + modulus / 100u8 + 1u8,
                            "n {n}, lane {lane}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn full_products_of_all_shapes() {
        let Some(token) = detect_ifma() else { return };
        for (n, m) in [(1, 1), (3, 20), (20, 3), (95, 95), (96, 96), (97, 97), (191, 191), (200, 96)] {
            let (xs, ys) = (numbers(n * WIDTH as usize, 5), numbers(m * WIDTH as usize, 6));
            for shift in [0, 1, 2] {
                let ys: Vec<BigUint> = ys.iter().cycle().skip(shift).take(LANES).cloned().collect();
                let mut out = Rows::zeros((n + m) * LANES);
                Ifma::product(token, &rows(&xs, n), &rows(&ys, m), &mut out);
                for lane in 0..LANES {
                    assert_eq!(number(&out, lane), &xs[lane] * &ys[lane], "{n} x {m}, lane {lane}");
                }
            }
        }
    }

    #[test]
    fn powers_of_all_window_lengths() {
        let Some(token) = detect_ifma() else { return };
        const EXPONENT: usize = 36;
        // From 36 windows, which fill more than two reads, down to 5.
        for (bits, window) in
            [(200usize, 8), (1024, 1), (1024, 2), (1024, 3), (1024, 4), (2048, 5), (2200, 6), (4096, 7)]
        {
            let count = bits.div_ceil(64);
            let limbs = |numbers: &[BigUint]| {
                let mut limbs: Vec<_> = numbers.iter().map(BigUint::to_u64_digits).collect();
                limbs.iter_mut().for_each(|limbs| limbs.resize(count, 0));
                limbs
            };
            let moduli: Vec<_> = numbers(bits, 3).iter().map(|number| number | BigUint::from(3u8)).collect();
            let (bases, exponents) = (numbers(bits, 4), numbers(EXPONENT, 5));
            let (n, a, e) = (limbs(&moduli), limbs(&bases), limbs(&exponents));
            let [n, a, e] = [&n, &a, &e].map(|numbers| numbers.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let domain = Domain::<Ifma>::new(token, bits, &n);
            let mut work = Workspace::new::<Ifma>(bits);
            let mut x = Rows::zeros(work.x.len());
            domain.enter(&a, bits, &mut x, &mut work);
            pow(&domain, &mut x, &e, EXPONENT, window, &mut work);
            domain.leave(&mut x, &mut work);
            let mut out = vec![0; count * LANES];
            domain.store(&mut x, &mut out, count, &mut work);
            let powers = (0..LANES).map(|lane| bases[lane].modpow(&exponents[lane], &moduli[lane]));
            assert_eq!(out, limbs(&powers.collect::<Vec<_>>()).concat(), "{bits} bits, window {window}");
        }
    }
}
