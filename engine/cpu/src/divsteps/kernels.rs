//! The kernels of division steps for one instruction set.

use super::Space;
use super::inverse::Inputs;
use super::vector::Vector;
use modmill_core::{Moduli, Operand};

/// The kernels, compiled for the instruction set of a vector.
pub(crate) trait Kernels: Vector {
    /// Writes inverses to rows of `stride` limbs. A row is zero if the item has no inverse.
    fn inverses(inputs: Inputs<'_>, space: &mut Space<Self>, out: &mut [u64], stride: usize);

    /// Writes the greatest common divisors of some items, one for each lane of two vectors at most, to their
    /// rows. No number is zero. The lanes take the steps of the pair that takes most.
    fn divisors(pair: [Operand<'_>; 2], rows: &mut [(usize, &mut [u64])], space: &mut Space<Self>);

    /// Writes the Jacobi symbols of some items, one for each lane at most, as signed words. The moduli n are
    /// odd.
    fn symbols(a: Operand<'_>, n: Moduli<'_>, rows: &mut [(usize, &mut u64)], space: &mut Space<Self>);
}

/// Compiles the kernels for the instruction set of a vector.
macro_rules! implement_kernels {
    ($vector:ty, $features:literal) => {
        impl $crate::divsteps::kernels::Kernels for $vector {
            fn inverses(
                inputs: $crate::divsteps::Inputs<'_>,
                space: &mut $crate::divsteps::Space<Self>,
                out: &mut [u64],
                stride: usize,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    inputs: $crate::divsteps::Inputs<'_>,
                    space: &mut $crate::divsteps::Space<$vector>,
                    out: &mut [u64],
                    stride: usize,
                ) {
                    $crate::divsteps::inverse::inverses(inputs, space, out, stride);
                }
                // SAFETY: the space has a token, which proves the instruction set; the same holds below.
                unsafe { run(inputs, space, out, stride) }
            }

            fn divisors(
                pair: [modmill_core::Operand<'_>; 2],
                rows: &mut [(usize, &mut [u64])],
                space: &mut $crate::divsteps::Space<Self>,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    pair: [modmill_core::Operand<'_>; 2],
                    rows: &mut [(usize, &mut [u64])],
                    space: &mut $crate::divsteps::Space<$vector>,
                ) {
                    $crate::divsteps::gcd::divisors(pair, rows, space);
                }
                // SAFETY: see above.
                unsafe { run(pair, rows, space) }
            }

            fn symbols(
                a: modmill_core::Operand<'_>,
                n: modmill_core::Moduli<'_>,
                rows: &mut [(usize, &mut u64)],
                space: &mut $crate::divsteps::Space<Self>,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    a: modmill_core::Operand<'_>,
                    n: modmill_core::Moduli<'_>,
                    rows: &mut [(usize, &mut u64)],
                    space: &mut $crate::divsteps::Space<$vector>,
                ) {
                    $crate::divsteps::jacobi::symbols(a, n, rows, space);
                }
                // SAFETY: see above.
                unsafe { run(a, n, rows, space) }
            }
        }
    };
}

pub(crate) use implement_kernels;
