//! A service at the other end of a socket that answers, refuses, breaks off and comes back.

use crate::KEY;
use modmill_client::wire::{Reason, Request, Response};
use modmill_client::{Error, Key, Service, Task, with_engine};
use modmill_rsa::{Hash, Rsa, SignatureScheme};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

const PKCS1: SignatureScheme = SignatureScheme::Pkcs1v15(Hash::Sha256);

fn read(stream: &mut UnixStream) -> Option<(u64, Request)> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut frame = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut frame).ok()?;
    Request::decode(&frame).ok()
}

fn answer(request: Request) -> Response {
    let refused = |reason, text: &str| Response::Refused { reason, text: text.to_owned() };
    match request {
        Request::Hello { token } if token == "right" => Response::Welcome,
        Request::Hello { .. } => refused(Reason::Denied, "the token is unknown"),
        Request::Describe { key } if key == "transit/web" => Response::Key {
            modulus: KEY.public_key().modulus_bytes().to_vec(),
            exponent: KEY.public_key().exponent_bytes(),
        },
        Request::Sign { scheme, digest, .. } => {
            let signed = with_engine(|engine| Rsa::new(engine).sign_digests(&*KEY, scheme, &[digest]));
            Response::Signature(signed.unwrap().unwrap().remove(0).unwrap().to_vec())
        }
        _ => refused(Reason::NoSuchKey, "there is no such key"),
    }
}

/// Serves connections. Each is closed after `most` answers, as by a service that is killed.
fn serve(path: &Path, most: usize) -> Arc<AtomicUsize> {
    let listener = UnixListener::bind(path).unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            thread::spawn(move || {
                for _ in 0..most {
                    let Some((id, request)) = read(&mut stream) else { return };
                    stream.write_all(&answer(request).encode(id)).unwrap();
                }
            });
        }
    });
    connections
}

fn sign(text: &str) -> Task {
    Task::Sign { scheme: PKCS1, digest: Hash::Sha256.digest(&[text.as_bytes()]) }
}

fn verifies(key: &Key, text: &str, signature: &[u8]) -> bool {
    let verdicts =
        with_engine(|engine| Rsa::new(engine).verify(key.public_key(), PKCS1, &[text], &[signature]));
    verdicts.unwrap().unwrap()[0].is_ok()
}

#[test]
fn keys_of_a_service_sign_in_threads_and_callbacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    serve(&path, usize::MAX);
    let service = Service::new(&path, "right");
    let key = service.key("transit/web").unwrap();
    assert!(key.private_key().is_none());
    assert_eq!(key.public_key(), KEY.public_key());
    thread::scope(|scope| {
        for number in 0..8 {
            let key = &key;
            scope.spawn(move || {
                for round in 0..10 {
                    let text = format!("{number} {round}");
                    assert!(verifies(key, &text, &key.compute(sign(&text)).unwrap()));
                }
            });
        }
    });
    let (sender, receiver) = mpsc::channel();
    key.start(sign("called back"), move |answer| sender.send(answer).unwrap());
    assert!(verifies(&key, "called back", &receiver.recv().unwrap().unwrap()));
    let raw = Task::Raw { number: vec![1; KEY.public_key().size()].into() };
    assert!(matches!(key.compute(raw), Err(Error::Refused(_))));
    assert_eq!(service.key("other").unwrap_err(), Error::NoSuchKey("other".into()));
}

#[test]
fn a_connection_that_breaks_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    // A greeting and three answers.
    let connections = serve(&path, 4);
    let key = Service::new(&path, "right").key("transit/web").unwrap();
    let key = &key;
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                for round in 0..10 {
                    let text = format!("{number} {round}");
                    assert!(verifies(key, &text, &key.compute(sign(&text)).unwrap()));
                }
            });
        }
    });
    assert!(connections.load(Ordering::Relaxed) > 10);
}

#[test]
fn a_wrong_token_is_refused_and_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    serve(&path, usize::MAX);
    let refused = Service::new(&path, "wrong").key("transit/web").unwrap_err();
    assert_eq!(refused, Error::Refused("the token is unknown".into()));
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nobody");
    let error = Service::new(&path, "right").key("transit/web").unwrap_err();
    assert!(matches!(&error, Error::Unreachable { path, .. } if path.ends_with("nobody")), "{error}");
    assert!(error.to_string().contains("nobody"), "{error}");
}
