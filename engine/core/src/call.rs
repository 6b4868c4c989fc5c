//! Calls: operations on operands, as a backend computes them by a plan, and the place of their answers.

use crate::sync::Mutex;
use crate::{
    Batch, Blocks, CrtPowers, Error, Exponents, Job, Location, Moduli, ModuliForm, Modulus, Op, Operand,
    Plan, Product, PublicPowers, Request, Resident, Secrecy, Step, Watch,
};
use std::any::Any;

/// An operation with its operands. A backend that made a plan for [`Call::request`] computes it.
#[derive(Clone, Copy)]
pub enum Call<'a> {
    /// A modular operation on items whose moduli are of one size.
    Modular(Op, &'a Job<'a>),
    /// Full products or squares.
    Product(&'a Product<'a>),
    /// A small step between products.
    Step(&'a Step<'a>),
    /// Powers of a base that was prepared.
    FixedPow(&'a FixedPowers<'a>),
    /// Products of several powers.
    MultiPow(&'a MultiPowers<'a>),
    /// Products of the groups of a column.
    Products(&'a ColumnProducts<'a>),
    /// Inverses modulo numbers.
    Inverses(&'a Inverses<'a>),
    /// Greatest common divisors.
    Divisors(&'a Divisors<'a>),
    /// Quotients.
    Quotients(&'a Quotients<'a>),
    /// Powers by the Chinese remainder theorem, from bytes to bytes.
    CrtPow(&'a CrtPowers<'a>),
    /// Powers with one short public exponent, from bytes to bytes.
    PublicPow(&'a PublicPowers<'a>),
}

/// Inverses of the first factors of a job, which have no more bits than the job says.
pub struct Inverses<'a> {
    /// The items, their numbers and their moduli.
    pub job: Job<'a>,
    /// The items that have no inverse, in any order. Whoever computes the call adds them; their answers are
    /// zero.
    pub missing: &'a Mutex<Vec<usize>>,
}

/// Quotients `floor(a / N)`.
pub struct Quotients<'a> {
    /// The numbers to be divided.
    pub a: Operand<'a>,
    /// The divisors.
    pub divisors: Moduli<'a>,
    /// Length of the shortest divisor in bits, or less.
    pub shortest_bits: usize,
    /// Whether an answer has the remainder, as wide as the divisors, above the limbs of the quotient.
    pub with_remainders: bool,
    /// The number of items.
    pub count: usize,
    /// The items whose divisor is zero, in any order. Whoever computes the call adds them; their answers are
    /// zero.
    pub zero: &'a Mutex<Vec<usize>>,
    /// Told of the items that are done; it may stop the call.
    pub watch: Option<&'a Watch>,
}

impl Quotients<'_> {
    /// Declared width of the answers, in bits.
    #[must_use]
    pub fn answer_bits(&self) -> usize {
        match self.with_remainders {
            true => 64 * self.a.bits().div_ceil(64) + self.divisors.bits(),
            false => self.a.bits(),
        }
    }
}

/// Greatest common divisors of pairs of public numbers.
#[derive(Clone, Copy)]
pub struct Divisors<'a> {
    /// The first numbers.
    pub a: Operand<'a>,
    /// The second numbers.
    pub b: Operand<'a>,
    /// The number of pairs.
    pub count: usize,
    /// Told of the items that are done; it may stop the call.
    pub watch: Option<&'a Watch>,
}

impl Divisors<'_> {
    /// Declared width of the answers, in bits.
    #[must_use]
    pub fn bits(&self) -> usize {
        self.a.bits().max(self.b.bits())
    }
}

/// Powers of one base modulo one odd number, by exponents of which there is one per item.
#[derive(Clone, Copy)]
pub struct FixedPowers<'a> {
    /// The base, one number.
    pub base: Operand<'a>,
    /// The modulus.
    pub modulus: &'a Modulus,
    /// The exponents.
    pub exponents: Operand<'a>,
    /// Whether the time may depend on the exponents.
    pub secrecy: Secrecy,
    /// Length of the exponents that the tables are for, in bits.
    pub prepared_bits: usize,
    /// The tables of the backend that computes the call, in that backend's own type.
    pub tables: Option<&'a (dyn Any + Send + Sync)>,
    /// Told of the items that are done; it may stop the call.
    pub watch: Option<&'a Watch>,
}

impl FixedPowers<'_> {
    /// The number of powers.
    #[must_use]
    pub fn count(&self) -> usize {
        self.exponents.len().unwrap_or(1)
    }
}

/// Products of several powers: item i is the product of `bases[k][i]^exponents[k][i]` over all k.
#[derive(Clone, Copy)]
pub struct MultiPowers<'a> {
    /// The items and their moduli, with the first base and the first exponents.
    pub job: Job<'a>,
    /// The bases, one operand for each power.
    pub bases: &'a [Operand<'a>],
    /// The exponents, as many operands as there are bases.
    pub exponents: &'a [Operand<'a>],
    /// Whether the time may depend on the exponents.
    pub secrecy: Secrecy,
}

impl MultiPowers<'_> {
    /// The operation of each single power.
    #[must_use]
    pub fn op(&self) -> Op {
        if self.secrecy == Secrecy::Public { Op::PowVartime } else { Op::Pow }
    }
}

/// Products of consecutive groups of a column modulo one odd number of at least 3. The last group may be
/// smaller.
#[derive(Clone, Copy)]
pub struct ColumnProducts<'a> {
    /// The numbers.
    pub column: Operand<'a>,
    /// Numbers of a group, at least one.
    pub group: usize,
    /// The modulus.
    pub modulus: &'a Modulus,
}

impl ColumnProducts<'_> {
    /// The number of products.
    #[must_use]
    pub fn count(&self) -> usize {
        self.column.len().unwrap_or(1).div_ceil(self.group.max(1))
    }
}

impl Request {
    /// The request of powers of a fixed base.
    #[must_use]
    pub fn of_fixed(powers: &FixedPowers<'_>) -> Self {
        let bits = powers.exponents.bits();
        let exponents = match powers.exponents.is_shared() {
            true => Exponents::Shared { bits },
            false => Exponents::Each { bits },
        };
        Self {
            exponents,
            factor_bits: powers.base.bits(),
            moduli: ModuliForm::Shared,
            secrecy: powers.secrecy,
            operands: Location::of([Some(powers.exponents)]),
            prepared_bits: powers.prepared_bits,
            ..Self::new(Op::FixedPow, powers.modulus.bits(), powers.count())
        }
    }

    /// The request of products of powers. The exponents are as long as the longest of all.
    #[must_use]
    pub fn of_powers(powers: &MultiPowers<'_>) -> Self {
        let each =
            |(&a, &b): (&Operand<'_>, &Operand<'_>)| Self::of(powers.op(), &Job { a, b, ..powers.job });
        let requests: Vec<Self> = powers.bases.iter().zip(powers.exponents).map(each).collect();
        let bits = requests.iter().map(Self::exponent_bits).max().unwrap_or(0);
        let is_on_host = requests.iter().all(|request| request.operands == Location::Host);
        Self {
            op: Op::MultiPow,
            factor_bits: requests.iter().map(|request| request.factor_bits).max().unwrap_or(0),
            exponents: Exponents::Each { bits },
            secrecy: powers.secrecy,
            operands: if is_on_host { Location::Host } else { Location::Mixed },
            terms: powers.bases.len(),
            ..Self::of(powers.op(), &powers.job)
        }
    }

    /// The request of greatest common divisors.
    #[must_use]
    pub fn of_divisors(divisors: &Divisors<'_>) -> Self {
        let operands = Location::of([Some(divisors.a), Some(divisors.b)]);
        Self { operands, ..Self::new(Op::Gcd, divisors.bits(), divisors.count) }
    }

    /// The request of quotients, whose `second_bits` are those of the divisors.
    #[must_use]
    pub fn of_quotients(quotients: &Quotients<'_>) -> Self {
        let Quotients { a, divisors, shortest_bits, count, .. } = *quotients;
        let operands = Location::of([Some(a)]);
        let second_bits = divisors.bits();
        Self { operands, second_bits, shortest_bits, ..Self::new(Op::Div, a.bits(), count) }
    }

    /// The request of products of a column's groups.
    #[must_use]
    pub fn of_column(products: &ColumnProducts<'_>) -> Self {
        Self {
            factor_bits: products.column.bits(),
            moduli: ModuliForm::Shared,
            operands: Location::of([Some(products.column)]),
            terms: products.group,
            ..Self::new(Op::ProductMod, products.modulus.bits(), products.count())
        }
    }
}

impl Call<'_> {
    /// The request of this call, with answers in the memory of the host.
    pub fn request(&self) -> Result<Request, Error> {
        Ok(match self {
            Self::Modular(op, job) => Request::of(*op, job),
            Self::Product(product) => Request::of_product(product),
            Self::Step(step) => Request::of_step(step, step.count()?),
            Self::FixedPow(powers) => Request::of_fixed(powers),
            Self::MultiPow(powers) => Request::of_powers(powers),
            Self::Products(products) => Request::of_column(products),
            Self::Inverses(inverses) => Request::of(Op::Inv, &inverses.job),
            Self::Divisors(divisors) => Request::of_divisors(divisors),
            Self::Quotients(quotients) => Request::of_quotients(quotients),
            Self::CrtPow(powers) => Request::of_crt(powers),
            Self::PublicPow(powers) => Request::of_public(powers),
        })
    }

    /// Declared width of the answers, in bits.
    #[must_use]
    pub fn answer_bits(&self) -> usize {
        match self {
            Self::Modular(_, job) => job.moduli.bits(),
            Self::Product(product) => product.bits(),
            Self::Step(step) => step.bits(),
            Self::FixedPow(powers) => powers.modulus.bits(),
            Self::MultiPow(powers) => powers.job.moduli.bits(),
            Self::Products(products) => products.modulus.bits(),
            Self::Inverses(inverses) => inverses.job.moduli.bits(),
            Self::Divisors(divisors) => divisors.bits(),
            Self::Quotients(quotients) => quotients.answer_bits(),
            Self::CrtPow(powers) => powers.bits,
            Self::PublicPow(powers) => powers.bits,
        }
    }

    /// Whether some operands are on a device.
    #[must_use]
    pub fn is_resident(&self) -> bool {
        let is_resident = |operand: &Operand<'_>| operand.resident().is_some();
        match self {
            Self::Modular(_, job) => [job.a, job.b].iter().any(is_resident),
            Self::Product(product) => is_resident(&product.a) || product.b.as_ref().is_some_and(is_resident),
            Self::Step(step) => step.operands().iter().any(is_resident),
            Self::FixedPow(powers) => is_resident(&powers.exponents),
            Self::MultiPow(powers) => powers.bases.iter().chain(powers.exponents).any(is_resident),
            Self::Products(products) => is_resident(&products.column),
            Self::Inverses(inverses) => is_resident(&inverses.job.a),
            Self::Divisors(divisors) => [divisors.a, divisors.b].iter().any(is_resident),
            Self::Quotients(quotients) => is_resident(&quotients.a),
            Self::CrtPow(_) | Self::PublicPow(_) => false,
        }
    }
}

/// The place of a call's answers.
pub enum Answers<'a> {
    /// A new batch, which takes the place of this one.
    New(&'a mut Batch),
    /// A batch of the caller's, which has the width and the number of items of the answers.
    Into(&'a mut Batch),
    /// The memory of a device: of the one that holds operands, and if none does, of the device with this
    /// index, or of any.
    Device(&'a mut Option<Resident>, Option<usize>),
    /// Blocks of bytes, which the caller of [`Call::CrtPow`] and [`Call::PublicPow`] makes and takes.
    Blocks(&'a mut (dyn Blocks + Send)),
    /// Nowhere: nothing is computed, and the plan of the call is the answer. An engine asks so; a backend has
    /// no answers for this place.
    Plan(&'a mut Option<Plan>),
}

impl Answers<'_> {
    /// These answers, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> Answers<'_> {
        match self {
            Self::New(batch) => Answers::New(batch),
            Self::Into(batch) => Answers::Into(batch),
            Self::Device(slot, index) => Answers::Device(slot, *index),
            Self::Blocks(blocks) => Answers::Blocks(&mut **blocks),
            Self::Plan(slot) => Answers::Plan(slot),
        }
    }

    /// Whether the answers stay on a device.
    #[must_use]
    pub fn is_device(&self) -> bool {
        matches!(self, Self::Device(..))
    }

    /// Refuses a batch of the caller's that does not have the width and the number of items of the answers.
    pub fn check(&self, bits: usize, count: usize) -> Result<(), Error> {
        let (what, Self::Into(batch)) = ("the batch for answers", self) else { return Ok(()) };
        if batch.len() != count {
            return Err(Error::LengthMismatch { what, expected: count, found: batch.len() });
        }
        match batch.bits() == bits {
            true => Ok(()),
            false => Err(Error::WidthMismatch { what, expected: bits, found: batch.bits() }),
        }
    }
}
