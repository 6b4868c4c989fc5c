//! The methods of the CPU: how a group of items is computed.

use crate::long::{self, Multiplier};
use crate::path::CpuPath;
use crate::scalar_choice::Limbs;
use crate::vector_choice::StepLanes;
use modmill_core::{Backend, Family, Isa, Op, Request};

/// How the CPU computes a group of items.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Method {
    /// Montgomery arithmetic, or plain products, in the lanes of a kernel.
    Lanes(CpuPath),
    /// Residue number systems, item by item.
    Residues,
    /// Transforms, item by item.
    Transforms(Multiplier),
    /// A product and a division by the modulus, which needs no constants of the modulus.
    Division(Limbs),
    /// Products, divisions or square roots by rows of digits, on several numbers side by side.
    RowLanes(StepLanes),
    /// Inverses by division steps, in constant time.
    DivisionSteps,
    /// Inverses, divisors or Jacobi symbols by division steps on several numbers side by side.
    StepLanes(StepLanes),
    /// Divisors and inverses by half-gcd, in time that depends on the numbers.
    HalfGcd(Multiplier),
}

impl Method {
    /// The method that a path stands for.
    pub(crate) fn of(path: CpuPath) -> Self {
        match path {
            CpuPath::Rns => Self::Residues,
            CpuPath::Fft(multiplier) => Self::Transforms(multiplier),
            CpuPath::Row => Self::Lanes(path),
            #[cfg(target_arch = "x86_64")]
            CpuPath::X86(_) | CpuPath::WideAvx2(_) | CpuPath::WideAvx512(_) | CpuPath::Ifma(_) => {
                Self::Lanes(path)
            }
        }
    }

    /// The method for an operation that a path was chosen for. Scalar code has no lanes to fill: it divides
    /// single products, which takes half as many limb products as a way into Montgomery form and out of it.
    pub(crate) fn for_op(self, op: Op) -> Self {
        match (self, op) {
            (Self::Lanes(path), Op::MulMod | Op::SquareMod) => path.limbs().map_or(self, Self::Division),
            _ => self,
        }
    }

    fn isa(self) -> Isa {
        match self {
            Self::Lanes(path) => path.isa(),
            Self::Transforms(multiplier) | Self::HalfGcd(multiplier) => multiplier.isa(),
            Self::Division(limbs) => CpuPath::from(limbs).isa(),
            Self::StepLanes(lanes) | Self::RowLanes(lanes) => lanes.isa(),
            Self::Residues | Self::DivisionSteps => Isa::Portable,
        }
    }

    fn family(self) -> Family {
        match self {
            Self::Lanes(path) => path.family(),
            Self::Residues => Family::Rns,
            Self::Transforms(_) | Self::HalfGcd(_) => Family::Fft,
            Self::Division(_) | Self::RowLanes(_) | Self::DivisionSteps | Self::StepLanes(_) => Family::Row,
        }
    }

    pub(crate) fn path(self) -> modmill_core::Path {
        modmill_core::Path { backend: Backend::Cpu, isa: Some(self.isa()), family: self.family() }
    }

    /// Items that one thread computes side by side.
    pub(crate) fn lanes(self, request: &Request) -> usize {
        match self {
            Self::Lanes(path) => path.lanes_for(request.op, request.bits, request.count),
            Self::StepLanes(lanes) | Self::RowLanes(lanes) => lanes.lanes(),
            Self::Residues
            | Self::Transforms(_)
            | Self::Division(_)
            | Self::DivisionSteps
            | Self::HalfGcd(_) => 1,
        }
    }

    /// How the method is laid out, in words.
    pub(crate) fn variant(self, request: &Request, threads: usize) -> String {
        let threads = counted(threads, "thread");
        match self {
            Self::Lanes(_) => format!("{} x {threads}", counted(self.lanes(request), "lane")),
            Self::Residues => format!("residues, {threads}"),
            Self::Transforms(multiplier) if request.op.is_power() => {
                let reduction =
                    long::reduction_method(&multiplier, request.bits.div_ceil(64), request.exponent_bits());
                format!("transforms with {reduction}, {threads}")
            }
            Self::Transforms(_) => format!("transforms, {threads}"),
            Self::Division(_) => format!("division, {threads}"),
            Self::RowLanes(lanes) => format!("division, {} x {threads}", counted(lanes.lanes(), "lane")),
            Self::DivisionSteps => format!("division steps, {threads}"),
            Self::StepLanes(lanes) => {
                format!("division steps, {} x {threads}", counted(lanes.lanes(), "lane"))
            }
            Self::HalfGcd(_) => format!("half-gcd, {threads}"),
        }
    }
}

/// A number and a noun in the right form.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
