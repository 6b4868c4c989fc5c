//! Even moduli: N = m 2^k with m odd. The answer modulo m comes from the fast path, the answer
//! modulo 2^k from truncated arithmetic, and Garner's step joins them
//! ([`modmill_cpu::power_of_two::join`]).

use modmill_core::{Batch, Error, Moduli, Modulus, limbs};
use zeroize::Zeroizing;

/// The odd parts of some items' moduli, in the shape the moduli came in.
pub(crate) enum OddParts {
    Each(Batch),
    Shared(Modulus),
}

impl OddParts {
    /// Splits the power of two off the moduli of `items`; other items of a batch stay zero.
    pub(crate) fn of(moduli: Moduli<'_>, items: &[usize]) -> Result<Self, Error> {
        match moduli {
            Moduli::Shared(modulus) => {
                let shared = modulus.constants(|modulus| SharedOddPart(odd_part(modulus.value())));
                Ok(Self::Shared(shared.0.clone()))
            }
            Moduli::Each(_) | Moduli::Prepared(_) | Moduli::Resident(_) => {
                let mut odd = Batch::try_zeros(moduli.bits(), moduli.len().unwrap_or(0))?;
                for &item in items {
                    let value = moduli.get(item);
                    let shift = limbs::trailing_zeros(value).unwrap_or(0);
                    limbs::shift_right(value, shift, odd.get_mut(item));
                }
                Ok(Self::Each(odd))
            }
        }
    }

    pub(crate) fn moduli(&self) -> Moduli<'_> {
        match self {
            Self::Each(batch) => batch.into(),
            Self::Shared(modulus) => modulus.into(),
        }
    }
}

/// The odd part of a shared even modulus. It is kept with that modulus, so that its own constants live as
/// long.
struct SharedOddPart(Modulus);

fn odd_part(value: &[u64]) -> Modulus {
    let mut odd = Zeroizing::new(vec![0; value.len()]);
    limbs::shift_right(value, limbs::trailing_zeros(value).unwrap_or(0), &mut odd);
    Modulus::new(&odd).expect("the odd part of a modulus is a modulus")
}
