//! The inner loops as functions of one instruction set, with checked lengths.

use super::Wide;
use super::samples::Samples;
use crate::lanes::{self, Bits};
use modmill_core::Isa;

/// A part of a pass.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    /// The lowest `BLOCK` columns, and their carry into the next column.
    Head,
    /// The columns above the head.
    Tail,
    /// All columns.
    Whole,
}

/// The inner loops of [`super::leaf`], compiled for one instruction set. All slices hold whole vectors.
pub(crate) trait Leaves: Samples {
    /// Proof that the processor has the instruction set.
    type Token: Copy + Send + Sync;
    /// The instruction set.
    const ISA: Isa;

    /// Adds `held * stream`, or the given part of it, to `columns`. At most `BLOCK` samples are held, and at
    /// most as many as are streamed. A pass in two parts streams more than `BLOCK` samples.
    fn pass(token: Self::Token, part: Part, columns: &mut [u64], held: &[u64], stream: &[u64]);
    /// Adds the products of the first `rows` samples of x with all later samples. `x` holds at least
    /// `2 rows - 1` samples.
    fn cross_pass(token: Self::Token, rows: usize, columns: &mut [u64], x: &[u64]);
    /// `columns <- 2 columns + squares of x`.
    fn double_and_square(token: Self::Token, columns: &mut [u64], x: &[u64]);
    /// Resolves the lowest columns into samples and adds the carry to the column above. With `again`, the
    /// columns are set to their digits plus those words.
    fn low_samples(token: Self::Token, columns: &mut [u64], out: &mut [u64], again: Option<&[u64]>);
    /// `out <- low * inverse`, truncated to the length of `out`.
    fn quotient(token: Self::Token, low: &[u64], inverse: &[u64], out: &mut [u64]);
    /// Resolves columns into samples. The first `skip` columns contribute their carries only.
    fn finish(token: Self::Token, columns: &[u64], skip: usize, out: &mut [u64]);
    /// Resolves columns into plain digits, in place.
    fn finish_plain(token: Self::Token, columns: &mut [u64]);
    /// Sets column i to `words[i]` in every lane.
    fn fill(token: Self::Token, columns: &mut [u64], words: &[u64]);
    /// `x <- x + y`.
    fn add_numbers(token: Self::Token, x: &mut [u64], y: &[u64]);
    /// Converts plain digits to samples.
    fn convert(token: Self::Token, plain: &[u64], out: &mut [u64]);

    /// See [`crate::kernel::Kernel::split`].
    fn split(_: Self::Token, numbers: &[&[u64]], bits: Bits, limbs: &mut [u64], rows: &mut [u64])
    where
        Self: Sized,
    {
        lanes::split::<Wide<Self>>(numbers, bits, limbs, rows);
    }
    /// See [`crate::kernel::Kernel::join`].
    fn join(_: Self::Token, rows: &[u64], limbs: &mut [u64], numbers: &mut [u64], stride: usize)
    where
        Self: Sized,
    {
        lanes::join::<Wide<Self>>(rows, limbs, numbers, stride);
    }
    /// See [`crate::kernel::Kernel::reduce_once`].
    fn reduce_once(_: Self::Token, x: &mut [u64], m: &[u64], _space: &mut [u64])
    where
        Self: Sized,
    {
        lanes::reduce_once::<Wide<Self>>(x, m);
    }

    /// See [`crate::kernel::Kernel::AT_ONCE`].
    const AT_ONCE: usize = 1;
    /// See [`crate::kernel::Kernel::arrange`].
    fn arrange(_: Self::Token, _numbers: &mut [u64], _digits: usize) {}
    /// See [`crate::kernel::Kernel::select`].
    fn select(token: Self::Token, table: &[u64], indices: &[u64], out: &mut [u64]);
    /// See [`crate::kernel::Kernel::select_shared`].
    fn select_shared(token: Self::Token, table: &[u64], indices: &[u64], out: &mut [u64]);
}

/// Implements [`Leaves`] for a vector type. `$tables` are its table reads, and its conversions if
/// it has any.
macro_rules! implement_leaves {
    ($vector:ident, $token:ident, $isa:expr, $features:literal, $($rows:literal)+; $($tables:tt)*) => {
        impl $crate::wide::leaves::Leaves for $vector {
            type Token = $token;
            const ISA: modmill_core::Isa = $isa;

            fn pass(_: $token, part: Part, columns: &mut [u64], held: &[u64], stream: &[u64]) {
                #[target_feature(enable = $features)]
                unsafe fn pass<const ROWS: usize, const HEAD: bool, const TAIL: bool>(
                    c: *mut u64,
                    h: *const u64,
                    s: *const u64,
                    n: usize,
                ) {
                    // SAFETY: required of the caller.
                    unsafe {
                        $crate::wide::leaf::pass::<$vector, ROWS, HEAD, TAIL>(c, h, s, n, $vector::BLOCK)
                    }
                }
                let (rows, count) = (held.len() / Self::LANES, stream.len() / Self::LANES);
                assert!(rows <= count && columns.len() / Self::LANES >= rows + count);
                assert!(matches!(part, Part::Whole) || Self::BLOCK <= count);
                let (columns, held, stream) = (columns.as_mut_ptr(), held.as_ptr(), stream.as_ptr());
                match (rows, part) {
                    $(
                        // SAFETY: the token proves the instruction set, and the lengths were checked.
                        ($rows, Part::Head) => unsafe { pass::<$rows, true, false>(columns, held, stream, count) },
                        // SAFETY: as above.
                        ($rows, Part::Tail) => unsafe { pass::<$rows, false, true>(columns, held, stream, count) },
                        // SAFETY: as above.
                        ($rows, Part::Whole) => unsafe { pass::<$rows, true, true>(columns, held, stream, count) },
                    )+
                    _ => unreachable!("a block holds at most {} samples", Self::BLOCK),
                }
            }

            fn cross_pass(_: $token, rows: usize, columns: &mut [u64], x: &[u64]) {
                #[target_feature(enable = $features)]
                unsafe fn cross<const ROWS: usize>(c: *mut u64, x: *const u64, n: usize) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::cross_pass::<$vector, ROWS>(c, x, n) }
                }
                let count = x.len() / Self::LANES;
                assert!(2 * rows <= count + 1 && columns.len() / Self::LANES >= rows + count);
                let (columns, x) = (columns.as_mut_ptr(), x.as_ptr());
                match rows {
                    // SAFETY: the token proves the instruction set, and the lengths were checked.
                    $($rows => unsafe { cross::<$rows>(columns, x, count) },)+
                    _ => unreachable!("a block holds at most {} samples", Self::BLOCK),
                }
            }

            fn double_and_square(_: $token, columns: &mut [u64], x: &[u64]) {
                #[target_feature(enable = $features)]
                unsafe fn run(c: *mut u64, x: *const u64, n: usize) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::double_and_square::<$vector>(c, x, n) }
                }
                assert!(columns.len() >= 2 * x.len());
                // SAFETY: the token proves the instruction set, and the lengths were checked.
                unsafe { run(columns.as_mut_ptr(), x.as_ptr(), x.len() / Self::LANES) }
            }

            fn low_samples(_: $token, columns: &mut [u64], out: &mut [u64], again: Option<&[u64]>) {
                #[target_feature(enable = $features)]
                unsafe fn run<const ROWS: usize>(c: *mut u64, out: *mut u64, again: Option<&[u64]>) {
                    let again = again.map(|again| again.try_into().expect("one word per column"));
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::low_samples::<$vector, ROWS>(c, out, again) }
                }
                assert!(columns.len() >= out.len() + Self::LANES);
                match out.len() / Self::LANES {
                    // SAFETY: the token proves the instruction set, and the lengths were checked.
                    $($rows => unsafe { run::<$rows>(columns.as_mut_ptr(), out.as_mut_ptr(), again) },)+
                    _ => unreachable!("a block holds at most {} samples", Self::BLOCK),
                }
            }

            fn quotient(_: $token, low: &[u64], inverse: &[u64], out: &mut [u64]) {
                #[target_feature(enable = $features)]
                unsafe fn run<const ROWS: usize>(low: *const u64, inverse: *const u64, out: *mut u64) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::quotient::<$vector, ROWS>(low, inverse, out) }
                }
                assert!(low.len() >= out.len() && inverse.len() >= out.len());
                match out.len() / Self::LANES {
                    // SAFETY: the token proves the instruction set, and the lengths were checked.
                    $($rows => unsafe { run::<$rows>(low.as_ptr(), inverse.as_ptr(), out.as_mut_ptr()) },)+
                    _ => unreachable!("a block holds at most {} samples", Self::BLOCK),
                }
            }

            fn finish(_: $token, columns: &[u64], skip: usize, out: &mut [u64]) {
                #[target_feature(enable = $features)]
                unsafe fn run(c: *const u64, skip: usize, out: *mut u64, n: usize) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::finish::<$vector>(c, skip, out, n) }
                }
                assert!(columns.len() >= skip * Self::LANES + out.len());
                // SAFETY: the token proves the instruction set, and the lengths were checked.
                unsafe { run(columns.as_ptr(), skip, out.as_mut_ptr(), out.len() / Self::LANES) }
            }

            fn finish_plain(_: $token, columns: &mut [u64]) {
                #[target_feature(enable = $features)]
                unsafe fn run(c: *mut u64, n: usize) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::finish_plain::<$vector>(c, n) }
                }
                // SAFETY: the token proves the instruction set; the length is the slice's own.
                unsafe { run(columns.as_mut_ptr(), columns.len() / Self::LANES) }
            }

            fn fill(_: $token, columns: &mut [u64], words: &[u64]) {
                #[target_feature(enable = $features)]
                unsafe fn run(c: *mut u64, words: &[u64]) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::fill::<$vector>(c, words) }
                }
                assert!(columns.len() / Self::LANES >= words.len());
                // SAFETY: the token proves the instruction set, and the lengths were checked.
                unsafe { run(columns.as_mut_ptr(), words) }
            }

            fn add_numbers(_: $token, x: &mut [u64], y: &[u64]) {
                #[target_feature(enable = $features)]
                unsafe fn run(x: *mut u64, y: *const u64, n: usize) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::add::<$vector>(x, y, n) }
                }
                assert_eq!(x.len(), y.len());
                // SAFETY: the token proves the instruction set, and the lengths were checked.
                unsafe { run(x.as_mut_ptr(), y.as_ptr(), y.len() / Self::LANES) }
            }

            fn convert(_: $token, plain: &[u64], out: &mut [u64]) {
                #[target_feature(enable = $features)]
                unsafe fn run(plain: *const u64, out: *mut u64, n: usize) {
                    // SAFETY: required of the caller.
                    unsafe { $crate::wide::leaf::convert::<$vector>(plain, out, n) }
                }
                assert_eq!(plain.len(), out.len());
                // SAFETY: the token proves the instruction set, and the lengths were checked.
                unsafe { run(plain.as_ptr(), out.as_mut_ptr(), plain.len() / Self::LANES) }
            }

            $($tables)*
        }
    };
}
pub(crate) use implement_leaves;
