//! The parts of a variant's kernels. Each is a program of its own, so that a device compiles what a batch
//! needs, and compiles it side by side.

/// A part of a variant's kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Powers with secret exponents.
    Power,
    /// Powers with public exponents, and others whose tables are read directly.
    PowerVartime,
    /// Products and squares modulo N.
    Multiply,
    /// Chains of Montgomery products and squares. The residue family has none.
    Chains,
    /// Constants of moduli, and remainders of numbers that are longer than their moduli.
    Preparation,
    /// Words to residues and back, in the residue family.
    Conversion,
}

impl Part {
    /// Every part.
    pub const ALL: [Self; 6] =
        [Self::Power, Self::PowerVartime, Self::Multiply, Self::Chains, Self::Preparation, Self::Conversion];

    /// The macro that is defined for this part.
    pub(crate) const fn define(self) -> &'static str {
        match self {
            Self::Power => "HAS_POWER",
            Self::PowerVartime => "HAS_POWER_VARTIME",
            Self::Multiply => "HAS_MULTIPLY",
            Self::Chains => "HAS_CHAINS",
            Self::Preparation => "HAS_PREPARATION",
            Self::Conversion => "HAS_CONVERSION",
        }
    }

    /// The name of its program in messages.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Power => "powers",
            Self::PowerVartime => "powers with public exponents",
            Self::Multiply => "products",
            Self::Chains => "chains of products",
            Self::Preparation => "constants of moduli",
            Self::Conversion => "conversions to residues",
        }
    }
}
