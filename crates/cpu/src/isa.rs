//! Which instruction sets this processor has, and tokens that prove it.

use modmill_core::{Error, Isa};

/// Name of the environment variable that forces a path.
pub const FORCE: &str = "MODMILL_CPU";

/// The processor has AVX2 and FMA. Only [`detect_avx2`] makes one.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

/// The processor has AVX-512F. Only [`detect_avx512`] makes one.
#[derive(Debug, Clone, Copy)]
pub struct Avx512(());

/// The processor has AVX-512F and AVX-512 IFMA. Only [`detect_ifma`] makes one.
#[derive(Debug, Clone, Copy)]
pub struct Ifma(());

macro_rules! detect {
    ($(#[$doc:meta])* $name:ident -> $token:ident: $($feature:tt),+) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name() -> Option<$token> {
            #[cfg(target_arch = "x86_64")]
            if $(std::arch::is_x86_feature_detected!($feature))&&+ {
                return Some($token(()));
            }
            None
        }
    };
}

detect! {
    /// Looks for AVX2 and FMA.
    detect_avx2 -> Avx2: "avx2", "fma"
}
detect! {
    /// Looks for AVX-512F.
    detect_avx512 -> Avx512: "avx512f"
}
detect! {
    /// Looks for AVX-512 IFMA.
    detect_ifma -> Ifma: "avx512f", "avx512ifma"
}

/// The instruction sets to use: all that the processor has, up to and including `limit`.
#[must_use]
pub fn available(limit: Option<Isa>) -> Vec<Isa> {
    let has = |isa: Isa| match isa {
        Isa::Avx2 => detect_avx2().is_some(),
        Isa::Avx512 => detect_avx512().is_some(),
        Isa::Portable => true,
    };
    Isa::ALL.iter().copied().filter(|&isa| limit.is_none_or(|limit| isa <= limit) && has(isa)).collect()
}

/// The path that the environment forces, if any; an error if it is unknown or not here.
pub fn forced() -> Result<Option<Isa>, Error> {
    // An empty variable is no value.
    let Some(text) = std::env::var_os(FORCE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let unavailable = |why: String| Error::Unavailable(format!("{FORCE}: {why}"));
    let isa: Isa = text.to_string_lossy().parse().map_err(unavailable)?;
    if available(None).contains(&isa) {
        Ok(Some(isa))
    } else {
        Err(unavailable(format!("this processor has no {isa}")))
    }
}
