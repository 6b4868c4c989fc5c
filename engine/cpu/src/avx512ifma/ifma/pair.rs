//! Two numbers at a time, for batches that would leave most lanes of the IFMA kernel empty, such as the two
//! powers of one RSA signature. A vector holds four digits of both numbers, so that a product has a fourth of
//! the instructions. `docs/algorithms/ifma.md` has the derivation.
//!
//! A product takes one digit of `y` at a time. A step adds `x y_i` and the multiple `q N` that makes the
//! lowest digit zero, and moves all digits down by one place ([Montgomery 1985], digit by digit). Only `q`
//! depends on the step before. Everything that does not depend on `q` is computed at the same time.
#![allow(unsafe_code)]

use super::tile::{V, for_rows, high, low, plus, unroll, zero};
use crate::isa::Ifma as Token;
use crate::kernel::Kernel;
use crate::lanes::Lanes;
use crate::working_memory::Rows;
use modmill_core::limbs::inverse_of_odd;
use modmill_core::{Family, Isa};
use std::arch::x86_64::*;

const LANES: usize = 2;
const WIDTH: u32 = super::WIDTH;
const MASK: u64 = super::MASK;
/// Words of a vector.
const WORDS: usize = 8;
/// Digits of a number in a vector.
const DIGITS: usize = WORDS / LANES;
/// The most vectors of a number.
const MOST: usize = 12;

// A digit receives four halves of products below 2^52 and a carry in each step, and there are as many steps
// as digits.
const _: () = assert!(5 * DIGITS * MOST <= 1 << 12);

/// The kernel for two odd moduli.
pub(crate) struct Pair {
    digits: usize,
    modulus: Rows,
    /// `-N^-1 mod 2^52`, one word for each number.
    negated_inverse: Rows,
}

impl Lanes for Pair {
    const LANES: usize = LANES;
    const WIDTH: u32 = WIDTH;
}

impl Kernel for Pair {
    const ROOM: usize = 4;
    const FAMILY: Family = Family::Ifma;
    const ISA: Isa = Isa::Avx512Ifma;
    type Token = Token;

    fn new(token: Token, moduli: &[u64]) -> Self {
        let mut kernel = Self::blank(token, moduli.len() / LANES);
        kernel.modulus.copy_from_slice(moduli);
        for (to, &low) in kernel.negated_inverse.iter_mut().zip(moduli) {
            *to = inverse_of_odd(low).wrapping_neg() & MASK;
        }
        kernel
    }

    fn blank(_token: Token, digits: usize) -> Self {
        assert!(digits.div_ceil(DIGITS) <= MOST);
        Self { digits, modulus: Rows::zeros(digits * LANES), negated_inverse: Rows::zeros(LANES) }
    }

    fn digits(&self) -> usize {
        self.digits
    }

    fn constants(&mut self) -> Vec<&mut [u64]> {
        vec![&mut self.modulus, &mut self.negated_inverse]
    }

    /// Room for one factor and a digit above it.
    fn scratch_words(digits: usize) -> usize {
        (digits + 1) * LANES
    }

    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]) {
        let words = self.digits * LANES;
        assert!(x.len() == words && y.len() == words && scratch.len() >= Self::scratch_words(self.digits));
        scratch[..words].copy_from_slice(y);
        scratch[words..words + LANES].fill(0);
        // SAFETY: the token proved AVX-512 IFMA when this kernel was created, the sizes were checked, and N
        // is the number of vectors of `digits` digits.
        for_rows!(self.digits.div_ceil(DIGITS), N => unsafe {
            let product = self.product::<N>(&load::<N>(x), scratch);
            store(x, &product);
        });
    }

    fn square(&self, x: &mut [u64], times: u32, scratch: &mut [u64]) {
        let words = self.digits * LANES;
        assert!(x.len() == words && scratch.len() >= Self::scratch_words(self.digits));
        // SAFETY: as in `multiply`.
        for_rows!(self.digits.div_ceil(DIGITS), N => unsafe { self.squares::<N>(x, times, scratch) });
    }

    fn add(&self, x: &mut [u64], y: &[u64]) {
        super::add_digits::<LANES>(x, y);
    }

    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]) {
        let words = self.digits * LANES;
        assert!(out.len() == words && indices.len() == LANES && table.len().is_multiple_of(words));
        // SAFETY: as in `multiply`.
        for_rows!(self.digits.div_ceil(DIGITS), N => unsafe { select::<N>(table, indices, out) });
    }

    fn decode(digits: &mut [u64]) {
        super::Ifma::decode(digits);
    }
}

impl Pair {
    /// Whether numbers of `bits` bits are short enough.
    pub(crate) fn takes(bits: usize) -> bool {
        bits + Self::ROOM <= DIGITS * MOST * WIDTH as usize
    }

    /// `x <- x^2 / R`, repeated `times` times.
    ///
    /// # Safety
    /// The processor has IFMA, N is the number of vectors of a number, and `x` and `scratch` have the lengths
    /// that [`Kernel::square`] asks for.
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn squares<const N: usize>(&self, x: &mut [u64], times: u32, scratch: &mut [u64]) {
        let words = x.len();
        scratch[words..words + LANES].fill(0);
        // SAFETY: required of the caller.
        unsafe {
            let mut power = load::<N>(x);
            for _ in 0..times {
                store(&mut scratch[..words], &power);
                power = self.product::<N>(&power, scratch);
            }
            store(x, &power);
        }
    }

    /// `x y / R`, below `x y / R + N`. Only the lower 52 bits of a word count, in the factors and in the
    /// answer.
    ///
    /// # Safety
    /// The processor has IFMA, the numbers have N vectors, and `y` has a digit zero above those of the
    /// number.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    unsafe fn product<const N: usize>(&self, x: &[V; N], y: &[u64]) -> [V; N] {
        // SAFETY: required of the caller.
        let (modulus, inverse) = unsafe { (load::<N>(&self.modulus), both(self.negated_inverse.as_ptr())) };
        assert!(y.len() >= Self::scratch_words(self.digits));
        let y = y.as_ptr();
        // SAFETY: `y` has more digits than the number.
        let mut digit = unsafe { both(y) };
        let mut sums = [zero(); N];
        unroll!(J < N, { sums[J] = low(zero(), x[J], digit) });
        for step in 1..=self.digits {
            // SAFETY: as above.
            let next = unsafe { both(y.add(step * LANES)) };
            let quotient = low(zero(), sums[0], inverse);
            let quotient = _mm512_shuffle_i64x2::<0>(quotient, quotient);
            let mut lower = [zero(); N];
            let mut upper = [zero(); N];
            unroll!(J < N, {
                let known = low(high(zero(), x[J], digit), x[J], next);
                lower[J] = low(sums[J], modulus[J], quotient);
                upper[J] = high(known, modulus[J], quotient);
            });
            // The lowest digit is a multiple of 2^52, and what it carries belongs to the one that takes its
            // place.
            upper[0] = plus(upper[0], _mm512_maskz_srli_epi64::<WIDTH>(0b11, lower[0]));
            unroll!(J < N, {
                let above = if J + 1 < N { lower[(J + 1) % N] } else { zero() };
                sums[J] = plus(_mm512_alignr_epi64::<2>(above, lower[J]), upper[J]);
            });
            digit = next;
        }
        carried(&sums)
    }
}

/// Passes on the carries of digits below `2^63`. The lower 52 bits of a word are then a digit of the number.
///
/// After a first pass a digit is below `2^52 + 2^12` and carries one at most. A digit that has all ones
/// passes a carry on. These carries are found by one addition for each number, in which the digits are bits:
/// the bits of the other number are ones, and let a carry through.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carried<const N: usize>(sums: &[V; N]) -> [V; N] {
    let ones = _mm512_set1_epi64(MASK as i64);
    let mut digits = [zero(); N];
    unroll!(J < N, {
        let below = if J > 0 { _mm512_srli_epi64::<WIDTH>(sums[(J + N - 1) % N]) } else { zero() };
        let carries = _mm512_alignr_epi64::<6>(_mm512_srli_epi64::<WIDTH>(sums[J]), below);
        digits[J] = plus(_mm512_and_si512(sums[J], ones), carries);
    });
    // From the highest vector down: bits that are put in place one by one are gathered by slower vector
    // instructions.
    let (mut full, mut ready) = (0u128, 0u128);
    unroll!(J < N, {
        let vector = digits[(N - 1 - J) % N];
        full = full << WORDS | u128::from(_mm512_cmpgt_epu64_mask(vector, ones));
        ready = ready << WORDS | u128::from(_mm512_cmpeq_epu64_mask(vector, ones));
    });
    let first = u128::MAX / 3;
    let arrive = [first, !first].map(|own| {
        let passing = ready & own | !own;
        (((full & own) << LANES).wrapping_add(passing) ^ passing) & own
    });
    let arrive = arrive[0] | arrive[1];
    let one = _mm512_set1_epi64(1);
    unroll!(J < N, {
        digits[J] = _mm512_mask_add_epi64(digits[J], (arrive >> (WORDS * J)) as u8, digits[J], one);
    });
    digits
}

/// Reads one table entry for each number. Every entry is loaded, whatever the indices are.
///
/// # Safety
/// The processor has AVX-512F, `out` has N vectors, the table has whole entries of that length, and there are
/// two indices.
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn select<const N: usize>(table: &[u64], indices: &[u64], out: &mut [u64]) {
    // SAFETY: required of the caller.
    unsafe {
        let indices = both(indices.as_ptr());
        let mut found = [zero(); N];
        for (index, entry) in table.chunks_exact(out.len()).enumerate() {
            let here = _mm512_cmpeq_epi64_mask(indices, _mm512_set1_epi64(index as i64));
            let entry = load::<N>(entry);
            unroll!(J < N, { found[J] = _mm512_mask_mov_epi64(found[J], here, entry[J]) });
        }
        store(out, &found);
    }
}

/// The words of vector `index` that a number of `words` words has.
#[inline]
fn present(words: usize, index: usize) -> u8 {
    let left = words - WORDS * index;
    if left >= WORDS { u8::MAX } else { (1 << left) - 1 }
}

/// A digit of both numbers, in every place.
///
/// # Safety
/// The processor has AVX-512F, and `digit` points to two words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn both(digit: *const u64) -> V {
    // SAFETY: required of the caller.
    unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(digit.cast())) }
}

/// # Safety
/// The processor has AVX-512F, and N is the number of vectors that hold the words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn load<const N: usize>(words: &[u64]) -> [V; N] {
    let mut vectors = [zero(); N];
    unroll!(J < N, {
        // SAFETY: masked words are not read, and the others exist.
        vectors[J] = unsafe {
            _mm512_maskz_loadu_epi64(present(words.len(), J), words.as_ptr().add(WORDS * J).cast())
        };
    });
    vectors
}

/// # Safety
/// The processor has AVX-512F, and N is the number of vectors that hold the words.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
unsafe fn store<const N: usize>(words: &mut [u64], vectors: &[V; N]) {
    unroll!(J < N, {
        // SAFETY: masked words are not written, and the others exist.
        unsafe {
            let to = words.as_mut_ptr().add(WORDS * J).cast();
            _mm512_mask_storeu_epi64(to, present(words.len(), J), vectors[J]);
        }
    });
}

#[cfg(test)]
mod tests;
