use super::{Client, base64};
use crate::door::testing::{audit_lines, audited, service};
use aes_kw::{KeyInit, KwpAes256};
use modmill::Engine;
use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, PublicKey, Rsa, Sizes};
use serde_json::{Value, json};

#[tokio::test]
async fn keys_are_created_described_listed_and_deleted() {
    let client = Client::new().await;
    let about = client.get("keys/k").await.json()["data"].clone();
    assert_eq!((&about["type"], &about["latest_version"]), (&json!("rsa-2048"), &json!(1)));
    assert_eq!(about["supports_signing"], true);
    let pem = about["keys"]["1"]["public_key"].as_str().expect("a public key");
    assert_eq!(PublicKey::read(pem.as_bytes(), Sizes::Standard).expect("a key").bits(), 2048);
    assert!(about["keys"]["1"]["creation_time"].as_str().is_some_and(|time| time.starts_with("20")));

    let again = client.post("keys/k", json!({ "type": "rsa-2048" })).await;
    assert_eq!(again.json()["warnings"], json!(["key k already existed"]));
    assert_eq!(again.json()["data"], about, "the key stays as it was");

    for (method, path) in [("LIST", "keys"), ("GET", "keys?list=true"), ("LIST", "keys/")] {
        let answer = client.call(method, path, &Value::Null).await;
        assert_eq!(answer.json()["data"]["keys"], json!(["k"]), "{method} {path}");
    }
    assert_eq!(client.get("keys").await.status, 405);

    let refused = client.call("DELETE", "keys/k", &Value::Null).await;
    assert_eq!(refused.json()["errors"][0], "error deleting policy k: deletion is not allowed for this key");
    client.data("keys/k/config", json!({ "deletion_allowed": true })).await;
    assert_eq!(client.call("DELETE", "keys/k", &Value::Null).await.status, 204);
    let gone = client.get("keys/k").await;
    assert_eq!((gone.status.as_u16(), gone.json()), (404, json!({ "errors": [] })));
    assert_eq!(client.call("LIST", "keys", &Value::Null).await.status, 404);
}

#[tokio::test]
async fn what_a_key_cannot_be_is_refused() {
    let client = Client::new().await;
    for (body, error) in [
        (json!({}), "unknown key type aes256-gcm96"),
        (
            json!({ "type": "ed25519" }),
            "unknown key type ed25519: this service has rsa-2048, rsa-3072 and rsa-4096",
        ),
        (json!({ "type": "rsa-2048", "derived": true }), "key derivation"),
        (json!({ "type": "rsa-2048", "allow_plaintext_backup": "true" }), "plaintext backups"),
        (json!({ "type": "rsa-2048", "auto_rotate_period": "24h" }), "automatic rotation"),
        (json!({ "type": 5 }), "unknown key type 5"),
        (json!([]), "failed to parse JSON input"),
    ] {
        let (status, found) = client.error("keys/other", body).await;
        assert!(status == 400 && found.starts_with(error), "{found}");
    }
    for name in ["-k", "k.", "a%20b", "%2e%2e"] {
        let (status, _) = client.error(&format!("keys/{name}"), json!({ "type": "rsa-2048" })).await;
        assert_eq!(status, 404, "{name}");
    }
}

#[tokio::test]
async fn versions_are_rotated_limited_and_trimmed() {
    let client = Client::new().await;
    let old = client.data("sign/k", json!({ "input": base64("m") })).await["signature"].clone();
    assert_eq!(client.data("keys/k/rotate", Value::Null).await["latest_version"], 2);
    let new = client.data("sign/k", json!({ "input": base64("m") })).await;
    assert_eq!(new["key_version"], 2);
    assert!(new["signature"].as_str().is_some_and(|text| text.starts_with("vault:v2:")));
    let verify = json!({ "input": base64("m"), "signature": old });
    assert_eq!(client.data("verify/k", verify.clone()).await["valid"], true);

    for (body, error) in [
        (
            json!({ "min_decryption_version": 3 }),
            "cannot set min decryption version of 3, latest key version is 2",
        ),
        (json!({ "min_encryption_version": -1 }), "min encryption version cannot be negative"),
        (
            json!({ "min_encryption_version": 1, "min_decryption_version": 2 }),
            "cannot set min encryption/decryption",
        ),
    ] {
        let (status, found) = client.error("keys/k/config", body).await;
        assert!(status == 400 && found.starts_with(error), "{found}");
    }
    let error = client.error("keys/k/trim", json!({ "min_available_version": 2 })).await.1;
    assert_eq!(error, "minimum available version cannot be set when minimum encryption version is not set");
    client.data("keys/k/config", json!({ "min_decryption_version": 2, "min_encryption_version": 2 })).await;
    let error = client.error("verify/k", verify).await.1;
    assert_eq!(error, "ciphertext or signature version is disallowed by policy (too old)");
    let error = client.error("sign/k", json!({ "input": "", "key_version": 1 })).await.1;
    assert_eq!(error, "requested version for signing is less than the minimum encryption key version");
    let trimmed = client.data("keys/k/trim", json!({ "min_available_version": 2 })).await;
    assert_eq!(trimmed["keys"].as_object().map(|keys| keys.len()), Some(1));
    let error = client.error("keys/k/config", json!({ "min_decryption_version": 1 })).await.1;
    assert_eq!(error, "cannot set min decryption version less than min available version");
    assert_eq!(client.error("keys/none/rotate", Value::Null).await, (400, "key not found".into()));
}

#[tokio::test]
async fn keys_are_imported_under_the_wrapping_key_and_exported_if_they_may() {
    let client = Client::new().await;
    let wrapping = client.get("wrapping_key").await.json();
    assert_eq!(
        client.get("wrapping_key").await.json()["data"],
        wrapping["data"],
        "there is one wrapping key"
    );
    let pem = wrapping["data"]["public_key"].as_str().expect("a public key");
    let wrapping = PublicKey::read(pem.as_bytes(), Sizes::Standard).expect("a key");
    let engine = Engine::new().expect("an engine");
    let own = PrivateKey::generate(&engine, 2048, Sizes::Standard).expect("a key");
    let aes = [7; 32];
    let wrap = |key: &PrivateKey| {
        let der = key.to_der().expect("an encoding");
        let mut room = vec![0; der.len() + 16];
        KwpAes256::new(&aes.into()).wrap_key(&der, &mut room).expect("room").to_vec()
    };
    let wrapped = wrap(&own);
    let pem = include_bytes!("../../../tests/vectors/composite-factor.pem");
    let composite = PrivateKey::read(pem, None, Sizes::Standard).expect("a key");
    let seal = |aes: &[u8]| {
        let sealed = Rsa::new(&engine).encrypt(&wrapping, EncryptionScheme::oaep(Hash::Sha256), &[aes]);
        sealed.expect("a call").remove(0).expect("a ciphertext")
    };
    let blob = base64([seal(&aes), wrapped.clone()].concat());

    for (ciphertext, kind, error) in [
        (String::new(), "rsa-2048", "no ciphertext provided"),
        ("*".into(), "rsa-2048", "illegal base64 data at input byte 0"),
        (base64([1; 511]), "rsa-2048", "provided ciphertext is too short"),
        (base64([1; 700]), "rsa-2048", "the ciphertext does not hold a wrapped key"),
        (
            base64([seal(&[8; 32]), wrapped.clone()].concat()),
            "rsa-2048",
            "the ciphertext does not hold a wrapped key",
        ),
        (
            base64([seal(&[8; 16]), wrapped.clone()].concat()),
            "rsa-2048",
            "the ciphertext does not hold a wrapped key",
        ),
        (blob.clone(), "rsa-3072", "the wrapped key has 2048 bits, and not the 3072 of its type"),
        (base64([seal(&aes), wrap(&composite)].concat()), "rsa-2048", "the wrapped key cannot be used: "),
    ] {
        let (status, found) =
            client.error("keys/i/import", json!({ "type": kind, "ciphertext": ciphertext })).await;
        assert!(status == 400 && found.starts_with(error), "{found}");
    }
    let body = json!({ "type": "rsa-2048", "ciphertext": blob, "exportable": true });
    assert_eq!(client.post("keys/i/import", body.clone()).await.status, 204);
    assert!(
        client.error("keys/i/import", body.clone()).await.1.starts_with("the import path cannot be used")
    );
    let exported = client.get("export/signing-key/i/1").await.json();
    let pem = exported["data"]["keys"]["1"].as_str().expect("a key");
    assert_eq!(pem, own.to_pkcs1_pem().expect("an encoding").as_str());
    let error = client.error("keys/i/rotate", Value::Null).await.1;
    assert_eq!(error, "imported key i does not allow rotation within Vault");
    assert_eq!(client.data("keys/i/import_version", body.clone()).await["latest_version"], 2);
    assert!(
        client.error("keys/k/import_version", body).await.1.contains("only be used with an imported key")
    );

    let refused = client.get("export/signing-key/k").await;
    assert_eq!(refused.json()["errors"][0], "private key material is not exportable");
    assert!(client.get("export/public-key/k/latest").await.json()["data"]["keys"]["1"].is_string());
    assert_eq!(client.get("export/hmac-key/k").await.status, 400);
    assert_eq!(client.get("export/public-key/k/9").await.status, 400);
}

#[tokio::test]
async fn changes_of_keys_are_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut service = service(crate::transit::kinds).await;
    std::sync::Arc::get_mut(&mut service).expect("the only owner").batcher = audited(folder.path());
    let client = Client(crate::transit::router(service));
    let last = || audit_lines(folder.path()).pop().expect("a line");
    client.data("keys/k", json!({ "type": "rsa-2048", "exportable": true, "context": "a secret?" })).await;
    let line = last();
    let found =
        ["principal", "access_key", "door", "operation", "key", "outcome"].map(|name| line[name].clone());
    assert_eq!(found, ["name-A", "A", "transit", "create", "k", "ok"].map(Value::from));
    assert_eq!(line["change"], json!({ "type": "rsa-2048", "exportable": true }));
    client.get("keys/k").await;
    client.call("DELETE", "keys/k", &Value::Null).await;
    let line = last();
    let outcome = "error deleting policy k: deletion is not allowed for this key";
    assert_eq!((&line["operation"], &line["outcome"]), (&json!("delete"), &json!(outcome)));
    client.data("keys/k/config", json!({ "deletion_allowed": true })).await;
    assert_eq!(last()["change"], json!({ "deletion_allowed": true }));
    client.data("keys/k/rotate", Value::Null).await;
    client.error("keys/k/import_version", json!({ "ciphertext": "a secret?" })).await;
    assert_eq!((&last()["operation"], &last()["change"]), (&json!("import_version"), &Value::Null));
    assert_eq!(client.call("DELETE", "keys/k", &Value::Null).await.status, 204);
    assert_eq!(last()["outcome"], "ok");
    for _ in 0..2 {
        assert_eq!(client.get("wrapping_key").await.status, 200);
    }
    let found = ["principal", "operation", "key", "outcome"].map(|name| last()[name].clone());
    assert_eq!(found, ["name-A", "create_wrapping_key", "wrapping", "ok"].map(Value::from));
    assert_eq!(audit_lines(folder.path()).len(), 8, "the start, six changes, and one wrapping key");
    let text = std::fs::read_to_string(folder.path().join("audit-00000001.jsonl")).expect("a log");
    assert!(!text.contains("a secret?"));
}
