//! Many threads with small batches on one engine: they are computed together, and each gets its own answers
//! or errors.

use modmill::cuda::Settings;
use modmill::cuda::kernel_seconds;
use modmill::recorder::Recorder;
use modmill::{Backend, Batch, Engine, EngineBuilder, Error, Family, ItemErrorKind, Modulus, Public};
use modmill_cuda::{Chip, Faults, Layout, Variant};
use modmill_testing::rng::Rng;
use std::sync::{Arc, Barrier};
use std::thread;

/// An engine on an emulated device that computes in blocks of one warp, whatever is under way.
fn emulated(faults: Faults) -> Option<EngineBuilder> {
    let layout = Layout { threads: 1, block: 32, resident: 1, cut: None };
    let variant = Variant::new(Family::Row, 128, layout, &Chip::H200.limits());
    assert!(variant.is_some());
    let builder = modmill_testing::emulated::engine(faults)?;
    Some(builder.cuda(Settings { variant, ..Settings::default() }))
}

/// The operands of one caller.
struct Operands {
    bases: Batch,
    exponents: Batch,
    moduli: Batch,
    own: Modulus,
}

fn random(rng: &mut Rng, bits: usize, count: usize, odd: bool) -> Batch {
    let mut batch = Batch::zeros(bits, count);
    for item in 0..count {
        let row = batch.get_mut(item);
        row.iter_mut().for_each(|limb| *limb = rng.word());
        if odd {
            row[0] |= 1;
            *row.last_mut().unwrap() |= 1 << 63;
        }
    }
    batch
}

impl Operands {
    fn new(seed: u64, bits: usize, count: usize) -> Self {
        let mut rng = Rng::new(seed);
        let [bases, exponents] = [false; 2].map(|odd| random(&mut rng, bits, count, odd));
        let moduli = random(&mut rng, bits, count, true);
        let own = Modulus::new(moduli.get(0)).unwrap();
        Self { bases, exponents, moduli, own }
    }

    /// Answers of every operation in turn, with moduli and exponents in every form.
    fn answers(&self, engine: &Engine, all: &Modulus, round: usize) -> Result<Batch, Error> {
        let Self { bases, exponents, moduli, own } = self;
        let kept = vec![own; bases.len()];
        match round % 8 {
            0 => engine.pow(bases, exponents, moduli),
            1 => engine.pow(bases, exponents.shared(0), all),
            2 => engine.mul_mod(bases, exponents, own),
            3 => engine.pow(bases, Public(exponents), moduli),
            4 => engine.pow(bases, Public(all_exponent().shared(0)), all),
            5 => engine.square_mod(bases, &kept[..]),
            6 => {
                let mut answers = Batch::zeros(moduli.bits(), bases.len());
                engine.to(&mut answers).pow(bases, exponents, moduli).map(|()| answers)
            }
            _ => engine.pow(bases, exponents, own),
        }
    }
}

fn all_exponent() -> Batch {
    Batch::from_hex(["10001"]).unwrap()
}

const THREADS: usize = 64;
const ROUNDS: usize = 8;

/// The moduli that callers of either length share.
fn shared_moduli() -> [Modulus; 2] {
    [128, 192].map(|bits| Modulus::new(random(&mut Rng::new(99), bits, 1, true).get(0)).unwrap())
}

/// All threads run all rounds; `check` gets the answers of each with the right ones.
fn crowd(engine: &Engine, check: impl Fn(Result<Batch, Error>, Result<Batch, Error>) + Sync) {
    let cpu = Engine::builder().backend(Backend::Cpu).threads(1).build().unwrap();
    let alls = shared_moduli();
    let (begin, check) = (Barrier::new(THREADS), &check);
    thread::scope(|scope| {
        for caller in 0..THREADS {
            let (all, begin, cpu) = (&alls[caller % 2], &begin, &cpu);
            scope.spawn(move || {
                let operands = Operands::new(caller as u64, all.bits(), 1 + caller % 5);
                begin.wait();
                for round in 0..ROUNDS {
                    check(operands.answers(engine, all, round), operands.answers(cpu, all, round));
                }
            });
        }
    });
}

#[test]
fn a_crowd_of_callers_gets_its_answers_in_fewer_batches() {
    let Some(builder) = emulated(Faults::default()) else { return };
    let recorder = Arc::new(Recorder::default());
    let engine = builder.fallback(false).recorder(recorder.clone()).build().unwrap();
    crowd(&engine, |found, right| assert_eq!(found, right));
    let together = recorder.take().len();
    for (caller, all) in (0..THREADS).zip(shared_moduli().iter().cycle()) {
        let operands = Operands::new(caller as u64, all.bits(), 1 + caller % 5);
        (0..ROUNDS).for_each(|round| drop(operands.answers(&engine, all, round).unwrap()));
    }
    let alone = recorder.take().len();
    assert!(together < alone, "{together} batches of a crowd, {alone} of the same calls one by one");
    assert!(kernel_seconds(&engine) > 0.0);
    assert_eq!(engine.faults(), [""; 0]);
}

/// If the device fails, every caller gets its answers from the CPU, or an error of its own.
#[test]
fn a_device_that_fails_costs_no_caller_an_answer() {
    for faults in [
        Faults { fail_launch_after: Some(20), ..Faults::default() },
        Faults { lose_device_after: Some(20), ..Faults::default() },
        Faults { out_of_memory_above: Some(64), ..Faults::default() },
    ] {
        let Some(builder) = emulated(faults) else { return };
        let engine = builder.clone().build().unwrap();
        crowd(&engine, |found, right| assert_eq!(found, right));
        assert!(engine.faults().iter().any(|fault| fault.contains("went to the CPU")), "{faults:?}");
        let engine = builder.fallback(false).build().unwrap();
        crowd(&engine, |found, right| match found {
            Err(Error::Device(_)) => {}
            found => assert_eq!(found, right),
        });
    }
}

/// A bad item is an error of the caller that brought it.
#[test]
fn errors_stay_with_their_callers() {
    let Some(builder) = emulated(Faults::default()) else { return };
    let engine = builder.fallback(false).build().unwrap();
    let begin = Barrier::new(16);
    thread::scope(|scope| {
        for caller in 0..16 {
            let (begin, engine) = (&begin, &engine);
            scope.spawn(move || {
                let mut operands = Operands::new(caller, 128, 3);
                if caller % 4 == 0 {
                    operands.moduli.get_mut(1).fill(0);
                }
                begin.wait();
                for _ in 0..4 {
                    match engine.pow(&operands.bases, &operands.exponents, &operands.moduli) {
                        Err(Error::Items(partial)) if caller % 4 == 0 => {
                            let failed = &partial.failed[..];
                            assert_eq!((failed.len(), failed[0].index), (1, 1));
                            assert_eq!(failed[0].kind, ItemErrorKind::ZeroModulus);
                        }
                        answers => assert!(answers.is_ok() && caller % 4 != 0, "{caller}: {answers:?}"),
                    }
                }
            });
        }
    });
}

/// Threads of a pool do not wait for each other: one of them may have begun what the other waits for.
#[test]
fn calls_from_the_threads_of_a_pool_end() {
    use rayon::prelude::*;
    let Some(builder) = emulated(Faults::default()) else { return };
    let engine = builder.threads(2).fallback(false).build().unwrap();
    let operands = Operands::new(5, 128, 3);
    let right = engine.pow(&operands.bases, &operands.exponents, &operands.moduli).unwrap();
    engine.install(|| {
        (0..40).into_par_iter().for_each(|_| {
            assert_eq!(engine.pow(&operands.bases, &operands.exponents, &operands.moduli).unwrap(), right);
        });
    });
}
