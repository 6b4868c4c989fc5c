//! A plan says what runs: plans of every operation, family, sharing and secrecy against what a recorder saw.

use modmill::cuda::Settings;
use modmill::recorder::{Execution, Recorder};
use modmill::{
    Backend, Batch, Engine, EngineBuilder, Error, Family, FixedBase, Modulus, Op, Operand, Place, Plan,
    Public, Request, integers,
};
use modmill_cuda::Faults;
use modmill_testing::rng::Rng;
use std::sync::Arc;

const COUNT: usize = 9;

/// Bits of the exponents: emulated devices compute every squaring.
const EXPONENT_BITS: usize = 21;

/// The operations on numbers.
const OPERATIONS: &[Op] = &[
    Op::Mul,
    Op::Square,
    Op::MulMod,
    Op::SquareMod,
    Op::Pow,
    Op::PowVartime,
    Op::Inv,
    Op::Gcd,
    Op::FixedPow,
    Op::MultiPow,
    Op::ProductMod,
    Op::SumMod,
    Op::Div,
    Op::Isqrt,
    Op::Step,
];

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
    /// The first number, prepared for powers modulo the first modulus.
    fixed: FixedBase,
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
        let kept: Vec<_> = moduli.iter().map(|modulus| Modulus::new(modulus).unwrap()).collect();
        let fixed = engine.fixed_base(numbers.shared(0), &kept[0], EXPONENT_BITS).unwrap();
        Self { engine, recorder, bits, numbers, exponents, moduli, kept, fixed }
    }

    /// Calls an operation, with the answers in the engine's place.
    fn call<P: Place>(
        &self,
        engine: &Engine<P>,
        op: Op,
        given: Given,
        exponent: Exponent,
    ) -> Result<P::Numbers, Error> {
        let (a, modulus) = (&self.numbers, &self.kept[0]);
        let kept: Vec<&Modulus> = self.kept.iter().collect();
        let moduli = match given {
            Given::Each => modmill::Moduli::from(&self.moduli),
            Given::Shared => modmill::Moduli::from(modulus),
            Given::Prepared => modmill::Moduli::from(&kept[..]),
        };
        let second = if op.is_power() { &self.exponents } else { a };
        let b = match exponent {
            Exponent::Each => Operand::from(second),
            Exponent::One => second.shared(0),
        };
        match op {
            Op::Mul => engine.mul(a, b),
            Op::Square => engine.square(a),
            Op::MulMod => engine.mul_mod(a, b, moduli),
            Op::SquareMod => engine.square_mod(a, moduli),
            Op::Pow => engine.pow(a, b, moduli),
            Op::PowVartime => engine.pow(a, Public(b), moduli),
            Op::Inv => engine.inv(a, &self.moduli),
            Op::Gcd => engine.gcd(a, b),
            Op::FixedPow => engine.pow_fixed_base(&self.fixed, &self.exponents),
            Op::MultiPow => engine.multi_pow(&[a.into(), a.shared(1)], &[b, b], moduli),
            Op::ProductMod => engine.product_mod(a, modulus),
            Op::SumMod => engine.sum_mod(a, modulus),
            Op::Div => engine.div(a, moduli),
            Op::Isqrt => integers::isqrt(engine, a),
            Op::Step => engine.add(a, b),
            op => panic!("{op} is no operation on numbers"),
        }
    }

    /// Asks for the plan of a call and runs the call; returns the plan and what was executed.
    fn run(&self, op: Op, given: Given, exponent: Exponent) -> (Plan, Vec<Execution>) {
        let plan = self.call(&self.engine.ask(), op, given, exponent).unwrap();
        // A base has its tables before its powers are looked at. Items without an inverse are no concern.
        for _ in 0..if op == Op::FixedPow { 2 } else { 1 } {
            let _ = self.recorder.take();
            let _ = self.call(&self.engine, op, given, exponent);
        }
        (plan, self.recorder.take())
    }

    fn check(&self, given: Given, exponent: Exponent) {
        for &op in OPERATIONS {
            let (plan, executions) = self.run(op, given, exponent);
            let Plan { path, variant, window, .. } = plan.clone();
            let planned = Execution { path, variant, window };
            let what = format!("{op} of {} bits, {given:?}, {exponent:?}", self.bits);
            assert!(!executions.is_empty(), "{what}: nothing ran for {plan}");
            match op {
                // Products of several numbers are computed batch by batch on a GPU, and sums are reduced.
                Op::MultiPow | Op::ProductMod if plan.backend() == Backend::Cuda => {
                    assert!(executions.iter().all(|execution| execution.path == path), "{what}");
                }
                Op::MultiPow | Op::ProductMod | Op::SumMod => assert_eq!(executions[0], planned, "{what}"),
                _ => executions.into_iter().for_each(|found| assert_eq!(found, planned, "{what}")),
            }
            self.check_on_device(op, given, exponent, &plan);
        }
    }

    /// Answers that stay on a device are computed as planned for that place.
    fn check_on_device(&self, op: Op, given: Given, exponent: Exponent, plan: &Plan) {
        if !matches!(op, Op::Mul | Op::Square | Op::MulMod | Op::SquareMod | Op::Pow | Op::PowVartime) {
            return;
        }
        let plan = self.engine.plan(&plan.request.clone().resident_answers()).unwrap();
        let _ = self.recorder.take();
        self.call(&self.engine.on_device(), op, given, exponent).unwrap();
        let executions = self.recorder.take();
        assert!(!executions.is_empty(), "{op} on a device: nothing ran for {plan}");
        for execution in executions {
            assert_eq!(execution.path, plan.path, "{op} of {} bits on a device, {given:?}", self.bits);
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
fn rows_of_gpus_run_what_they_plan() {
    check_families([(Family::Row, 128)]);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn transforms_of_gpus_run_what_they_plan() {
    check_families([(Family::Fft, 1024)]);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn other_families_of_gpus_run_what_they_plan() {
    check_families([Family::TwoPass, Family::Wide, Family::Narrow, Family::Rns].map(|family| (family, 128)));
}

/// Checks families of the emulated device, each at a length in bits.
fn check_families(families: impl IntoIterator<Item = (Family, usize)>) {
    for (family, bits) in families {
        for direct_tables in [false, true] {
            let faults = Faults::default();
            let Some(builder) = modmill_testing::emulated::engine(faults) else { return };
            let settings = Settings { direct_tables, ..Settings::default() };
            let recorded = Recorded::new(builder.family(family).cuda(settings), bits);
            match direct_tables {
                false => recorded.check_all(),
                true => recorded.check(Given::Each, Exponent::Each),
            }
            let plan = recorded.engine.plan(&Request::new(Op::Pow, bits, COUNT)).unwrap();
            assert_eq!((plan.backend(), plan.family()), (Backend::Cuda, family));
        }
    }
}
