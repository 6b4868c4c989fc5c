//! Batches of mixed tasks give what the calls of one kind give, and wrong tasks do not affect their
//! neighbours.

use crate::devices;
use modmill::Engine;
use modmill::cuda::kernel_seconds;
use modmill_rsa::{
    Answers, Digest, Encryption, Error, Hash, ItemError, PrivateKey, PrivateTask, Pss, PublicKey, PublicTask,
    Rsa, SaltLength, SignatureScheme, Sizes, hazmat,
};
use zeroize::Zeroizing;

const PKCS1: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
/// Without a salt a signature is the same every time.
const SALTLESS: SignatureScheme =
    SignatureScheme::Pss(Pss { hash: Hash::Sha256, mask_hash: Hash::Sha256, salt: SaltLength::Bytes(0) });

/// Short enough for a key of 512 bits.
fn oaep() -> Encryption {
    Encryption::Oaep { hash: Hash::Sha1, mask_hash: Hash::Sha1, label: b"label".to_vec() }
}

/// The values that the tasks of one key refer to.
struct Material {
    digest: Digest,
    message: Vec<u8>,
    /// By OAEP and by PKCS #1 v1.5.
    ciphertexts: [Vec<u8>; 2],
    /// By PKCS #1 v1.5 and by PSS.
    signatures: [Vec<u8>; 2],
    blinded: Vec<u8>,
    modulus: Vec<u8>,
}

impl Material {
    fn new(rsa: &Rsa<'_>, key: &PrivateKey, name: &str) -> Self {
        let public = key.public_key();
        let encrypt =
            |scheme: Encryption| rsa.encrypt(public, scheme.scheme(), &[name]).unwrap().remove(0).unwrap();
        let sign = |scheme| rsa.sign(key, scheme, &[name]).unwrap().remove(0).unwrap();
        Self {
            digest: Hash::Sha256.digest(&[name.as_bytes()]),
            message: name.into(),
            ciphertexts: [oaep(), Encryption::Pkcs1v15].map(encrypt),
            signatures: [PKCS1, SALTLESS].map(sign),
            blinded: [vec![0], vec![name.len() as u8; public.size() - 1]].concat(),
            modulus: public.modulus_bytes().to_vec(),
        }
    }

    /// Every kind of private task, a wrong task after each right one.
    fn private_tasks(&self) -> Vec<PrivateTask> {
        let sign = |scheme| PrivateTask::Sign { scheme, digest: self.digest };
        let short = PrivateTask::Sign { scheme: PKCS1, digest: self.short_digest() };
        let [by_oaep, by_pkcs1] = &self.ciphertexts;
        let decrypt =
            |scheme, ciphertext: &[u8]| PrivateTask::Decrypt { scheme, ciphertext: ciphertext.to_vec() };
        let raw = |number: &[u8]| PrivateTask::Raw { number: number.to_vec().into() };
        vec![
            sign(PKCS1),
            sign(SignatureScheme::Pkcs1v15(Hash::Sha1)),
            sign(SALTLESS),
            sign(SignatureScheme::Pkcs1v15(Hash::Shake128)),
            decrypt(oaep(), by_oaep),
            decrypt(Encryption::oaep(Hash::Shake256), by_oaep),
            decrypt(Encryption::Pkcs1v15, by_pkcs1),
            decrypt(oaep(), by_pkcs1),
            raw(&self.blinded),
            raw(&self.modulus),
            sign(PKCS1),
            short,
            raw(&self.blinded[1..]),
        ]
    }

    /// Every kind of public task, a wrong task after each right one.
    fn public_tasks(&self) -> Vec<PublicTask> {
        let [pkcs1, pss] = &self.signatures;
        let verify = |scheme, signature: &[u8]| {
            let (digest, signature) = (self.digest, signature.to_vec());
            PublicTask::Verify { scheme, digest, signature }
        };
        let encrypt =
            |scheme, message: &[u8]| PublicTask::Encrypt { scheme, message: message.to_vec().into() };
        vec![
            verify(PKCS1, pkcs1),
            verify(PKCS1, pss),
            encrypt(oaep(), &self.message),
            encrypt(Encryption::oaep(Hash::Shake128), &self.message),
            verify(SALTLESS, pss),
            verify(SALTLESS, &self.modulus),
            encrypt(Encryption::Pkcs1v15, &self.message),
            encrypt(oaep(), &self.modulus),
            verify(SignatureScheme::Pkcs1v15(Hash::Shake256), pkcs1),
            PublicTask::Verify { scheme: PKCS1, digest: self.short_digest(), signature: pkcs1.clone() },
        ]
    }

    /// A digest of a wrong length.
    fn short_digest(&self) -> Digest {
        Digest::from_bytes(&self.digest.as_ref()[1..]).unwrap()
    }
}

/// The answer of a private task by the call for its kind. An error of the call is that of the item.
fn alone(rsa: &Rsa<'_>, key: &PrivateKey, task: &PrivateTask) -> Result<Zeroizing<Vec<u8>>, ItemError> {
    let answers = match task {
        PrivateTask::Sign { scheme, digest } => rsa.sign_digests(key, *scheme, &[digest]).map(zeroizing),
        PrivateTask::Decrypt { scheme, ciphertext } => rsa.decrypt(key, scheme.scheme(), &[ciphertext]),
        PrivateTask::Raw { number } => hazmat::private(rsa, key, &[number]),
    };
    match answers {
        Ok(mut answers) => answers.remove(0),
        Err(Error::UnsupportedHash { scheme, hash }) => Err(ItemError::UnsupportedHash { scheme, hash }),
        Err(error) => panic!("{error}"),
    }
}

fn zeroizing(answers: Answers<Vec<u8>>) -> Answers<Zeroizing<Vec<u8>>> {
    answers.into_iter().map(|answer| answer.map(Zeroizing::new)).collect()
}

/// Answers all tasks of `keys` in one call of `rsa`, and compares them with those of `reference`.
fn check_private(rsa: &Rsa<'_>, reference: &Rsa<'_>, keys: &[PrivateKey]) {
    let materials: Vec<Material> = keys
        .iter()
        .enumerate()
        .map(|(item, key)| Material::new(reference, key, &format!("name {item}")))
        .collect();
    let kinds = materials[0].private_tasks().len();
    // Kind after kind, so that neighbours have different keys.
    let (mut each, mut tasks) = (Vec::new(), Vec::new());
    for kind in 0..kinds {
        for (key, material) in keys.iter().zip(&materials) {
            each.push(key);
            tasks.push(material.private_tasks().swap_remove(kind));
        }
    }
    let answers = rsa.private_tasks(&each[..], &tasks).unwrap();
    assert_eq!(answers.len(), tasks.len());
    for (item, answer) in answers.iter().enumerate() {
        let (kind, key) = (item / keys.len(), item % keys.len());
        assert_eq!(*answer, alone(reference, each[item], &tasks[item]), "kind {kind}, key {key}");
        assert_eq!(answer.is_ok(), kind < 12 && kind % 2 == 0, "kind {kind}, key {key}: {answer:?}");
        if kind == 4 || kind == 6 {
            assert_eq!(**answer.as_ref().unwrap(), materials[key].message);
        }
    }
    // One key for all tasks.
    let tasks = materials[0].private_tasks();
    let answers = rsa.private_tasks(&keys[0], &tasks).unwrap();
    for (kind, answer) in answers.iter().enumerate() {
        assert_eq!(*answer, alone(reference, &keys[0], &tasks[kind]), "kind {kind}");
    }
}

fn check_public(rsa: &Rsa<'_>, reference: &Rsa<'_>, keys: &[PrivateKey]) {
    let materials: Vec<Material> = keys
        .iter()
        .enumerate()
        .map(|(item, key)| Material::new(reference, key, &format!("name {item}")))
        .collect();
    let each: Vec<&PublicKey> =
        (0..10 * keys.len()).map(|item| keys[item % keys.len()].public_key()).collect();
    let tasks: Vec<PublicTask> = (0..each.len())
        .map(|item| materials[item % keys.len()].public_tasks().swap_remove(item / keys.len()))
        .collect();
    let answers = rsa.public_tasks(&each[..], &tasks).unwrap();
    assert_eq!(answers.len(), tasks.len());
    for (item, answer) in answers.into_iter().enumerate() {
        let (kind, key) = (item / keys.len(), item % keys.len());
        let decrypted = |scheme: Encryption, answer: Result<Vec<u8>, ItemError>| {
            let message = reference
                .decrypt(&keys[key], scheme.scheme(), &[answer.unwrap()])
                .unwrap()
                .remove(0)
                .unwrap();
            assert_eq!(*message, materials[key].message, "kind {kind}, key {key}");
        };
        match kind {
            0 | 4 => assert_eq!(answer, Ok(Vec::new()), "kind {kind}, key {key}"),
            1 | 5 => assert_eq!(answer, Err(ItemError::Verification), "kind {kind}, key {key}"),
            2 => decrypted(oaep(), answer),
            6 => decrypted(Encryption::Pkcs1v15, answer),
            3 | 8 => {
                assert!(matches!(answer, Err(ItemError::UnsupportedHash { .. })), "kind {kind}, key {key}")
            }
            7 => assert!(matches!(answer, Err(ItemError::MessageTooLong { .. })), "key {key}"),
            _ => assert_eq!(answer, Err(ItemError::WrongLength { expected: 32, found: 31 }), "key {key}"),
        }
    }
}

#[test]
fn mixed_tasks_are_answered_as_each_alone() {
    let engine = Engine::new().unwrap();
    let generate = |bits| PrivateKey::generate_many(&engine, bits, 2, Sizes::AllowSmall).unwrap();
    let keys: Vec<PrivateKey> = [1024, 1032, 2048].into_iter().flat_map(generate).collect();
    let plain = Rsa::new(&engine);
    for rsa in [plain, plain.blinding(true)] {
        check_private(&rsa, &plain, &keys);
    }
    check_public(&plain, &plain, &keys);
}

#[test]
fn a_gpu_answers_mixed_tasks_as_the_cpu_does() {
    let Some(gpu) = devices::gpu() else { return };
    let (cpu, keys) = (devices::cpu(), devices::keys(3));
    let before = kernel_seconds(&gpu);
    check_private(&Rsa::new(&gpu), &Rsa::new(&cpu), &keys);
    assert!(kernel_seconds(&gpu) > before, "kernels computed it");
    check_public(&Rsa::new(&gpu), &Rsa::new(&cpu), &keys);
    assert_eq!(gpu.faults(), [""; 0]);
}

#[test]
fn shapes_of_calls_with_tasks() {
    let engine = Engine::new().unwrap();
    let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap();
    let rsa = Rsa::new(&engine);
    assert_eq!(rsa.private_tasks(&key, &Vec::<PrivateTask>::new()).unwrap(), []);
    assert_eq!(rsa.public_tasks(key.public_key(), &Vec::<PublicTask>::new()).unwrap(), []);
    let task = &PrivateTask::Raw { number: vec![1].into() };
    let refused = rsa.private_tasks(&[&key, &key][..], &[task]).unwrap_err();
    assert_eq!(refused, Error::LengthMismatch { what: "keys", expected: 1, found: 2 });
    // All tasks are wrong.
    let wrong = Err(ItemError::WrongLength { expected: 64, found: 1 });
    assert_eq!(rsa.private_tasks(&key, &[task, task]).unwrap(), [wrong.clone(), wrong]);
}
