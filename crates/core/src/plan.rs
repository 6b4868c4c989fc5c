//! The vocabulary of plans: which operation, on what, by which algorithm, and why.

use std::fmt;
use std::str::FromStr;

macro_rules! named {
    ($(#[$meta:meta])* $type:ident, $what:literal { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
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

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.iter().copied().find(|value| value.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|value| value.name()).collect();
                    format!("unknown {} {text:?}; known: {}", $what, names.join(", "))
                })
            }
        }
    };
}

named! {
    /// An operation of the engine.
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
    /// Where work runs.
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
        /// AVX2 and FMA.
        Avx2 = "avx2",
        /// AVX-512F, and IFMA where the processor has it.
        Avx512 = "avx512",
    }
}

/// How a batch of one size will be computed, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The operation.
    pub op: Op,
    /// Bits of the modulus (of the factors for `mul`).
    pub bits: usize,
    /// Items in the batch.
    pub count: usize,
    /// Where it runs.
    pub backend: Backend,
    /// The instruction set it uses, on a CPU.
    pub isa: Option<Isa>,
    /// The family of algorithms.
    pub family: Family,
    /// Items computed side by side in one thread.
    pub lanes: usize,
    /// Worker threads.
    pub threads: usize,
    /// Window bits of an exponentiation, if it is one.
    pub window: Option<u32>,
    /// Why this and not another, a sentence or two.
    pub reason: String,
}

impl Plan {
    /// The way it takes.
    #[must_use]
    pub fn path(&self) -> Path {
        Path { backend: self.backend, isa: self.isa, family: self.family }
    }
}

/// A way to compute: a family of algorithms on something that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// Where it runs.
    pub backend: Backend,
    /// The instruction set it uses, on a CPU.
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

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} items of {} bits: {} on {}, {} lane{} x {} thread{}",
            self.op,
            self.count,
            self.bits,
            self.path(),
            self.backend,
            self.lanes,
            plural(self.lanes),
            self.threads,
            plural(self.threads)
        )?;
        if let Some(window) = self.window {
            write!(f, ", {window}-bit window")?;
        }
        write!(f, "\n  {}", self.reason)
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_are_explained() {
        for &family in Family::ALL {
            assert_eq!(family.name().parse::<Family>(), Ok(family));
        }
        let error = "turbo".parse::<Isa>().unwrap_err();
        assert_eq!(error, "unknown CPU path \"turbo\"; known: portable, avx2, avx512");
    }
}
