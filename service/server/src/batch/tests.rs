use super::*;
use crate::audit::AuditSettings;
use crate::clock::Clock;
use crate::credentials::Principal;
use crate::metrics::Metrics;
use modmill_cuda::Faults;
use modmill_rsa::{Encryption, Hash, Rsa, Sizes};
use std::sync::LazyLock;

const PKCS1: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

static KEYS: LazyLock<Vec<Arc<PrivateKey>>> = LazyLock::new(|| {
    let keys = PrivateKey::generate_many(&cpu(), 512, 3, Sizes::AllowSmall).unwrap();
    let long = PrivateKey::generate(&cpu(), 1024, Sizes::AllowSmall).unwrap();
    keys.into_iter().chain([long]).map(Arc::new).collect()
});

fn cpu() -> Engine {
    Engine::builder().backend(Backend::Cpu).build().unwrap()
}

fn origin(principal: &str) -> Origin {
    let principal = Principal { name: principal.into(), access_key_id: "AK".into(), rights: [].into() };
    Origin {
        principal: Arc::new(principal),
        door: "kms",
        operation: "Sign",
        key_id: "key".into(),
        request_id: "request".into(),
        deadline: Instant::now() + Duration::from_secs(600),
    }
}

fn sign(message: &str) -> PrivateTask {
    PrivateTask::Sign { scheme: PKCS1, digest: Hash::Sha256.digest(&[message.as_bytes()]) }
}

fn expected(key: &PrivateKey, message: &str) -> Vec<u8> {
    Rsa::new(&cpu()).sign(key, PKCS1, &[message]).unwrap().remove(0).unwrap()
}

fn start(engine: Engine, settings: BatchSettings) -> Arc<Batcher> {
    Arc::new(Batcher::start(Arc::new(engine), settings, None, Arc::default()).unwrap())
}

/// Asks from many tasks at once.
async fn together<T: Send + 'static>(
    count: usize,
    ask: impl Fn(usize) -> tokio::task::JoinHandle<T>,
) -> Vec<T> {
    let tasks: Vec<_> = (0..count).map(ask).collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everybody_gets_the_own_answer() {
    let batcher = Arc::new(Batcher::new(cpu()));
    let answers = together(200, |number| {
        let (batcher, key) = (Arc::clone(&batcher), Arc::clone(&KEYS[number % 4]));
        tokio::spawn(async move {
            let origin = origin(&format!("principal {}", number % 5));
            batcher.private(origin, key, sign(&format!("message {number}"))).await
        })
    })
    .await;
    for (number, answer) in answers.into_iter().enumerate() {
        let expected = expected(&KEYS[number % 4], &format!("message {number}"));
        assert_eq!(*answer.unwrap(), expected, "{number}");
    }
}

#[tokio::test]
async fn operations_of_all_kinds_are_answered() {
    let batcher = Batcher::new(cpu());
    let key = &KEYS[3];
    let public = key.public_key().clone();
    let scheme = Encryption::Oaep { hash: Hash::Sha256, mask_hash: Hash::Sha256, label: b"label".to_vec() };
    let digest = Hash::Sha256.digest(&[b"message"]);
    let signature = expected(key, "message");
    let encrypt = PublicTask::Encrypt { scheme: scheme.clone(), message: b"secret".to_vec().into() };
    let verify =
        |signature: &[u8]| PublicTask::Verify { scheme: PKCS1, digest, signature: signature.to_vec() };
    let tasks = vec![encrypt, verify(&signature), verify(&[0; 128])];
    let mut answers = batcher.public_many(origin("a"), public, tasks).await.unwrap();
    assert_eq!(answers[1..], [Ok(vec![]), Err(ItemError::Verification)]);
    let ciphertext = answers.remove(0).unwrap();
    let blinded = vec![1; 128];
    let tasks = vec![
        PrivateTask::Decrypt { scheme: scheme.clone(), ciphertext },
        PrivateTask::Decrypt { scheme, ciphertext: vec![1; 128] },
        PrivateTask::Raw { number: blinded.into() },
        PrivateTask::Raw { number: vec![1; 7].into() },
    ];
    let answers = batcher.private_many(origin("a"), Arc::clone(key), tasks).await.unwrap();
    assert_eq!(answers[0].as_ref().unwrap()[..], b"secret"[..]);
    assert_eq!(answers[1], Err(ItemError::Decryption));
    assert_eq!(answers[2].as_ref().unwrap().len(), 128);
    assert!(matches!(answers[3], Err(ItemError::WrongLength { .. })));
    assert_eq!(batcher.private_many(origin("a"), Arc::clone(key), vec![]).await, Ok(vec![]));
    let refused =
        batcher.private(origin("a"), Arc::clone(key), PrivateTask::Raw { number: vec![].into() }).await;
    assert!(matches!(refused, Err(Refused::Item(ItemError::WrongLength { .. }))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_computed_in_pieces_between_the_calls_of_others() {
    let settings = BatchSettings { workers: 1, batch: Duration::ZERO, ..BatchSettings::default() };
    let batcher = start(cpu(), settings);
    let key = Arc::clone(&KEYS[3]);
    let digests: Vec<u8> = (0..3000)
        .flat_map(|item: u32| Hash::Sha256.digest(&[&item.to_be_bytes()]).as_ref().to_vec())
        .collect();
    let digests = bytes::Bytes::from(digests);
    let rows = {
        let (batcher, key, digests) = (Arc::clone(&batcher), Arc::clone(&key), digests.clone());
        tokio::spawn(async move { batcher.sign_rows(origin("bulk"), key, PKCS1, digests).await })
    };
    while batcher.depth().0 == 0 && !rows.is_finished() {
        tokio::task::yield_now().await;
    }
    batcher.private(origin("other"), Arc::clone(&key), sign("short")).await.unwrap();
    assert!(!rows.is_finished(), "the short call does not wait for the long one");
    let rows = rows.await.unwrap().unwrap();
    assert_eq!((rows.len(), rows.iter().count()), (3000, 3000));
    let verify = |item: usize| {
        let digest = &digests[32 * item..32 * item + 32];
        Rsa::new(&cpu())
            .verify_digests(key.public_key(), PKCS1, &[digest], &[rows.get(item).unwrap()])
            .unwrap()
    };
    for item in [0, 1, 1499, 2999] {
        assert_eq!(verify(item), [Ok(())], "{item}");
    }
    let wrong = batcher.sign_rows(origin("bulk"), key, PKCS1, digests.slice(..33)).await;
    assert!(matches!(wrong, Err(Refused::Item(ItemError::WrongLength { .. }))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn overload_is_refused_at_once_and_the_rest_is_answered() {
    let settings = BatchSettings { workers: 1, queue: Duration::from_millis(2), ..BatchSettings::default() };
    let batcher = start(cpu(), settings);
    let answers = together(2000, |_| {
        let (batcher, key) = (Arc::clone(&batcher), Arc::clone(&KEYS[3]));
        tokio::spawn(async move { batcher.private(origin("greedy"), key, sign("message")).await })
    })
    .await;
    let refused = answers.iter().filter(|answer| matches!(answer, Err(Refused::Overloaded(_)))).count();
    let answered = answers.iter().filter(|answer| answer.is_ok()).count();
    assert!(refused > 0 && answered > 0, "{refused} refused, {answered} answered");
    assert_eq!(refused + answered, 2000);
}

#[tokio::test]
async fn a_late_call_is_not_computed() {
    let batcher = Batcher::new(cpu());
    let late = Origin { deadline: Instant::now(), ..origin("a") };
    let answer = batcher.private(late, Arc::clone(&KEYS[0]), sign("message")).await;
    assert_eq!(answer.map(|_| ()), Err(Refused::Late));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn draining_answers_what_was_taken() {
    let batcher = start(cpu(), BatchSettings { workers: 1, ..BatchSettings::default() });
    let mut calls: Vec<_> = (0..300)
        .map(|_| {
            let (batcher, key) = (Arc::clone(&batcher), Arc::clone(&KEYS[3]));
            tokio::spawn(async move { batcher.private(origin("a"), key, sign("message")).await })
        })
        .collect();
    calls.remove(0).await.unwrap().unwrap();
    batcher.drain().await;
    assert_eq!((batcher.depth().0, batcher.is_ready()), (0, false));
    for call in calls {
        if let Err(refused) = call.await.unwrap() {
            assert_eq!(refused, Refused::Draining);
        }
    }
    let refused = batcher.private(origin("a"), Arc::clone(&KEYS[3]), sign("message")).await;
    assert_eq!(refused.map(|_| ()), Err(Refused::Draining));
}

#[tokio::test]
async fn operations_are_in_the_audit_log_before_they_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let audit = Arc::new(Audit::open(folder.path(), &AuditSettings::default(), Clock::default()).unwrap());
    let metrics = Arc::new(Metrics::default());
    let settings = BatchSettings::default();
    let batcher =
        Batcher::start(Arc::new(cpu()), settings, Some(Arc::clone(&audit)), Arc::clone(&metrics)).unwrap();
    let key = Arc::clone(&KEYS[0]);
    batcher.private_many(origin("a"), Arc::clone(&key), vec![sign("one"), sign("two")]).await.unwrap();
    assert_eq!(audit.head().0, 3);
    batcher.sign_rows(origin("a"), Arc::clone(&key), PKCS1, vec![7; 64].into()).await.unwrap();
    assert_eq!(audit.head().0, 4, "one line for all digests of a piece");
    let public = key.public_key().clone();
    let verify = PublicTask::Verify {
        scheme: PKCS1,
        digest: Hash::Sha256.digest(&[b"one"]),
        signature: expected(&key, "one"),
    };
    batcher.public_many(origin("a"), public, vec![verify]).await.unwrap();
    assert_eq!(audit.head().0, 4, "public operations are not noted");
    assert_eq!(crate::audit::verify(folder.path()).unwrap().findings, []);
    assert!(
        metrics.text().contains(r#"modmill_items_total{door="kms",operation="Sign",outcome="answered"} 5"#)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gpu_that_fails_costs_no_answer() {
    let lost = || Faults { lose_device_after: Some(4), ..Faults::default() };
    for (faults, has_fallback) in [(Faults::default(), true), (lost(), true), (lost(), false)] {
        let Some(engine) = modmill_testing::emulated::engine(faults) else { return };
        let engine = Arc::new(engine.fallback(has_fallback).build().unwrap());
        let settings = BatchSettings { workers: 1, batch: Duration::ZERO, ..BatchSettings::default() };
        let metrics = Arc::new(Metrics::default());
        let batcher = Batcher::start(engine, settings, None, Arc::clone(&metrics)).unwrap();
        let digests: Vec<u8> = (0..512 * 32).map(|octet| octet as u8).collect();
        let rows = batcher.sign_rows(origin("a"), Arc::clone(&KEYS[0]), PKCS1, digests.clone().into()).await;
        let rows = rows.unwrap();
        assert_eq!(rows.len(), 512);
        assert!(rows.iter().all(|row| row.is_ok()));
        let expected = Rsa::new(&cpu()).sign_digests(&*KEYS[0], PKCS1, &[&digests[..32]]).unwrap();
        assert_eq!(rows.get(0).ok(), expected[0].as_deref().ok());
        let text = metrics.text();
        assert!(text.contains(r#"modmill_backend_items_total{backend="gpu""#), "{text}");
    }
}

/// An engine on GPUs alone has them compute every batch, however small. Batches by themselves begin and end,
/// so that none waits for a worker that does not come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_goes_to_the_gpu_that_was_asked_for() {
    let Some(engine) = modmill_testing::emulated::engine(Faults::default()) else { return };
    let metrics = Arc::new(Metrics::default());
    let engine = Arc::new(engine.build().unwrap());
    let batcher = Batcher::start(engine, BatchSettings::default(), None, Arc::clone(&metrics)).unwrap();
    for number in 0..3 {
        let message = format!("message {number}");
        let answer = batcher.private(origin("a"), Arc::clone(&KEYS[0]), sign(&message)).await.unwrap();
        assert_eq!(*answer, expected(&KEYS[0], &message));
    }
    let text = metrics.text();
    assert!(text.contains(r#"modmill_backend_items_total{backend="gpu",kind="private"} 3"#), "{text}");
    batcher.drain().await;
}
