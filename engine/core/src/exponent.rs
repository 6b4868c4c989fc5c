//! Exponents of a call, and who may know them.

use crate::{Batch, BatchView, Operand, Resident, ResidentView, Secrecy};

/// Exponents that anybody may know. Their values may decide how long a power takes.
///
/// ```
/// use modmill_core::{Batch, Exponent, Public, Secrecy};
///
/// let exponents = Batch::from_hex(["10001"])?;
/// assert_eq!(Exponent::from(&exponents).secrecy, Secrecy::Secret);
/// assert_eq!(Exponent::from(Public(&exponents)).secrecy, Secrecy::Public);
/// # Ok::<(), modmill_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Public<T>(pub T);

/// The exponents of a call: secret, unless they are [`Public`].
#[derive(Clone, Copy)]
pub struct Exponent<'a> {
    /// One exponent per item, or one for all.
    pub numbers: Operand<'a>,
    /// Whether the time may depend on their values.
    pub secrecy: Secrecy,
}

/// The exponents of a product of powers, one operand per power.
#[derive(Clone, Copy)]
pub struct ExponentList<'a> {
    /// The exponents of each power.
    pub operands: &'a [Operand<'a>],
    /// Whether the time may depend on their values.
    pub secrecy: Secrecy,
}

macro_rules! exponents {
    ($($type:ty),+) => {
        $(
            impl<'a> From<$type> for Exponent<'a> {
                fn from(numbers: $type) -> Self {
                    Self { numbers: numbers.into(), secrecy: Secrecy::Secret }
                }
            }
        )+
    };
}

exponents!(Operand<'a>, &'a Batch, BatchView<'a>, &'a Resident, ResidentView<'a>);

impl<'a, T: Into<Operand<'a>>> From<Public<T>> for Exponent<'a> {
    fn from(Public(numbers): Public<T>) -> Self {
        Self { numbers: numbers.into(), secrecy: Secrecy::Public }
    }
}

impl<'a, T: AsRef<[Operand<'a>]> + ?Sized> From<&'a T> for ExponentList<'a> {
    fn from(operands: &'a T) -> Self {
        Self { operands: operands.as_ref(), secrecy: Secrecy::Secret }
    }
}

impl<'a, T: AsRef<[Operand<'a>]> + ?Sized> From<Public<&'a T>> for ExponentList<'a> {
    fn from(Public(operands): Public<&'a T>) -> Self {
        Self { operands: operands.as_ref(), secrecy: Secrecy::Public }
    }
}
