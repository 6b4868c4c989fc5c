//! The paths: every kernel of this crate, chosen once per batch.

#[cfg(target_arch = "x86_64")]
use crate::avx512ifma::ifma::pair::Pair;
use crate::domain::Domain;
#[cfg(target_arch = "x86_64")]
use crate::isa;
use crate::kernel::Kernel;
use crate::lanes::Lanes;
use crate::long::Multiplier;
use crate::scalar_choice::Limbs;
use modmill_core::rns::bases::{self as rns, channels_for};
use modmill_core::{Family, Isa, KERNEL_MAX_BITS, Op};

/// A kernel together with the proof that this processor can run it.
#[derive(Debug, Clone, Copy)]
pub enum CpuPath {
    /// Portable 64-bit rows.
    Row,
    /// 64-bit rows with `mulx`, `adcx` and `adox`.
    #[cfg(target_arch = "x86_64")]
    X86(isa::Adx),
    /// Portable residue number systems, for moduli up to a length.
    Rns,
    /// Transforms, for numbers of any length.
    Fft(Multiplier),
    /// 50-bit samples in doubles, four lanes.
    #[cfg(target_arch = "x86_64")]
    WideAvx2(isa::Avx2),
    /// 52-bit samples in doubles, eight lanes.
    #[cfg(target_arch = "x86_64")]
    WideAvx512(isa::Avx512),
    /// 52-bit integer multiply-add, eight lanes.
    #[cfg(target_arch = "x86_64")]
    Ifma(isa::Ifma),
}

/// Runs an expression with `$K` bound to a path's kernel type and `$token` to its token. Residues and
/// transforms have no kernel of their own: what they do not compute goes to the portable one.
macro_rules! with_kernel {
    ($path:expr, $K:ident, $token:ident => $body:expr) => {
        match $path {
            CpuPath::Row | CpuPath::Rns | CpuPath::Fft(_) => {
                type $K = crate::portable::row::Row;
                let $token = crate::portable::Portable;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            CpuPath::X86($token) => {
                type $K = crate::x86::row::Row;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            CpuPath::WideAvx2($token) => {
                type $K = crate::avx2::wide::Wide;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            CpuPath::WideAvx512($token) => {
                type $K = crate::avx512::wide::Wide;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            CpuPath::Ifma($token) => {
                type $K = crate::avx512ifma::ifma::Ifma;
                $body
            }
        }
    };
}

pub(crate) use with_kernel;

impl CpuPath {
    /// Every path this processor has.
    #[must_use]
    pub fn detect() -> Vec<Self> {
        let mut paths = vec![Self::Row, Self::Rns];
        paths.extend(Multiplier::detect(None).into_iter().map(Self::Fft));
        #[cfg(target_arch = "x86_64")]
        {
            paths.extend(isa::detect_adx().map(Self::X86));
            paths.extend(isa::detect_avx2().map(Self::WideAvx2));
            paths.extend(isa::detect_avx512().map(Self::WideAvx512));
            paths.extend(isa::detect_ifma().map(Self::Ifma));
        }
        paths
    }

    /// Its instruction set.
    #[must_use]
    pub fn isa(self) -> Isa {
        match self {
            Self::Fft(multiplier) => multiplier.isa(),
            _ => with_kernel!(self, K, _token => K::ISA),
        }
    }

    /// Its family of algorithms.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::Rns => Family::Rns,
            Self::Fft(_) => Family::Fft,
            _ => with_kernel!(self, K, _token => K::FAMILY),
        }
    }

    /// Numbers it computes side by side.
    #[must_use]
    pub fn lanes(self) -> usize {
        with_kernel!(self, K, _token => K::LANES)
    }

    /// Whether a batch goes to the kernel for two numbers, because the lanes of the path would be nearly
    /// empty.
    pub(crate) fn takes_a_pair(self, op: Op, bits: usize, count: usize) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma(_) => {
                let is_modular = matches!(op, Op::MulMod | Op::SquareMod | Op::Pow | Op::PowVartime);
                is_modular && count <= Pair::LANES && Pair::takes(bits)
            }
            _ => false,
        }
    }

    /// Numbers that it computes side by side in a batch of `count` items.
    pub(crate) fn lanes_for(self, op: Op, bits: usize, count: usize) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.takes_a_pair(op, bits, count) {
            return Pair::LANES;
        }
        self.lanes()
    }

    /// Its scalar arithmetic, if the path is a scalar one.
    pub(crate) fn limbs(self) -> Option<Limbs> {
        match self {
            Self::Row => Some(Limbs::Portable),
            #[cfg(target_arch = "x86_64")]
            Self::X86(token) => Some(Limbs::X86(token)),
            _ => None,
        }
    }

    /// Whether it multiplies plain numbers and divides by the reciprocal of their one modulus, for a batch of
    /// `count` items.
    pub(crate) fn divides(self, count: usize) -> bool {
        with_kernel!(self, K, _token => K::DIVISION.is_some() && count > K::LANES)
    }

    /// Digits of a number of `bits` bits; residues have channels instead.
    #[must_use]
    pub fn digits(self, bits: usize) -> usize {
        match self {
            Self::Rns => channels_for(bits),
            _ => with_kernel!(self, K, _token => Domain::<K>::digits_for(bits)),
        }
    }

    /// Whether the path computes an operation at a length. Another path stands in where none does.
    #[must_use]
    pub fn computes(self, op: Op, bits: usize) -> bool {
        match op {
            Op::Mul | Op::Square => match self {
                Self::Rns => false,
                Self::Fft(_) => true,
                _ => bits <= KERNEL_MAX_BITS,
            },
            Op::MulMod | Op::SquareMod | Op::Pow | Op::PowVartime => match self {
                Self::Rns => bits <= rns::MAX_BITS,
                Self::Fft(_) => true,
                _ => bits <= KERNEL_MAX_BITS,
            },
            _ => false,
        }
    }
}

impl From<Limbs> for CpuPath {
    fn from(limbs: Limbs) -> Self {
        match limbs {
            Limbs::Portable => Self::Row,
            #[cfg(target_arch = "x86_64")]
            Limbs::X86(token) => Self::X86(token),
        }
    }
}
