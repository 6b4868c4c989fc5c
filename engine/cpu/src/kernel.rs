//! The interface between a family of algorithms and the rest of the backend.

use crate::lanes::{self, Bits, Lanes};
use modmill_core::{Family, Isa};

/// Digits of a reciprocal beyond those of its modulus.
pub(crate) const RECIPROCAL: usize = 3;

/// The number that [`Division::remainder`] divides.
#[derive(Clone, Copy)]
pub(crate) enum Dividend<'a> {
    /// The product of the number in place with this one, both below `R / 4` and in plain digits.
    Product(&'a [u64]),
    /// The square of the number in place, which is below `R / 4`.
    Square,
    /// This number of twice as many digits, below `R^2 / 16`.
    Number(&'a [u64]),
}

/// Remainders of plain numbers, for kernels whose digits are plain.
pub(crate) struct Division<K> {
    /// The words of the constants of a modulus; the argument is the number of its digits.
    pub(crate) constant_words: fn(usize) -> usize,
    /// Completes the constants of the moduli. They begin with `2^WIDTH floor(R^2 / N)` in
    /// `digits + RECIPROCAL` digits.
    pub(crate) complete: fn(&K, &mut [u64]),
    /// The words of working memory that [`Division::remainder`] needs; the argument is the number of digits
    /// of the moduli.
    pub(crate) scratch_words: fn(usize) -> usize,
    /// Replaces the first number by the remainder of the dividend, below `1.07 N`. The moduli have more than
    /// `WIDTH (digits - 1) - 4` bits, and three digits at least. The third argument is the constants of the
    /// moduli, the last is working memory.
    pub(crate) remainder: fn(&K, &mut [u64], Dividend<'_>, &[u64], &mut [u64]),
}

/// Montgomery arithmetic modulo `LANES` odd numbers side by side.
///
/// # Layout
/// A number has `digits` digits in the order of its [`Lanes`], in a slice that starts on a 64-byte boundary.
/// Each kernel decides how a digit is encoded in its word ([`Kernel::encode`], [`Kernel::decode`]).
///
/// # Range
/// Let `R = 2^(WIDTH * digits)`. Operands are residues in the sense of Orup and Walter: any value
/// below R/2 that is congruent to the number modulo N. They need not be canonical, so no product ends in a
/// data-dependent subtraction. `digits` leaves `ROOM` bits above the modulus: `N < R / 2^ROOM`. Every kernel
/// keeps this contract:
/// * inputs `x, y < R` with `x y <= R^2 / 4` give a result below `R/2` that is congruent to `x y / R`
///   modulo N;
/// * if the inputs are small, the result is below `x y / R + 2.1 N + 1`;
/// * a product with the number one is therefore below `2.1 N + 2`. [`crate::domain::Domain`] leaves
///   Montgomery form by such a product.
///
/// A kernel without room (`ROOM = 0`) takes any inputs below R and returns results below R.
pub(crate) trait Kernel: Lanes + Sized + Send + Sync + 'static {
    /// The least number of bits of R above the longest modulus.
    const ROOM: usize;
    /// The family of algorithms.
    const FAMILY: Family;
    /// The instruction set.
    const ISA: Isa;
    /// The number of table entries per lane that one pass over a table reads. A table has at least this many
    /// entries.
    const AT_ONCE: usize = 1;
    /// Remainders of plain numbers, if they are faster than two products.
    const DIVISION: Option<Division<Self>> = None;
    /// Proof that the processor has the instruction set. Only detection creates one.
    type Token: Copy + Send + Sync;

    /// Sets up the kernel for odd moduli, given as plain (not encoded) digits in the layout above.
    fn new(token: Self::Token, moduli: &[u64]) -> Self;

    /// The number of digits per number.
    fn digits(&self) -> usize;

    /// A kernel for numbers of `digits` digits whose [`Kernel::constants`] are still unset.
    fn blank(token: Self::Token, digits: usize) -> Self;

    /// All constants that [`Kernel::new`] derives from the moduli, in the layout above. Lane l depends on the
    /// modulus of lane l only, so lanes can be copied from other kernels with the same number of digits.
    fn constants(&mut self) -> Vec<&mut [u64]>;

    /// Words of scratch space for [`Kernel::multiply`] and [`Kernel::square`].
    fn scratch_words(digits: usize) -> usize;

    /// `x <- x y / R`, the Montgomery product.
    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]);

    /// `x <- x^2 / R`, repeated `times` times. A square is cheaper than a product.
    fn square(&self, x: &mut [u64], times: u32, scratch: &mut [u64]);

    /// `x <- x + y` for `y < R/32`. The sum is a valid input of a product with a residue below R/8.
    fn add(&self, x: &mut [u64], y: &[u64]);

    /// Reorders numbers of `digits` digits for [`Kernel::select`]. The count of numbers is a multiple of
    /// [`Kernel::AT_ONCE`]. A table entry has `digits` digits, an index has one.
    fn arrange(&self, _numbers: &mut [u64], _digits: usize) {}

    /// Reads [`Kernel::AT_ONCE`] table entries for each lane and writes them to `out`, one entry after the
    /// other. Before [`Kernel::arrange`], the first index of lane l was word l. Neither the instructions nor
    /// the addresses depend on the indices.
    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]);

    /// [`lanes::split`], with the instructions of the kernel.
    fn split(_token: Self::Token, numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64]) {
        lanes::split::<Self>(numbers, bits, limbs, rows);
    }

    /// [`lanes::join`], with the instructions of the kernel.
    fn join(_token: Self::Token, rows: &[u64], limbs: &mut [u64], numbers: &mut [u64], stride: usize) {
        lanes::join::<Self>(rows, limbs, numbers, stride);
    }

    /// [`lanes::reduce_once`], with the instructions of the kernel. `space` is as long as x, and holds
    /// anything afterwards.
    fn reduce_once(_token: Self::Token, x: &mut [u64], m: &[u64], _space: &mut [u64]) {
        lanes::reduce_once::<Self>(x, m);
    }

    /// Converts plain digits, each below `2^WIDTH`, to the kernel's encoding, in place.
    fn encode(_digits: &mut [u64]) {}

    /// Converts the kernel's encoding to plain digits, each below `2^WIDTH`, and resolves carries.
    fn decode(_digits: &mut [u64]) {}
}

/// The operations that kernels for whole batches add to those of a [`Kernel`].
pub(crate) trait BatchKernel: Kernel {
    /// Reads one entry for each lane of some groups of lanes from a table that all lanes share, and writes
    /// the entries to `out`, one group after the other. Lane l of group g reads entry `indices[g LANES + l]`.
    /// The table has 16, 32, 64, 128 or 256 entries; word `i entries + d` is digit i of entry d. Neither the
    /// instructions nor the addresses depend on the indices.
    fn select_shared(&self, table: &[u64], indices: &[u64], out: &mut [u64]);

    /// Full products `x y` of plain digits. `out` has the length of both factors together.
    fn product(token: Self::Token, x: &[u64], y: &[u64], out: &mut [u64]);
}
