mod hostile;

use super::*;
use crate::admin::{Command, send};
use crate::batch::Origin;
use crate::credentials::{Principal, Right};
use modmill_rsa::{Hash, PrivateKey, PrivateTask, SignatureScheme, Sizes};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn config(folder: &std::path::Path) -> Config {
    let listen = "127.0.0.1:0".parse().unwrap();
    let mut config = Config { data: folder.join("data"), listen, ..Config::default() };
    config.tls.enabled = false;
    config.engine.backend = "cpu".into();
    config.metrics.open_on_loopback = false;
    config
}

#[test]
fn the_backend_that_is_asked_for_computes() {
    let engine_on = |backend: &str| {
        let mut config = Config::default();
        config.engine.backend = backend.into();
        config.check().unwrap();
        engine(&config)
    };
    assert_eq!(modmill::only_backend(&engine_on("cpu").unwrap()), Some(Backend::Cpu));
    // A machine without a GPU has no such engine, rather than one that computes elsewhere.
    if let Ok(engine) = engine_on("cuda") {
        assert_eq!(modmill::only_backend(&engine), Some(Backend::Cuda));
    }
}

/// Starts a service in the folder of one that has just ended: connections of commands may hold its store for
/// a moment.
async fn start_again(config: &Config) -> Result<Running, RunError> {
    for _ in 0..3000 {
        match Running::start(config).await {
            Err(RunError::Store(_)) => tokio::time::sleep(Duration::from_millis(20)).await,
            started => return started,
        }
    }
    Running::start(config).await
}

async fn get(running: &Running, path: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(running.url.strip_prefix("http://").unwrap()).await.unwrap();
    let text = format!(
        "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_runs_takes_commands_and_drains() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    assert!(send(&config.data, &Command::ListCredentials).await.unwrap().is_none(), "nothing runs yet");
    let running = Running::start(&config).await.unwrap();
    assert!(config.data.join(admin::SOCKET).exists());
    assert!(get(&running, "/health", "").await.ends_with("ok\n"));
    let ready = get(&running, "/ready", "").await;
    assert!(ready.starts_with("HTTP/1.1 200") && ready.contains(r#""ready":true"#), "{ready}");

    // Commands go through the socket while the service holds the store.
    let watch = Command::CreateCredential { name: "watcher".into(), rights: [Right::Watch].into() };
    let answer = send(&config.data, &watch).await.unwrap();
    let created: serde_json::Value = serde_json::from_str(&answer.expect("the socket is there")).unwrap();
    let text = |field: &str| created[field].as_str().unwrap().to_owned();
    assert!(text("access_key_id").starts_with("AKIA") && !text("secret_access_key").is_empty());
    assert!(get(&running, "/metrics", "wrong").await.starts_with("HTTP/1.1 401"));
    assert!(get(&running, "/metrics", &text("token")).await.contains("modmill_queue_calls 0"));
    let list = send(&config.data, &Command::ListCredentials).await.unwrap().unwrap();
    assert!(list.contains("watcher") && !list.contains(&text("secret_access_key")), "{}", *list);
    let backup = Command::Backup { path: folder.path().join("backup") };
    send(&config.data, &backup).await.unwrap().unwrap();
    assert!(send(&config.data, &backup).await.is_err(), "the file is there already");
    let revoke = Command::RevokeCredential { access_key_id: text("access_key_id") };
    send(&config.data, &revoke).await.unwrap().unwrap();
    assert!(get(&running, "/metrics", &text("token")).await.starts_with("HTTP/1.1 401"));

    // Private operations are audited.
    let engine = Arc::clone(running.service.batcher.engine());
    let key = PrivateKey::generate(&engine, 512, Sizes::AllowSmall).unwrap();
    let principal = Principal { name: "a".into(), access_key_id: "AK".into(), rights: [].into() };
    let origin = Origin {
        principal: Arc::new(principal),
        door: "kms",
        operation: "Sign",
        key_id: "key".into(),
        request_id: "request".into(),
        deadline: Instant::now() + Duration::from_secs(300),
    };
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let task = PrivateTask::Sign { scheme, digest: Hash::Sha256.digest(&[b"message"]) };
    running.service.batcher.private(origin, Arc::new(key), task).await.unwrap();
    assert!(running.stop().await);
    let report = crate::audit::verify(&config.data.join("audit")).unwrap();
    // The start, two commands about the credential, two about backups, and the signature.
    assert_eq!((report.lines, report.findings.len()), (6, 0));
    let lines = crate::door::testing::audit_lines(&config.data.join("audit"));
    for (line, operation, outcome) in
        [(1, "create_credential", "ok"), (2, "backup", "ok"), (4, "revoke_credential", "ok")]
    {
        let found = ["principal", "door", "operation", "outcome"].map(|name| lines[line][name].clone());
        assert_eq!(found, ["operator", "admin", operation, outcome], "{}", lines[line]);
    }
    assert_eq!((&lines[1]["key"], &lines[4]["key"]), (&created["access_key_id"], &created["access_key_id"]));
    assert_eq!(lines[1]["change"], serde_json::json!({ "name": "watcher", "rights": ["watch"] }));
    assert_ne!(lines[3]["outcome"], "ok", "the second backup was refused");
    assert!(!config.data.join(admin::SOCKET).exists());

    // All commits are there after a start, and a second master key opens them after a reseal.
    let new_key = folder.path().join("new.key");
    let running = start_again(&config).await.unwrap();
    let reseal = Command::Reseal { master_key_file: new_key.clone() };
    send(&config.data, &reseal).await.unwrap().expect("the socket is there as soon as the service is");
    assert!(running.stop().await);
    let refused = start_again(&config).await.err();
    assert!(matches!(refused, Some(RunError::Records(_))), "the old master key opens nothing: {refused:?}");
    let mut config = config;
    config.store.master_key_file = new_key;
    assert!(start_again(&config).await.unwrap().stop().await);
}

#[tokio::test]
async fn a_lost_master_key_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let store = open_store(&config).await.unwrap();
    drop(open_records(&config, Arc::clone(&store)).await.unwrap());
    std::fs::remove_file(config.data.join("master.key")).unwrap();
    assert!(matches!(open_records(&config, store).await, Err(RunError::MasterKey(_))));
    assert!(!config.data.join("master.key").exists());
}

/// A client that sends a body of some length sees why it was refused although nobody reads the body for its
/// sake.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_with_bodies_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&config(folder.path())).await.unwrap();
    for (path, status, error) in
        [("/", 400, "MissingAuthenticationToken"), ("/v1/transit/sign/k", 403, "permission denied")]
    {
        let mut stream = TcpStream::connect(running.url.strip_prefix("http://").unwrap()).await.unwrap();
        let body = " ".repeat(250_000);
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n");
        let text = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(error), "{answer}");
    }
    assert_eq!(running.service.bodies.held(), 0);
    assert!(running.stop().await);
}
