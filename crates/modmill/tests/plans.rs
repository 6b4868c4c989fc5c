//! What is planned is what runs: plans of every operation, family, sharing and secrecy against what a recorder saw.

use modmill::cuda::Settings;
use modmill::{
    Backend, Batch, Engine, EngineBuilder, Execution, Family, Modulus, Op, Operand, Plan, Recorder, Request,
};
use modmill_cuda::Faults;
use modmill_testing::rng::Rng;
use std::sync::Arc;

const COUNT: usize = 9;

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
    moduli: Batch,
    kept: Vec<Modulus>,
}

impl Recorded {
    fn new(builder: EngineBuilder, bits: usize) -> Self {
        let recorder = Arc::new(Recorder::default());
        let engine = builder.fallback(false).recorder(recorder.clone()).build().unwrap();
        let rng = &mut Rng::new(bits as u64);
        // The highest bit is set, so that every length is the declared one; odd numbers have inverses more often.
        let mut batch = |odd: bool| {
            let numbers = (0..COUNT).map(|_| {
                let mut number = rng.exact(bits);
                number.set_bit(0, odd);
                modmill::hex::parse(&format!("{number:x}")).unwrap()
            });
            Batch::from_values(numbers.collect::<Vec<_>>())
        };
        let (numbers, moduli) = (batch(false), batch(true));
        let kept = moduli.iter().map(|modulus| Modulus::new(modulus).unwrap()).collect();
        Self { engine, recorder, bits, numbers, moduli, kept }
    }

    /// Runs an operation; returns the plan of its request and what was executed.
    fn run(&self, op: Op, given: Given, exponent: Exponent) -> (Plan, Vec<Execution>) {
        let Self { engine, numbers: a, .. } = self;
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
        let b = match exponent {
            Exponent::Each => Operand::from(a),
            Exponent::One => a.shared(0),
        };
        if let (Exponent::One, true) = (exponent, op.is_power()) {
            request = match op {
                Op::PowVartime => request.public_exponent(a.get(0)),
                _ => request.one_exponent(self.bits),
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
            Op::PowVartime => engine.pow_vartime(a, b, moduli),
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
            recorded.check_all();
            let plan = recorded.engine.explain(Op::Pow, bits, COUNT).unwrap();
            assert_eq!((plan.backend(), plan.family()), (Backend::Cuda, family));
        }
    }
}
