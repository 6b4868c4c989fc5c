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
