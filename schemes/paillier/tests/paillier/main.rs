//! Paillier against independent arithmetic, with hard inputs, wrong keys and overflows.

mod bodies;
mod columns;
mod files;
mod fixed_point;
mod mutations;
mod packing;
mod phe;
mod scheme;

use modmill::{Batch, Engine};
use modmill_paillier::{Paillier, PrivateKey, PublicKey, Randomness};
use modmill_testing::oracle::{self, number};
use modmill_testing::rng::Rng;
use num_bigint::BigUint;
use std::sync::LazyLock;

/// An engine that all tests share.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new().unwrap());

/// Keys of all kinds, of lengths that are and are not multiples of 64.
pub(crate) static KEYS: LazyLock<[PrivateKey; 4]> = LazyLock::new(|| {
    let kinds = [
        (1024, Randomness::Full),
        (1024, Randomness::Short),
        (1090, Randomness::Short),
        (1024, Randomness::Subgroup),
    ];
    kinds.map(|(bits, randomness)| PrivateKey::generate(&ENGINE, bits, randomness).unwrap())
});

pub(crate) fn paillier() -> Paillier<'static> {
    Paillier::new(&ENGINE)
}

pub(crate) fn n(key: &PublicKey) -> BigUint {
    number(key.modulus().value())
}

/// 0, 1, n - 1 and neighbours, powers of two, and random numbers below n.
pub(crate) fn plaintexts(key: &PublicKey, rng: &mut Rng) -> Vec<BigUint> {
    let n = n(key);
    let mut numbers: Vec<BigUint> = [0u8, 1, 2].map(BigUint::from).to_vec();
    numbers.extend([1u8, 2, 3].map(|less| &n - less));
    numbers.extend([63, 64, 65, key.bits() - 2].map(|bit| BigUint::from(1u8) << bit));
    numbers.extend((0..5).map(|_| rng.number(key.bits() + 64) % &n));
    numbers
}

pub(crate) fn batch(numbers: &[BigUint]) -> Batch {
    oracle::batch(numbers)
}

/// Decryption as Paillier wrote it: `L(c^lambda) mu mod n`, with `lambda = (p - 1)(q - 1)` and
/// `mu = lambda^-1`.
pub(crate) fn slow_decrypt(key: &PrivateKey, ciphertext: &BigUint) -> BigUint {
    let [p, q] = key.primes().map(number);
    let n = &p * &q;
    let lambda = (&p - 1u8) * (&q - 1u8);
    let power = ciphertext.modpow(&lambda, &(&n * &n));
    let quotient = (power - 1u8) / &n;
    quotient * lambda.modinv(&n).unwrap() % n
}
