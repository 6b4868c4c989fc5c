//! The inputs of a measurement: random numbers of full length, the same for every contender.

use crate::memory::Memory;
use fastrand::Rng;
use modmill::{
    Backend, Batch, Engine, Error, Moduli, Modulus, Op, Operand, Place, Public, Request, integers,
};
use modmill_core::Job;
use num_bigint::BigUint;

/// The batch that is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) op: Op,
    /// Bits of moduli and bases, or of factors.
    pub(crate) bits: usize,
    pub(crate) exponent_bits: usize,
    /// Items in the batch.
    pub(crate) count: usize,
    /// All items have the same modulus.
    pub(crate) shared_modulus: bool,
    /// The product of two numbers modulo N is that of a number twice as long and 1: a remainder.
    pub(crate) is_remainder: bool,
}

impl Workload {
    /// The request that an engine makes of it.
    pub(crate) fn request(&self) -> Request {
        let Self { op, bits, exponent_bits, count, shared_modulus, is_remainder } = *self;
        let mut request = Request::new(op, bits, count);
        if is_remainder {
            request = Request { second_bits: 1, ..request.factors_of(2 * bits) };
        }
        if op == Op::Div {
            request = Request { bits: 2 * bits, ..request };
        }
        if op.is_power() {
            request = request.exponents_of(exponent_bits);
        }
        if op.is_modular() && shared_modulus { request.one_modulus() } else { request }
    }

    /// Bits of bases, first factors and dividends.
    fn first_bits(&self) -> usize {
        if self.is_remainder || self.op == Op::Div { 2 * self.bits } else { self.bits }
    }
}

/// The numbers of one workload.
pub(crate) struct Inputs {
    pub(crate) workload: Workload,
    /// Bases, first factors or dividends. Those that are no longer than their moduli lie below them.
    pub(crate) a: Batch,
    /// Exponents or second factors.
    pub(crate) b: Batch,
    /// Odd moduli: one per item, or a single one.
    pub(crate) moduli: Batch,
    shared: Option<Modulus>,
    /// The memory that the numbers are in.
    pub(crate) memory: Memory,
}

/// The shortest numbers that can be measured.
pub const MIN_BITS: usize = 8;

impl Inputs {
    /// Random inputs. The same workload and seed give the same numbers.
    pub(crate) fn random(workload: Workload, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ (workload.bits as u64) << 32 ^ workload.count as u64);
        let bits = workload.bits;
        let moduli_count = if workload.shared_modulus { 1 } else { workload.count };
        // Moduli start with the bits 11 and numbers with 10: all have full length, and every
        // number is below every modulus.
        let moduli = batch(&mut random, bits, moduli_count, |value| {
            set_bit(value, bits - 1, true);
            set_bit(value, bits - 2, true);
            set_bit(value, 0, true);
        });
        let full = |value: &mut [u64], bits: usize| {
            set_bit(value, bits - 1, true);
            set_bit(value, bits - 2, false);
        };
        let first_bits = workload.first_bits();
        let mut a = batch(&mut random, first_bits, workload.count, |value| full(value, first_bits));
        let b = match workload.op {
            Op::Pow | Op::PowVartime => {
                let bits = workload.exponent_bits;
                batch(&mut random, bits, workload.count, |value| {
                    set_bit(value, bits - 1, true);
                    if workload.op == Op::PowVartime && bits == 17 {
                        value[0] = 65_537;
                    }
                })
            }
            _ if workload.is_remainder => batch(&mut random, 1, workload.count, |value| value[0] = 1),
            _ => batch(&mut random, bits, workload.count, |value| full(value, bits)),
        };
        let shared = if workload.shared_modulus { Modulus::new(moduli.get(0)).ok() } else { None };
        if workload.op == Op::Inv {
            let engine = Engine::builder().backend(Backend::Cpu).build().expect("the CPU has a path");
            let each = shared.as_ref().map_or_else(|| Moduli::from(&moduli), Moduli::from);
            while let Err(Error::Items(partial)) = engine.inv(&a, each) {
                for item in partial.failed.iter().map(|failed| failed.index) {
                    a.get_mut(item)
                        .copy_from_slice(batch(&mut random, bits, 1, |value| full(value, bits)).get(0));
                }
            }
        }
        Self { workload, a, b, moduli, shared, memory: Memory::Plain }
    }

    /// These numbers in some memory.
    pub(crate) fn placed(self, memory: Memory, engine: &Engine) -> Result<Self, Error> {
        Ok(match memory {
            Memory::Plain | Memory::Reused | Memory::Resident => Self { memory, ..self },
            Memory::Pinned => {
                let pin = |batch: &Batch| engine.pin(batch.view());
                let (a, b, moduli) = (pin(&self.a)?, pin(&self.b)?, pin(&self.moduli)?);
                Self { a, b, moduli, memory, ..self }
            }
        })
    }

    /// The inputs of some items.
    pub(crate) fn part(&self, items: &[usize]) -> Self {
        let pick = |batch: &Batch| {
            let mut picked = Batch::zeros(batch.bits(), items.len());
            for (place, &item) in items.iter().enumerate() {
                picked.get_mut(place).copy_from_slice(batch.get(item));
            }
            picked
        };
        let workload = Workload { count: items.len(), ..self.workload };
        let moduli = if workload.shared_modulus { self.moduli.clone() } else { pick(&self.moduli) };
        let (a, b, shared) = (pick(&self.a), pick(&self.b), self.shared.clone());
        Self { workload, a, b, moduli, shared, memory: Memory::Plain }
    }

    /// A random item from each of `most` equal parts of the first `count` items. If `count` is `most` or
    /// less, these are all items.
    pub(crate) fn sample(&self, count: usize, most: usize) -> Vec<usize> {
        let parts = count.min(most);
        let mut random = Rng::with_seed(count as u64);
        let mut pick = |part: usize| {
            let (from, to) = (part * count / parts, (part + 1) * count / parts);
            random.usize(from..to)
        };
        (0..parts).map(&mut pick).collect()
    }

    pub(crate) fn moduli(&self) -> Moduli<'_> {
        match &self.shared {
            Some(modulus) => Moduli::from(modulus),
            None => Moduli::from(&self.moduli),
        }
    }

    /// The first `count` items as a job for a backend.
    pub(crate) fn job(&self, count: usize) -> Job<'_> {
        let (a, b) = ((&self.a).into(), (&self.b).into());
        Job::new(0..count, self.workload.bits, a, b, self.moduli())
    }

    pub(crate) fn modulus(&self, item: usize) -> &[u64] {
        self.moduli.get(if self.workload.shared_modulus { 0 } else { item })
    }

    /// The number of limbs of an answer.
    pub(crate) fn answer_limbs(&self) -> usize {
        match self.workload.op {
            Op::Mul | Op::Square | Op::Div => (2 * self.workload.bits).div_ceil(64),
            Op::Isqrt => self.workload.bits.div_ceil(2).div_ceil(64),
            Op::Jacobi => 1,
            _ => self.workload.bits.div_ceil(64),
        }
    }

    /// The right answer of an item, computed by num-bigint.
    pub(crate) fn expected(&self, item: usize) -> Vec<u64> {
        let (a, b, modulus) = (big(self.a.get(item)), big(self.b.get(item)), big(self.modulus(item)));
        let answer = match self.workload.op {
            Op::Square => &a * &a,
            Op::MulMod => a * b % modulus,
            Op::SquareMod => &a * &a % modulus,
            Op::Inv => a.modinv(&modulus).unwrap_or_default(),
            Op::Gcd => gcd(a, b),
            Op::Jacobi => return vec![symbol_word(jacobi(a, modulus))],
            Op::Div => a / modulus,
            Op::Isqrt => a.sqrt(),
            Op::Pow | Op::PowVartime => a.modpow(&b, &modulus),
            _ => a * b,
        };
        self.to_limbs(&answer)
    }

    /// A number as limbs, zero-extended to the length of an answer.
    pub(crate) fn to_limbs(&self, number: &BigUint) -> Vec<u64> {
        let mut limbs = number.to_u64_digits();
        limbs.resize(limbs.len().max(self.answer_limbs()), 0);
        limbs
    }

    /// Computes the whole batch with an engine: of divisions the quotients, of symbols [`symbol_word`].
    pub(crate) fn compute(&self, engine: &Engine) -> Result<Batch, Error> {
        match self.workload.op {
            Op::Div => Ok(engine.div_rem(&self.a, self.moduli())?.0),
            Op::Jacobi => {
                let symbols = engine.jacobi(&self.a, self.moduli())?.into_iter();
                Ok(Batch::from_values(
                    symbols.map(|symbol| [symbol.map_or(2, |symbol| symbol_word(symbol.into()))]),
                ))
            }
            _ => self.compute_at(engine),
        }
    }

    /// Computes the whole batch with an engine, with the answers in the engine's place.
    fn compute_at<P: Place>(&self, engine: &Engine<P>) -> Result<P::Numbers, Error> {
        call(engine, self.workload.op, (&self.a).into(), (&self.b).into(), self.moduli())
    }
}

/// Calls an operation on items, with the answers in the engine's place.
pub(crate) fn call<'a, P: Place>(
    engine: &Engine<P>,
    op: Op,
    a: Operand<'a>,
    b: Operand<'a>,
    moduli: Moduli<'a>,
) -> Result<P::Numbers, Error> {
    match op {
        Op::Mul => engine.mul(a, b),
        Op::Square => engine.square(a),
        Op::MulMod => engine.mul_mod(a, b, moduli),
        Op::SquareMod => engine.square_mod(a, moduli),
        Op::Pow => engine.pow(a, b, moduli),
        Op::PowVartime => engine.pow(a, Public(b), moduli),
        Op::Inv => engine.inv(a, moduli),
        Op::Gcd => engine.gcd(a, b),
        Op::Div => engine.div(a, moduli),
        Op::Isqrt => integers::isqrt(engine, a),
        op => Err(Error::Unavailable(format!("{op} is not measured by items"))),
    }
}

impl Inputs {
    /// A batch for the answers.
    pub(crate) fn room(&self, engine: &Engine) -> Result<Batch, Error> {
        let Workload { op, bits, count, .. } = self.workload;
        let bits = match op {
            Op::Mul | Op::Square | Op::Div => 2 * bits,
            Op::Isqrt => bits.div_ceil(2),
            _ => bits,
        };
        match self.memory {
            Memory::Plain | Memory::Reused | Memory::Resident => Ok(Batch::zeros(bits, count)),
            Memory::Pinned => engine.pinned(bits, count),
        }
    }

    /// Computes the whole batch with an engine into `answers`.
    pub(crate) fn compute_into(&self, engine: &Engine, answers: &mut Batch) -> Result<(), Error> {
        self.compute_at(&engine.to(answers))
    }
}

/// A Jacobi symbol as a word.
pub(crate) fn symbol_word(symbol: i8) -> u64 {
    i64::from(symbol) as u64
}

/// The Jacobi symbol by reciprocity.
fn jacobi(mut a: BigUint, mut n: BigUint) -> i8 {
    let low = |number: &BigUint| number.iter_u64_digits().next().unwrap_or(0);
    let mut symbol = 1;
    loop {
        a %= &n;
        if a == BigUint::ZERO {
            return if n == BigUint::from(1u8) { symbol } else { 0 };
        }
        while low(&a) % 2 == 0 {
            a >>= 1;
            symbol *= if matches!(low(&n) % 8, 3 | 5) { -1 } else { 1 };
        }
        symbol *= if low(&a) % 4 == 3 && low(&n) % 4 == 3 { -1 } else { 1 };
        (a, n) = (n, a);
    }
}

/// Euclid's algorithm.
pub(crate) fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

pub(crate) fn big(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

fn set_bit(value: &mut [u64], bit: usize, on: bool) {
    let mask = 1u64 << (bit % 64);
    if on {
        value[bit / 64] |= mask;
    } else {
        value[bit / 64] &= !mask;
    }
}

/// Random numbers of `bits` bits, each changed by `adjust`.
fn batch(random: &mut Rng, bits: usize, count: usize, adjust: impl Fn(&mut [u64])) -> Batch {
    let mut batch = Batch::zeros(bits, count);
    for item in 0..count {
        let value = batch.get_mut(item);
        value.fill_with(|| random.u64(..));
        let top = value.len() - 1;
        value[top] &= u64::MAX >> (64 * value.len() - bits);
        adjust(value);
    }
    batch
}

#[cfg(test)]
mod tests {
    use super::*;
    use modmill_core::limbs::bit_length;

    #[test]
    fn numbers_have_full_length_and_lie_below_their_moduli() {
        for bits in [8, 63, 64, 65, 128, 1000] {
            for &op in Op::OF_ITEMS {
                let shared_modulus = bits % 2 == 0;
                let workload =
                    Workload { op, bits, exponent_bits: 17, count: 3, shared_modulus, is_remainder: false };
                let inputs = Inputs::random(workload, 1);
                for item in 0..3 {
                    assert_eq!(bit_length(inputs.a.get(item)), workload.first_bits());
                    assert_eq!(bit_length(inputs.modulus(item)), bits);
                    assert!(op == Op::Div || big(inputs.a.get(item)) < big(inputs.modulus(item)));
                    assert_eq!(inputs.modulus(item)[0] & 1, 1);
                    if op == Op::PowVartime {
                        assert_eq!(inputs.b.get(item), [65_537]);
                    }
                }
            }
        }
    }

    #[test]
    fn the_engine_computes_what_is_expected() {
        let engine = Engine::new().unwrap();
        let each = Op::OF_ITEMS.iter().map(|&op| (op, false)).chain([(Op::MulMod, true)]);
        for (op, is_remainder) in each {
            let workload =
                Workload { op, bits: 130, exponent_bits: 40, count: 4, shared_modulus: false, is_remainder };
            let inputs = Inputs::random(workload, 5);
            let answers = inputs.compute(&engine).unwrap();
            for item in 0..4 {
                assert_eq!(answers.get(item), inputs.expected(item), "{op}");
            }
        }
    }
}
