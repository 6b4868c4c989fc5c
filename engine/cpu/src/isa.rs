//! Detection of instruction sets, and tokens that prove it.

use modmill_core::{Error, Isa};

/// The environment variable that limits the instruction set.
pub(crate) const FORCE: &str = "MODMILL_CPU";

/// Proof that the processor has BMI2, ADX and AVX2, which reads tables. Only [`detect_adx`] creates one.
#[derive(Debug, Clone, Copy)]
pub struct Adx(());

/// Proof that the processor has AVX2 and FMA. Only [`detect_avx2`] creates one.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

/// Proof that the processor has AVX-512F. Only [`detect_avx512`] creates one.
#[derive(Debug, Clone, Copy)]
pub struct Avx512(());

/// Proof that the processor has AVX-512F and AVX-512 IFMA. Only [`detect_ifma`] creates one.
#[derive(Debug, Clone, Copy)]
pub struct Ifma(());

macro_rules! detect {
    ($(#[$doc:meta])* $name:ident -> $token:ident: $($feature:tt),+) => {
        $(#[$doc])*
        #[must_use]
        pub(crate) fn $name() -> Option<$token> {
            #[cfg(target_arch = "x86_64")]
            if $(std::arch::is_x86_feature_detected!($feature))&&+ {
                return Some($token(()));
            }
            None
        }
    };
}

detect! {
    /// Detects BMI2, ADX and AVX2.
    detect_adx -> Adx: "bmi2", "adx", "avx2"
}
detect! {
    /// Detects AVX2 and FMA.
    detect_avx2 -> Avx2: "avx2", "fma"
}
detect! {
    /// Detects AVX-512F.
    detect_avx512 -> Avx512: "avx512f"
}
detect! {
    /// Detects AVX-512 IFMA.
    detect_ifma -> Ifma: "avx512f", "avx512ifma"
}

/// The instruction sets of this processor, up to and including `limit`.
#[must_use]
pub(crate) fn available(limit: Option<Isa>) -> Vec<Isa> {
    let has = |isa: Isa| match isa {
        Isa::X86 => detect_adx().is_some(),
        Isa::Avx2 => detect_avx2().is_some(),
        Isa::Avx512 => detect_avx512().is_some(),
        Isa::Avx512Ifma => detect_ifma().is_some(),
        Isa::Portable => true,
    };
    Isa::ALL.iter().copied().filter(|&isa| limit.is_none_or(|limit| isa <= limit) && has(isa)).collect()
}

/// The instruction set that the environment variable names, if it is set and not empty. An unknown name or a
/// missing instruction set is an error.
pub(crate) fn forced() -> Result<Option<Isa>, Error> {
    named(&std::env::var_os(FORCE).unwrap_or_default().to_string_lossy())
}

/// The instruction set of this name, in any case; an empty name is none.
fn named(name: &str) -> Result<Option<Isa>, Error> {
    if name.is_empty() {
        return Ok(None);
    }
    let unavailable = |why: String| Error::Unavailable(format!("{FORCE}: {why}"));
    let isa: Isa = name.parse().map_err(unavailable)?;
    if available(None).contains(&isa) {
        Ok(Some(isa))
    } else {
        Err(unavailable(format!("this processor has no {isa}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_in_any_case_and_an_empty_one_is_none() {
        assert_eq!(named(""), Ok(None));
        assert_eq!(named("Portable"), Ok(Some(Isa::Portable)));
        assert!(named("avx1024").is_err());
    }
}
