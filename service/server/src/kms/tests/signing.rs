use super::bench::{Bench, b64, bytes, key_arn};
use modmill::Engine;
use modmill_rsa::{Hash, Pss, PublicKey, Rsa, SaltLength, SignatureScheme, Sizes};
use serde_json::json;

const ALGORITHMS: [(&str, Hash, bool); 6] = [
    ("RSASSA_PSS_SHA_256", Hash::Sha256, true),
    ("RSASSA_PSS_SHA_384", Hash::Sha384, true),
    ("RSASSA_PSS_SHA_512", Hash::Sha512, true),
    ("RSASSA_PKCS1_V1_5_SHA_256", Hash::Sha256, false),
    ("RSASSA_PKCS1_V1_5_SHA_384", Hash::Sha384, false),
    ("RSASSA_PKCS1_V1_5_SHA_512", Hash::Sha512, false),
];

#[tokio::test]
async fn every_algorithm_signs_messages_and_digests() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let public = bench.ok("GetPublicKey", json!({"KeyId": id})).await;
    assert_eq!(public["SigningAlgorithms"].as_array().unwrap().len(), 6);
    let public = PublicKey::read(&bytes(&public["PublicKey"]), Sizes::Standard).unwrap();
    let engine = Engine::new().unwrap();
    for (name, hash, pss) in ALGORITHMS {
        let message = b"the message".as_slice();
        let digest = hash.digest(&[message]);
        for (message_type, input) in [("RAW", message), ("DIGEST", digest.as_ref())] {
            let mut request = json!({
                "KeyId": id, "Message": b64(input), "MessageType": message_type, "SigningAlgorithm": name,
            });
            let signed = bench.ok("Sign", request.clone()).await;
            assert_eq!(signed["KeyId"], key_arn(&id));
            assert_eq!(signed["SigningAlgorithm"], name);
            let signature = bytes(&signed["Signature"]);
            let scheme = match pss {
                true => SignatureScheme::Pss(Pss { salt: SaltLength::Digest, ..Pss::new(hash) }),
                false => SignatureScheme::Pkcs1v15(hash),
            };
            let valid = Rsa::new(&engine).verify(&public, scheme, &[message], &[&signature]).unwrap();
            assert_eq!(valid, [Ok(())], "{name} {message_type}");
            request["Signature"] = signed["Signature"].clone();
            let verified = bench.ok("Verify", request.clone()).await;
            assert_eq!(
                verified,
                json!({"KeyId": key_arn(&id), "SignatureValid": true, "SigningAlgorithm": name})
            );
            let mut wrong = signature.clone();
            wrong[7] ^= 1;
            for wrong in [&wrong[..], &signature[1..], b"x"] {
                request["Signature"] = b64(wrong).into();
                assert_eq!(bench.fails("Verify", request.clone()).await, "KMSInvalidSignatureException");
            }
        }
    }
}

#[tokio::test]
async fn what_clients_do_not_check_is_refused() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let message = |message: &[u8], message_type: &str, algorithm: &str| json!({"KeyId": id, "Message": b64(message), "MessageType": message_type, "SigningAlgorithm": algorithm});
    let pss = "RSASSA_PSS_SHA_256";
    bench.ok("Sign", message(&[1; 4096], "RAW", pss)).await;
    for (request, name) in [
        (message(&[1; 4097], "RAW", pss), "ValidationException"),
        (message(&[], "RAW", pss), "ValidationException"),
        (message(&[1; 31], "DIGEST", pss), "ValidationException"),
        (message(&[1; 33], "DIGEST", pss), "ValidationException"),
        (message(&[1; 4000], "DIGEST", pss), "ValidationException"),
        (message(&[1; 32], "EXTERNAL_MU", pss), "ValidationException"),
        (message(&[1; 32], "raw", pss), "ValidationException"),
        (message(&[1; 32], "RAW", "RSASSA_PSS_SHA_1"), "ValidationException"),
        (message(&[1; 32], "RAW", "ECDSA_SHA_256"), "InvalidKeyUsageException"),
        (json!({"KeyId": id, "SigningAlgorithm": pss}), "ValidationException"),
        (json!({"KeyId": id, "Message": "AAAA"}), "ValidationException"),
        (json!({"Message": "AAAA", "SigningAlgorithm": pss}), "ValidationException"),
        (json!({"KeyId": id, "Message": "not base64!", "SigningAlgorithm": pss}), "SerializationException"),
        (json!({"KeyId": 7, "Message": "AAAA", "SigningAlgorithm": pss}), "SerializationException"),
        (json!({"KeyId": "", "Message": "AAAA", "SigningAlgorithm": pss}), "ValidationException"),
        (
            json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": pss, "GrantTokens": vec!["x"; 11]}),
            "ValidationException",
        ),
    ] {
        assert_eq!(bench.fails("Sign", request.clone()).await, name, "{request}");
    }
    let mut dry = message(b"m", "RAW", pss);
    dry["DryRun"] = true.into();
    assert_eq!(bench.fails("Sign", dry.clone()).await, "DryRunOperationException");
    dry["Signature"] = b64("wrong").into();
    assert_eq!(bench.fails("Verify", dry.clone()).await, "DryRunOperationException");
    dry["MessageType"] = "DIGEST".into();
    assert_eq!(bench.fails("Sign", dry).await, "ValidationException");
    let long = json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": pss, "Signature": b64([0; 6145])});
    assert_eq!(bench.fails("Verify", long).await, "ValidationException");
}

#[tokio::test]
async fn keys_sign_only_in_their_state_and_for_their_usage() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let request = json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": "RSASSA_PSS_SHA_256"});
    bench.ok("DisableKey", json!({"KeyId": id})).await;
    assert_eq!(bench.fails("Sign", request.clone()).await, "DisabledException");
    assert_eq!(bench.fails("GetPublicKey", json!({"KeyId": id})).await, "DisabledException");
    bench.ok("EnableKey", json!({"KeyId": id})).await;
    bench.ok("Sign", request.clone()).await;
    bench.ok("ScheduleKeyDeletion", json!({"KeyId": id})).await;
    assert_eq!(bench.fails("Sign", request.clone()).await, "KMSInvalidStateException");
    bench.ok("CancelKeyDeletion", json!({"KeyId": id})).await;
    assert_eq!(bench.fails("Sign", request.clone()).await, "DisabledException");
    let other = bench.key("RSA_2048", "ENCRYPT_DECRYPT").await;
    let symmetric = bench.symmetric_key().await;
    for id in [other, symmetric] {
        let request = json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": "RSASSA_PSS_SHA_256"});
        assert_eq!(bench.fails("Sign", request).await, "InvalidKeyUsageException");
    }
}

#[tokio::test]
async fn longer_keys_sign() {
    let bench = Bench::new().await;
    for (spec, len) in [("RSA_3072", 384), ("RSA_4096", 512)] {
        let id = bench.key(spec, "SIGN_VERIFY").await;
        let request =
            json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": "RSASSA_PKCS1_V1_5_SHA_256"});
        assert_eq!(bytes(&bench.ok("Sign", request).await["Signature"]).len(), len);
    }
}
