//! Engines with a GPU, an emulated one: what goes where, and what happens when it fails.

use modmill::cuda::kernel_seconds;
use modmill::cuda::{Device, Settings};
use modmill::{
    Backend, Batch, Engine, EngineBuilder, Error, Family, Modulus, Op, Public, Request, TRANSFORM_MAX_BITS,
};
use modmill_cuda::Faults;
use modmill_cuda::cache::Cache;

fn emulated(faults: Faults) -> Option<EngineBuilder> {
    modmill_testing::emulated::engine(faults)
}

/// Bases, exponents and moduli: odd ones of two lengths, even ones, and one.
fn numbers() -> [Batch; 3] {
    let moduli =
        ["f3b4c1a5d6e7f8091a2b3c4d5e6f7a8b", "fffffffb", "1000", "1", "c000000000000000000000000000000a"];
    let bases = ["ffffffffffffffffffffffffffffffffffffffffffffffff", "2", "3", "4", "5"];
    let exponents = ["fedcba9876543210", "0", "3", "4", "ffff"];
    [&bases[..], &exponents, &moduli].map(|texts| Batch::from_hex(texts.iter().copied()).unwrap())
}

#[test]
fn a_gpu_answers_as_the_cpu_does() {
    let Some(builder) = emulated(Faults::default()) else { return };
    let [bases, exponents, moduli] = numbers();
    let gpu = builder.fallback(false).build().unwrap();
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    assert_eq!(gpu.pow(&bases, &exponents, &moduli), cpu.pow(&bases, &exponents, &moduli));
    assert_eq!(gpu.pow(&bases, Public(&exponents), &moduli), cpu.pow(&bases, Public(&exponents), &moduli));
    assert_eq!(gpu.mul_mod(&bases, &exponents, &moduli), cpu.mul_mod(&bases, &exponents, &moduli));
    assert_eq!(gpu.square_mod(&bases, &moduli), cpu.square_mod(&bases, &moduli));
    assert_eq!(gpu.faults(), [""; 0]);
    for (op, backend) in [
        (Op::Pow, Backend::Cuda),
        (Op::MulMod, Backend::Cuda),
        (Op::Inv, Backend::Cuda),
        (Op::Gcd, Backend::Cuda),
        (Op::Jacobi, Backend::Cpu),
    ] {
        assert_eq!(gpu.plan(&Request::new(op, 2048, 100)).unwrap().backend(), backend, "{op}");
    }
}

/// Every family of a GPU, asked for, computes what it has and leaves the rest to the CPU: moduli by item and
/// one for all, odd and even, exponents by item and one for all, with tables read whole and directly.
#[test]
fn every_family_can_be_asked_for() {
    let [bases, exponents, moduli] = numbers();
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let [odd, even] = [0, 4].map(|item| Modulus::new(moduli.get(item)).unwrap());
    let kept = [&odd, &even, &odd, &even, &odd];
    let [none, one] = [Batch::zeros(0, 5), Batch::from_hex(["3"]).unwrap()];
    for family in [Family::Row, Family::TwoPass, Family::Wide, Family::Narrow, Family::Rns] {
        let Some(builder) = emulated(Faults::default()) else { return };
        let gpu = builder.family(family).fallback(false).build().unwrap();
        assert_eq!(gpu.plan(&Request::new(Op::Pow, 128, 5)).unwrap().family(), family);
        let mut seconds = 0.0;
        let mut computes = |what: &str| {
            assert!(kernel_seconds(&gpu) > seconds, "{family} has no kernel for {what}");
            seconds = kernel_seconds(&gpu);
        };
        assert_eq!(gpu.pow(&bases, &exponents, &moduli), cpu.pow(&bases, &exponents, &moduli), "{family}");
        computes("powers");
        for modulus in [&odd, &even] {
            assert_eq!(
                gpu.pow(&bases, &exponents, modulus),
                cpu.pow(&bases, &exponents, modulus),
                "{family}"
            );
            computes("one modulus");
            let shared = exponents.shared(0);
            let (found, right) = (gpu.pow(&bases, shared, modulus), cpu.pow(&bases, shared, modulus));
            assert_eq!(found, right, "{family}");
            let found = gpu.pow(&bases, Public(shared), modulus);
            assert_eq!(found, right, "{family}");
            computes("one exponent");
            assert_eq!(gpu.pow(&bases, &none, modulus), cpu.pow(&bases, &none, modulus), "{family}");
            assert_eq!(
                gpu.mul_mod(&bases, &bases, modulus),
                cpu.mul_mod(&bases, &bases, modulus),
                "{family}"
            );
        }
        assert_eq!(gpu.square_mod(&bases, &kept[..]), cpu.square_mod(&bases, &kept[..]), "{family}");
        computes("squares");
        assert_eq!(gpu.pow(&one, &one, &odd), cpu.pow(&one, &one, &odd), "{family}");
        assert_eq!(gpu.pow(bases.slice(0..0), exponents.slice(0..0), &odd).unwrap().len(), 0);
        // Not for a GPU, or not for this family.
        assert_eq!(gpu.mul(&bases, &bases), cpu.mul(&bases, &bases));
        let long = Batch::from_hex(["9".repeat(8_300)]).unwrap();
        assert_eq!(gpu.mul_mod(&one, &one, &long), cpu.mul_mod(&one, &one, &long), "{family}");
        assert_eq!(gpu.faults(), [""; 0], "{family}");
    }
}

#[test]
fn tables_are_read_directly_on_request() {
    let [bases, exponents, moduli] = numbers();
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    for family in [Family::Row, Family::Rns, Family::Fft] {
        let Some(builder) = emulated(Faults::default()) else { return };
        let builder = builder.family(family).fallback(false);
        let gpu = builder.cuda(Settings { direct_tables: true, ..Settings::default() }).build().unwrap();
        assert_eq!(gpu.pow(&bases, &exponents, &moduli), cpu.pow(&bases, &exponents, &moduli), "{family}");
        let modulus = Modulus::from_hex(&("b".repeat(if family == Family::Fft { 260 } else { 32 }))).unwrap();
        let shared = exponents.shared(0);
        assert_eq!(gpu.pow(&bases, shared, &modulus), cpu.pow(&bases, shared, &modulus), "{family}");
        assert!(kernel_seconds(&gpu) > 0.0, "{family}");
        assert_eq!(gpu.faults(), [""; 0], "{family}");
    }
}

/// Plans can be asked for whatever the numbers.
#[test]
fn plans_of_any_length() {
    let Some(builder) = emulated(Faults::default()) else { return };
    for family in [None, Some(Family::Fft), Some(Family::Row), Some(Family::Rns)] {
        let builder = family.map_or(builder.clone(), |family| builder.clone().family(family));
        let engine = builder.build().unwrap();
        for op in [Op::Pow, Op::MulMod, Op::SquareMod] {
            for bits in [1, 1_024, 32_768, 32_769, TRANSFORM_MAX_BITS] {
                let plan = engine.plan(&Request::new(op, bits, 0)).unwrap();
                assert_eq!(plan.request.bits, bits, "{op} by {family:?}");
            }
        }
    }
}

#[test]
fn long_products_go_by_transforms() {
    let Some(builder) = emulated(Faults::default()) else { return };
    let gpu = builder.fallback(false).build().unwrap();
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let long =
        |digit: &str| Batch::from_hex([digit.repeat(9_000), "f".repeat(8_999), "1".to_owned()]).unwrap();
    let (a, b) = (long("9"), long("a7"));
    assert_eq!(gpu.mul(&a, &b), cpu.mul(&a, &b));
    assert_eq!(gpu.mul(&a, b.shared(1)), cpu.mul(&a, b.shared(1)));
    assert_eq!(gpu.square(&b), cpu.square(&b));
    // Even and odd moduli, factors of any length.
    for last in ["1", "0"] {
        let modulus = Modulus::from_hex(&("c".repeat(8_999) + last)).unwrap();
        assert_eq!(gpu.mul_mod(&a, &a, &modulus), cpu.mul_mod(&a, &a, &modulus));
        assert_eq!(gpu.mul_mod(&b, &a, &modulus), cpu.mul_mod(&b, &a, &modulus));
        assert_eq!(gpu.square_mod(&a, &modulus), cpu.square_mod(&a, &modulus));
    }
    assert_eq!(gpu.faults(), [""; 0]);
    let path = |plan: Result<modmill::Plan, Error>| plan.map(|plan| (plan.backend(), plan.family())).unwrap();
    let one = |op| gpu.plan(&Request::new(op, 36_000, 100).one_modulus());
    assert_eq!(path(gpu.plan(&Request::new(Op::Mul, 36_000, 100))), (Backend::Cuda, Family::Fft));
    for op in [Op::MulMod, Op::SquareMod, Op::Pow, Op::PowVartime] {
        assert_eq!(path(one(op)), (Backend::Cuda, Family::Fft), "{op}");
        assert_eq!(path(gpu.plan(&Request::new(op, 36_000, 100))), (Backend::Cuda, Family::Fft), "{op}");
        assert_ne!(gpu.plan(&Request::new(op, 16_383, 100)).unwrap().family(), Family::Fft, "{op}");
    }
    assert_eq!(gpu.plan(&Request::new(Op::Mul, 256, 100)).unwrap().backend(), Backend::Cpu);
}

/// Long moduli of several lengths, even and odd, together with short ones; bases longer than they are.
#[test]
fn long_moduli_of_every_kind() {
    let Some(builder) = emulated(Faults::default()) else { return };
    let gpu = builder.fallback(false).build().unwrap();
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let moduli =
        ["f".repeat(8_400), "8".repeat(8_400), "1".repeat(8_400), "7".repeat(8_395) + "0", "1d".to_owned()];
    let bases = ["a7".repeat(4_200), "f".repeat(16_000), "2".to_owned(), "0".to_owned(), "3".repeat(8_401)];
    let exponents = ["1", "2", "0", "5", "3"];
    let moduli = Batch::from_hex(moduli.iter()).unwrap();
    let bases = Batch::from_hex(bases.iter()).unwrap();
    let exponents = Batch::from_hex(exponents).unwrap();
    assert_eq!(gpu.pow(&bases, &exponents, &moduli), cpu.pow(&bases, &exponents, &moduli));
    assert_eq!(gpu.mul_mod(&bases, &bases, &moduli), cpu.mul_mod(&bases, &bases, &moduli));
    let kept: Vec<Modulus> = moduli.iter().map(|value| Modulus::new(value).unwrap()).collect();
    let kept: Vec<&Modulus> = kept.iter().collect();
    assert_eq!(gpu.square_mod(&bases, &kept[..]), cpu.square_mod(&bases, &moduli));
    let seconds = kernel_seconds(&gpu);
    assert!(seconds > 0.0);
    assert_eq!(gpu.pow(&bases, Public(&exponents), kept[0]), cpu.pow(&bases, Public(&exponents), kept[0]));
    assert!(kernel_seconds(&gpu) > seconds);
    assert_eq!(gpu.faults(), [""; 0]);
}

/// Transforms that are asked for take short moduli too, down to where there are none.
#[test]
fn transforms_can_be_asked_for() {
    let Some(builder) = emulated(Faults::default()) else { return };
    let gpu = builder.family(Family::Fft).fallback(false).build().unwrap();
    let cpu = Engine::builder().backend(Backend::Cpu).build().unwrap();
    let numbers = |digits: [&str; 3]| Batch::from_hex(digits.map(|digit| digit.repeat(260))).unwrap();
    let (bases, moduli) = (numbers(["9", "f", "3"]), numbers(["f", "d", "e"]));
    let exponents = Batch::from_hex(["1f", "20", "0"]).unwrap();
    assert_eq!(gpu.pow(&bases, &exponents, &moduli), cpu.pow(&bases, &exponents, &moduli));
    assert!(kernel_seconds(&gpu) > 0.0);
    // Longer factors than transforms take are reduced by nobody else on the GPU then.
    let longer = Batch::from_hex(["b".repeat(521), "1".to_owned(), "0".to_owned()]).unwrap();
    assert_eq!(gpu.pow(&longer, &exponents, &moduli), cpu.pow(&longer, &exponents, &moduli));
    assert_eq!(gpu.mul_mod(&bases, &longer, &moduli), cpu.mul_mod(&bases, &longer, &moduli));
    // One modulus, odd and even, one exponent, none, and one item.
    let one = Batch::from_hex(["7".repeat(260)]).unwrap();
    let none = Batch::zeros(0, 3);
    for last in ["1", "8"] {
        let modulus = Modulus::from_hex(&("c".repeat(259) + last)).unwrap();
        let seconds = kernel_seconds(&gpu);
        assert_eq!(gpu.pow(&bases, &exponents, &modulus), cpu.pow(&bases, &exponents, &modulus));
        assert!(kernel_seconds(&gpu) > seconds);
        let shared = exponents.shared(1);
        assert_eq!(gpu.pow(&bases, Public(shared), &modulus), cpu.pow(&bases, Public(shared), &modulus));
        assert_eq!(gpu.pow(&bases, &none, &modulus), cpu.pow(&bases, &none, &modulus));
        assert_eq!(gpu.pow(&bases, Public(&none), &modulus), cpu.pow(&bases, Public(&none), &modulus));
        assert_eq!(gpu.square_mod(&one, &modulus), cpu.square_mod(&one, &modulus));
        assert_eq!(gpu.mul_mod(&longer, &bases, &modulus), cpu.mul_mod(&longer, &bases, &modulus));
    }
    let kept = moduli.iter().map(|value| Modulus::new(value).unwrap()).collect::<Vec<_>>();
    let kept: Vec<&Modulus> = kept.iter().collect();
    assert_eq!(gpu.pow(&bases, &exponents, &kept[..]), cpu.pow(&bases, &exponents, &moduli));
    assert_eq!(gpu.square_mod(&bases, &moduli), cpu.square_mod(&bases, &moduli));
    assert_eq!(gpu.mul(&bases, &longer), cpu.mul(&bases, &longer));
    assert_eq!(gpu.mul(&one, bases.shared(0)), cpu.mul(&one, bases.shared(0)));
    assert_eq!(gpu.square(&exponents), cpu.square(&exponents));
    assert_eq!(gpu.faults(), [""; 0]);
    let backend = |bits| gpu.plan(&Request::new(Op::Pow, bits, 10)).unwrap().backend();
    assert_eq!(
        [backend(1_023), backend(1_024), backend(65_536)],
        [Backend::Cpu, Backend::Cuda, Backend::Cuda]
    );
}

#[test]
fn the_cpu_finishes_what_a_gpu_could_not() {
    let [bases, exponents, moduli] = numbers();
    let expected = Engine::builder().backend(Backend::Cpu).build().unwrap().pow(&bases, &exponents, &moduli);
    for faults in [
        Faults { lose_device_after: Some(1), ..Faults::default() },
        Faults { fail_launch_after: Some(0), ..Faults::default() },
        Faults { out_of_memory_above: Some(64), ..Faults::default() },
    ] {
        let Some(builder) = emulated(faults) else { return };
        let engine = builder.clone().build().unwrap();
        assert_eq!(engine.pow(&bases, &exponents, &moduli), expected, "{faults:?}");
        assert!(engine.faults().iter().any(|fault| fault.contains("went to the CPU")), "{faults:?}");
    }
    let faults = Faults { fail_launch_after: Some(0), ..Faults::default() };
    let engine = emulated(faults).unwrap().fallback(false).build().unwrap();
    assert!(matches!(engine.pow(&bases, &exponents, &moduli), Err(Error::Device(_))));
}

#[test]
fn small_batches_stay_on_the_cpu_unless_told_otherwise() {
    let device = || vec![Device::emulator_with(Faults::default(), Cache::off())];
    let free = Engine::builder().devices(device()).build().unwrap();
    assert_eq!(free.plan(&Request::new(Op::Pow, 1024, 1)).unwrap().backend(), Backend::Cpu);
    assert_eq!(free.plan(&Request::new(Op::Pow, 1024, 100_000)).unwrap().backend(), Backend::Cuda);
    assert!([Backend::Cpu, Backend::Cuda].iter().all(|&b| free.paths().iter().any(|path| path.backend == b)));
    let forced = Engine::builder().devices(device()).backend(Backend::Cuda).family(Family::Narrow);
    let plan = forced.build().unwrap().plan(&Request::new(Op::Pow, 1024, 1)).unwrap();
    assert_eq!((plan.backend(), plan.family()), (Backend::Cuda, Family::Narrow));
    let error = Engine::builder().devices(device()).backend(Backend::Cuda).family(Family::Ifma).build();
    assert!(matches!(error, Err(Error::Unavailable(_))));
}

/// An empty list of devices is an engine without GPUs, which keeps resident batches in its own memory.
#[test]
fn an_empty_list_of_devices_has_no_gpu() {
    let engine = Engine::builder().ignore_backend_env().devices(Vec::new()).build().unwrap();
    assert!(engine.cuda().is_none());
    let numbers = Batch::from_hex(["3", "5"]).unwrap();
    assert_eq!(engine.upload(&numbers).unwrap().download().unwrap(), numbers);
    let asked = Engine::builder().devices(Vec::new()).backend(Backend::Cuda).build();
    assert!(matches!(asked, Err(Error::Unavailable(_))));
}
