//! Noise and budgets.

use super::{bits, check, engine, scheme};
use modmill_fhe::gentry_halevi::{Error, GentryHalevi, Setting, generate};

/// A random circuit of gates on two rows of bits, with recryption where a gate is refused. Every bit and
/// every budget on the way is checked.
#[test]
#[ignore = "slow: .ci/run has it"]
fn budgets_are_never_promised_too_high() {
    let engine = engine();
    for setting in [(32, 100, 8), (128, 150, 8), (64, 440, 72)] {
        let (scheme, secret) = scheme(&engine, setting);
        let (mut a, mut b) = (bits(4), bits(8).split_off(4));
        let (mut x, mut y) = (scheme.encrypt(&a).unwrap(), scheme.encrypt(&b).unwrap());
        let mut recryptions = 0;
        for (step, choice) in bits(30).into_iter().zip(bits(60).split_off(30)).enumerate() {
            let gate = match choice {
                (true, true) => scheme.and(&x, &y),
                (true, false) => scheme.and(&y, &y),
                (false, true) => scheme.xor(&x, &y),
                (false, false) => scheme.not(&y),
            };
            let combine = |a: bool, b: bool| match choice {
                (true, true) => a & b,
                (true, false) => b,
                (false, true) => a ^ b,
                (false, false) => !b,
            };
            let needed = scheme.recrypt_needs();
            match gate {
                Ok(answers) if scheme.budget(&answers).iter().all(|budget| *budget >= needed) => {
                    let expected: Vec<bool> = a.iter().zip(&b).map(|(&a, &b)| combine(a, b)).collect();
                    check(&scheme, &secret, &answers, &expected);
                    (x, y, a, b) = (y, answers, b, expected);
                }
                Ok(_) | Err(Error::Budget { .. }) => {
                    (x, y) = (scheme.recrypt(&x).unwrap(), scheme.recrypt(&y).unwrap());
                    check(&scheme, &secret, &x, &a);
                    check(&scheme, &secret, &y, &b);
                    recryptions += 1;
                }
                Err(error) => panic!("step {step}: {error}"),
            }
        }
        assert!(recryptions > 0, "the circuit of {setting:?} is too short to run out");
    }
}

#[test]
fn a_circuit_that_runs_out_is_refused() {
    let engine = engine();
    let (scheme, secret) = scheme(&engine, (64, 100, 8));
    let mut square = scheme.encrypt(&[true, false]).unwrap();
    let mut depth = 0;
    let refused = loop {
        match scheme.and(&square, &square) {
            Ok(next) => {
                check(&scheme, &secret, &next, &[true, false]);
                square = next;
                depth += 1;
            }
            Err(error) => break error,
        }
    };
    let Error::Budget { item: 0, budget, needed: 0.0 } = refused else { panic!("{refused}") };
    assert!(budget < 0.0 && depth >= 2, "{budget} after {depth}");
    assert!(refused.to_string().contains("recrypt it"), "{refused}");
    // Sums run out as well, in the end: adding a batch to itself doubles its noise.
    let mut sum = square;
    let mut steps = 0;
    while let Ok(next) = scheme.xor(&sum, &sum) {
        (sum, steps) = (next, steps + 1);
        check(&scheme, &secret, &sum, &[false, false]);
    }
    assert!(steps > 2, "{steps}");
    let left = scheme.budget(&sum)[0];
    assert!((0.0..1.0).contains(&left), "{left}");
    assert!(
        matches!(scheme.recrypt(&sum), Err(Error::Budget { needed: 3.0, .. })),
        "recryption needs p + 1 bits"
    );
}

#[test]
fn keys_with_too_little_room_say_so() {
    let engine = engine();
    // Recryption at this shape takes some 170 bits.
    let (scheme, secret) = scheme(&engine, (64, 64, 72));
    let fresh = scheme.encrypt(&[true]).unwrap();
    check(&scheme, &secret, &fresh, &[true]);
    assert!(matches!(scheme.recrypt(&fresh), Err(Error::Budget { needed: 0.0, .. })));
}

/// The budgets of a published shape: about 380 of fresh bits, 205 after recryption, and enough to recrypt a
/// product of recrypted bits.
#[test]
#[ignore = "slow: .ci/run has it"]
fn the_toy_setting_recrypts_products() {
    let engine = engine();
    let (public, secret) = generate(&engine, &Setting::toy(), &mut |_| {}).unwrap();
    assert!(public.verify(&engine).unwrap());
    let scheme = GentryHalevi::new(&engine, public).unwrap();
    let fresh = scheme.encrypt(&[true]).unwrap();
    let exact = |ciphertexts| scheme.exact_budget(&secret, ciphertexts).unwrap()[0];
    assert!((370..395).contains(&exact(&fresh)), "{}", exact(&fresh));
    let recrypted = scheme.recrypt(&scheme.and(&fresh, &fresh).unwrap()).unwrap();
    check(&scheme, &secret, &recrypted, &[true]);
    assert!((195..225).contains(&exact(&recrypted)), "{}", exact(&recrypted));
    let square = scheme.and(&recrypted, &recrypted).unwrap();
    assert!(scheme.budget(&square)[0] >= scheme.recrypt_needs());
    check(&scheme, &secret, &scheme.recrypt(&square).unwrap(), &[true]);
}
