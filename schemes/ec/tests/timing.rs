//! A brief test of constant time: the time that a private key takes to be read, with the multiple of the
//! generator that is its public half, and to derive a secret must not depend on the key. Signing takes the
//! same multiples of its nonces, but its check may take a time that depends on what is published.
//! `engine/modmill/tests/timing.rs` proves that the method finds leaks.

use modmill::Engine;
use modmill_ec::{Curve, Ec, PrivateKey};
use modmill_testing::rng::Rng;
use modmill_testing::timing::{Class, confirmed_leak, measure};
use std::sync::Mutex;
use std::time::Duration;

const DURATION: Duration = Duration::from_millis(1500);

/// The tests of this file run one at a time, because they would disturb each other's measurements.
static ALONE: Mutex<()> = Mutex::new(());

/// Compares the key one, nearly all of whose digits are zero, with random keys.
fn assert_silent(curve: Curve) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let engine = Engine::builder().threads(1).build().unwrap();
    let (ec, peer) = (Ec::new(&engine), PrivateKey::generate(curve).unwrap());
    let prepare = |class, rng: &mut Rng| {
        let mut bytes: Vec<u8> = (0..curve.size()).map(|_| rng.word() as u8).collect();
        // The first byte is the highest of a big-endian number, which stays below the order.
        bytes[0] = 0;
        if class == Class::Fixed {
            bytes.fill(0);
            bytes[curve.size() - 1] = 1;
        }
        bytes
    };
    let found = confirmed_leak(|| {
        measure(DURATION, &mut |_| {}, prepare, |bytes| {
            let key = PrivateKey::from_raw(curve, bytes).unwrap();
            ec.derive(&key, &[peer.public_key()]).unwrap()
        })
    });
    assert!(found.is_none(), "{curve} tells its keys: {found:#?}");
}

#[test]
fn p256_takes_the_same_time_for_all_keys() {
    assert_silent(Curve::P256);
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn every_curve_takes_the_same_time_for_all_keys() {
    Curve::all().for_each(assert_silent);
}
