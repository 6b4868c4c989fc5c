//! A plan says what runs: plans of every operation, family, sharing and secrecy against what a recorder saw.

use modmill::cuda::Settings;
use modmill::{
    Backend, Batch, Engine, EngineBuilder, Execution, Family, Modulus, Op, Operand, Plan, Public, Recorder,
    Request,
};
use modmill_cuda::Faults;
use modmill_testing::rng::Rng;
use std::sync::Arc;

const COUNT: usize = 9;

/// Bits of the exponents: emulated devices compute every squaring.
const EXPONENT_BITS: usize = 21;

/// How the moduli of a call are given.
#[derive(Debug, Clone, Copy)]
enum Given {
    Each,
    Shared,
    Prepared,
}

/// How the exponents of a call are given.
#[derive(Debug, Clone, Copy)]
enum Exponent {
    Each,
    One,
}

/// An engine whose executions are recorded, and numbers of one length for it.
struct Recorded {
    engine: Engine,
    recorder: Arc<Recorder>,
    bits: usize,
    numbers: Batch,
    exponents: Batch,
    moduli: Batch,
    kept: Vec<Modulus>,
}

impl Recorded {
    fn new(builder: EngineBuilder, bits: usize) -> Self {
        let recorder = Arc::new(Recorder::default());
        let engine = builder.fallback(false).recorder(recorder.clone()).build().unwrap();
        let rng = &mut Rng::new(bits as u64);
        // The highest bit is set, so that every length is the declared one; odd numbers have inverses more
        // often.
        let mut batch = |bits: usize, odd: bool| {
            let numbers = (0..COUNT).map(|_| {
                let mut number = rng.exact(bits);
                number.set_bit(0, odd);
                modmill::hex::parse(&format!("{number:x}")).unwrap()
            });
            Batch::from_values(numbers.collect::<Vec<_>>())
        };
        let (numbers, exponents, moduli) =
            (batch(bits, false), batch(EXPONENT_BITS, true), batch(bits, true));
        let kept = moduli.iter().map(|modulus| Modulus::new(modulus).unwrap()).collect();
        Self { engine, recorder, bits, numbers, exponents, moduli, kept }
    }

    /// Runs an operation; returns the plan of its request and what was executed.
    fn run(&self, op: Op, given: Given, exponent: Exponent) -> (Plan, Vec<Execution>) {
        let Self { engine, numbers: a, exponents, .. } = self;
        let kept: Vec<&Modulus> = self.kept.iter().collect();
        let mut request = Request::new(op, self.bits, COUNT);
        let moduli = match given {
            Given::Each => modmill::Moduli::from(&self.moduli),
            Given::Shared => modmill::Moduli::from(&self.kept[0]),
            Given::Prepared => modmill::Moduli::from(&kept[..]),
        };
        if op.is_modular() {
            request = match given {
                Given::Each => request,
                Given::Shared => request.one_modulus(),
                Given::Prepared => request.prepared_moduli(),
            };
        }
        let second = if op.is_power() { exponents } else { a };
        let b = match exponent {
            Exponent::Each => Operand::from(second),
            Exponent::One => second.shared(0),
        };
        if op.is_power() {
            request = match (exponent, op) {
                (Exponent::Each, _) => request.exponents_of(EXPONENT_BITS),
                (Exponent::One, Op::PowVartime) => request.public_exponent(exponents.get(0)),
                (Exponent::One, _) => request.one_exponent(EXPONENT_BITS),
            };
        }
        let plan = engine.plan(&request).unwrap();
        let _ = self.recorder.take();
        // Items without an inverse are no concern here.
        let _ = match op {
            Op::Mul => engine.mul(a, b),
            Op::Square => engine.square(a),
            Op::MulMod => engine.mul_mod(a, b, moduli),
            Op::SquareMod => engine.square_mod(a, moduli),
            Op::Pow => engine.pow(a, b, moduli),
            Op::PowVartime => engine.pow(a, Public(b), moduli),
            Op::Inv => engine.inv(a, &self.moduli),
            Op::Gcd => engine.gcd(a, b),
        };
        (plan, self.recorder.take())
    }

    fn check(&self, given: Given, exponent: Exponent) {
        for &op in Op::ALL {
            let (plan, executions) = self.run(op, given, exponent);
            let Plan { path, variant, window, .. } = plan.clone();
            let planned = Execution { path, variant, window };
            assert!(!executions.is_empty(), "{op}, {given:?}, {exponent:?}: nothing ran for {plan}");
            for execution in executions {
                assert_eq!(execution, planned, "{op} of {} bits, {given:?}, {exponent:?}", self.bits);
            }
        }
    }

    /// Checks every way to give moduli and exponents.
    fn check_all(&self) {
        for given in [Given::Each, Given::Shared, Given::Prepared] {
            for exponent in [Exponent::Each, Exponent::One] {
                self.check(given, exponent);
            }
        }
    }
}

#[test]
fn every_path_of_the_cpu_runs_what_it_plans() {
    let free = || Engine::builder().backend(Backend::Cpu).threads(2);
    for bits in [192, 1024] {
        Recorded::new(free(), bits).check_all();
        for path in free().build().unwrap().paths() {
            Recorded::new(free().path(path), bits).check_all();
        }
    }
}

#[test]
fn long_numbers_run_as_planned() {
    let engine = Recorded::new(Engine::builder().backend(Backend::Cpu).threads(2), 33_000);
    for op in [Op::Mul, Op::MulMod, Op::Inv, Op::Gcd] {
        let (plan, executions) = engine.run(op, Given::Each, Exponent::Each);
        assert_eq!(plan.family(), Family::Fft);
        let Plan { path, variant, window, .. } = plan;
        assert_eq!(executions, [Execution { path, variant, window }], "{op}");
    }
}

#[test]
fn every_family_of_gpus_runs_what_it_plans() {
    for (family, bits) in [
        (Family::Row, 128),
        (Family::TwoPass, 128),
        (Family::Wide, 128),
        (Family::Narrow, 128),
        (Family::Rns, 128),
        (Family::Fft, 1024),
    ] {
        for direct_tables in [false, true] {
            let faults = Faults::default();
            let Some(builder) = modmill_testing::emulated::engine(faults) else { return };
            let settings = Settings { direct_tables, ..Settings::default() };
            let recorded = Recorded::new(builder.family(family).cuda(settings), bits);
            match direct_tables {
                false => recorded.check_all(),
                true => recorded.check(Given::Each, Exponent::Each),
            }
            let plan = recorded.engine.explain(Op::Pow, bits, COUNT).unwrap();
            assert_eq!((plan.backend(), plan.family()), (Backend::Cuda, family));
        }
    }
}
