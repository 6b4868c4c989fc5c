//! Faults: whatever goes wrong in a private operation, no wrong result is returned.

use super::*;
use crate::{PublicKey, Sizes};
use modmill::primality;
use modmill_testing::oracle::number as big;
use modmill_testing::rng::Rng;
use num_bigint::BigUint;

/// Flips one bit of every item at one stage.
struct Faults<'a> {
    stage: Stage,
    /// The number of items. A stage with two numbers per item has those modulo p first.
    count: usize,
    rng: &'a mut Rng,
    injected: usize,
}

impl Witness for Faults<'_> {
    fn see(&mut self, stage: Stage, numbers: &mut Batch) {
        if stage != self.stage {
            return;
        }
        for item in 0..self.count {
            let half = self.rng.below(numbers.len() / self.count);
            let limbs = numbers.get_mut(half * self.count + item);
            let bit = self.rng.below(64 * limbs.len());
            limbs[bit / 64] ^= 1 << (bit % 64);
            self.injected += 1;
        }
    }
}

const STAGES: [Stage; 8] = [
    Stage::Bases,
    Stage::Exponents,
    Stage::Halves,
    Stage::Difference,
    Stage::Coefficients,
    Stage::Quotient,
    Stage::Cofactors,
    Stage::Outputs,
];

fn inputs(keys: &[&PrivateKey], rng: &mut Rng) -> Batch {
    let bits = keys[0].bits();
    let mut batch = Batch::zeros(bits, keys.len());
    for index in 0..keys.len() {
        let digits = rng.number(bits - 1).to_u64_digits();
        batch.get_mut(index)[..digits.len()].copy_from_slice(&digits);
    }
    batch
}

#[test]
fn no_flipped_bit_leaves_as_an_answer() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let mut rng = Rng::new(50);
    let keys = PrivateKey::generate_many(&engine, 512, 3, Sizes::AllowSmall).unwrap();
    let keys: Vec<&PrivateKey> = [&keys[0], &keys[0], &keys[1], &keys[2]].to_vec();
    let publics: Vec<&PublicKey> = keys.iter().map(|key| key.public_key()).collect();
    let inputs = inputs(&keys, &mut rng);
    let right = powers(&engine, &keys, &inputs, &mut Nobody).unwrap();
    let (mut injected, mut caught) = (0, 0);
    for stage in STAGES {
        for round in 0..750 {
            let mut faults = Faults { stage, count: keys.len(), rng: &mut rng, injected: 0 };
            let outputs = powers(&engine, &keys, &inputs, &mut faults).unwrap();
            assert_eq!(faults.injected, keys.len(), "{stage:?} was not passed");
            injected += faults.injected;
            let wrong: Vec<usize> =
                (0..keys.len()).filter(|&index| outputs.get(index) != right.get(index)).collect();
            caught += wrong.len();
            let outcome = checked(&engine, &publics, &inputs, outputs).unwrap();
            assert_eq!(outcome.faults, wrong, "{stage:?}, round {round}");
            for index in 0..keys.len() {
                let answer = outcome.outputs.get(index);
                let returned = answer != right.get(index) && answer.iter().any(|&limb| limb != 0);
                assert!(!returned, "{stage:?}, round {round}: item {index} escaped");
            }
        }
    }
    // A bit above a number, or a multiple of p in the difference, may change nothing. Most bits do.
    assert!(injected == 24_000 && caught > 20_000, "{caught} of {injected} faults mattered");
}

#[test]
fn halves_of_unequal_length_are_joined_right() {
    // Either prime may be the longer one, and lengths need not end with a limb. Modulo 3 q every third number
    // has no inverse, so that blinding has to draw some of its factors again.
    let engine = Engine::new().unwrap();
    let mut rng = Rng::new(51);
    let mut prime = |bits: usize| loop {
        let mut candidate = rng.exact(bits);
        candidate.set_bit(0, true);
        let batch = Batch::from_values([candidate.to_u64_digits()]);
        if primality::is_probable_prime(&engine, &batch, &[2, 3, 5, 7, 11, 13]).unwrap()[0]
            && &candidate % 65_537u32 != BigUint::from(1u8)
        {
            return candidate;
        }
    };
    for (long, short) in [(300, 213), (213, 300), (256, 257), (450, 70), (2, 512), (512, 2)] {
        let (p, q) = (prime(long), prime(short));
        let order = (&p - 1u8) * (&q - 1u8);
        let (n, e) = (&p * &q, BigUint::from(65_537u32));
        let d = e.modinv(&order).unwrap();
        let [n_bytes, e_bytes, d_bytes, p_bytes, q_bytes] =
            [&n, &e, &d, &p, &q].map(|number| number.to_bytes_be());
        let parts = crate::PrivateParts {
            modulus: &n_bytes,
            public_exponent: &e_bytes,
            private_exponent: &d_bytes,
            prime1: &p_bytes,
            prime2: &q_bytes,
            ..Default::default()
        };
        let key = PrivateKey::new(&parts, Sizes::AllowSmall).unwrap();
        let mut numbers = vec![BigUint::ZERO, BigUint::from(1u8), &n - 1u8, p.clone(), q.clone(), &n - &p];
        numbers.extend((0..5).map(|seed| Rng::new(seed).number(500) % &n));
        let inputs = Batch::from_values(numbers.iter().map(BigUint::to_u64_digits));
        let inputs = inputs.with_bits(key.bits()).unwrap();
        let keys = vec![&key; numbers.len()];
        for blinding in [false, true] {
            let outcome = private_operation(&engine, &keys, &inputs, blinding).unwrap();
            assert!(outcome.faults.is_empty());
            for (index, number) in numbers.iter().enumerate() {
                assert_eq!(big(outcome.outputs.get(index)), number.modpow(&d, &n), "{long} and {short}");
            }
        }
    }
}
