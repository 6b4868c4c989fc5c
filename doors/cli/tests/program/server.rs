//! `modmill rsa sign --server` as users call it, with a service in this process.

use crate::common::{run, scratch, stderr, stdout};
use modmill::Engine;
use modmill_records::store::MemoryStore;
use modmill_records::{Kinds, Records, Sealer};
use modmill_seal::SecretBytes;
use modmill_server::batch::Batcher;
use modmill_server::credentials::Right;
use modmill_server::service::Service;
use modmill_server::settings::Settings;
use modmill_server::transit::TransitRing;
use modmill_server::{bulk, credentials, transit};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A service with a transit key `k`.
struct Server {
    address: SocketAddr,
    token: String,
    /// The public key in PEM.
    public: String,
    _runtime: Runtime,
}

impl Server {
    fn start() -> Self {
        let runtime = Runtime::new().unwrap();
        let (address, token) = runtime.block_on(async {
            let sealer = Sealer::new(&SecretBytes::random(32).unwrap()).unwrap();
            let kinds = transit::kinds(credentials::kinds(Kinds::default()));
            let records = Records::open(Arc::new(MemoryStore::default()), sealer, kinds).await.unwrap();
            let rights = [Right::Bulk, Right::Transit].into();
            let credential = credentials::create(&records, "tester", rights, 0).await.unwrap();
            let batcher = Batcher::new(Engine::builder().build().unwrap());
            let service = Arc::new(Service::new(Settings::default(), records, batcher));
            let ring = Arc::new(TransitRing::new(Arc::clone(&service)));
            let router = transit::router(Arc::clone(&service)).merge(bulk::router(service, vec![ring]));
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async move { axum::serve(listener, router).await });
            (address, credential.token.to_string())
        });
        let mut server = Self { address, token, public: String::new(), _runtime: runtime };
        let key = server.create_key();
        server.public = key["data"]["keys"]["1"]["public_key"].as_str().unwrap().to_owned();
        server
    }

    fn create_key(&self) -> Value {
        let body = r#"{"type":"rsa-2048"}"#;
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(
            stream,
            "POST /v1/transit/keys/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Vault-Token: {}\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

#[test]
fn a_service_signs_lines_and_files() {
    let server = Server::start();
    let file = |name: &str| scratch(&format!("server-{name}")).to_str().unwrap().to_owned();
    let (token, wrong, public) = (file("token"), file("wrong"), file("public.pem"));
    std::fs::write(&token, format!("{}\n", server.token)).unwrap();
    std::fs::write(&wrong, "guess").unwrap();
    std::fs::write(&public, &server.public).unwrap();
    let url = format!("http://{}", server.address);
    let scheme = ["--padding", "pss", "--hash", "sha256"];
    let sign = |token: &str, key: &str, more: &[&str], input: &str| {
        let own = ["rsa", "sign", "--server", &url, "--token-file", token, "--key", key];
        run(&[&own[..], &scheme, more].concat(), input)
    };

    let lines: String = (0..1500).map(|item| format!("{{\"message\":\"{item:08x}\"}}\n")).collect();
    let signed = sign(&token, "transit/k", &["--format", "lines"], &lines);
    assert!(signed.status.success(), "{}", stderr(&signed));
    let verify = ["rsa", "verify", "--key", &public, "--format", "lines"];
    let verified = run(&[&verify[..], &scheme].concat(), &stdout(&signed));
    assert!(verified.status.success(), "{}", stderr(&verified));
    assert_eq!(stdout(&verified).matches("\"valid\":true").count(), 1500);

    let (message, signature) = (file("message"), file("message.sig"));
    std::fs::write(&message, "a message in a file").unwrap();
    let signed = sign(&token, "transit/k:1", &["--in", &message, "--out", &signature], "");
    assert!(signed.status.success(), "{}", stderr(&signed));
    let verify = ["rsa", "verify", "--key", &public, "--in", &message, "--sig", &signature];
    assert!(run(&[&verify[..], &scheme].concat(), "").status.success());

    // A digest of a wrong length between two right ones.
    let digest = "11".repeat(32);
    let lines = format!("{{\"digest\":\"{digest}\"}}\n{{\"digest\":\"00\"}}\n{{\"digest\":\"{digest}\"}}\n");
    let signed = sign(&token, "transit/k", &["--digest", "--format", "lines"], &lines);
    assert_eq!(signed.status.code(), Some(1));
    let text = stdout(&signed);
    assert_eq!(text.matches("\"signature\"").count(), 2, "{text}");
    assert!(text.contains("the input has 1 bytes instead of 32"), "{text}");

    for (token, key, reason) in [
        (&wrong, "transit/k", "(401 Unauthorized): the token is missing or unknown"),
        (&token, "transit/other", "there is no key \"transit/other\""),
    ] {
        let refused = sign(token, key, &["--format", "lines"], "{\"message\":\"00\"}\n");
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
    }
    let refused = sign("-", "transit/k", &["--format", "lines"], "");
    assert!(
        stderr(&refused).contains("--token-file and --in cannot both read standard input"),
        "{}",
        stderr(&refused)
    );
    let refused = sign(&token, "transit/k", &["--blinding"], "");
    assert!(stderr(&refused).contains("cannot be used with"), "{}", stderr(&refused));
}
