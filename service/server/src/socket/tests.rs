use crate::config::Config;
use crate::credentials::{self, Right};
use crate::run::Running;
use modmill_client::{Error, Key, Service, Task, with_engine};
use modmill_rsa::{Hash, Rsa, SignatureScheme};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const PKCS1: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

fn config(folder: &Path) -> Config {
    let listen = "127.0.0.1:0".parse().unwrap();
    let mut config = Config { data: folder.join("data"), listen, ..Config::default() };
    config.tls.enabled = false;
    config.engine.backend = "cpu".into();
    config.socket.path = folder.join("sign.sock");
    config.socket.mode = "0640".into();
    config
}

async fn token(running: &Running, name: &str, rights: &[Right]) -> String {
    let service = &running.service;
    let rights = rights.iter().copied().collect();
    let new = credentials::create(&service.records, name, rights, service.clock.now_ms()).await;
    new.unwrap().token.to_string()
}

async fn make_key(running: &Running, token: &str) {
    let mut stream = TcpStream::connect(running.url.strip_prefix("http://").unwrap()).await.unwrap();
    let body = r#"{"type":"rsa-2048"}"#;
    let head = "POST /v1/transit/keys/web HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    let text = format!("{head}x-vault-token: {token}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
}

/// Asks for a key on a thread that may block.
async fn key(path: PathBuf, token: String, name: &'static str) -> Result<Key, Error> {
    tokio::task::spawn_blocking(move || Service::new(&path, &token).key(name)).await.unwrap()
}

/// Signs by many threads, and verifies.
async fn sign(key: Key) {
    let work = move || {
        std::thread::scope(|scope| {
            for number in 0..8 {
                let key = &key;
                scope.spawn(move || {
                    let text = format!("message {number}");
                    let digest = Hash::Sha256.digest(&[text.as_bytes()]);
                    let signature = key.compute(Task::Sign { scheme: PKCS1, digest }).unwrap();
                    let verdicts = with_engine(|engine| {
                        Rsa::new(engine).verify(key.public_key(), PKCS1, &[&text], &[&signature[..]])
                    });
                    assert_eq!(verdicts.unwrap().unwrap(), [Ok(())]);
                });
            }
        });
    };
    tokio::task::spawn_blocking(work).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn programs_sign_with_keys_that_stay_in_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let path = config.socket.path.clone();
    let running = Running::start(&config).await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let right = token(&running, "web", &[Right::Bulk, Right::Transit]).await;
    make_key(&running, &right).await;
    let web = key(path.clone(), right.clone(), "transit/web").await.unwrap();
    assert_eq!(web.public_key().bits(), 2048);
    sign(web.clone()).await;

    let refused = |result: Result<Key, Error>| result.map(|_| ()).unwrap_err();
    let missing = refused(key(path.clone(), right.clone(), "transit/other").await);
    assert_eq!(missing, Error::NoSuchKey("transit/other".into()));
    assert!(matches!(refused(key(path.clone(), "wrong".into(), "transit/web").await), Error::Refused(_)));
    let no_bulk = token(&running, "other", &[Right::Transit]).await;
    assert!(matches!(refused(key(path.clone(), no_bulk, "transit/web").await), Error::Refused(_)));
    let no_transit = token(&running, "third", &[Right::Bulk]).await;
    assert!(matches!(refused(key(path.clone(), no_transit, "transit/web").await), Error::Refused(_)));
    let raw = Task::Raw { number: vec![1; 256].into() };
    let of_raw = web.clone();
    let answer = tokio::task::spawn_blocking(move || of_raw.compute(raw)).await.unwrap();
    assert!(matches!(answer, Err(Error::Refused(_))));

    // A service that is restarted is found again, by the same key.
    assert!(running.stop().await);
    assert!(!path.exists());
    let running = Running::start(&config).await.unwrap();
    sign(web).await;
    assert!(running.stop().await);
    let report = crate::audit::verify(&config.data.join("audit")).unwrap();
    assert_eq!(report.findings.len(), 0);
}

#[tokio::test]
async fn files_that_are_no_sockets_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    std::fs::write(&config.socket.path, "text").unwrap();
    assert!(Running::start(&config).await.is_err());
    assert_eq!(std::fs::read_to_string(&config.socket.path).unwrap(), "text");
    config.socket.mode = "9".into();
    assert!(config.check().unwrap_err().to_string().contains("socket.mode"));
}
