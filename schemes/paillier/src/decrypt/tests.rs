//! Faults in every intermediate result: no wrong plaintext leaves.

use super::*;
use crate::{EncodedColumn, Integers, Randomness};
use modmill::{Device, Engine, Holds, Host, Resident};

/// Changes one bit of one item of one stage, or of the ciphertexts if there is none, in its `call`-th
/// appearance or in all, and counts the powers.
struct Fault {
    stage: Option<Stage>,
    call: Option<usize>,
    item: usize,
    bit: usize,
    seen: usize,
    powers: usize,
}

impl Fault {
    fn once(stage: impl Into<Option<Stage>>, call: usize, item: usize, bit: usize) -> Self {
        Self { stage: stage.into(), call: Some(call), item, bit, seen: 0, powers: 0 }
    }

    /// Whether this appearance of a stage is changed.
    fn is_due(&mut self, stage: Option<Stage>) -> bool {
        let is_stage = self.stage == stage;
        let is_due = is_stage && self.call.is_none_or(|call| call == self.seen);
        self.seen += usize::from(is_stage);
        is_due
    }

    fn flip(&self, numbers: &mut Batch) {
        numbers.get_mut(self.item)[self.bit / 64] ^= 1 << (self.bit % 64);
    }
}

/// Places whose numbers the tests can change.
trait Changed: Holds {
    fn change(at: &Engine<Self>, numbers: &mut Self::Numbers, change: impl FnOnce(&mut Batch));
}

impl Changed for Host {
    fn change(_at: &Engine, numbers: &mut Batch, change: impl FnOnce(&mut Batch)) {
        change(numbers);
    }
}

impl Changed for Device<'_> {
    fn change(at: &Engine<Self>, numbers: &mut Resident, change: impl FnOnce(&mut Batch)) {
        let mut batch = numbers.download().unwrap();
        change(&mut batch);
        // A sum with zero puts numbers of the host on the device.
        *numbers = at.add(&batch, Operand::Shared { bits: 1, value: &[0] }).unwrap().narrowed(batch.bits());
    }
}

impl<P: Changed> Witness<P> for Fault {
    fn bases(&mut self, ciphertexts: BatchView<'_>) -> Option<Batch> {
        let mut changed = ciphertexts.to_batch();
        self.is_due(None).then(|| {
            self.flip(&mut changed);
            changed
        })
    }

    fn see(&mut self, stage: Stage, at: &Engine<P>, numbers: &mut P::Numbers) {
        self.powers += usize::from(stage == Stage::Powers);
        if self.is_due(Some(stage)) {
            P::change(at, numbers, |numbers| self.flip(numbers));
        }
    }
}

/// The plaintexts of a column whose intermediate results a witness sees.
fn decrypt_seen(
    engine: &Engine,
    key: &PrivateKey,
    column: &Ciphertexts,
    witness: &mut impl Witness<Host>,
) -> Result<Batch, Error> {
    let (paillier, values) = (Paillier::new(engine), column.values().view());
    with_unmaskings(key, |unmaskings| {
        let (plaintexts, verdicts) = paillier.decrypt_part(engine, key, unmaskings, values, witness)?;
        refuse(&verdicts).map(|()| plaintexts)
    })
}

const STAGES: [Stage; 4] = [Stage::Powers, Stage::Quotients, Stage::Halves, Stage::Plaintexts];

#[test]
fn faults_are_noticed_and_named() {
    let engine = &Engine::new().unwrap();
    let key = PrivateKey::generate(engine, 1024, Randomness::Short).unwrap();
    let paillier = Paillier::new(engine);
    // Fewer items than are joined for the check, and more.
    for count in [3, 12] {
        let plaintexts = Batch::from_values((0..count as u64).map(|value| [value * value]));
        let column = paillier.encrypt(key.public_key(), &plaintexts).unwrap();
        let expected = paillier.decrypt_checked(&key, &column).unwrap();
        assert_eq!(expected.resized(plaintexts.bits()).unwrap(), plaintexts);
        let item = count - 1;
        let faulty = |result: Result<Batch, Error>| match result {
            Err(Error::Decryption { items }) => assert_eq!(items, [item]),
            other => panic!("{other:?}"),
        };
        for stage in STAGES {
            let calls = if stage == Stage::Plaintexts { 1 } else { 2 };
            for (call, bit) in (0..calls).flat_map(|call| [0, 1, 63, 64, 300, 500].map(|bit| (call, bit))) {
                let fault = &mut Fault::once(stage, call, item, bit);
                faulty(decrypt_seen(engine, &key, &column, fault));
            }
        }
        for (call, bit) in [(0, 0), (1, 7), (0, 1000), (1, 2000)] {
            // A changed base gives the powers of another ciphertext: only the full check sees that.
            let fault = &mut Fault::once(None, call, item, bit);
            let wrong = decrypt_seen(engine, &key, &column, fault).unwrap();
            assert_ne!(wrong, expected);
            faulty(paillier.check_decrypted(&key, &column, wrong));
        }
    }
}

/// An emulated device is slow: one fault for each stage, in the second of its appearances where there are
/// two.
#[test]
#[ignore = "slow: .ci/run has it"]
fn columns_are_encrypted_and_decrypted_on_a_device() {
    let Some(builder) = modmill_testing::emulated::engine(Default::default()) else { return };
    let engine = builder.build().unwrap();
    let (paillier, gpu) = (Paillier::new(&engine), engine.on_device());
    let key = PrivateKey::generate(&Engine::new().unwrap(), 1024, Randomness::Subgroup).unwrap();
    let plaintexts = Batch::from_values([[7u64, 1 << 60], [0, 0], [u64::MAX, u64::MAX]]);
    let column = paillier.encrypt(key.public_key(), &plaintexts).unwrap();
    let expected = Paillier::new(&Engine::new().unwrap()).decrypt_checked(&key, &column).unwrap();
    assert_eq!(expected.resized(plaintexts.bits()).unwrap(), plaintexts);
    assert_eq!(paillier.decrypt(&key, &column).unwrap(), expected);
    assert!(engine.faults().is_empty(), "{:?}", engine.faults());
    let short = [key.p(), key.q()].map(|factor| factor.short.as_ref().unwrap());
    for stage in STAGES {
        let fault = &mut Fault::once(stage, usize::from(stage != Stage::Plaintexts), 2, 300);
        let (_, verdicts) = paillier.decrypt_part(&gpu, &key, short, column.values().view(), fault).unwrap();
        assert_eq!(verdicts, [true, true, false], "{stage:?}");
    }
    // Here, because the kernels are at hand.
    assert!(paillier.warm(1024, Randomness::Subgroup, 2).unwrap());
}

/// Wrong items are named by their places in the column.
#[test]
fn items_that_do_not_decrypt_are_named() {
    let engine = Engine::new().unwrap();
    let paillier = Paillier::new(&engine);
    for randomness in [Randomness::Full, Randomness::Subgroup] {
        let key = PrivateKey::generate(&engine, 1024, randomness).unwrap();
        let plaintexts = Batch::from_values((0..37u64).map(|value| [value, value * value]));
        let column = paillier.encrypt(key.public_key(), &plaintexts).unwrap();
        let found = paillier.decrypt(&key, &column).unwrap();
        assert_eq!(found.resized(plaintexts.bits()).unwrap(), plaintexts);
        // A multiple of p is no ciphertext.
        let mut values = column.values().clone();
        for item in [9, 36] {
            let row = values.get_mut(item);
            row.fill(0);
            row[..key.primes()[0].len()].copy_from_slice(key.primes()[0]);
        }
        let wrong = Ciphertexts::new(key.public_key(), &values).unwrap();
        let refused = paillier.decrypt(&key, &wrong);
        assert!(matches!(refused, Err(Error::Decryption { items }) if items == [9, 36]));
    }
}

/// Bytes become integers, and what is wrong has its place in the column.
#[test]
fn octets_are_read_and_integers_written() {
    let engine = Engine::new().unwrap();
    let paillier = Paillier::new(&engine);
    let key = PrivateKey::generate(&engine, 1024, Randomness::Subgroup).unwrap();
    let (public, width) = (key.public_key(), key.public_key().ciphertext_octets());
    let integers: Vec<i64> = (0..37).map(|value| (value - 18) * (1 << 40)).collect();
    let column = EncodedColumn::from_integers(public, &Integers::from_i64(&integers)).unwrap();
    let octets = column.encrypt_to_octets(&paillier).unwrap();
    let read = |index: usize, magnitude: &[u64], is_negative: bool| {
        let [value, above @ ..] = magnitude else { panic!("a magnitude has limbs") };
        assert!(above.iter().all(|&limb| limb == 0), "item {index}");
        if is_negative { Ok(-(*value as i64)) } else { Ok(*value as i64) }
    };
    let decrypt = |octets: &[u8]| paillier.decrypt_octets(&key, octets, read);
    assert_eq!(decrypt(&octets).unwrap(), integers);
    assert!(decrypt(&[]).unwrap().is_empty());

    let put = |item: usize, value: &[u64]| {
        let mut octets = octets.clone();
        number::write_be_bytes(value, &mut octets[item * width..][..width]);
        octets
    };
    // A half of n stands for no integer.
    let mut half = number::Number::new(public.modulus().value().to_vec());
    number::shift_right(public.modulus().value(), 1, &mut half);
    let half = paillier.encrypt(public, &Batch::from_values([&half[..]])).unwrap();
    for item in [0, 10, 36] {
        let found = decrypt(&put(item, &[0]));
        assert!(matches!(found, Err(Error::OutOfRange { index, .. }) if index == item), "{found:?}");
        let found = decrypt(&put(item, half.values().get(0)));
        assert!(matches!(found, Err(Error::NotEncoded { index }) if index == item), "{found:?}");
        let wrong = decrypt(&put(item, key.primes()[0]));
        assert!(matches!(wrong, Err(Error::Decryption { items }) if items == [item]));
    }
    let cut = decrypt(&octets[1..]);
    assert!(matches!(cut, Err(Error::LengthMismatch { .. })), "{cut:?}");
    // An item that `read` refuses is refused.
    let refused = paillier.decrypt_octets(&key, &octets, |index, _, _| match index {
        7 => Err(Error::TooLarge { index, limit: 64 }),
        _ => Ok(0u8),
    });
    assert!(matches!(refused, Err(Error::TooLarge { index: 7, .. })), "{refused:?}");
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
    let decrypt = |column: &Ciphertexts, fault: &mut Fault| decrypt_seen(&engine, &key, column, fault);
    // Masks of the subgroup take two powers, and others four.
    let never = || Fault::once(Stage::Powers, usize::MAX, 0, 0);
    let (mut first, mut second) = (never(), never());
    let expected = decrypt(&short, &mut first).unwrap();
    assert_eq!(expected.resized(plaintexts.bits()).unwrap(), plaintexts);
    assert_eq!(decrypt(&full, &mut second).unwrap(), expected);
    assert_eq!((first.powers, second.powers), (2, 4));
    for stage in STAGES {
        assert_eq!(decrypt(&short, &mut Fault::once(stage, 0, 11, 300)).unwrap(), expected);
        // A fault that stays is noticed.
        let stays = &mut Fault { call: None, ..Fault::once(stage, 0, 11, 195) };
        assert!(matches!(decrypt(&short, stays), Err(Error::Decryption { items }) if items == [11]));
    }
    // A changed base is no element of the subgroup times a plaintext, and is noticed by the first check
    // already.
    assert_eq!(decrypt(&short, &mut Fault::once(None, 0, 11, 7)).unwrap(), expected);
}
