//! Any number of threads computes the same answers, at values whose carries run from end to end.

use super::barrett::BarrettDivisor;
use super::montgomery::Montgomery;
use super::powers::Reduction;
use crate::test_support::{Random, big};
use crate::{Cpu, Settings};
use modmill_core::limbs::sub_assign;
use modmill_core::{Batch, Call, Family, Job, Moduli, Modulus, Op, Operand, Product, Request};

/// Engines with 1, 2, 3 and 5 threads.
fn engines() -> [Cpu; 4] {
    [1, 2, 3, 5].map(|threads| {
        let settings = Settings { threads: Some(threads), family: Some(Family::Fft), ..Settings::default() };
        Cpu::new(settings).unwrap()
    })
}

/// Numbers of `bits` bits: zero, one, all ones, all ones except for one bit in the middle, powers of two at
/// both ends and in the middle, powers of two minus one, and a random number.
fn hard(bits: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let len = bits.div_ceil(64);
    let power = |bit: usize| {
        let mut limbs = vec![0; len];
        limbs[bit / 64] = 1 << (bit % 64);
        limbs
    };
    let less = |mut limbs: Vec<u64>| {
        sub_assign(&mut limbs, &[1]);
        limbs
    };
    let mut ones = vec![u64::MAX; len];
    ones[len - 1] >>= 64 * len - bits;
    let mut gap = ones.clone();
    gap[len / 2] -= 1;
    vec![
        vec![0; len],
        power(0),
        ones,
        gap,
        power(bits - 1),
        power(bits / 2),
        less(power(bits - 1)),
        less(power(bits / 2 + 1)),
        random.bits(bits),
    ]
}

/// A number as the one item of a batch.
fn batch(bits: usize, limbs: &[u64]) -> Batch {
    Batch::from_limbs(bits, limbs.to_vec()).unwrap()
}

fn product(cpu: &Cpu, bits: usize, a: &[u64], b: Option<&[u64]>) -> Vec<u64> {
    let op = if b.is_some() { Op::Mul } else { Op::Square };
    let plan = cpu.plan(&Request::new(op, bits, 1)).unwrap();
    let (a, b) = (batch(bits, a), b.map(|b| batch(bits, b)));
    let b = b.as_ref().map(|b| Operand::Each(b.view()));
    let product = Product { a: Operand::Each(a.view()), b, count: 1 };
    cpu.run(&plan, Call::Product(&product)).unwrap().get(0).to_vec()
}

fn modular(cpu: &Cpu, op: Op, modulus: &Modulus, a: &[u64], b: (usize, &[u64])) -> Vec<u64> {
    let bits = modulus.bits();
    let request = Request::new(op, bits, 1).one_modulus().exponents_of(b.0);
    let (a, b) = (batch(64 * a.len(), a), batch(b.0, b.1));
    let (a, b) = (Operand::Each(a.view()), Operand::Each(b.view()));
    let job = Job::new(&[0], bits, a, b, Moduli::Shared(modulus));
    cpu.run(&cpu.plan(&request).unwrap(), Call::Modular(request.op, &job)).unwrap().get(0).to_vec()
}

#[test]
fn products_are_the_same_on_any_number_of_threads() {
    let (engines, mut random) = (engines(), Random::new(97));
    // Blocks of one, three and five rows, and lengths on both sides of a block.
    for bits in [(1 << 19) + 64, 3 << 18, 5 << 17] {
        let numbers = hard(bits, &mut random);
        for (a, b) in [(2, 2), (2, 1), (4, 2), (6, 6), (7, 2), (8, 8)] {
            let (a, b) = (&numbers[a], &numbers[b]);
            let expected = product(&engines[0], bits, a, Some(b));
            assert!(big(&expected) == big(a) * big(b), "{bits}");
            for cpu in &engines[1..] {
                assert!(product(cpu, bits, a, Some(b)) == expected, "{bits}, {} threads", cpu.threads());
            }
            let expected = product(&engines[0], bits, a, None);
            for cpu in &engines[1..] {
                assert!(product(cpu, bits, a, None) == expected, "{bits}, {} threads", cpu.threads());
            }
        }
    }
}

/// Odd moduli of about `bits` bits that every kind of reduction takes: `2^n + 1`, `2^n - 1`, all ones except
/// for one bit, a power of two plus three, and a random number.
fn moduli(bits: usize, random: &mut Random) -> Vec<Modulus> {
    let mut numbers = hard(bits, random);
    let mut plus_three = numbers[4].clone();
    plus_three[0] = 3;
    let mut fermat = vec![0; bits / 64 + 1];
    (fermat[0], fermat[bits / 64]) = (1, 1);
    let mut any = numbers.pop().unwrap();
    any[0] |= 1;
    let chosen = [fermat, numbers[2].clone(), numbers[3].clone(), plus_three, any];
    chosen.map(|value| Modulus::new(&value).unwrap()).into()
}

#[test]
fn powers_are_the_same_on_any_number_of_threads() {
    let (engines, mut random) = (engines(), Random::new(101));
    for bits in [1 << 19, 3 << 18] {
        for modulus in moduli(bits, &mut random).into_iter().take(3) {
            let mut less = modulus.value().to_vec();
            sub_assign(&mut less, &[1]);
            let mut bases = hard(bits - 1, &mut random);
            bases.push(less);
            for base in [2, 6, 9].map(|index| &bases[index]) {
                for (op, exponent) in [(Op::Pow, 2), (Op::PowVartime, 3)] {
                    let power = |cpu: &Cpu| modular(cpu, op, &modulus, base, (2, &[exponent]));
                    let expected = power(&engines[0]);
                    for cpu in &engines[1..] {
                        assert!(power(cpu) == expected, "{op}, {bits}, {} threads", cpu.threads());
                    }
                }
            }
            let (base, value) = (big(&bases[8]), big(modulus.value()));
            let power = modular(&engines[1], Op::Pow, &modulus, &bases[8], (2, &[3]));
            assert!(big(&power) == &base * &base % &value * &base % &value, "{bits}");
        }
    }
}

#[test]
fn montgomerys_reduction_is_the_same_on_any_number_of_threads() {
    let (engines, mut random) = (engines(), Random::new(103));
    let bits = 1 << 19;
    let multiplier = engines[0].multiplier();
    for modulus in &moduli(bits, &mut random)[2..] {
        let divisor = BarrettDivisor::new(multiplier, modulus.value());
        let montgomery = engines[1].install(|| Montgomery::new(&divisor, modulus.value())).unwrap();
        for base in &hard(bits - 1, &mut random) {
            let power = |cpu: &Cpu| cpu.workers.install(|| cpu.workers.team.lead(|| montgomery.square(base)));
            let expected = power(&engines[0]);
            for cpu in &engines[1..] {
                assert!(power(cpu) == expected, "{} threads", cpu.threads());
            }
        }
    }
}

#[test]
fn divisions_are_the_same_on_any_number_of_threads() {
    let (engines, mut random) = (engines(), Random::new(113));
    // The divisor is shifted, and numbers are cut into blocks of every kind.
    let bits = (1 << 19) + 13;
    for d in hard(bits, &mut random).into_iter().skip(2).take(3).chain([random.bits(bits)]) {
        let divisor = BarrettDivisor::new(engines[0].multiplier(), &d);
        for x_bits in [bits - 1, bits + 60, 2 * bits - 1, 3 * bits + 64] {
            let numbers = hard(x_bits, &mut random);
            for x in [0, 2, 3, 4, 8].map(|index| &numbers[index]) {
                let divide = |cpu: &Cpu| {
                    let divide = || divisor.quotient_and_remainder(x);
                    cpu.workers.install(|| cpu.workers.team.lead(divide))
                };
                let expected = divide(&engines[0]);
                assert!(big(&expected.1) < big(&d), "{x_bits}");
                assert!(big(&expected.0) * big(&d) + big(&expected.1) == big(x), "{x_bits}");
                for cpu in &engines[1..] {
                    assert!(divide(cpu) == expected, "{x_bits}, {} threads", cpu.threads());
                }
            }
        }
    }
}

#[test]
fn barretts_reduction_is_the_same_on_any_number_of_threads() {
    let (engines, mut random) = (engines(), Random::new(127));
    for bits in [1 << 19, (1 << 19) + 13] {
        let d = random.bits(bits);
        let divisor = BarrettDivisor::new(engines[0].multiplier(), &d);
        let mut less = d.clone();
        sub_assign(&mut less, &[1]);
        let mut numbers: Vec<Vec<u64>> = hard(bits - 1, &mut random).into_iter().skip(2).collect();
        numbers.iter_mut().for_each(|number| number.resize(d.len(), 0));
        numbers.push(less);
        for x in &numbers {
            let square = |cpu: &Cpu| cpu.workers.install(|| cpu.workers.team.lead(|| divisor.square(x)));
            let expected = square(&engines[0]);
            assert!(expected == divisor.remainder(&product(&engines[0], 64 * x.len(), x, None)), "{bits}");
            for cpu in &engines[1..] {
                assert!(square(cpu) == expected, "{bits}, {} threads", cpu.threads());
            }
        }
    }
}

#[test]
fn modular_products_are_the_same_on_any_number_of_threads() {
    let (engines, mut random) = (engines(), Random::new(107));
    let bits = (1 << 19) + 64;
    for modulus in moduli(bits, &mut random) {
        let numbers = hard(bits - 1, &mut random);
        for (a, b) in [(2, 2), (3, 6), (4, 7), (5, 5), (8, 2)] {
            let (a, b) = (&numbers[a], &numbers[b][..]);
            let compute = |cpu: &Cpu| modular(cpu, Op::MulMod, &modulus, a, (bits - 1, b));
            let expected = compute(&engines[0]);
            for cpu in &engines[1..] {
                assert!(compute(cpu) == expected, "{} threads", cpu.threads());
            }
        }
        let (a, b) = (&numbers[8], &numbers[3][..]);
        let found = modular(&engines[1], Op::MulMod, &modulus, a, (bits - 1, b));
        let square = modular(&engines[1], Op::SquareMod, &modulus, a, (bits - 1, b));
        assert!(big(&found) == big(a) * big(b) % big(modulus.value()));
        assert!(big(&square) == big(a) * big(a) % big(modulus.value()));
    }
}
