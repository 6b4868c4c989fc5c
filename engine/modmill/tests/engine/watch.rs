//! Watched calls: items are counted on every path, and a call stops in the middle.

use modmill::{Backend, Batch, Engine, Error, Modulus, Public, Watch};
use modmill_cuda::Faults;
use modmill_testing::emulated;
use std::sync::Arc;
use std::thread;

/// Odd numbers of `bits` bits, each another.
fn odd_numbers(bits: usize, count: usize) -> Batch {
    let mut batch = Batch::zeros(bits, count);
    for item in 0..count {
        let number = batch.get_mut(item);
        number.iter_mut().for_each(|limb| *limb = 0x9e37_79b9_7f4a_7c15);
        number[0] = 2 * item as u64 + 1;
    }
    batch
}

#[test]
fn items_are_counted_on_every_path() {
    let any = Engine::builder().threads(2).build().unwrap();
    for path in any.paths() {
        let engine = Engine::builder().path(path).threads(2).build().unwrap();
        for count in [0, 1, 9, 100] {
            let numbers = odd_numbers(192, count);
            let watch = Arc::new(Watch::new());
            let watched = engine.watched_by(&watch);
            let answers = watched.pow(&numbers, &numbers, &numbers).unwrap();
            assert_eq!(watch.done(), count, "{path}");
            assert_eq!(answers, engine.pow(&numbers, &numbers, &numbers).unwrap(), "{path}");
        }
    }
}

#[test]
fn even_moduli_inverses_and_divisors_are_counted() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let numbers = odd_numbers(128, 30);
    let mut moduli = numbers.clone();
    (0..30).step_by(3).for_each(|item| moduli.get_mut(item)[0] += 1);
    let watch = Arc::new(Watch::new());
    let watched = engine.watched_by(&watch);
    watched.pow(&numbers, &numbers, &moduli).unwrap();
    assert_eq!(watch.done(), 30);
    watched.gcd(&numbers, &moduli).unwrap();
    assert_eq!(watch.done(), 60);
    watched.xgcd(&numbers, &moduli).unwrap();
    assert_eq!(watch.done(), 90);
    let _ = watched.inv(&numbers, &moduli);
    assert_eq!(watch.done(), 120);
}

#[test]
fn powers_of_one_base_are_counted_and_stopped() {
    for threads in [1, 2] {
        let engine = Engine::builder().threads(threads).build().unwrap();
        let modulus = Modulus::from_hex("ffffffffffffffffffffffffffffff61").unwrap();
        let exponents = odd_numbers(128, 1000);
        let fixed = engine.fixed_base(&Batch::from_hex(["3"]).unwrap(), &modulus, 128).unwrap();
        let expected = engine.pow_fixed_base(&fixed, &exponents).unwrap();
        let watch = Arc::new(Watch::new());
        let watched = engine.watched_by(&watch);
        assert_eq!(watched.pow_fixed_base(&fixed, &exponents).unwrap(), expected);
        assert_eq!(watch.done(), 1000);
        assert_eq!(watched.pow_fixed_base(&fixed, Public(&exponents)).unwrap(), expected);
        assert_eq!(watch.done(), 2000);
        watch.stop();
        assert_eq!(watched.pow_fixed_base(&fixed, &exponents), Err(Error::Interrupted));
        assert_eq!(watched.pow_fixed_base(&fixed, Public(&exponents)), Err(Error::Interrupted));
        assert_eq!(watch.done(), 2000);
    }
}

#[test]
fn a_stopped_call_has_no_answers() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let numbers = odd_numbers(256, 50);
    let even = Modulus::from_hex("1000").unwrap();
    let watch = Arc::new(Watch::new());
    watch.stop();
    let watched = engine.watched_by(&watch);
    assert_eq!(watched.pow(&numbers, &numbers, &numbers), Err(Error::Interrupted));
    assert_eq!(watched.pow(&numbers, Public(&numbers), &even), Err(Error::Interrupted));
    assert_eq!(watched.mul_mod(&numbers, &numbers, &numbers), Err(Error::Interrupted));
    assert_eq!(watched.inv(&numbers, &numbers), Err(Error::Interrupted));
    assert_eq!(watched.gcd(&numbers, &numbers), Err(Error::Interrupted));
    let mut answers = Batch::zeros(256, 50);
    assert_eq!(watched.to(&mut answers).pow(&numbers, &numbers, &numbers), Err(Error::Interrupted));
    assert_eq!(watch.done(), 0);
    assert!(engine.pow(&numbers, &numbers, &numbers).is_ok(), "the engine itself goes on");
}

#[test]
fn another_thread_stops_a_call_in_the_middle() {
    for threads in [1, 2] {
        let engine = Engine::builder().threads(threads).build().unwrap();
        // A fast machine may finish a small batch before it is stopped, and is given a larger one.
        let stopped = (8..20).any(|size| {
            let numbers = odd_numbers(512, 1 << size);
            let watch = Arc::new(Watch::new());
            let watched = engine.watched_by(&watch);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while watch.done() == 0 {
                        thread::yield_now();
                    }
                    watch.stop();
                });
                match watched.pow(&numbers, &numbers, &numbers) {
                    Err(Error::Interrupted) => true,
                    answers => {
                        assert_eq!(watch.done(), answers.unwrap().len());
                        false
                    }
                }
            })
        });
        assert!(stopped);
    }
}

#[test]
fn a_stopped_batch_is_no_fault_of_a_gpu() {
    let Some(builder) = emulated::engine(Faults::default()) else { return };
    let engine = builder.build().unwrap();
    let (numbers, exponent) = (odd_numbers(192, 20), Batch::from_hex(["10001"]).unwrap());
    let watch = Arc::new(Watch::new());
    let watched = engine.watched_by(&watch);
    let answers = watched.pow(&numbers, Public(exponent.shared(0)), &numbers).unwrap();
    assert_eq!((answers.len(), watch.done()), (20, 20));
    watch.stop();
    assert_eq!(watched.pow(&numbers, Public(exponent.shared(0)), &numbers), Err(Error::Interrupted));
    assert_eq!((watch.done(), engine.faults()), (20, Vec::new()));
    assert!(engine.pow(&numbers, Public(exponent.shared(0)), &numbers).is_ok(), "the device goes on");
}

#[test]
fn only_numbers_on_a_gpu_have_an_address() {
    let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
    assert_eq!(engine.upload(&odd_numbers(192, 2)).unwrap().address(), None);
}
