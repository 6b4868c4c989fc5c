//! Running a plan for inverses or greatest common divisors, item by item.

use crate::backend::Cpu;
use crate::inverse;
use crate::long::Multiplier;
use crate::long::gcd;
use crate::method::Method;
use crate::planning::Recipe;
use crate::power_of_two::Residue;
use crate::run::wrong;
use modmill_core::{Error, KERNEL_MAX_BITS, Plan};

/// A way to find inverses of single numbers.
#[derive(Debug, Clone, Copy)]
pub enum Inverter {
    /// Division steps, in constant time.
    DivisionSteps,
    /// Half-gcd for numbers longer than [`KERNEL_MAX_BITS`], in time that depends on them; division steps for
    /// shorter ones.
    HalfGcd(Multiplier),
}

impl Inverter {
    /// `a^-1 mod N` in as many limbs as the modulus has, whose highest limb is not zero; `None` if there is
    /// none.
    #[must_use]
    pub fn invert(&self, a: &[u64], modulus: &[u64]) -> Option<Residue> {
        match self {
            Self::HalfGcd(multiplier) if 64 * modulus.len().max(a.len()) > KERNEL_MAX_BITS => {
                let mut inverse = gcd::invert(multiplier, a, modulus)?;
                inverse.resize(modulus.len(), 0);
                Some(inverse.into())
            }
            Self::DivisionSteps | Self::HalfGcd(_) => inverse::invert(a, modulus),
        }
    }
}

impl Cpu {
    /// The way to find inverses that a plan of this backend says.
    pub fn inverter(&self, plan: &Plan) -> Result<Inverter, Error> {
        let inverter = match plan.recipe.get() {
            Some(Recipe { method: Method::DivisionSteps, .. }) => Inverter::DivisionSteps,
            Some(&Recipe { method: Method::HalfGcd(multiplier), .. }) => Inverter::HalfGcd(multiplier),
            Some(_) | None => return Err(wrong(plan)),
        };
        self.record_item_by_item(plan);
        Ok(inverter)
    }

    /// The multiplier of half-gcd that a plan of this backend says.
    pub fn divider(&self, plan: &Plan) -> Result<Multiplier, Error> {
        match plan.recipe.get() {
            Some(&Recipe { method: Method::HalfGcd(multiplier), .. }) => {
                self.record_item_by_item(plan);
                Ok(multiplier)
            }
            Some(_) | None => Err(wrong(plan)),
        }
    }

    fn record_item_by_item(&self, plan: &Plan) {
        if let Some(&Recipe { method, .. }) = plan.recipe.get() {
            self.record(method.path(), method.variant(&plan.request, self.threads()), None);
        }
    }
}
