//! Faults in every intermediate result: no wrong plaintext leaves.

use super::*;
use crate::Randomness;
use modmill::Engine;

/// Changes one bit of one item of one stage, in its `call`-th appearance.
fn flip(stage: Stage, call: usize, item: usize, bit: usize) -> impl FnMut(Stage, &mut Batch) {
    let mut seen = 0;
    move |at, numbers| {
        if at == stage {
            if seen == call {
                numbers.get_mut(item)[bit / 64] ^= 1 << (bit % 64);
            }
            seen += 1;
        }
    }
}

#[test]
fn faults_are_noticed_and_named() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 1024, Randomness::Short).unwrap();
    let paillier = Paillier::new(&engine);
    // Fewer items than are joined for the check, and more.
    for count in [3, 12] {
        let plaintexts = Batch::from_values((0..count as u64).map(|value| [value * value]));
        let column = paillier.encrypt(key.public_key(), &plaintexts).unwrap();
        let expected = paillier.decrypt_checked(&key, &column).unwrap();
        assert_eq!(resized(&expected, plaintexts.bits()), plaintexts);
        let item = count - 1;
        let faulty = |result: Result<Batch, Error>| match result {
            Err(Error::Decryption { items }) => assert_eq!(items, [item]),
            other => panic!("{other:?}"),
        };
        for stage in [Stage::Powers, Stage::Quotients, Stage::Halves, Stage::Plaintexts] {
            let calls = if stage == Stage::Plaintexts { 1 } else { 2 };
            for (call, bit) in (0..calls).flat_map(|call| [0, 1, 63, 64, 300, 500].map(|bit| (call, bit))) {
                faulty(paillier.decrypt_seen(&key, &column, &mut flip(stage, call, item, bit)));
            }
        }
        for (call, bit) in [(0, 0), (1, 7), (0, 1000), (1, 2000)] {
            // A changed base gives the powers of another ciphertext: only the full check sees that.
            let unseen = paillier.decrypt_seen(&key, &column, &mut flip(Stage::Bases, call, item, bit));
            assert!(unseen.is_ok_and(|wrong| wrong != expected));
            faulty(paillier.decrypt_checked_seen(&key, &column, &mut flip(Stage::Bases, call, item, bit)));
        }
    }
}

#[test]
fn keys_with_a_subgroup_decrypt_again_after_a_fault() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 1024, Randomness::Subgroup).unwrap();
    let paillier = Paillier::new(&engine);
    let plaintexts = Batch::from_values((0..12).map(|value| [value * value]));
    let short = paillier.encrypt(key.public_key(), &plaintexts).unwrap();
    let masks = paillier.full_masks(key.public_key(), 12).unwrap();
    let full = paillier.encrypt_with(&plaintexts, masks).unwrap();
    let mut powers = 0;
    let mut count = |stage: Stage, _: &mut Batch| powers += usize::from(stage == Stage::Powers);
    let expected = paillier.decrypt_seen(&key, &short, &mut count).unwrap();
    assert_eq!(resized(&expected, plaintexts.bits()), plaintexts);
    // Masks of the subgroup take two powers, and others four.
    assert_eq!(paillier.decrypt_seen(&key, &full, &mut count).unwrap(), expected);
    assert_eq!(powers, 6);
    for stage in [Stage::Powers, Stage::Quotients, Stage::Halves, Stage::Plaintexts] {
        let once = paillier.decrypt_seen(&key, &short, &mut flip(stage, 0, 11, 300)).unwrap();
        assert_eq!(once, expected);
        // A fault that stays is noticed.
        let mut stays = |at: Stage, numbers: &mut Batch| {
            if at == stage {
                numbers.get_mut(11)[3] ^= 8;
            }
        };
        let refused = paillier.decrypt_seen(&key, &short, &mut stays);
        assert!(matches!(refused, Err(Error::Decryption { items }) if items == [11]));
    }
    // A changed base is no element of the subgroup times a plaintext, and is noticed by the first check already.
    let once = paillier.decrypt_seen(&key, &short, &mut flip(Stage::Bases, 0, 11, 7)).unwrap();
    assert_eq!(once, expected);
}
