//! Operations of many threads and callbacks are computed together, and each gets its own answer.

use crate::KEY;
use modmill_client::{Encryption, Error, Key, PrivatePower, Task, rest, resume, statistics, with_engine};
use modmill_rsa::{EncryptionScheme, Hash, ItemError, PrivateKey, Rsa, SignatureScheme, Sizes, hazmat};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

const PKCS1: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

fn sign(text: &str) -> Task {
    Task::Sign { scheme: PKCS1, digest: Hash::Sha256.digest(&[text.as_bytes()]) }
}

fn expected(key: &PrivateKey, text: &str) -> Vec<u8> {
    with_engine(|engine| Rsa::new(engine).sign(key, PKCS1, &[text]).unwrap().remove(0).unwrap().to_vec())
        .unwrap()
}

#[test]
fn threads_get_their_own_answers_and_share_batches() {
    let keys: Vec<PrivateKey> = [512, 1024, 1024]
        .iter()
        .map(|bits| {
            with_engine(|engine| PrivateKey::generate(engine, *bits, Sizes::AllowSmall)).unwrap().unwrap()
        })
        .collect();
    let (threads, rounds) = (16, 30);
    let barrier = Barrier::new(threads);
    let before = statistics();
    thread::scope(|scope| {
        for number in 0..threads {
            let (key, barrier) = (&keys[number % keys.len()], &barrier);
            scope.spawn(move || {
                let handle = Key::local(key.clone());
                barrier.wait();
                for round in 0..rounds {
                    let text = format!("{number} {round}");
                    assert_eq!(handle.compute(sign(&text)).unwrap()[..], expected(key, &text));
                }
            });
        }
    });
    let after = statistics();
    let operations = after.operations - before.operations;
    assert!(operations >= threads * rounds, "{after:?}");
    assert!(after.largest > 1, "threads that come at the same time share batches: {after:?}");
}

#[test]
fn callbacks_and_threads_join_one_queue() {
    let key = Key::local(KEY.clone());
    let (sender, receiver) = mpsc::channel();
    for number in 0..200 {
        let sender = sender.clone();
        key.start(sign(&number.to_string()), move |answer| sender.send((number, answer)).unwrap());
    }
    let alone = key.compute(sign("in between")).unwrap();
    assert_eq!(alone[..], expected(&KEY, "in between"));
    drop(sender);
    let mut answers: Vec<_> = receiver.iter().collect();
    answers.sort_by_key(|(number, _)| *number);
    assert_eq!(answers.len(), 200);
    for (number, answer) in answers {
        assert_eq!(answer.unwrap()[..], expected(&KEY, &number.to_string()), "{number}");
    }
}

#[test]
fn a_wrong_task_costs_no_other_its_answer() {
    let key = Key::local(KEY.clone());
    let oaep = || Encryption::Oaep { hash: Hash::Sha256, mask_hash: Hash::Sha1, label: b"label".to_vec() };
    let ciphertext = with_engine(|engine| {
        let scheme = oaep();
        let EncryptionScheme::Oaep(_) = scheme.scheme() else { panic!("OAEP") };
        Rsa::new(engine).encrypt(KEY.public_key(), scheme.scheme(), &["message"]).unwrap().remove(0).unwrap()
    })
    .unwrap();
    let size = KEY.public_key().size();
    let tasks = vec![
        (Task::Decrypt { scheme: oaep(), ciphertext: ciphertext.clone() }, Ok(b"message".to_vec())),
        (Task::Decrypt { scheme: oaep(), ciphertext: vec![1; size] }, Err(ItemError::Decryption)),
        (Task::Raw { number: vec![0xff; size].into() }, Err(ItemError::OutOfRange)),
        (Task::Raw { number: vec![1; 3].into() }, Err(ItemError::WrongLength { expected: size, found: 3 })),
        (sign("right"), Ok(expected(&KEY, "right"))),
    ];
    let (sender, receiver) = mpsc::channel();
    let count = tasks.len();
    let mut wanted = Vec::new();
    for (number, (task, answer)) in tasks.into_iter().enumerate() {
        wanted.push(answer.map_err(Error::from));
        let sender = sender.clone();
        key.start(task, move |answer| sender.send((number, answer)).unwrap());
    }
    let mut found: Vec<_> = receiver.iter().take(count).collect();
    found.sort_by_key(|(number, _)| *number);
    let found: Vec<_> = found.into_iter().map(|(_, answer)| answer.map(|octets| octets.to_vec())).collect();
    assert_eq!(found, wanted);
}

/// A way to the power that counts its calls.
struct Counting(PrivateKey, Arc<AtomicUsize>);

impl PrivatePower for Counting {
    fn power(&self, number: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let powers = with_engine(|engine| hazmat::private(&Rsa::new(engine), &self.0, &[number]));
        powers.ok()?.ok()?.pop()?.ok()
    }
}

#[test]
fn an_operation_without_company_may_go_another_way() {
    let calls = Arc::new(AtomicUsize::new(0));
    let key = Key::local_with(KEY.clone(), Counting(KEY.clone(), Arc::clone(&calls)));
    for number in 0..20 {
        let text = number.to_string();
        assert_eq!(key.compute(sign(&text)).unwrap()[..], expected(&KEY, &text));
    }
    let ciphertext = with_engine(|engine| {
        let scheme = EncryptionScheme::Pkcs1v15;
        Rsa::new(engine).encrypt(KEY.public_key(), scheme, &["message"]).unwrap().remove(0).unwrap()
    });
    let decrypt = Task::Decrypt { scheme: Encryption::Pkcs1v15, ciphertext: ciphertext.unwrap() };
    assert_eq!(key.compute(decrypt).unwrap()[..], *b"message");
    assert!(calls.load(Ordering::Relaxed) > 0, "the other way is tried");
}

#[test]
fn a_callback_that_panics_harms_nobody() {
    let key = Key::local(KEY.clone());
    key.start(sign("lost"), |_| panic!("on purpose"));
    assert_eq!(key.compute(sign("next")).unwrap()[..], expected(&KEY, "next"));
}

/// A thread may gather the requests of others while its own is computed. If a pause ends the gathering, the
/// thread must not sleep through the answer that came meanwhile.
#[test]
fn pauses_lose_no_answer() {
    let (threads, rounds) = (8, 2000);
    let (sender, receiver) = mpsc::channel();
    for _ in 0..threads {
        let (key, sender) = (Key::local(KEY.clone()), sender.clone());
        thread::spawn(move || {
            for round in 0..rounds {
                key.compute(sign(&round.to_string())).unwrap();
            }
            sender.send(()).unwrap();
        });
    }
    let end = Instant::now() + Duration::from_secs(120);
    let mut done = 0;
    while done < threads {
        rest();
        resume();
        done += receiver.recv_timeout(Duration::from_micros(200)).iter().count();
        assert!(Instant::now() < end, "{} threads of {threads} wait for ever", threads - done);
    }
}
