//! Inverses, greatest common divisors and quotients, against `num-bigint`.

use crate::{devices, on_gpus};
use modmill_core::sync::Mutex;
use modmill_core::{Batch, Call, Divisors, Inverses, Job, Moduli, Op, Operand, Quotients, Request};
use modmill_cuda::{Cuda, Settings};
use modmill_testing::hard::{ones, power_of_two, runs};
use modmill_testing::oracle::{batch_of_width, gcd, inv, number, show};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// Lengths at the ends of digits, of threads and of sizes of kernels; on GPUs more of them.
fn lengths() -> Vec<usize> {
    let emulated = [2, 29, 30, 31, 64, 100, 127, 128, 500, 511, 512, 1023, 1024, 1061, 2048, 4096];
    let real = [256, 768, 1536, 3072, 8192, 16_384, 32_768];
    emulated.into_iter().chain(real.into_iter().filter(|_| on_gpus())).collect()
}

/// Numbers of at most `bits` bits: the ends of the range, powers of two, multiples of `factor`, and random
/// ones.
fn numbers(bits: usize, factor: &BigUint, rng: &mut Rng) -> Vec<BigUint> {
    let mut numbers = vec![
        BigUint::ZERO,
        BigUint::from(1u8),
        BigUint::from(2u8),
        ones(bits),
        ones(bits) - 1u8,
        power_of_two(bits - 1),
        power_of_two(bits / 2),
        ones(bits) / ones(bits.div_ceil(7)),
        ones(bits) / factor * factor,
        (ones(bits / 2) / factor * factor) << (bits / 3),
    ];
    numbers.extend((0..3).map(|_| rng.number(bits)));
    numbers.extend((0..3).map(|_| runs(bits, rng)));
    numbers.push(rng.number(bits / 2 + 1));
    numbers
}

/// Inverses as the devices answer, with the items that have none; nothing, and a word about it, where there
/// is no C++ compiler.
fn invert(
    cuda: &Cuda,
    a: Operand<'_>,
    moduli: Moduli<'_>,
    (bits, count): (usize, usize),
) -> Option<(Batch, Vec<usize>)> {
    let missing = Mutex::default();
    let job = Job::new(0..count, bits, a, a, moduli);
    let call = Call::Inverses(&Inverses { job, missing: &missing });
    let plan = cuda.plan(&call.request().unwrap()).unwrap();
    let answers = crate::products::answers(cuda.run_new(&plan, call))?;
    let mut missing = missing.into_inner();
    missing.sort_unstable();
    Some((answers, missing))
}

#[test]
fn inverses() {
    let cuda = Cuda::on(devices(), Settings::default());
    for bits in lengths() {
        let mut rng = Rng::new(bits as u64);
        let factor = BigUint::from(15u8);
        let mut moduli: Vec<BigUint> =
            numbers(bits, &factor, &mut rng).into_iter().map(|n| n | BigUint::from(1u8)).collect();
        moduli.retain(|n| n.bits() > 1);
        moduli.push(BigUint::from(3u8));
        let mut a = numbers(bits, &factor, &mut rng);
        a.extend([moduli[0].clone(), &moduli[0] - 1u8, (&moduli[0] + 1u8) >> 1]);
        let turns = if bits > 1100 { 1 } else { 5 };
        // Every number with several moduli.
        let pairs =
            (0..turns * a.len()).map(|i| (&a[i % a.len()], &moduli[(i + i / a.len()) % moduli.len()]));
        let (a, n): (Vec<BigUint>, Vec<BigUint>) = pairs.map(|(a, n)| (a.clone(), n.clone())).unzip();
        let (left, right) = (batch_of_width(&a, bits), batch_of_width(&n, bits));
        let shape = (bits, a.len());
        let Some((answers, missing)) = invert(&cuda, (&left).into(), (&right).into(), shape) else { return };
        for (item, (a, n)) in a.iter().zip(&n).enumerate() {
            let found = (!missing.contains(&item)).then(|| number(answers.get(item)));
            assert!(found == inv(a, n), "{bits} bits, {item}: {} modulo {}", show(a), show(n));
            assert!(found.is_some() || answers.get(item).iter().all(|&limb| limb == 0));
        }
        // One modulus for all, and one number.
        let longest = n.iter().position(|n| n.bits() as usize == bits).unwrap();
        let modulus = modmill_core::Modulus::new(right.get(longest)).unwrap();
        let (answers, _) = invert(&cuda, (&left).into(), (&modulus).into(), shape).unwrap();
        for (a, answer) in a.iter().zip(answers.iter()) {
            assert!(number(answer) == inv(a, &n[longest]).unwrap_or_default(), "{bits} bits, one modulus");
        }
        let (answers, _) = invert(&cuda, left.shared(3), (&right).into(), shape).unwrap();
        for (n, answer) in n.iter().zip(answers.iter()) {
            assert!(number(answer) == inv(&a[3], n).unwrap_or_default(), "{bits} bits, one number");
        }
    }
}

#[test]
fn divisors() {
    let cuda = Cuda::on(devices(), Settings::default());
    for bits in lengths() {
        let mut rng = Rng::new(3 * bits as u64);
        let factor = rng.number(bits / 3 + 1) | BigUint::from(1u8);
        let (a, b) = (numbers(bits, &factor, &mut rng), numbers(bits, &factor, &mut rng));
        let turns = if bits > 1100 { 2 } else { a.len() };
        let pairs = (0..turns * a.len()).map(|i| (&a[i % a.len()], &b[(i + i / a.len()) % b.len()]));
        let (a, b): (Vec<BigUint>, Vec<BigUint>) = pairs.map(|(a, b)| (a.clone(), b.clone())).unzip();
        // The two may have different widths.
        let (left, right) = (batch_of_width(&a, bits), batch_of_width(&b, bits + 64));
        let call = Divisors { a: (&left).into(), b: (&right).into(), count: a.len(), watch: None };
        let plan = cuda.plan(&Request::of_divisors(&call)).unwrap();
        let Some(answers) = crate::products::answers(cuda.run_new(&plan, Call::Divisors(&call))) else {
            return;
        };
        for ((a, b), answer) in a.iter().zip(&b).zip(answers.iter()) {
            assert!(number(answer) == gcd(a, b), "{bits} bits: {} and {}", show(a), show(b));
        }
    }
}

/// Quotients by divisors of all lengths, of longer and of shorter numbers: multiples of the divisor, one
/// less, and numbers whose digits of a quotient are the greatest there are.
#[test]
fn quotients() {
    divide_hard_numbers(false);
}

#[test]
fn quotients_with_their_remainders() {
    divide_hard_numbers(true);
}

fn divide_hard_numbers(with_remainders: bool) {
    let cuda = Cuda::on(devices(), Settings::default());
    for (wide, bits) in
        [(128, 64), (64, 128), (300, 30), (256, 128), (2048, 1024), (1024, 1061), (4000, 1061), (4096, 4096)]
    {
        let mut rng = Rng::new((wide + 5 * bits) as u64);
        let three = BigUint::from(3u8);
        let mut n = numbers(bits, &three, &mut rng);
        n.extend((1..40).map(|_| rng.exact(bits)));
        n.push(power_of_two(bits - 1) + 1u8);
        n.push(BigUint::ZERO);
        let mut pairs = Vec::new();
        for n in &n {
            let least = ones(wide) - if *n == BigUint::ZERO { n.clone() } else { ones(wide) % n };
            let numbers =
                [ones(wide), rng.number(wide), least.clone(), least - if wide > bits { 1u8 } else { 0 }];
            pairs.extend(numbers.map(|a| (a, n.clone())));
        }
        let (a, n): (Vec<BigUint>, Vec<BigUint>) = pairs.into_iter().unzip();
        let (left, right) = (batch_of_width(&a, wide), batch_of_width(&n, bits));
        let zero = Mutex::default();
        let (divisors, count) = (Moduli::from(&right), a.len());
        let call = Quotients {
            a: (&left).into(),
            divisors,
            shortest_bits: 1,
            with_remainders,
            count,
            zero: &zero,
            watch: None,
        };
        let plan = cuda.plan(&Request::of_quotients(&call)).unwrap();
        let Some(answers) = crate::products::answers(cuda.run_new(&plan, Call::Quotients(&call))) else {
            return;
        };
        for (item, (a, n)) in a.iter().zip(&n).enumerate() {
            let expected = match *n == BigUint::ZERO {
                true => [BigUint::ZERO, BigUint::ZERO],
                false => [a / n, a % n],
            };
            let (quotient, remainder) = answers.get(item).split_at(wide.div_ceil(64));
            let found =
                [number(quotient), if with_remainders { number(remainder) } else { expected[1].clone() }];
            assert!(found == expected, "{wide} by {bits} bits, {item}: {} by {}", show(a), show(n));
            assert_eq!(remainder.is_empty(), !with_remainders);
        }
        let mut failed = zero.into_inner();
        failed.sort_unstable();
        let is_zero = |item: &usize| n[*item] == BigUint::ZERO;
        assert_eq!(failed, (0..count).filter(is_zero).collect::<Vec<_>>());
        // Once more, with the length of the shortest one known.
        let longest: Vec<usize> = (0..count).filter(|&item| n[item].bits() as usize == bits).collect();
        let pick = |all: &[BigUint]| longest.iter().map(|&item| all[item].clone()).collect::<Vec<_>>();
        let (left, right) = (batch_of_width(&pick(&a), wide), batch_of_width(&pick(&n), bits));
        let (zero, divisors, count) = (Mutex::default(), Moduli::from(&right), longest.len());
        let call = Quotients {
            a: (&left).into(),
            divisors,
            shortest_bits: bits,
            with_remainders: false,
            count,
            zero: &zero,
            watch: None,
        };
        let plan = cuda.plan(&Request::of_quotients(&call)).unwrap();
        let answers = cuda.run_new(&plan, Call::Quotients(&call)).unwrap().answers;
        for (&item, answer) in longest.iter().zip(answers.iter()) {
            assert!(number(answer) == &a[item] / &n[item], "{wide} by exactly {bits} bits, {item}");
        }
    }
}

/// Remainders modulo odd numbers, of longer and of shorter numbers, times a bit.
#[test]
fn remainders() {
    let cuda = Cuda::on(devices(), Settings::default());
    for (wide, bits) in [(64, 128), (128, 128), (300, 128), (2048, 1024), (2048, 1061), (1500, 4096)] {
        let mut rng = Rng::new((wide + 7 * bits) as u64);
        let n: Vec<BigUint> = (0..60).map(|_| rng.exact(bits) | BigUint::from(1u8)).collect();
        let least = |n: &BigUint| if *n < ones(wide) { ones(wide) / n * n } else { n >> (bits - wide) };
        let a: Vec<BigUint> = n
            .iter()
            .enumerate()
            .map(|(item, n)| match item % 4 {
                0 => ones(wide),
                1 => rng.number(wide),
                2 => least(n),
                _ => least(n) - 1u8,
            })
            .collect();
        let (left, right) = (batch_of_width(&a, wide), batch_of_width(&n, bits));
        let bit = |item: usize| BigUint::from((item % 5 != 3) as u8);
        let each = batch_of_width(&(0..60).map(bit).collect::<Vec<_>>(), 1);
        for b in [Operand::Shared { bits: 1, value: &[1] }, (&each).into()] {
            let job = Job::new(0..60, bits, (&left).into(), b, (&right).into());
            let plan = cuda.plan(&Request::of(Op::MulMod, &job)).unwrap();
            assert!(plan.variant.contains("digits"), "{plan}");
            let run = cuda.run_new(&plan, Call::Modular(Op::MulMod, &job));
            let Some(answers) = crate::products::answers(run) else { return };
            for (item, (a, n)) in a.iter().zip(&n).enumerate() {
                let factor = if b.is_shared() { BigUint::from(1u8) } else { bit(item) };
                let found = number(answers.get(item));
                assert!(found == a * factor % n, "{wide} by {bits} bits, {item}: {} by {}", show(a), show(n));
            }
        }
    }
}

/// Batches that end within a block or a warp.
#[test]
fn tails() {
    let cuda = Cuda::on(devices(), Settings::default());
    let mut rng = Rng::new(11);
    for (bits, counts) in [(128, &[1, 2, 31, 33, 127, 129, 300][..]), (1061, &[1, 17, 65])] {
        for &count in counts {
            let a: Vec<BigUint> = (0..count).map(|_| rng.number(bits)).collect();
            let n: Vec<BigUint> = (0..count).map(|_| rng.exact(bits) | BigUint::from(1u8)).collect();
            let (left, right) = (batch_of_width(&a, bits), batch_of_width(&n, bits));
            let Some((answers, missing)) = invert(&cuda, (&left).into(), (&right).into(), (bits, count))
            else {
                return;
            };
            for (item, (a, n)) in a.iter().zip(&n).enumerate() {
                let found = (!missing.contains(&item)).then(|| number(answers.get(item)));
                assert!(found == inv(a, n), "{bits} bits, {item} of {count}");
            }
        }
    }
    assert!(cuda.plan(&Request::new(Op::Inv, 40_000, 3)).is_none());
}
