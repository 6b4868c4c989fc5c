//! The inputs of operations on one modulus: powers of one base, products of powers, products and sums of a
//! column. And those of a batch gcd, which has no modulus.

use crate::inputs::{Inputs, Workload, big, gcd};
use crate::op::ColumnOp;
use modmill::{Batch, Engine, Error, FixedBase, Modulus, Op, Public, trees};
use num_bigint::BigUint;

/// Numbers that a peer multiplies or adds up for one answer.
pub(crate) const BLOCK: usize = 64;

/// Divisors of a batch gcd that are compared. Each takes as long as the whole column.
const COMPARED: usize = 4;

/// The batch that is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnWorkload {
    pub(crate) op: ColumnOp,
    pub(crate) bits: usize,
    pub(crate) exponent_bits: usize,
    /// Exponents, or numbers of a column.
    pub(crate) count: usize,
}

impl ColumnWorkload {
    /// The plain operation on the same numbers, which chooses the paths to measure.
    pub(crate) fn plain(&self) -> Workload {
        let Self { op, bits, exponent_bits, count } = *self;
        let shared_modulus = op != ColumnOp::BatchGcd;
        Workload { op: op.plain(), bits, exponent_bits, count, shared_modulus, is_remainder: false }
    }
}

/// The numbers of one workload.
pub(crate) struct ColumnItems {
    pub(crate) workload: ColumnWorkload,
    /// Bases and exponents, or two columns. The base of a fixed base is the first one.
    pub(crate) first: Inputs,
    /// The second bases and exponents of products of powers.
    pub(crate) second: Inputs,
    modulus: Modulus,
}

impl ColumnItems {
    pub(crate) fn new(workload: ColumnWorkload, seed: u64) -> Result<Self, Error> {
        let first = Inputs::random(workload.plain(), seed);
        let modulus = Modulus::new(first.modulus(0))?;
        Ok(Self { workload, first, second: Inputs::random(workload.plain(), seed + 1), modulus })
    }

    /// Prepares the base on an engine, if the operation has one.
    pub(crate) fn fixed_base(&self, engine: &Engine) -> Result<Option<FixedBase>, Error> {
        match self.workload.op {
            ColumnOp::PowFixedBase | ColumnOp::PowFixedBaseVartime => {
                let base = self.first.a.shared(0);
                engine.fixed_base(base, &self.modulus, self.workload.exponent_bits).map(Some)
            }
            ColumnOp::MultiPow | ColumnOp::ProductMod | ColumnOp::SumProducts | ColumnOp::BatchGcd => {
                Ok(None)
            }
        }
    }

    /// Computes the whole batch with an engine.
    pub(crate) fn compute(&self, engine: &Engine, fixed: Option<&FixedBase>) -> Result<Batch, Error> {
        let (first, second) = (&self.first, &self.second);
        match (self.workload.op, fixed) {
            (ColumnOp::PowFixedBase, Some(fixed)) => engine.pow_fixed_base(fixed, &first.b),
            (ColumnOp::PowFixedBaseVartime, Some(fixed)) => engine.pow_fixed_base(fixed, Public(&first.b)),
            (ColumnOp::ProductMod, _) => engine.product_mod(&first.a, &self.modulus),
            (ColumnOp::BatchGcd, _) => trees::batch_gcd(engine, &first.a),
            (ColumnOp::SumProducts, _) => engine.sum_products(&first.a, &first.b, &self.modulus),
            (ColumnOp::MultiPow | ColumnOp::PowFixedBase | ColumnOp::PowFixedBaseVartime, _) => {
                let bases = [(&first.a).into(), (&second.a).into()];
                engine.multi_pow(&bases, &[(&first.b).into(), (&second.b).into()], &self.modulus)
            }
        }
    }

    /// Numbers that an answer of a peer covers.
    pub(crate) fn block(&self) -> usize {
        match self.workload.op {
            ColumnOp::BatchGcd => self.workload.count,
            op if op.is_column() => BLOCK,
            _ => 1,
        }
    }

    /// The answers of peers: as many as the powers, or one for each block of a column.
    pub(crate) fn peer_answers(&self) -> usize {
        self.workload.count.div_ceil(self.block())
    }

    /// Whether the operation raises to powers.
    pub(crate) fn has_exponents(&self) -> bool {
        self.workload.op.plain().is_power()
    }

    /// The numbers whose divisors of a batch gcd are compared.
    pub(crate) fn compared(&self) -> Vec<usize> {
        self.first.sample(self.workload.count, COMPARED)
    }

    /// The number of answers that are compared with those of num-bigint.
    pub(crate) fn verified(&self) -> usize {
        match self.workload.op {
            ColumnOp::BatchGcd => self.compared().len(),
            op if op.is_column() => self.workload.count,
            _ => self.workload.count.min(16),
        }
    }

    /// The right answer of a peer's item, by num-bigint.
    pub(crate) fn expected_of_peer(&self, item: usize) -> Vec<u64> {
        if self.workload.op == ColumnOp::BatchGcd {
            return self.compared().into_iter().flat_map(|item| self.expected_of(item, item + 1)).collect();
        }
        self.expected_of(item * self.block(), self.workload.count.min((item + 1) * self.block()))
    }

    /// Whether a batch of our answers is right, by num-bigint: all numbers of a column, and a sample of
    /// powers.
    pub(crate) fn are_right(&self, answers: &Batch) -> bool {
        let count = self.workload.count;
        if self.workload.op.is_column() {
            return answers.len() == 1 && answers.get(0) == self.expected_of(0, count);
        }
        let is_right = |item: usize| answers.get(item) == self.expected_of(item, item + 1);
        answers.len() == count && self.first.sample(count, self.verified()).into_iter().all(is_right)
    }

    /// The answer of the items from `from` to `to`: one power, or all numbers of a part of a column.
    fn expected_of(&self, from: usize, to: usize) -> Vec<u64> {
        let modulus = big(self.modulus.value());
        let (first, second) = (&self.first, &self.second);
        let power = |inputs: &Inputs, base: usize, item: usize| {
            big(inputs.a.get(base)).modpow(&big(inputs.b.get(item)), &modulus)
        };
        let answer = match self.workload.op {
            ColumnOp::PowFixedBase | ColumnOp::PowFixedBaseVartime => power(first, 0, from),
            ColumnOp::MultiPow => power(first, from, from) * power(second, from, from) % &modulus,
            ColumnOp::ProductMod => {
                let numbers = (from..to).map(|item| big(first.a.get(item)));
                numbers.fold(BigUint::from(1u8), |product, number| product * number % &modulus)
            }
            ColumnOp::BatchGcd => {
                // The product of all numbers modulo the square of one, without a tree.
                let number = big(first.a.get(from));
                let square = &number * &number;
                let numbers = (0..self.workload.count).map(|item| big(first.a.get(item)));
                let product = numbers.fold(BigUint::from(1u8), |product, other| product * other % &square);
                gcd(product / &number, number)
            }
            ColumnOp::SumProducts => {
                let products = (from..to).map(|item| big(first.a.get(item)) * big(first.b.get(item)));
                products.sum::<BigUint>() % &modulus
            }
        };
        let mut limbs = answer.to_u64_digits();
        limbs.resize(self.workload.bits.div_ceil(64), 0);
        limbs
    }
}

impl ColumnOp {
    /// The engine's operation that does most of the work.
    pub(crate) fn plain(self) -> Op {
        match self {
            Self::PowFixedBase | Self::MultiPow => Op::Pow,
            Self::PowFixedBaseVartime => Op::PowVartime,
            Self::ProductMod | Self::SumProducts => Op::MulMod,
            Self::BatchGcd => Op::Mul,
        }
    }

    /// Whether the answer is one number for all items.
    pub(crate) fn is_column(self) -> bool {
        matches!(self, Self::ProductMod | Self::SumProducts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_computes_what_is_expected() {
        let engine = Engine::new().unwrap();
        for op in ColumnOp::ALL {
            let workload = ColumnWorkload { op, bits: 130, exponent_bits: 40, count: 130 };
            let items = ColumnItems::new(workload, 5).unwrap();
            let fixed = items.fixed_base(&engine).unwrap();
            let mut answers = items.compute(&engine, fixed.as_ref()).unwrap();
            assert!(items.are_right(&answers), "{op:?}");
            answers.as_limbs_mut().iter_mut().for_each(|limb| *limb ^= 1);
            assert!(!items.are_right(&answers), "{op:?}");
        }
    }
}
