//! The vectors that division steps and schoolbook arithmetic run in.

use crate::isa;
use crate::path::CpuPath;
use modmill_core::Isa;

/// Vectors for numbers side by side, with the proof that this processor has them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StepLanes {
    /// Eight words.
    #[cfg(target_arch = "x86_64")]
    Avx512(isa::Avx512),
    /// Four words.
    #[cfg(target_arch = "x86_64")]
    Avx2(isa::Avx2),
}

/// Runs an expression with `$V` bound to the type of the vectors and `$token` to its token.
macro_rules! with_vectors {
    ($lanes:expr, $V:ident, $token:ident => $body:expr) => {
        match $lanes {
            #[cfg(target_arch = "x86_64")]
            $crate::vector_choice::StepLanes::Avx512($token) => {
                type $V = $crate::avx512::words::Eight;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            $crate::vector_choice::StepLanes::Avx2($token) => {
                type $V = $crate::avx2::words::Four;
                $body
            }
        }
    };
}

pub(crate) use with_vectors;

impl StepLanes {
    /// The vectors of the instruction sets of some paths, the widest first.
    pub(crate) fn of(paths: &[CpuPath]) -> Vec<Self> {
        let highest = paths.iter().map(|path| path.isa()).max();
        let mut lanes = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let eight = isa::detect_avx512().filter(|_| highest >= Some(Isa::Avx512));
            let four = isa::detect_avx2().filter(|_| highest >= Some(Isa::Avx2));
            lanes.extend(eight.map(Self::Avx512));
            lanes.extend(four.map(Self::Avx2));
        }
        lanes
    }

    /// Its instruction set.
    pub(crate) fn isa(self) -> Isa {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => Isa::Avx512,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => Isa::Avx2,
        }
    }

    /// Numbers of a vector.
    pub(crate) fn lanes(self) -> usize {
        use crate::divsteps::vector::Vector;
        with_vectors!(self, V, _token => V::LANES)
    }
}
