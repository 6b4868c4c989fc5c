//! Items of a batch, computed by kernels and by `num-bigint`.

use crate::run;
use modmill_core::{Call, Job, Moduli, Modulus, Op, Operand, Request};
use modmill_cuda::{Cuda, Result, Run, Variant};
use modmill_testing::hard;
use modmill_testing::oracle::{self, batch, batch_of_width, show};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// The operation that is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    Pow,
    PowVartime,
    /// A power with this window, of a secret or not.
    PowBy(u32, bool),
    MulMod,
    SquareMod,
    MultiplyChain(u32),
    SquareChain(u32),
}

use Operation::{MulMod, MultiplyChain, Pow, PowBy, PowVartime, SquareChain, SquareMod};

impl Operation {
    fn run(self, cuda: &Cuda, variant: Variant, job: &Job<'_>) -> Result<Run> {
        match self {
            Pow => run(cuda, Op::Pow, job),
            PowVartime => run(cuda, Op::PowVartime, job),
            PowBy(window, is_secret) => {
                let op = if is_secret { Op::Pow } else { Op::PowVartime };
                cuda.run_new(&cuda.plan_by(variant, window, &Request::of(op, job))?, Call::Modular(op, job))
            }
            MulMod => run(cuda, Op::MulMod, job),
            SquareMod => run(cuda, Op::SquareMod, job),
            MultiplyChain(repeat) => cuda.multiply_chain(variant, job, repeat),
            SquareChain(repeat) => cuda.square_chain(variant, job, repeat),
        }
    }

    fn expected(self, variant: Variant, a: &BigUint, b: &BigUint, n: &BigUint) -> BigUint {
        let radix = hard::power_of_two(variant.radix_bits() as usize);
        let over_radix = |number: BigUint, times: u32| {
            let inverse = oracle::inv(&(&radix % n), n).expect("odd numbers have no factor with R in common");
            number * inverse.modpow(&times.into(), n) % n
        };
        match self {
            Pow | PowVartime | PowBy(..) => oracle::pow(a, b, n),
            MulMod => oracle::mul_mod(a, b, n),
            SquareMod => oracle::mul_mod(a, a, n),
            MultiplyChain(repeat) => over_radix(a * b.modpow(&repeat.into(), n), repeat + 1),
            SquareChain(repeat) => over_radix(a.modpow(&(1u32 << repeat).into(), n), 1u32 << repeat),
        }
    }
}

/// The operands that are one number for all items: that of the first.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shared {
    pub(crate) a: bool,
    pub(crate) b: bool,
    pub(crate) n: bool,
}

/// Bases and exponents, or factors, and odd moduli of one number of limbs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Items {
    pub(crate) a: Vec<BigUint>,
    pub(crate) b: Vec<BigUint>,
    pub(crate) n: Vec<BigUint>,
}

impl Items {
    /// Hard numbers, the ends of every range first: moduli of `bits` bits and shorter ones with as many
    /// limbs, `a` of at most `a_bits` and `b` of at most `b_bits`.
    pub(crate) fn hard(bits: usize, a_bits: usize, b_bits: usize, count: usize, rng: &mut Rng) -> Self {
        // The shortest that have as many limbs: 2^64 + 1 and the like, and what lies a little above.
        let shortest = (64 * (bits.div_ceil(64) - 1) + 1).max(2);
        let mut moduli = hard::odd_moduli(bits, 9, rng);
        moduli.extend(hard::odd_moduli(shortest, 12, rng).split_off(9));
        moduli.push(hard::power_of_two(shortest - 1) + 1u8);
        let mut exponents = vec![BigUint::ZERO, BigUint::from(1u8), hard::ones(b_bits)];
        exponents.push(hard::power_of_two(b_bits - 1));

        let mut items = Self::default();
        for number in 0..count {
            // Every modulus with every end of the range of bases, before anything is drawn.
            let n = moduli[number % moduli.len()].clone();
            let a = match number / moduli.len() {
                0 => &n - 1u8,
                1 => hard::ones(a_bits),
                2 => BigUint::ZERO,
                3 => n.clone(),
                4 => BigUint::from(1u8),
                5 => (&hard::ones(a_bits) / &n) * &n,
                _ => hard::number(a_bits, rng),
            };
            let b = exponents.get(number % 7).cloned().unwrap_or_else(|| hard::number(b_bits, rng));
            items.a.push(if a.bits() <= a_bits as u64 { a } else { hard::ones(a_bits) });
            items.b.push(b);
            items.n.push(n);
        }
        items
    }

    /// These items in another order: from item `by` on, then the first ones.
    pub(crate) fn rotated(&self, by: usize) -> Self {
        let rotate = |numbers: &[BigUint]| [&numbers[by..], &numbers[..by]].concat();
        Self { a: rotate(&self.a), b: rotate(&self.b), n: rotate(&self.n) }
    }

    /// The first of the items.
    pub(crate) fn first(&self, count: usize) -> Self {
        let first = |numbers: &[BigUint]| numbers[..count.min(numbers.len())].to_vec();
        Self { a: first(&self.a), b: first(&self.b), n: first(&self.n) }
    }

    /// These items with another `b`.
    pub(crate) fn with_b(&self, b: impl Fn(&BigUint) -> BigUint) -> Self {
        Self { b: self.n.iter().map(b).collect(), ..self.clone() }
    }

    /// Computes every item and compares.
    pub(crate) fn check(&self, cuda: &Cuda, variant: Variant, operation: Operation, shared: Shared) {
        // Answers stand in the order in which items are asked for.
        let order: Vec<usize> = (0..self.n.len()).rev().collect();
        self.check_order(cuda, variant, operation, shared, &order);
    }

    /// Computes the items of a list, which may name one more than once.
    pub(crate) fn check_order(
        &self,
        cuda: &Cuda,
        variant: Variant,
        operation: Operation,
        shared: Shared,
        order: &[usize],
    ) {
        let answers = self.run(cuda, variant, operation, shared, order).unwrap().answers;
        let of =
            |numbers: &[BigUint], shared: bool, item: usize| numbers[if shared { 0 } else { item }].clone();
        let expected: Vec<BigUint> = (0..self.n.len())
            .map(|item| {
                let [a, b] = [of(&self.a, shared.a, item), of(&self.b, shared.b, item)];
                operation.expected(variant, &a, &b, &of(&self.n, shared.n, item))
            })
            .collect();
        assert_eq!(answers.len(), order.len());
        for (place, (answer, &item)) in answers.iter().zip(order).enumerate() {
            let answer = oracle::number(answer);
            assert!(
                answer == expected[item],
                "{operation:?} by {variant:?}, {shared:?}, answer {place} of {}:\na = {}\nb = {}\nn = {}\nfound {}\nnot   {}",
                order.len(),
                show(&of(&self.a, shared.a, item)),
                show(&of(&self.b, shared.b, item)),
                show(&of(&self.n, shared.n, item)),
                show(&answer),
                show(&expected[item]),
            );
        }
    }

    /// Computes the items of a list.
    pub(crate) fn run(
        &self,
        cuda: &Cuda,
        variant: Variant,
        operation: Operation,
        shared: Shared,
        order: &[usize],
    ) -> Result<Run> {
        let longest = |numbers: &[BigUint]| numbers.iter().map(BigUint::bits).max().unwrap_or(0) as usize;
        // Exponents that are all zero have no bits.
        let (a, b) = (batch(&self.a), batch_of_width(&self.b, longest(&self.b)));
        // Answers have the declared width, which may be more than any modulus needs.
        let n = batch_of_width(&self.n, longest(&self.n) + 70);
        let modulus = Modulus::new(&self.n[0].to_u64_digits()).unwrap();
        let job = Job::new(
            order,
            if shared.n { modulus.bits() } else { longest(&self.n) },
            if shared.a { a.shared(0) } else { Operand::from(&a) },
            if shared.b { b.shared(0) } else { Operand::from(&b) },
            if shared.n { Moduli::from(&modulus) } else { Moduli::from(&n) },
        );
        let planned = cuda.plan(&Request::of(Op::MulMod, &job)).unwrap().variant;
        assert_eq!(planned, variant.to_string(), "these moduli are not for this variant");
        operation.run(cuda, variant, &job)
    }
}
