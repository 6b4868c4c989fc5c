//! Encryption and decryption.

use crate::{Keys, engine, pattern};
use modmill::matrix::{Placement, ResidueModuli};
use modmill_fhe::lwe::{Error, Parameters, SecretKey};
use modmill_testing::emulated;

#[test]
fn many_bits_come_back() {
    let engine = engine();
    for (dimension, count) in [(1, 1), (8, 1), (8, 4), (64, 2)] {
        let parameters = Parameters::leveled(dimension, count).unwrap();
        let keys = Keys::new(&engine, &parameters);
        let bits = pattern(1000, dimension as u32);
        let ciphertexts = keys.encrypt(&engine, &bits);
        assert!(keys.secret.decrypt(&ciphertexts).unwrap() == bits, "dimension {dimension}");
        // The bound is no less than the true noise, and another key reads nothing.
        let noise = keys.secret.noise_bits_vartime(&ciphertexts).unwrap();
        assert!(noise.iter().all(|&bits| bits <= ciphertexts.noise_bits() as usize), "{noise:?}");
        if dimension > 1 {
            let other = SecretKey::generate(&parameters).unwrap();
            assert!(other.decrypt(&ciphertexts).unwrap() != bits, "dimension {dimension}");
        }
    }
}

#[test]
fn no_bits_are_no_ciphertexts() {
    let engine = engine();
    let keys = Keys::new(&engine, &Parameters::leveled(8, 2).unwrap());
    let none = keys.encrypt(&engine, &[]);
    assert!(none.is_empty());
    assert!(keys.secret.decrypt(&none).unwrap().is_empty());
}

/// The thesis's modulus of 1024 bits at a small dimension, and moduli that are no primes.
#[test]
fn other_moduli() {
    let engine = engine();
    let odd = ResidueModuli::new(&[u32::MAX, 0xffff_fffb, 0x8000_000b, 1_000_003]).unwrap();
    for parameters in [Parameters::benchmark(40).unwrap(), Parameters::new(20, 500, odd).unwrap()] {
        let keys = Keys::new(&engine, &parameters);
        let bits = pattern(64, 3);
        assert_eq!(keys.secret.decrypt(&keys.encrypt(&engine, &bits)).unwrap(), bits);
    }
}

/// A held matrix, one that is expanded section by section, and both on an emulated device.
#[test]
fn placements_and_devices() {
    let engine = engine();
    let keys = Keys::new(&engine, &Parameters::benchmark(33).unwrap());
    let bits = pattern(20, 1);
    let devices = emulated::engine(modmill_cuda::Faults::default()).map(|builder| builder.build().unwrap());
    for engine in std::iter::once(&engine).chain(&devices) {
        for placement in [Placement::Held, Placement::Streamed] {
            let encryptor = keys.public.encryptor(engine, placement).unwrap();
            let ciphertexts = encryptor.encrypt(&bits).unwrap();
            assert_eq!(keys.secret.decrypt(&ciphertexts).unwrap(), bits, "{placement:?}");
            assert_eq!(engine.faults(), Vec::<String>::new());
        }
    }
}

#[test]
fn ciphertexts_of_other_parameters_are_refused() {
    let engine = engine();
    let keys = Keys::new(&engine, &Parameters::leveled(8, 2).unwrap());
    let other = SecretKey::generate(&Parameters::leveled(9, 2).unwrap()).unwrap();
    let ciphertexts = keys.encrypt(&engine, &[true]);
    assert_eq!(other.decrypt(&ciphertexts), Err(Error::OtherParameters("a batch of ciphertexts")));
}
