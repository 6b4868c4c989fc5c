//! Inverses, divisors and Jacobi symbols on every path, against independent arithmetic.

use modmill::cuda::kernel_seconds;
use modmill::recorder::Recorder;
use modmill::{Backend, Batch, Engine, Error, ItemErrorKind, Jacobi, Moduli, Modulus, Operand};
use modmill_testing::oracle::{batch, gcd, jacobi};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::sync::Arc;

/// Engines on every path of the processor, and one on an emulated GPU.
fn engines() -> Vec<Engine> {
    let free = || Engine::builder().backend(Backend::Cpu).threads(2);
    let engine = free().build().unwrap();
    let limited = engine.paths().into_iter().map(|path| free().path(path).build().unwrap());
    limited.chain([free().build().unwrap()]).chain(emulated()).collect()
}

fn emulated() -> Option<Engine> {
    let builder = modmill_testing::emulated::engine(modmill_cuda::Faults::default())?;
    Some(builder.fallback(false).build().unwrap())
}

/// Numbers of all lengths up to `bits` bits, hard ones first.
fn numbers(bits: usize, count: usize, rng: &mut Rng) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let top = &one << (bits - 1);
    let hard =
        [BigUint::ZERO, one.clone(), BigUint::from(2u8), top.clone(), &top + &one, &top + (&top - &one)];
    let random = (0..).map(|index: usize| {
        rng.number(match index % 4 {
            0 => 1 + index * 37 % bits,
            _ => bits,
        })
    });
    hard.into_iter().chain(random).take(count).collect()
}

/// All moduli with all lengths side by side: even ones, zero, one, common factors, numbers longer than
/// moduli.
#[test]
fn inverses_of_all_kinds_side_by_side() {
    let mut rng = Rng::new(41);
    for (bits, wide) in [(64, 64), (200, 200), (200, 700), (1000, 1000)] {
        let moduli = numbers(bits, 61, &mut rng);
        let a: Vec<BigUint> = numbers(wide, 67, &mut rng).split_off(6);
        let widest = [BigUint::from(1u8) << (wide - 1)];
        let a: Vec<BigUint> = widest.into_iter().chain(a).take(61).collect();
        let (values, divisors) = (batch(&a), batch(&moduli));
        for engine in engines() {
            let (answers, failed) = match engine.inv(&values, &divisors) {
                Ok(answers) => (answers, Vec::new()),
                Err(Error::Items(partial)) => (partial.answers.clone(), partial.failed.clone()),
                Err(error) => panic!("{error}"),
            };
            for (item, (a, n)) in a.iter().zip(&moduli).enumerate() {
                let error = failed.iter().find(|error| error.index == item).map(|error| error.kind);
                let found = BigUint::new(
                    answers.get(item).iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect(),
                );
                let is_one = *n == BigUint::from(1u8);
                let expected = match n == &BigUint::ZERO {
                    true => Err(ItemErrorKind::ZeroModulus),
                    false if is_one => Ok(BigUint::ZERO),
                    false => a.modinv(n).ok_or(ItemErrorKind::NotInvertible),
                };
                assert_eq!(error.map_or(Ok(found), Err), expected, "item {item} of {bits} bits: {a} mod {n}");
            }
        }
    }
}

#[test]
fn divisors_and_symbols_of_all_lengths_side_by_side() {
    let mut rng = Rng::new(43);
    for bits in [64, 300, 1024] {
        let factor = rng.number(bits / 3);
        let mut a = numbers(bits, 45, &mut rng);
        let mut b = numbers(bits, 47, &mut rng).split_off(2);
        a.extend(numbers(bits / 2, 16, &mut rng).iter().map(|number| number * &factor));
        b.extend(numbers(bits / 2, 16, &mut rng).iter().map(|number| (number * &factor) << 1));
        let (x, y) = (batch(&a), batch(&b));
        let divisors = a.iter().zip(&b).map(|(a, b)| gcd(a, b)).collect::<Vec<_>>();
        let symbols: Vec<Option<i8>> =
            a.iter().zip(&b).map(|(a, b)| b.bit(0).then(|| jacobi(a, b))).collect();
        for engine in engines() {
            let found = engine.gcd(&x, &y).unwrap();
            let expected = batch(&divisors);
            for item in 0..a.len() {
                assert_eq!(found.to_hex(item), expected.to_hex(item), "{} and {}", a[item], b[item]);
            }
            let found = engine.jacobi(&x, &y).unwrap();
            let found: Vec<Option<i8>> = found.into_iter().map(|symbol| symbol.map(i8::from)).collect();
            assert_eq!(found, symbols);
        }
    }
}

#[test]
fn symbols_run_as_planned() {
    let (a, n) = (Batch::from_hex(["5"; 40]).unwrap(), Batch::from_hex(["b"; 40]).unwrap());
    let free = || Engine::builder().backend(Backend::Cpu).threads(2);
    for path in free().build().unwrap().paths() {
        let recorder = Arc::new(Recorder::default());
        let engine = free().path(path).recorder(recorder.clone()).build().unwrap();
        let plan = engine.ask().jacobi(&a, &n).unwrap();
        assert_eq!(engine.jacobi(&a, &n).unwrap(), [Some(Jacobi::One); 40]);
        let executions = recorder.take();
        assert_eq!(executions.len(), 1);
        assert_eq!((executions[0].path, &executions[0].variant), (plan.path, &plan.variant));
    }
}

/// Numbers, moduli and answers on a device or on the host: the answers are the same, the GPU computes them,
/// and items without an inverse are named.
#[test]
fn a_gpu_inverts_and_divides_at_every_place() {
    let Some(gpu) = emulated() else { return };
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let mut rng = Rng::new(47);
    let odd = |number: BigUint| number | BigUint::from(1u8);
    let n: Vec<BigUint> = (0..40).map(|_| odd(rng.exact(500))).collect();
    let mut a: Vec<BigUint> = (0..40).map(|_| rng.number(500)).collect();
    a[7] = BigUint::ZERO;
    a[33] = n[33].clone();
    let (x, y) = (batch(&a), batch(&n));
    let modulus = Modulus::new(y.get(5)).unwrap();
    let (near_x, near_y) = (gpu.upload(&x).unwrap(), gpu.upload(&y).unwrap());
    let moduli = gpu.upload_moduli(y.clone()).unwrap();
    let operands: [Operand<'_>; 2] = [(&x).into(), (&near_x).into()];
    let all: [Moduli<'_>; 3] = [(&y).into(), (&moduli).into(), (&modulus).into()];
    for operand in operands {
        for moduli in all {
            let seconds = kernel_seconds(&gpu);
            let expected = cpu.inv(&x, if moduli.len().is_none() { moduli } else { (&y).into() });
            let Err(Error::Items(partial)) = &expected else { panic!("items 7 and 33 have no inverse") };
            assert_eq!(gpu.inv(operand, moduli), expected);
            assert_eq!(gpu.on_device().inv(operand, moduli).map(drop), expected.clone().map(drop));
            let mut answers = Batch::zeros(moduli.bits(), 40);
            assert_eq!(gpu.to(&mut answers).inv(operand, moduli), expected.clone().map(drop));
            assert_eq!(answers, partial.answers);
            assert!(kernel_seconds(&gpu) > seconds);
        }
        let divisors = cpu.gcd(&x, &y).unwrap();
        for other in [Operand::from(&y), Operand::from(&near_y)] {
            assert_eq!(gpu.gcd(operand, other).unwrap(), divisors);
            assert_eq!(gpu.on_device().gcd(operand, other).unwrap().download().unwrap(), divisors);
        }
    }
    // Inverses that all exist stay on the device.
    let ones = gpu.upload(&batch(&vec![BigUint::from(2u8); 40])).unwrap();
    let halves = gpu.on_device().inv(&ones, &moduli).unwrap();
    let units = gpu.mul_mod(&halves, &ones, &moduli).unwrap();
    assert!(units.iter().all(|unit| unit[0] == 1 && unit[1..].iter().all(|&limb| limb == 0)));
}
