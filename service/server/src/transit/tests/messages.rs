use super::{Client, base64};
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use modmill::Engine;
use modmill_rsa::{Hash, PublicKey, Rsa, SaltLength, SignatureScheme, Sizes};
use serde_json::{Value, json};

/// The signature in `vault:v1:BASE64`.
fn signature(text: &Value) -> Vec<u8> {
    let text = text.as_str().and_then(|text| text.strip_prefix("vault:v1:")).expect("a signature");
    super::super::items::decode(text).expect("Base64")
}

#[tokio::test]
async fn signatures_verify_here_and_elsewhere() {
    let client = Client::new().await;
    let about = client.get("keys/k").await.json();
    let pem = about["data"]["keys"]["1"]["public_key"].as_str().expect("a key").to_owned();
    let public = PublicKey::read(pem.as_bytes(), Sizes::Standard).expect("a key");
    let engine = Engine::new().expect("an engine");
    let longest = |hash| {
        let pss = modmill_rsa::Pss { salt: SaltLength::Longest, ..modmill_rsa::Pss::new(hash) };
        SignatureScheme::Pss(pss)
    };
    let short = |hash, salt| SignatureScheme::Pss(modmill_rsa::Pss { salt, ..modmill_rsa::Pss::new(hash) });
    for (path, options, scheme) in [
        ("sign/k", json!({}), longest(Hash::Sha256)),
        ("sign/k/sha2-512", json!({}), longest(Hash::Sha512)),
        ("sign/k", json!({ "hash_algorithm": "sha3-384" }), longest(Hash::Sha3_384)),
        ("sign/k", json!({ "salt_length": "hash" }), short(Hash::Sha256, SaltLength::Digest)),
        ("sign/k", json!({ "salt_length": "20" }), short(Hash::Sha256, SaltLength::Bytes(20))),
        ("sign/k", json!({ "salt_length": "-1" }), short(Hash::Sha256, SaltLength::Digest)),
        ("sign/k", json!({ "salt_length": 0 }), longest(Hash::Sha256)),
        ("sign/k", json!({ "salt_length": "Auto" }), longest(Hash::Sha256)),
        ("sign/k", json!({ "signature_algorithm": "pkcs1v15" }), SignatureScheme::Pkcs1v15(Hash::Sha256)),
    ] {
        let mut body = options.clone();
        body["input"] = base64("message").into();
        let signed = client.data(path, body.clone()).await;
        let bytes = signature(&signed["signature"]);
        let verdicts = Rsa::new(&engine).verify(&public, scheme, &["message"], &[bytes]).expect("a call");
        assert_eq!(verdicts[0], Ok(()), "{path} {options}");
        body["signature"] = signed["signature"].clone();
        let verify = path.replace("sign", "verify");
        assert_eq!(client.data(&verify, body.clone()).await["valid"], true, "{path} {options}");
        body["input"] = base64("massage").into();
        assert_eq!(client.data(&verify, body).await["valid"], false, "{path} {options}");
    }
    // A digest of the caller's own gives a signature of the message.
    let digest = Hash::Sha256.digest(&[b"message"]);
    let body = json!({ "input": base64(digest), "prehashed": true, "signature_algorithm": "pkcs1v15" });
    let own = client.data("sign/k", body).await["signature"].clone();
    let body = json!({ "input": base64("message"), "signature_algorithm": "pkcs1v15", "signature": own });
    assert_eq!(client.data("verify/k", body).await["valid"], true);
}

#[tokio::test]
async fn signatures_may_be_written_for_web_tokens() {
    let client = Client::new().await;
    for algorithm in ["pss", "pkcs1v15"] {
        let body = json!({ "input": base64("message"), "signature_algorithm": algorithm });
        let with = |name: &str, value: &Value| {
            let mut body = body.clone();
            body[name] = value.clone();
            body
        };
        let jws = with("marshaling_algorithm", &json!("jws"));
        let signed = client.data("sign/k", jws.clone()).await["signature"].clone();
        let text = signed.as_str().and_then(|text| text.strip_prefix("vault:v1:")).expect("a signature");
        let bytes = URL_SAFE_NO_PAD.decode(text).expect("Base64 of addresses without padding");
        let mut verify = jws.clone();
        verify["signature"] = signed.clone();
        assert_eq!(client.data("verify/k", verify.clone()).await["valid"], true);
        verify["marshaling_algorithm"] = "asn1".into();
        // 256 bytes have padding, which the two forms tell apart.
        let error = client.error("verify/k", verify).await.1;
        assert!(error.starts_with("invalid signature: could not decode base64"), "{error}");
        let plain = with("signature", &format!("vault:v1:{}", base64(bytes)).into());
        assert_eq!(client.data("verify/k", plain).await["valid"], true);
        let items = json!({ "batch_input": [{ "input": "" }], "marshaling_algorithm": "jws" });
        let signed = client.data("sign/k", items).await["batch_results"][0]["signature"].clone();
        assert!(signed.as_str().is_some_and(|text| !text.ends_with('=')), "{signed}");
    }
    // `auto` signs with the longest salt, and 0 verifies a salt of any length.
    let signed =
        client.data("sign/k", json!({ "input": "", "salt_length": "auto" })).await["signature"].clone();
    let verify = json!({ "input": "", "salt_length": "0", "signature": signed });
    assert_eq!(client.data("verify/k", verify).await["valid"], true);
}

#[tokio::test]
async fn wrong_requests_to_sign_say_why() {
    let client = Client::new().await;
    for (path, body, error) in [
        ("sign/none", json!({}), "signing key not found"),
        ("verify/none", json!({}), "signature verification key not found"),
        ("sign/k/md5", json!({}), "invalid hash algorithm \"md5\""),
        ("sign/k", json!({ "hash_algorithm": "none" }), "invalid hash algorithm \"none\""),
        (
            "sign/k",
            json!({ "hash_algorithm": "sha1" }),
            "hash algorithm \"sha1\" verifies signatures, but makes none",
        ),
        ("sign/k", json!({ "signature_algorithm": "x" }), "unsupported rsa signature algorithm x"),
        ("sign/k", json!({ "salt_length": "-3" }), "salt length is invalid: -3"),
        ("sign/k", json!({ "salt_length": "x" }), "salt length neither 'auto', 'hash', nor an int: x"),
        ("sign/k", json!({ "salt_length": 4000 }), "the key is too short for this hash and salt"),
        ("sign/k", json!({ "marshaling_algorithm": "bogus" }), "invalid marshaling type \"bogus\""),
        ("verify/k", json!({ "marshaling_algorithm": "bogus" }), "invalid marshaling type \"bogus\""),
        (
            "sign/k",
            json!({ "input": "a" }),
            "unable to decode input as base64: illegal base64 data at input byte",
        ),
        ("sign/k", json!({ "input": "AA==", "prehashed": true }), "the input has 1 bytes"),
        ("sign/k", json!({ "key_version": 2 }), "requested version for signing is higher"),
        ("sign/k", json!({ "batch_input": [] }), "missing batch input to process"),
        ("sign/k", json!({ "batch_input": {} }), "failed to parse JSON input"),
        ("sign/k", json!({ "batch_input": [1] }), "failed to parse JSON input"),
        ("verify/k", json!({}), "neither a 'signature' nor an 'hmac' were given to verify"),
        ("verify/k", json!({ "hmac": "vault:v1:AA==" }), "keys of this type do not support HMAC"),
        ("verify/k", json!({ "signature": "x" }), "invalid signature: no prefix"),
    ] {
        let (status, found) = client.error(path, body).await;
        assert!(status == 400 && found.starts_with(error), "{status} {found:?} instead of {error:?}");
    }
    let items = vec![json!({ "input": "" }); 65_537];
    let (status, error) = client.error("sign/k", json!({ "batch_input": items })).await;
    assert!(status == 400 && error.contains("more than 65536 items"), "{error}");
    let deep = "[".repeat(1000);
    let answer = crate::door::testing::send(
        &client.0,
        "POST",
        "/v1/transit/sign/k",
        &[("x-vault-token", crate::door::testing::TOKEN)],
        deep,
    );
    assert_eq!(answer.await.status, 400);
}

#[tokio::test]
async fn a_batch_answers_every_item_that_it_can() {
    let client = Client::new().await;
    let items = json!([
        { "input": base64("one"), "reference": "a\"b" },
        { "input": "***" },
        {},
        { "input": base64("two") },
    ]);
    let signed = client.data("sign/k", json!({ "batch_input": items })).await;
    let results = signed["batch_results"].as_array().expect("results").clone();
    assert_eq!(results.len(), 4);
    assert_eq!(results[0]["reference"], "a\"b");
    assert_eq!(results[1]["error"], "unable to decode input as base64: illegal base64 data at input byte 0");
    assert_eq!((&results[2]["error"], &results[2]["signature"]), (&json!("missing input"), &Value::Null));

    let verify = json!([
        { "input": base64("one"), "signature": results[0]["signature"] },
        { "input": base64("one"), "signature": results[3]["signature"], "reference": "r" },
        { "input": base64("two"), "signature": "vault:v7:AA==" },
        { "input": base64("two"), "signature": results[3]["signature"] },
    ]);
    let verdicts = client.data("verify/k", json!({ "batch_input": verify })).await["batch_results"].clone();
    assert_eq!(verdicts[0], json!({ "valid": true, "reference": "" }));
    assert_eq!(verdicts[1], json!({ "valid": false, "reference": "r" }));
    assert_eq!(
        verdicts[2],
        json!({ "valid": false, "error": "invalid signature: version is too new", "reference": "" })
    );
    assert_eq!(verdicts[3]["valid"], true);

    let all_wrong = client.data("sign/k", json!({ "batch_input": [{}, {}] })).await;
    assert_eq!(all_wrong["batch_results"][1]["error"], "missing input");
}

#[tokio::test]
async fn messages_are_encrypted_decrypted_and_rewrapped() {
    let client = Client::new().await;
    for scheme in ["oaep", "pkcs1v15"] {
        let body = json!({ "plaintext": base64("secret"), "padding_scheme": scheme });
        let sealed = client.data("encrypt/k", body).await;
        assert_eq!(sealed["key_version"], 1);
        let body = json!({ "ciphertext": sealed["ciphertext"], "padding_scheme": scheme });
        assert_eq!(client.data("decrypt/k", body).await["plaintext"], base64("secret"));
    }
    let items = json!([{ "plaintext": base64("one") }, { "plaintext": base64("two"), "reference": "2" }]);
    let sealed = client.data("encrypt/k", json!({ "batch_input": items })).await["batch_results"].clone();
    client.data("keys/k/rotate", Value::Null).await;
    let items = json!([
        { "ciphertext": sealed[0]["ciphertext"] },
        { "ciphertext": sealed[1]["ciphertext"], "reference": "2" },
    ]);
    let rewrapped = client.data("rewrap/k", json!({ "batch_input": items })).await["batch_results"].clone();
    assert_eq!((&rewrapped[1]["key_version"], &rewrapped[1]["reference"]), (&json!(2), &json!("2")));
    // Both versions in one batch.
    let items = json!([
        { "ciphertext": rewrapped[0]["ciphertext"] },
        { "ciphertext": sealed[1]["ciphertext"] },
        { "ciphertext": rewrapped[1]["ciphertext"] },
    ]);
    let plain = client.data("decrypt/k", json!({ "batch_input": items })).await["batch_results"].clone();
    let texts: Vec<_> =
        (0..3).map(|item| plain[item]["plaintext"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(texts, [base64("one"), base64("two"), base64("two")]);
    let items = json!([{ "plaintext": base64("x"), "key_version": 1 }, { "plaintext": base64("x") }]);
    let sealed = client.data("encrypt/k", json!({ "batch_input": items })).await["batch_results"].clone();
    assert_eq!((&sealed[0]["key_version"], &sealed[1]["key_version"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn failures_of_a_batch_decide_its_status() {
    let client = Client::new().await;
    let good = client.data("encrypt/k", json!({ "plaintext": base64("m") })).await["ciphertext"].clone();
    let mut bytes = signature(&good);
    bytes[100] ^= 1;
    let wrong = format!("vault:v1:{}", base64(bytes));
    let items = json!([{ "ciphertext": wrong }, { "ciphertext": good }]);
    let answer = client.post("decrypt/k", json!({ "batch_input": items })).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    let results = answer.json()["data"]["batch_results"].clone();
    let error = "failed to RSA decrypt the ciphertext: decryption error";
    assert_eq!(results[0], json!({ "plaintext": "", "error": error, "reference": "" }));
    assert_eq!(results[1]["plaintext"], base64("m"));
    let body = json!({ "batch_input": items, "partial_failure_response_code": 206 });
    assert_eq!(client.post("decrypt/k", body).await.status, 206);
    let all_wrong = json!([{ "ciphertext": wrong }, { "ciphertext": "" }]);
    let body = json!({ "batch_input": all_wrong, "partial_failure_response_code": 206 });
    assert_eq!(client.post("decrypt/k", body).await.status, 400);

    // A ciphertext that is too short, too long, or wrong inside: one error.
    for ciphertext in ["vault:v1:".to_owned(), format!("vault:v1:{}", base64([1; 300])), wrong] {
        assert_eq!(
            client.error("decrypt/k", json!({ "ciphertext": ciphertext })).await,
            (400, error.to_owned())
        );
    }
    for (path, body, error) in [
        ("decrypt/k", json!({}), "missing ciphertext to decrypt"),
        ("encrypt/k", json!({}), "missing plaintext to encrypt"),
        ("encrypt/k", json!({ "plaintext": "*" }), "failed to base64-decode plaintext"),
        ("encrypt/k", json!({ "plaintext": base64([0; 400]) }), "the message has 400 bytes; at most 190 fit"),
        ("encrypt/none", json!({ "plaintext": "" }), "encryption key not found"),
        (
            "encrypt/k",
            json!({ "plaintext": "", "padding_scheme": "raw" }),
            "unsupported padding scheme \"raw\"",
        ),
        (
            "rewrap/k",
            json!({ "ciphertext": good, "key_version": 5 }),
            "requested version for encryption is higher",
        ),
    ] {
        let (status, found) = client.error(path, body).await;
        assert!(status == 400 && found.starts_with(error), "{status} {found:?} instead of {error:?}");
    }
}
