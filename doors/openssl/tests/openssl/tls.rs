//! Handshakes of `openssl s_server` and `openssl s_client`.

use crate::common::{By, Modmill, Reference, Setup};
use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A port that nobody listens on.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

fn handshake(setup: &Setup, (server, client): (By, By), server_options: &str, client_options: &str) {
    let port = free_port();
    let files = "-cert certificate.pem -key key.pem";
    let running = setup
        .start(server, &format!("s_server -accept 127.0.0.1:{port} {files} -www -quiet {server_options}"));
    let end = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "the server does not start");
        sleep(Duration::from_millis(20));
    }
    let connect = format!(
        "s_client -connect 127.0.0.1:{port} -CAfile certificate.pem -verify_return_error {client_options}"
    );
    let said = String::from_utf8_lossy(&setup.ok(client, &connect)).into_owned();
    assert!(said.contains("Verify return code: 0"), "{server_options} {client_options}: {said}");
    drop(running);
}

#[test]
fn handshakes_of_both_versions_succeed() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(Modmill, "req -new -x509 -key key.pem -subj /CN=localhost -days 2 -out certificate.pem");
    for sides in [(Modmill, Reference), (Reference, Modmill), (Modmill, Modmill)] {
        for version in ["-tls1_2", "-tls1_3"] {
            for mode in ["", "-async"] {
                handshake(&setup, sides, mode, version);
            }
        }
    }
}

#[test]
fn secrets_that_the_client_encrypts_are_decrypted() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(Modmill, "req -new -x509 -key key.pem -subj /CN=localhost -days 2 -out certificate.pem");
    let suite = "-cipher AES128-GCM-SHA256:@SECLEVEL=0 -tls1_2";
    handshake(&setup, (Modmill, Reference), suite, suite);
    handshake(&setup, (Modmill, Reference), &format!("{suite} -async"), suite);
}
