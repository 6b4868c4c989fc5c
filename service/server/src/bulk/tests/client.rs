//! The client and the endpoint over real connections.

use super::{Bulk, verdicts};
use crate::door::testing::{TOKEN, WEAK};
use bytes::Bytes;
use futures_util::{TryStreamExt, stream};
use modmill_client::bulk::{BulkClient, ClientError, Status, Trust};
use modmill_rsa::{Hash, Pss, SaltLength, SignatureScheme};

/// The address of a server on this machine.
async fn serve(bulk: &Bulk) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let router = bulk.router.clone();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

fn digests(count: usize, hash: Hash) -> Vec<u8> {
    (0..count).flat_map(|item| hash.digest(&[&item.to_le_bytes()]).as_ref().to_vec()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn digests_are_signed_in_order() {
    let bulk = Bulk::new().await;
    let client = BulkClient::connect(&serve(&bulk).await, TOKEN, &Trust::System).await.expect("a connection");
    for scheme in [
        SignatureScheme::Pkcs1v15(Hash::Sha256),
        SignatureScheme::Pss(Pss { salt: SaltLength::Digest, ..Pss::new(Hash::Sha512) }),
    ] {
        // More than a chunk, and not a multiple of it.
        let digests = digests(1500, scheme.hash());
        let signed = client.sign("transit/k", scheme, digests.clone().into()).await.expect("signatures");
        let signatures: Vec<_> =
            signed.iter().map(|signature| signature.unwrap_or_default().to_vec()).collect();
        assert_eq!(verdicts(&bulk, scheme, &digests, &signatures), 1500);
    }
    let none =
        client.sign("transit/k", SignatureScheme::pss(Hash::Sha256), Bytes::new()).await.expect("an answer");
    assert!(none.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_while_digests_are_sent() {
    let bulk = Bulk::new().await;
    let client = BulkClient::connect(&serve(&bulk).await, TOKEN, &Trust::System).await.expect("a connection");
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
    let receiver = std::sync::Arc::new(tokio::sync::Mutex::new(receiver));
    let pieces = stream::unfold(receiver, |receiver| async move {
        let piece = receiver.lock().await.recv().await;
        piece.map(|piece| (piece, receiver))
    });
    let mut answers = client.sign_stream("transit/k:1", scheme, Box::pin(pieces)).await.expect("an answer");
    for round in 0..3 {
        // A digest in two pieces is answered before the next one is sent.
        let digest = digests(1, Hash::Sha256);
        sender.send(digest[..5].to_vec().into()).await.expect("a reader");
        sender.send(digest[5..].to_vec().into()).await.expect("a reader");
        let signed = answers.try_next().await.expect("an answer").expect("a signature");
        assert_eq!((signed.len(), signed.get(0).map(<[u8]>::len)), (1, Some(256)), "{round}");
    }
    sender.send(Bytes::from_static(b"rest")).await.expect("a reader");
    drop(sender);
    match answers.try_next().await {
        Err(ClientError::Stopped { status: Status::Request, reason }) => {
            assert_eq!(reason, "the request ends within a digest: 4 bytes are too many");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_say_why() {
    let bulk = Bulk::new().await;
    let address = serve(&bulk).await;
    let scheme = SignatureScheme::pss(Hash::Sha256);
    for (token, key, status) in [
        ("x", "transit/k", 401),
        (WEAK, "transit/k", 403),
        (TOKEN, "transit/none", 404),
        (TOKEN, "a b&c=d", 404),
    ] {
        let client = BulkClient::connect(&address, token, &Trust::System).await.expect("a connection");
        match client.sign(key, scheme, vec![0; 32].into()).await {
            Err(ClientError::Refused { status: found, reason }) => {
                assert_eq!(found.as_u16(), status, "{reason}");
                assert!(status != 404 || reason == format!("there is no key {key:?}"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    for wrong in ["ftp://localhost", "localhost:1", "http://", "http://localhost/path"] {
        let error = BulkClient::connect(wrong, TOKEN, &Trust::System).await.err();
        assert!(matches!(error, Some(ClientError::Address(_))), "{wrong}: {error:?}");
    }
    let error = BulkClient::connect("http://127.0.0.1:1", TOKEN, &Trust::System).await.err();
    assert!(matches!(error, Some(ClientError::Connection(_))), "{error:?}");
    let error = BulkClient::connect(&address, "a\nb", &Trust::System).await.err();
    assert!(matches!(error, Some(ClientError::Token)), "{error:?}");
    let secure = address.replace("http:", "https:");
    let error = BulkClient::connect(&secure, TOKEN, &Trust::Only(Vec::new())).await.err();
    assert!(matches!(error, Some(ClientError::Certificates(_))), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_certificates_that_are_trusted_are_accepted() {
    let bulk = Bulk::new().await;
    let make = || rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate");
    let (own, other) = (make(), make());
    let key = rustls::pki_types::PrivateKeyDer::try_from(own.signing_key.serialize_der()).expect("a key");
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .expect("a certificate");
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("https://localhost:{}", listener.local_addr().expect("an address").port());
    let router = bulk.router.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let service = hyper_util::service::TowerToHyperService::new(router.clone());
            let builder = hyper_util::server::conn::auto::Builder::new(hyper_util::rt::TokioExecutor::new());
            tokio::spawn(async move {
                let _ = builder.serve_connection(hyper_util::rt::TokioIo::new(stream), service).await;
            });
        }
    });
    let trust = Trust::Only(own.cert.pem().into_bytes());
    let client = BulkClient::connect(&address, TOKEN, &trust).await.expect("a connection");
    let signed = client.sign("transit/k", SignatureScheme::pss(Hash::Sha256), vec![1; 64].into()).await;
    assert_eq!(signed.expect("signatures").len(), 2);
    for trust in [Trust::System, Trust::Only(other.cert.pem().into_bytes())] {
        let error = BulkClient::connect(&address, TOKEN, &trust).await.err();
        let is_refused = matches!(error, Some(ClientError::Connection(_) | ClientError::Certificates(_)));
        assert!(is_refused, "{error:?}");
    }
}
