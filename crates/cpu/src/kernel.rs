//! What a family of algorithms must offer so that the rest of the backend can drive it.

use modmill_core::{Family, Isa};

/// The most lanes any kernel has.
pub const MAX_LANES: usize = 8;

/// Montgomery arithmetic modulo `LANES` odd numbers side by side.
///
/// # Layout
/// A number is `digits` digits of `WIDTH` bits; digit `i` of lane `l` is word `i * LANES + l`
/// of a slice that starts on a 64-byte boundary. How a digit is written into its word is the
/// kernel's affair ([`Kernel::encode`], [`Kernel::decode`]).
///
/// # Range
/// With `R = 2^(WIDTH * digits)`, operands are residues in Orup and Walter's sense, not
/// canonical: any value below R/2 that is right modulo N, so that no product ends in a
/// data-dependent subtraction. `digits` leaves `ROOM` bits above the modulus, `N < R / 2^ROOM`.
/// The contract every kernel keeps:
/// * inputs `x, y < R` with `x y <= R^2 / 4` give a result below `R/2` that is
///   `x y / R (mod N)`, and for small inputs below `x y / R + 2.1 N + 1`;
/// * a product with the number one is therefore below `2.1 N + 2`, which is how
///   [`crate::domain::Domain`] leaves the representation.
///
/// A kernel without room (`ROOM = 0`) takes any inputs below R and gives results below R.
pub trait Kernel: Sized + Send + Sync + 'static {
    /// Numbers computed side by side.
    const LANES: usize;
    /// Bits per digit.
    const WIDTH: u32;
    /// Bits of R that lie above the longest modulus, at least.
    const ROOM: usize;
    /// The family of algorithms.
    const FAMILY: Family;
    /// The instruction set.
    const ISA: Isa;
    /// Entries for each lane that one pass over a table reads. A table has as many at least.
    const AT_ONCE: usize = 1;
    /// Proof that the instruction set is there: only detection makes one.
    type Token: Copy + Send + Sync;

    /// Set-up for odd moduli given as plain digits in the layout above (not yet encoded).
    fn new(token: Self::Token, moduli: &[u64]) -> Self;

    /// Digits per number.
    fn digits(&self) -> usize;

    /// A kernel for numbers of `digits` digits whose [`Kernel::constants`] are yet to be written.
    fn blank(token: Self::Token, digits: usize) -> Self;

    /// Everything that [`Kernel::new`] derived from the moduli, in the layout above: lane l depends on
    /// the modulus of lane l alone, so that lanes can be taken from other kernels with as many digits.
    fn constants(&mut self) -> Vec<&mut [u64]>;

    /// Words of scratch space that [`Kernel::multiply`] and [`Kernel::square`] need.
    fn scratch_words(digits: usize) -> usize;

    /// `x <- x y / R`, Montgomery's product.
    fn multiply(&self, x: &mut [u64], y: &[u64], scratch: &mut [u64]);

    /// `x <- x^2 / R`, so many times; cheaper than products.
    fn square(&self, x: &mut [u64], times: u32, scratch: &mut [u64]);

    /// `x <- x + y` for `y < R/32`: the sum is again a valid input of a product with a
    /// residue below R/8.
    fn add(&self, x: &mut [u64], y: &[u64]);

    /// Lays numbers of `digits` digits, a multiple of [`Kernel::AT_ONCE`], out in the order that
    /// [`Kernel::select`] wants: those of a table, and indices, which have one.
    fn arrange(&self, _numbers: &mut [u64], _digits: usize) {}

    /// Reads [`Kernel::AT_ONCE`] entries of a table for each lane, one entry after the
    /// other in `out`. The first index of lane l was word l before the indices were arranged. Neither
    /// the instructions nor the addresses depend on the indices.
    fn select(&self, table: &[u64], indices: &[u64], out: &mut [u64]);

    /// Plain digits, each below `2^WIDTH`, to the kernel's own writing, in place.
    fn encode(_digits: &mut [u64]) {}

    /// The kernel's own writing, carries included, to plain digits, each below `2^WIDTH`.
    fn decode(_digits: &mut [u64]) {}

    /// Full products `x y` of plain digits into plain digits; `out` is as long as both together.
    fn product(token: Self::Token, x: &[u64], y: &[u64], out: &mut [u64]);
}
