//! Encryption, evaluation, recryption.

use super::{bits, check, engine, scheme};
use modmill_fhe::gentry_halevi::{
    Ciphertexts, Encryption, Error, Evaluation, Noise, Progress, Setting, Stage, generate,
};

#[test]
#[ignore = "slow: .ci/run has it"]
fn thousands_of_bits_come_back() {
    let engine = engine();
    let (scheme, secret) = scheme(&engine, (64, 64, 8));
    let evaluations = [
        Evaluation::Automatic,
        Evaluation::Windowed(1),
        Evaluation::Windowed(8),
        Evaluation::Windowed(64),
        Evaluation::CachedPowers,
    ];
    for noise in [Noise::Sparse, Noise::Dense] {
        for evaluation in evaluations {
            for count in [0, 1, 7, 600] {
                let bits = bits(count);
                let encrypted = scheme.encrypt_with(&bits, Encryption { noise, evaluation }).unwrap();
                assert_eq!((encrypted.len(), encrypted.is_empty()), (count, count == 0));
                check(&scheme, &secret, &encrypted, &bits);
            }
        }
    }
    for window in [0, 3, 128] {
        let how = Encryption { evaluation: Evaluation::Windowed(window), ..Encryption::default() };
        assert!(matches!(scheme.encrypt_with(&[true], how), Err(Error::Setting { .. })), "{window}");
    }
}

#[test]
fn equal_bits_have_different_ciphertexts() {
    let engine = engine();
    let (scheme, _) = scheme(&engine, (64, 64, 8));
    for noise in [Noise::Sparse, Noise::Dense] {
        let how = Encryption { noise, ..Encryption::default() };
        let numbers = scheme.encrypt_with(&[true; 50], how).unwrap().numbers().download().unwrap();
        let distinct: std::collections::BTreeSet<&[u64]> = numbers.iter().collect();
        assert_eq!(distinct.len(), 50);
    }
}

#[test]
fn gates_compute_with_bits() {
    let engine = engine();
    let (scheme, secret) = scheme(&engine, (64, 128, 8));
    let (a, b) = (bits(40), bits(80).split_off(40));
    let (x, y) = (scheme.encrypt(&a).unwrap(), scheme.encrypt(&b).unwrap());
    let both =
        |gate: fn(bool, bool) -> bool| -> Vec<bool> { a.iter().zip(&b).map(|(&a, &b)| gate(a, b)).collect() };
    check(&scheme, &secret, &scheme.xor(&x, &y).unwrap(), &both(|a, b| a ^ b));
    check(&scheme, &secret, &scheme.and(&x, &y).unwrap(), &both(|a, b| a & b));
    check(&scheme, &secret, &scheme.not(&x).unwrap(), &both(|a, _| !a));
    let constants = scheme.constants(&a).unwrap();
    check(&scheme, &secret, &constants, &a);
    check(&scheme, &secret, &scheme.xor(&constants, &y).unwrap(), &both(|a, b| a ^ b));
    check(&scheme, &secret, &scheme.recrypt(&constants).unwrap(), &a);
}

#[test]
fn batches_are_cut_and_joined() {
    let engine = engine();
    let (scheme, secret) = scheme(&engine, (32, 64, 8));
    let bits = bits(10);
    let all = scheme.encrypt(&bits).unwrap();
    let some = all.select(&engine, &[9, 0, 0, 4]).unwrap();
    check(&scheme, &secret, &some, &[bits[9], bits[0], bits[0], bits[4]]);
    let product = scheme.and(&some, &some).unwrap();
    let joined = Ciphertexts::join(&engine, &[&product, &all]).unwrap();
    let expected: Vec<bool> = [bits[9], bits[0], bits[0], bits[4]].into_iter().chain(bits.clone()).collect();
    check(&scheme, &secret, &joined, &expected);
    assert!(joined.noise()[0] > joined.noise()[4]);
    for (index, one) in all.split(&engine).unwrap().iter().enumerate() {
        check(&scheme, &secret, one, &[bits[index]]);
    }
    assert_eq!(all.select(&engine, &[10]).unwrap_err(), Error::Index { index: 10, len: 10 });
    assert_eq!(scheme.and(&all, &some).unwrap_err(), Error::Length { expected: 10, found: 4 });
    assert!(Ciphertexts::join(&engine, &[]).is_err());
    let none = all.select(&engine, &[]).unwrap();
    let empty =
        [scheme.xor(&none, &none), scheme.and(&none, &none), scheme.not(&none), scheme.recrypt(&none)];
    for empty in empty {
        check(&scheme, &secret, &empty.unwrap(), &[]);
    }
}

#[test]
fn keys_do_not_mix() {
    let engine = engine();
    let ((one, one_secret), (other, other_secret)) =
        (scheme(&engine, (32, 64, 8)), scheme(&engine, (32, 64, 8)));
    let (a, b) = (one.encrypt(&[true]).unwrap(), other.encrypt(&[true]).unwrap());
    assert!(matches!(one.and(&a, &b), Err(Error::AnotherKey(_))));
    assert!(matches!(one.xor(&b, &a), Err(Error::AnotherKey(_))));
    assert!(matches!(one.not(&b), Err(Error::AnotherKey(_))));
    assert!(matches!(one.recrypt(&b), Err(Error::AnotherKey(_))));
    assert!(matches!(one.decrypt(&one_secret, &b), Err(Error::AnotherKey(_))));
    assert!(matches!(one.decrypt(&other_secret, &a), Err(Error::AnotherKey(_))));
    assert!(matches!(Ciphertexts::join(&engine, &[&a, &b]), Err(Error::AnotherKey(_))));
}

#[test]
fn progress_passes_all_stages() {
    let mut seen: Vec<Progress> = Vec::new();
    generate(&engine(), &Setting::custom(32, 64, 8).unwrap(), &mut |progress| seen.push(progress)).unwrap();
    for stage in [Stage::Lattice, Stage::Inverse, Stage::Noise, Stage::Powers, Stage::Selectors] {
        let of_stage: Vec<&Progress> = seen.iter().filter(|progress| progress.stage == stage).collect();
        assert!(of_stage.iter().all(|progress| progress.done <= progress.total), "{stage:?}");
        assert!(of_stage.last().is_some_and(|progress| progress.done == progress.total), "{stage:?}");
    }
}

/// Squares and recrypts, eight times, at three shapes of recryption.
#[test]
#[ignore = "slow: .ci/run has it"]
fn eight_rounds_keep_the_bits() {
    let engine = engine();
    for setting in [(32, 100, 8), (64, 200, 32), (64, 440, 72)] {
        let (scheme, secret) = scheme(&engine, setting);
        let bits = [true, false, true];
        let mut running = scheme.encrypt(&bits).unwrap();
        for round in 0..8 {
            let squares = scheme.and(&running, &running).unwrap();
            check(&scheme, &secret, &squares, &bits);
            running = scheme.recrypt(&squares).unwrap();
            check(&scheme, &secret, &running, &bits);
            assert_eq!(running.noise(), [scheme.key().recrypted_noise(); 3], "round {round}");
        }
    }
}
