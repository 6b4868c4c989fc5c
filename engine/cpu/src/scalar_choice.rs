//! The choice of the scalar arithmetic.

use crate::isa;
use modmill_core::Isa;

/// The scalar arithmetic of a backend.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limbs {
    /// Plain Rust.
    Portable,
    /// `mulx`, `adcx` and `adox`.
    #[cfg(target_arch = "x86_64")]
    X86(isa::Adx),
}

/// Runs an expression with `$scalar` bound to scalar arithmetic.
macro_rules! with_scalar {
    ($limbs:expr, $scalar:ident => $body:expr) => {
        match $limbs {
            crate::scalar_choice::Limbs::Portable => {
                let $scalar = crate::portable::Portable;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            crate::scalar_choice::Limbs::X86($scalar) => $body,
        }
    };
}

pub(crate) use with_scalar;

impl Limbs {
    /// The fastest scalar arithmetic of this processor with instruction sets up to `limit`.
    pub(crate) fn detect(limit: Option<Isa>) -> Self {
        match isa::detect_adx().filter(|_| limit.is_none_or(|limit| limit >= Isa::X86)) {
            #[cfg(target_arch = "x86_64")]
            Some(token) => Self::X86(token),
            _ => Self::Portable,
        }
    }
}
