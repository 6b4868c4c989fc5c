//! A brief test of constant time: the time of a private operation must not depend on its input, and the time
//! of decryption must not depend on the padding, and the time of blinding must not depend on the factor.
//! `engine/modmill/tests/timing.rs` proves that the method finds leaks.

use modmill::Engine;
use modmill_rsa::{BlindScheme, EncryptionScheme, Hash, PrivateKey, Rsa, Sizes, hazmat};
use modmill_testing::rng::Rng;
use modmill_testing::timing::{Class, confirmed_leak, measure};
use std::sync::Mutex;
use std::time::Duration;

const DURATION: Duration = Duration::from_millis(1500);

/// The tests of this file run one at a time, because they would disturb each other's measurements.
static ALONE: Mutex<()> = Mutex::new(());

/// The number of items of a batch: one group of lanes for each prime.
const ITEMS: usize = 8;

fn random_block(size: usize, rng: &mut Rng) -> Vec<u8> {
    let mut block: Vec<u8> = (0..size).map(|_| rng.word() as u8).collect();
    // The block is below the modulus, whose top bit is set.
    block[0] &= 0x7f;
    block
}

/// Numbers for a key of 512 bits: ones, whose powers and inverses are all one, or random numbers.
fn ones_or_random(class: Class, rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut blocks: Vec<Vec<u8>> = (0..ITEMS).map(|_| random_block(64, rng)).collect();
    if class == Class::Fixed {
        blocks.iter_mut().for_each(|block| block.fill(0));
        blocks.iter_mut().for_each(|block| block[63] = 1);
    }
    blocks
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn private_operations_take_the_same_time_for_all_inputs_on_every_path() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut leaks = Vec::new();
    for path in Engine::new().unwrap().paths() {
        println!("{path}");
        let engine = Engine::builder().path(path).threads(1).build().unwrap();
        let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap();
        let rsa = Rsa::new(&engine);
        let found = confirmed_leak(|| {
            measure(DURATION, &mut |_| {}, ones_or_random, |blocks| {
                hazmat::private(&rsa, &key, blocks).unwrap()
            })
        });
        leaks.extend(found.map(|reports| format!("{path}: {reports:#?}")));
    }
    assert!(leaks.is_empty(), "time depends on inputs: {}", leaks.join("\n"));
}

#[test]
fn blinding_takes_the_same_time_for_all_factors() {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let engine = Engine::builder().threads(1).build().unwrap();
    let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap();
    let (rsa, scheme, empty) = (Rsa::new(&engine), BlindScheme::PssZeroDeterministic, [""; ITEMS]);
    let found = confirmed_leak(|| {
        measure(DURATION, &mut |_| {}, ones_or_random, |factors| {
            hazmat::blind(&rsa, key.public_key(), scheme, &empty, &empty, factors).unwrap()
        })
    });
    assert!(found.is_none(), "blinding tells its factors: {found:#?}");
}

/// Compares the times of decrypting blocks of two classes, and fails if they differ.
fn assert_silent(scheme: EncryptionScheme<'_>, block: impl Fn(Class, &mut Rng) -> Vec<u8>) {
    let _alone = ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let engine = Engine::builder().threads(1).build().unwrap();
    let key = PrivateKey::generate(&engine, 768, Sizes::AllowSmall).unwrap();
    let rsa = Rsa::new(&engine);
    let prepare = |class, rng: &mut Rng| -> Vec<Vec<u8>> {
        let blocks: Vec<Vec<u8>> = (0..ITEMS).map(|_| block(class, rng)).collect();
        let ciphertexts = hazmat::public(&rsa, key.public_key(), &blocks).unwrap();
        ciphertexts.into_iter().map(|ciphertext| ciphertext.unwrap()).collect()
    };
    let found = confirmed_leak(|| {
        measure(DURATION, &mut |_| {}, prepare, |ciphertexts| rsa.decrypt(&key, scheme, ciphertexts).unwrap())
    });
    assert!(found.is_none(), "decryption tells what it found: {found:#?}");
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn right_and_wrong_paddings_of_version_1_5_take_the_same_time() {
    assert_silent(EncryptionScheme::Pkcs1v15, |class, rng| {
        let mut block = random_block(96, rng);
        block.iter_mut().for_each(|byte| *byte = (*byte).max(1));
        (block[0], block[1], block[50]) = (0, 2, 0);
        if class == Class::Random {
            block[1] = 3;
        }
        block
    });
}

#[test]
fn the_first_byte_of_oaep_does_not_show() {
    // Manger's attack asks whether it is zero.
    assert_silent(EncryptionScheme::oaep(Hash::Sha256), |class, rng| {
        let mut block = random_block(96, rng);
        block[0] = if class == Class::Fixed { 0 } else { block[0].max(1) };
        block
    });
}
