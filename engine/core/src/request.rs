//! A request: everything about a group of items that decides how the group is computed.

use crate::{CrtPowers, Job, KERNEL_MAX_BITS, Moduli, Op, Operand, Product, PublicPowers, Step, limbs};
use std::sync::Arc;

/// A group of items to be planned: one operation on numbers of about one size.
///
/// ```
/// use modmill_core::{Op, Request};
///
/// // A thousand RSA-2048 verifications: one modulus, one public exponent.
/// let request = Request::new(Op::PowVartime, 2048, 1000).one_modulus().public_exponent(&[65_537]);
/// assert_eq!(request.exponent_bits(), 17);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// Length of the longest modulus, in bits; of the longest factor where the operation has no modulus.
    pub bits: usize,
    /// Length of the shortest modulus, in bits; of the shorter factor where the operation has no modulus.
    pub shortest_bits: usize,
    /// Number of items.
    pub count: usize,
    /// Declared width of the longest base or factor, in bits.
    pub factor_bits: usize,
    /// Declared width of the second factor, in bits. A product with one bit is a remainder.
    pub second_bits: usize,
    /// The exponents of a power.
    pub exponents: Exponents,
    /// How the moduli are given.
    pub moduli: ModuliForm,
    /// Whether time and memory accesses may depend on the exponents.
    pub secrecy: Secrecy,
    /// The memory that holds the operands.
    pub operands: Location,
    /// The memory that the answers go to.
    pub answers: Location,
    /// Numbers that make up one answer: the powers of a product of powers, the numbers of a column's group.
    pub terms: usize,
    /// Length of the exponents that a fixed base was prepared for, in bits.
    pub prepared_bits: usize,
    /// The public exponent that checks every answer of a power by the Chinese remainder theorem.
    pub check: Option<Arc<[u64]>>,
}

/// The exponents of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exponents {
    /// The operation has none.
    None,
    /// One exponent per item, of at most this many bits.
    Each {
        /// Declared width of secret exponents; length of the longest public exponent.
        bits: usize,
    },
    /// One exponent for all items. Its value is secret, or not known yet.
    Shared {
        /// Declared width.
        bits: usize,
    },
    /// One public exponent for all items, as little-endian limbs.
    Public(Arc<[u64]>),
}

/// How the moduli of a request are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuliForm {
    /// The operation has no modulus.
    None,
    /// One plain number per item.
    Each,
    /// One modulus for all items; its constants are kept.
    Shared,
    /// One modulus per item; the constants of each are kept from call to call.
    Prepared,
}

/// The values that the time of an operation may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrecy {
    /// Neither time nor addresses depend on the values of bases and exponents.
    Secret,
    /// Time and addresses may depend on the exponents, or on all values where there are no exponents.
    Public,
}

/// The memory that holds numbers: the host's, a device's, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Location {
    /// In the memory of the host.
    Host,
    /// In the memory of a device.
    Device,
    /// Some operands are in the memory of the host, others in that of a device.
    Mixed,
}

impl Request {
    /// A request for `count` items of `bits` bits. Every item has its own operands and its own modulus;
    /// exponents are as long as the modulus, and public for [`Op::PowVartime`] only.
    #[must_use]
    pub fn new(op: Op, bits: usize, count: usize) -> Self {
        Self {
            op,
            bits,
            shortest_bits: bits,
            count,
            factor_bits: bits,
            second_bits: bits,
            exponents: if op.is_power() { Exponents::Each { bits } } else { Exponents::None },
            moduli: if op.is_modular() { ModuliForm::Each } else { ModuliForm::None },
            secrecy: secrecy(op),
            operands: Location::Host,
            answers: Location::Host,
            terms: 1,
            prepared_bits: 0,
            check: None,
        }
    }

    /// The request of a job. The job's exponents are looked at if `op` says that they are public.
    #[must_use]
    pub fn of(op: Op, job: &Job<'_>) -> Self {
        let second = if op.has_second_factor() { job.b.bits() } else { 0 };
        let has_second = op.has_second_factor() || op.is_power();
        Self {
            shortest_bits: job.shortest_bits,
            factor_bits: job.a.bits().max(second),
            second_bits: second,
            exponents: Exponents::of(op, job),
            operands: Location::of([Some(job.a), has_second.then_some(job.b)]),
            moduli: match job.moduli {
                Moduli::Each(_) | Moduli::Resident(_) => ModuliForm::Each,
                Moduli::Shared(_) => ModuliForm::Shared,
                Moduli::Prepared(_) => ModuliForm::Prepared,
            },
            ..Self::new(op, job.bits, job.items.len())
        }
    }

    /// The request of full products or squares.
    #[must_use]
    pub fn of_product(product: &Product<'_>) -> Self {
        let op = if product.b.is_some() { Op::Mul } else { Op::Square };
        let shortest_bits = product.a.bits().min(product.b.unwrap_or(product.a).bits());
        let operands = Location::of([Some(product.a), product.b]);
        Self { shortest_bits, operands, ..Self::new(op, product.longest_factor_bits(), product.count) }
    }

    /// The request of a small step.
    #[must_use]
    pub fn of_step(step: &Step<'_>, count: usize) -> Self {
        let operands = Location::of(step.operands().map(Some));
        Self { operands, ..Self::new(Op::Step, step.bits(), count) }
    }

    /// The request of powers by the Chinese remainder theorem: two powers modulo primes for each item.
    #[must_use]
    pub fn of_crt(job: &CrtPowers<'_>) -> Self {
        Self {
            shortest_bits: 64 * job.prime_limbs,
            exponents: Exponents::Each { bits: job.exponent_bits },
            secrecy: if job.blinded { Secrecy::Public } else { Secrecy::Secret },
            check: Some(job.public_exponent.into()),
            ..Self::new(Op::CrtPow, job.bits, job.count)
        }
    }

    /// The request of powers with a short public exponent.
    #[must_use]
    pub fn of_public(job: &PublicPowers<'_>) -> Self {
        Self::new(Op::PublicPow, job.bits, job.count).public_exponent(job.exponent)
    }

    /// This request with operands on a device.
    #[must_use]
    pub fn resident_operands(self) -> Self {
        Self { operands: Location::Device, ..self }
    }

    /// This request with answers that stay on a device.
    #[must_use]
    pub fn resident_answers(self) -> Self {
        Self { answers: Location::Device, ..self }
    }

    /// This request with one modulus for all items.
    #[must_use]
    pub fn one_modulus(self) -> Self {
        Self { moduli: ModuliForm::Shared, ..self }
    }

    /// This request with a modulus per item whose constants are kept.
    #[must_use]
    pub fn prepared_moduli(self) -> Self {
        Self { moduli: ModuliForm::Prepared, ..self }
    }

    /// This request with one exponent of `bits` bits for each item.
    #[must_use]
    pub fn exponents_of(self, bits: usize) -> Self {
        Self { exponents: Exponents::Each { bits }, ..self }
    }

    /// This request with one exponent of `bits` bits for all items.
    #[must_use]
    pub fn one_exponent(self, bits: usize) -> Self {
        Self { exponents: Exponents::Shared { bits }, ..self }
    }

    /// This request with one public exponent for all items, given as little-endian limbs.
    #[must_use]
    pub fn public_exponent(self, exponent: &[u64]) -> Self {
        Self { exponents: Exponents::Public(exponent.into()), ..self }
    }

    /// This request with bases and factors of `bits` bits.
    #[must_use]
    pub fn factors_of(self, bits: usize) -> Self {
        Self { factor_bits: bits, ..self }
    }

    /// Length of the exponents, in bits; 0 if there are none.
    #[must_use]
    pub fn exponent_bits(&self) -> usize {
        match &self.exponents {
            Exponents::None => 0,
            Exponents::Each { bits } | Exponents::Shared { bits } => *bits,
            Exponents::Public(exponent) => limbs::bit_length(exponent),
        }
    }

    /// Whether the numbers are too long for all algorithms but transforms.
    #[must_use]
    pub fn is_long(&self) -> bool {
        self.bits > KERNEL_MAX_BITS
    }
}

impl Exponents {
    /// The exponents of a job: secret ones by their declared width, public ones by their values.
    fn of(op: Op, job: &Job<'_>) -> Self {
        match (op.is_power(), secrecy(op), job.b) {
            (false, ..) => Self::None,
            (true, Secrecy::Secret, Operand::Each(view)) => Self::Each { bits: view.bits() },
            (true, Secrecy::Secret, Operand::Shared { bits, .. }) => Self::Shared { bits },
            // Nobody looks at numbers on a device: their declared width counts.
            (true, _, Operand::Resident(view)) => Self::Each { bits: view.bits() },
            (true, _, Operand::SharedResident(view)) => Self::Shared { bits: view.bits() },
            (true, Secrecy::Public, Operand::Shared { .. }) => Self::Public(job.b.limbs(0).into()),
            (true, Secrecy::Public, Operand::Each(view)) => {
                // An item that the exponents do not have is refused when the job is run.
                let items = job.items.iter().filter(|&item| item < view.len());
                let lengths = items.map(|item| limbs::bit_length(view.get(item)));
                Self::Each { bits: lengths.max().unwrap_or(0) }
            }
        }
    }
}

impl Location {
    /// The memory that holds some operands.
    pub(crate) fn of<const N: usize>(operands: [Option<Operand<'_>>; N]) -> Self {
        let is_resident =
            |wanted| operands.iter().flatten().any(|operand| operand.resident().is_some() == wanted);
        match (is_resident(true), is_resident(false)) {
            (true, true) => Self::Mixed,
            (true, false) => Self::Device,
            (false, _) => Self::Host,
        }
    }
}

/// The secrecy that the contract of an operation promises.
const fn secrecy(op: Op) -> Secrecy {
    match op {
        Op::PowVartime | Op::Gcd | Op::Jacobi | Op::PublicPow => Secrecy::Public,
        _ => Secrecy::Secret,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Batch;

    #[test]
    fn a_job_says_what_its_plan_depends_on() {
        let numbers = Batch::from_hex(["0fff", "3"]).unwrap();
        let moduli = Batch::from_hex(["ffffffff", "7fffffff"]).unwrap();
        let (a, b) = (Operand::from(&numbers), Operand::from(&numbers));
        let job = Job { shortest_bits: 31, ..Job::new(&[0, 1], 32, a, b, Moduli::from(&moduli)) };
        let request = Request::of(Op::Pow, &job);
        // The declared width of a secret, the length of what is public.
        assert_eq!(request.exponents, Exponents::Each { bits: 16 });
        assert_eq!(Request::of(Op::PowVartime, &job).exponents, Exponents::Each { bits: 12 });
        assert_eq!((request.bits, request.shortest_bits, request.count), (32, 31, 2));
        assert_eq!((request.moduli, request.secrecy), (ModuliForm::Each, Secrecy::Secret));
        let shared = Job { b: numbers.shared(0), ..job };
        assert_eq!(Request::of(Op::Pow, &shared).exponents, Exponents::Shared { bits: 16 });
        assert_eq!(Request::of(Op::PowVartime, &shared).exponent_bits(), 12);
        assert_eq!(Request::of(Op::MulMod, &shared).exponents, Exponents::None);
    }
}
