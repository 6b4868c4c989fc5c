//! RSA on an emulated GPU gives the same answers as on the CPU, also if the CPU has to finish.

use crate::key_of;
use modmill::cuda::{Settings, kernel_seconds};
use modmill::{Backend, Engine, EngineBuilder, Family};
use modmill_cuda::{Chip, Cut, Faults, Layout, Variant};
use modmill_rsa::{EncryptionScheme, Hash, ItemError, PrivateKey, PublicKey, Rsa, SignatureScheme, Sizes};
use num_bigint::BigUint;

/// Keys are short, because the emulated device is slow.
const BITS: usize = 512;
const PKCS1: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

fn emulated(faults: Faults) -> Option<EngineBuilder> {
    if modmill_testing::emulated::is_gpu() {
        return modmill_testing::emulated::engine(faults);
    }
    // Blocks of one warp: the emulated device computes whole blocks, also if a batch does not fill them. The
    // matrix instructions of a real one take four warps.
    let layout = Layout { threads: 2, block: 32, resident: 1, cut: Some(Cut::Chunks(1, 1)) };
    let variant = Variant::new(Family::Rns, BITS / 2, layout, &Chip::H200.limits());
    let builder = modmill_testing::emulated::engine(faults)?;
    Some(builder.cuda(Settings { variant, ..Settings::default() }))
}

pub(super) fn gpu() -> Option<Engine> {
    emulated(Faults::default()).map(|builder| builder.fallback(false).build().unwrap())
}

pub(super) fn cpu() -> Engine {
    Engine::builder().backend(Backend::Cpu).build().unwrap()
}

pub(super) fn keys(count: usize) -> Vec<PrivateKey> {
    PrivateKey::generate_many(&cpu(), BITS, count, Sizes::AllowSmall).unwrap()
}

fn messages(count: usize) -> Vec<String> {
    (0..count).map(|item| format!("message {item}")).collect()
}

#[test]
fn a_gpu_signs_as_the_cpu_does() {
    let (Some(gpu), cpu) = (gpu(), cpu()) else { return };
    let (keys, messages) = (keys(3), messages(20));
    let each: Vec<&PrivateKey> = (0..20).map(|item| &keys[item % 3]).collect();
    for blinded_direct_reads in [false, true] {
        let rsa = Rsa::new(&gpu).blinded_direct_reads(blinded_direct_reads);
        let before = kernel_seconds(&gpu);
        let one = rsa.sign(&keys[0], PKCS1, &messages).unwrap();
        assert!(kernel_seconds(&gpu) > before, "kernels computed it");
        assert_eq!(one, Rsa::new(&cpu).sign(&keys[0], PKCS1, &messages).unwrap());
    }
    let rows = Rsa::new(&gpu).sign_rows(&keys[0], PKCS1, &messages).unwrap();
    let expected = Rsa::new(&cpu).sign(&keys[0], PKCS1, &messages).unwrap();
    assert!(rows.iter().eq(expected.iter().map(|signature| signature.as_deref())));
    let many = Rsa::new(&gpu).sign(&each[..], PKCS1, &messages).unwrap();
    assert_eq!(many, Rsa::new(&cpu).sign(&each[..], PKCS1, &messages).unwrap());
    let blinded = Rsa::new(&gpu).blinding(true).sign(&keys[0], PKCS1, &messages[..2]).unwrap();
    assert_eq!(blinded, Rsa::new(&cpu).sign(&keys[0], PKCS1, &messages[..2]).unwrap());
    assert_eq!(gpu.faults(), [""; 0]);
}

#[test]
fn a_gpu_verifies_and_encrypts_as_the_cpu_does() {
    let (Some(gpu), cpu) = (gpu(), cpu()) else { return };
    let (keys, messages) = (keys(2), messages(18));
    let privates: Vec<&PrivateKey> = (0..18).map(|item| &keys[item % 2]).collect();
    let publics: Vec<&PublicKey> = privates.iter().map(|key| key.public_key()).collect();
    let signatures = Rsa::new(&cpu).sign(&privates[..], PKCS1, &messages).unwrap();
    let mut signatures: Vec<Vec<u8>> = signatures.into_iter().flatten().collect();
    signatures[3][40] ^= 1;
    signatures[4] = vec![0xff; BITS / 8];
    signatures[5].pop();
    let rsa = Rsa::new(&gpu);
    let verdicts = rsa.verify(&publics[..], PKCS1, &messages, &signatures).unwrap();
    for (item, verdict) in verdicts.iter().enumerate() {
        let expected = if (3..6).contains(&item) { Err(ItemError::Verification) } else { Ok(()) };
        assert_eq!(*verdict, expected, "item {item}");
    }
    let first = rsa.verify(publics[0], PKCS1, &messages, &signatures).unwrap();
    assert!(first.iter().enumerate().all(|(item, verdict)| verdict.is_ok() == (item % 2 == 0 && item != 4)));

    let mut ciphertexts: Vec<Vec<u8>> = rsa
        .encrypt(keys[0].public_key(), EncryptionScheme::Pkcs1v15, &messages)
        .unwrap()
        .into_iter()
        .flatten()
        .collect();
    ciphertexts[7].pop();
    ciphertexts[8] = vec![0xff; BITS / 8];
    let found = rsa.decrypt(&keys[0], EncryptionScheme::Pkcs1v15, &ciphertexts).unwrap();
    for (item, message) in found.iter().enumerate() {
        match (item, message) {
            (7, message) => assert!(matches!(message, Err(ItemError::WrongLength { .. }))),
            (8, message) => assert_eq!(message.as_ref().err(), Some(&ItemError::OutOfRange)),
            (item, message) => assert_eq!(message.as_ref().unwrap()[..], *messages[item].as_bytes()),
        }
    }
}

/// The kernels do not take primes of different lengths, nor different public exponents.
#[test]
fn keys_that_kernels_do_not_serve_are_computed_step_by_step() {
    let Some(gpu) = gpu() else { return };
    let cpu = cpu();
    let prime = |seed: &str, bits: u64| {
        // The next prime above a number that is derived from the seed.
        let digest = Hash::Sha512.digest(&[seed.as_bytes()]);
        let mut candidate = BigUint::from_bytes_be(digest.as_ref()) >> (512 - bits);
        candidate.set_bit(bits - 1, true);
        candidate.set_bit(bits - 2, true);
        candidate.set_bit(0, true);
        let one = BigUint::from(1u8);
        while BigUint::from(2u8).modpow(&(&candidate - 1u8), &candidate) != one {
            candidate += 2u8;
        }
        candidate
    };
    let key = |p: &BigUint, q: &BigUint, e: u32| {
        let n = p * q;
        let d = BigUint::from(e).modinv(&((p - 1u8) * (q - 1u8))).unwrap();
        let numbers = [&n, &e.into(), &d, p, q].map(BigUint::to_bytes_be);
        key_of(numbers.each_ref().map(Vec::as_slice), Sizes::AllowSmall)
    };
    let unequal = key(&prime("p", 320), &prime("q", 192), 65_537);
    let (p, q) = (prime("a", 256), prime("b", 256));
    let other = key(&p, &q, 65_539);
    let usual = key(&q, &p, 65_537);
    let messages = messages(3);
    for keys in [[&unequal; 3], [&usual, &other, &usual]] {
        let found = Rsa::new(&gpu).sign(&keys[..], PKCS1, &messages).unwrap();
        assert!(found.iter().all(Result::is_ok));
        assert_eq!(found, Rsa::new(&cpu).sign(&keys[..], PKCS1, &messages).unwrap());
        let publics = keys.map(PrivateKey::public_key);
        let signatures: Vec<Vec<u8>> = found.into_iter().flatten().collect();
        let verdicts = Rsa::new(&gpu).verify(&publics[..], PKCS1, &messages, &signatures).unwrap();
        assert!(verdicts.iter().all(Result::is_ok));
    }
}

/// If a device fails, no answer is lost.
#[test]
fn the_cpu_finishes_what_a_gpu_could_not() {
    let (key, messages) = (keys(1).remove(0), messages(5));
    let expected = Rsa::new(&cpu()).sign(&key, PKCS1, &messages).unwrap();
    for faults in [
        Faults { fail_launch_after: Some(0), ..Faults::default() },
        Faults { fail_launch_after: Some(9), ..Faults::default() },
        Faults { lose_device_after: Some(4), ..Faults::default() },
    ] {
        let Some(builder) = emulated(faults) else { return };
        let engine = builder.clone().build().unwrap();
        assert_eq!(Rsa::new(&engine).sign(&key, PKCS1, &messages).unwrap(), expected, "{faults:?}");
        assert!(engine.faults().iter().any(|fault| fault.contains("went to the CPU")), "{faults:?}");
        let engine = builder.fallback(false).build().unwrap();
        assert!(Rsa::new(&engine).sign(&key, PKCS1, &messages).is_err());
    }
}

/// Threads that sign small batches at the same time, with one key or with their own, get their own
/// signatures.
#[test]
fn a_crowd_of_signers_gets_its_signatures() {
    let (Some(gpu), cpu) = (gpu(), cpu()) else { return };
    let (keys, messages) = (keys(3), messages(30));
    let begin = std::sync::Barrier::new(24);
    std::thread::scope(|scope| {
        for caller in 0..24 {
            let (gpu, cpu, begin, key) = (&gpu, &cpu, &begin, &keys[caller % 3]);
            let each = [key, &keys[0], &keys[1]];
            let own = &messages[caller..caller + 3];
            scope.spawn(move || {
                let rsa = Rsa::new(gpu).blinded_direct_reads(caller % 2 == 0);
                let right = [
                    Rsa::new(cpu).sign(key, PKCS1, own).unwrap(),
                    Rsa::new(cpu).sign(&each[..], PKCS1, own).unwrap(),
                ];
                begin.wait();
                for _ in 0..3 {
                    assert_eq!(rsa.sign(key, PKCS1, own).unwrap(), right[0]);
                    assert_eq!(rsa.sign(&each[..], PKCS1, own).unwrap(), right[1]);
                }
            });
        }
    });
    assert_eq!(gpu.faults(), [""; 0]);
}
