//! The schoolbook kernels for one instruction set.

use super::divide::{Inputs, Outputs};
use super::root::Roots;
use crate::divsteps::Space;
use crate::divsteps::vector::Vector;

/// The kernels, compiled for the instruction set of a vector.
pub(crate) trait Kernels: Vector {
    /// Writes quotients and remainders of some items, one for each lane of [`GROUPS`](super::GROUPS) vectors
    /// at most.
    fn divide(inputs: Inputs<'_>, space: &mut Space<Self>, outputs: Outputs<'_>);

    /// Writes square roots of some items, one for each lane of [`GROUPS`](super::GROUPS) vectors at most.
    fn roots(roots: Roots<'_>, space: &mut Space<Self>);
}

/// Compiles the kernels for the instruction set of a vector.
macro_rules! implement_schoolbook {
    ($vector:ty, $features:literal) => {
        impl $crate::schoolbook::kernels::Kernels for $vector {
            fn divide(
                inputs: $crate::schoolbook::divide::Inputs<'_>,
                space: &mut $crate::divsteps::Space<Self>,
                outputs: $crate::schoolbook::divide::Outputs<'_>,
            ) {
                #[target_feature(enable = $features)]
                fn run(
                    inputs: $crate::schoolbook::divide::Inputs<'_>,
                    space: &mut $crate::divsteps::Space<$vector>,
                    outputs: $crate::schoolbook::divide::Outputs<'_>,
                ) {
                    $crate::schoolbook::divide::divide(inputs, space, outputs);
                }
                // SAFETY: the space has a token, which proves the instruction set; the same holds below.
                unsafe { run(inputs, space, outputs) }
            }

            fn roots(roots: $crate::schoolbook::root::Roots<'_>, space: &mut $crate::divsteps::Space<Self>) {
                #[target_feature(enable = $features)]
                fn run(
                    roots: $crate::schoolbook::root::Roots<'_>,
                    space: &mut $crate::divsteps::Space<$vector>,
                ) {
                    $crate::schoolbook::root::roots(roots, space);
                }
                // SAFETY: see above.
                unsafe { run(roots, space) }
            }
        }
    };
}

pub(crate) use implement_schoolbook;
