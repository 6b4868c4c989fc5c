//! The names of operations, families of algorithms, backends and instruction sets.

use std::fmt;
use std::str::FromStr;

macro_rules! named {
    ($(#[$meta:meta])* $type:ident, $what:literal { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$doc])* $variant),+ }

        impl $type {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name users write and read.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = String;

            /// Reads a name; upper and lower case are alike.
            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|value| value.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|value| value.name()).collect();
                    format!("unknown {} {text:?}; known: {}", $what, names.join(", "))
                })
            }
        }
    };
}

named! {
    /// An operation of the engine.
    ///
    /// Who asks for the operations that it knows leaves the others alone, so that a new one is added here and
    /// where it is computed.
    #[non_exhaustive]
    Op, "operation" {
        /// Full product of two numbers.
        Mul = "mul",
        /// Full square of a number.
        Square = "square",
        /// Product modulo N.
        MulMod = "mul_mod",
        /// Square modulo N.
        SquareMod = "square_mod",
        /// Power modulo N, exponent and base secret.
        Pow = "pow",
        /// Power modulo N, exponent public.
        PowVartime = "pow_vartime",
        /// Inverse modulo N.
        Inv = "inv",
        /// Greatest common divisor, of public numbers.
        Gcd = "gcd",
        /// Jacobi symbol of public numbers.
        Jacobi = "jacobi",
        /// Power of one base that was prepared, modulo one number.
        FixedPow = "pow_fixed_base",
        /// Product of several powers modulo N.
        MultiPow = "multi_pow",
        /// Product of the numbers of a column, or of groups of it, modulo one number.
        ProductMod = "product_mod",
        /// Sum of the numbers of a column modulo one number.
        SumMod = "sum_mod",
        /// Quotient and remainder of a division.
        Div = "div_rem",
        /// Integer square root.
        Isqrt = "isqrt",
        /// Small step between products: a sum, a difference, a shift, a comparison, a choice.
        Step = "step",
        /// Power modulo a product of two primes, by the Chinese remainder theorem, checked with the public
        /// exponent; from bytes to bytes.
        CrtPow = "crt_pow",
        /// Power by one short public exponent, from bytes to bytes.
        PublicPow = "public_pow",
        /// Product of a matrix of residues with vectors.
        MatrixProduct = "matrix_product",
    }
}

impl Op {
    /// The operations whose answers are each found from the plain numbers of one item.
    pub const OF_ITEMS: &'static [Self] = &[
        Self::Mul,
        Self::Square,
        Self::MulMod,
        Self::SquareMod,
        Self::Pow,
        Self::PowVartime,
        Self::Inv,
        Self::Gcd,
        Self::Jacobi,
        Self::Div,
        Self::Isqrt,
    ];

    /// Whether the operation raises to a power.
    #[must_use]
    pub const fn is_power(self) -> bool {
        matches!(
            self,
            Self::Pow | Self::PowVartime | Self::FixedPow | Self::MultiPow | Self::CrtPow | Self::PublicPow
        )
    }

    /// Whether the operation has a modulus.
    #[must_use]
    pub const fn is_modular(self) -> bool {
        match self {
            Self::MulMod | Self::SquareMod | Self::Inv | Self::Jacobi | Self::ProductMod | Self::SumMod => {
                true
            }
            Self::Mul
            | Self::Square
            | Self::Gcd
            | Self::Div
            | Self::Isqrt
            | Self::Step
            | Self::MatrixProduct => false,
            Self::Pow
            | Self::PowVartime
            | Self::FixedPow
            | Self::MultiPow
            | Self::CrtPow
            | Self::PublicPow => true,
        }
    }

    /// Whether the second operand is a factor.
    #[must_use]
    pub const fn has_second_factor(self) -> bool {
        matches!(self, Self::Mul | Self::MulMod)
    }
}

named! {
    /// A family of algorithms; the same name in every backend that has it.
    Family, "algorithm" {
        /// Row-oriented integer products.
        Row = "row",
        /// Integer products by blocks, even and odd positions apart.
        TwoPass = "two_pass",
        /// 52-bit samples in double-precision floating point.
        Wide = "wide",
        /// 22- or 23-bit samples in double-precision floating point.
        Narrow = "narrow",
        /// 52-bit integer multiply-add in vector lanes (AVX-512 IFMA).
        Ifma = "ifma",
        /// Residue number systems.
        Rns = "rns",
        /// Number-theoretic transforms.
        Fft = "fft",
    }
}

named! {
    /// The kind of processor that computes.
    Backend, "backend" {
        /// The host's processor cores.
        Cpu = "cpu",
        /// NVIDIA GPUs.
        Cuda = "cuda",
    }
}

named! {
    /// An instruction-set level of the CPU backend.
    Isa, "CPU path" {
        /// Plain Rust, any architecture.
        Portable = "portable",
        /// Scalar code for x86-64 with BMI2 and ADX; AVX2 reads tables.
        X86 = "x86",
        /// AVX2 and FMA.
        Avx2 = "avx2",
        /// AVX-512F.
        Avx512 = "avx512",
        /// AVX-512F and AVX-512 IFMA.
        Avx512Ifma = "avx512ifma",
    }
}

/// A family of algorithms on the backend and instruction set that run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The backend that runs it.
    pub backend: Backend,
    /// The instruction set, on a CPU.
    pub isa: Option<Isa>,
    /// The family of algorithms.
    pub family: Family,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.isa.map_or(self.backend.name(), Isa::name);
        f.pad(&format!("{name}/{}", self.family))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_are_explained() {
        for &family in Family::ALL {
            assert_eq!(family.name().parse::<Family>(), Ok(family));
            assert_eq!(family.name().to_uppercase().parse::<Family>(), Ok(family));
        }
        let error = "turbo".parse::<Isa>().unwrap_err();
        assert_eq!(error, "unknown CPU path \"turbo\"; known: portable, x86, avx2, avx512, avx512ifma");
    }
}
