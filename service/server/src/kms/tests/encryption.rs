use super::bench::{ADMIN, Bench, b64, bytes, key_arn};
use modmill_rsa::{PrivateKey, PublicKey, Sizes};
use serde_json::{Value, json};

#[tokio::test]
async fn rsa_keys_encrypt_and_decrypt() {
    let bench = Bench::new().await;
    let id = bench.key("RSA_2048", "ENCRYPT_DECRYPT").await;
    for (algorithm, room) in [("RSAES_OAEP_SHA_1", 214), ("RSAES_OAEP_SHA_256", 190)] {
        let request = |len: usize| json!({"KeyId": id, "Plaintext": b64(vec![5; len]), "EncryptionAlgorithm": algorithm});
        let encrypted = bench.ok("Encrypt", request(room)).await;
        assert_eq!(encrypted["KeyId"], key_arn(&id));
        let ciphertext = bytes(&encrypted["CiphertextBlob"]);
        assert_eq!(ciphertext.len(), 256);
        let decrypt = |ciphertext: &[u8]| json!({"KeyId": id, "CiphertextBlob": b64(ciphertext), "EncryptionAlgorithm": algorithm});
        let decrypted = bench.ok("Decrypt", decrypt(&ciphertext)).await;
        assert_eq!(bytes(&decrypted["Plaintext"]), vec![5; room]);
        assert_eq!(bench.fails("Encrypt", request(room + 1)).await, "ValidationException");
        assert_eq!(bench.fails("Encrypt", request(0)).await, "ValidationException");
        // Whatever is wrong with a ciphertext, the answer is the same.
        let mut wrong = ciphertext.clone();
        wrong[100] ^= 1;
        for wrong in [&wrong[..], &ciphertext[1..], &[0xff; 256], &[0; 256], &[0; 6144], &[1]] {
            let error = bench.call("Decrypt", decrypt(wrong)).await.unwrap_err();
            assert_eq!(error, ("InvalidCiphertextException".into(), String::new()));
        }
        assert_eq!(bench.fails("Decrypt", decrypt(&[0; 6145])).await, "ValidationException");
    }
    let mut request = json!({"KeyId": id, "Plaintext": "AAAA"});
    assert_eq!(bench.fails("Encrypt", request.clone()).await, "InvalidKeyUsageException");
    request["EncryptionAlgorithm"] = "RSAES_PKCS1_V1_5".into();
    assert_eq!(bench.fails("Encrypt", request.clone()).await, "ValidationException");
    request["EncryptionAlgorithm"] = "RSAES_OAEP_SHA_256".into();
    request["EncryptionContext"] = json!({"a": "b"});
    assert_eq!(bench.fails("Encrypt", request).await, "ValidationException");
    let nameless = json!({"CiphertextBlob": "AAAA", "EncryptionAlgorithm": "RSAES_OAEP_SHA_256"});
    assert_eq!(bench.fails("Decrypt", nameless).await, "ValidationException");
}

#[tokio::test]
async fn symmetric_keys_encrypt_with_a_context() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let context = json!({"purpose": "test", "other": ""});
    let request = json!({"KeyId": id, "Plaintext": b64("secret"), "EncryptionContext": context});
    let encrypted = bench.ok("Encrypt", request.clone()).await;
    assert_eq!(encrypted["EncryptionAlgorithm"], "SYMMETRIC_DEFAULT");
    let blob = encrypted["CiphertextBlob"].clone();
    // The ciphertext says which key it is of.
    let decrypted = bench.ok("Decrypt", json!({"CiphertextBlob": blob, "EncryptionContext": context})).await;
    assert_eq!(bytes(&decrypted["Plaintext"]), b"secret");
    assert_eq!(decrypted["KeyId"], key_arn(&id));
    assert_eq!(decrypted["KeyMaterialId"].as_str().unwrap().len(), 64);
    for context in [json!({}), json!({"purpose": "test"}), json!({"purpose": "Test", "other": ""})] {
        let request = json!({"CiphertextBlob": blob, "EncryptionContext": context});
        assert_eq!(bench.fails("Decrypt", request).await, "InvalidCiphertextException");
    }
    assert_eq!(
        bench.fails("Decrypt", json!({"CiphertextBlob": b64("garbage")})).await,
        "InvalidCiphertextException"
    );
    let other = bench.symmetric_key().await;
    let request = json!({"CiphertextBlob": blob, "EncryptionContext": context, "KeyId": other});
    assert_eq!(bench.fails("Decrypt", request).await, "IncorrectKeyException");
    for key in [bench.signing_key().await, bench.key("RSA_2048", "ENCRYPT_DECRYPT").await] {
        let request = json!({"CiphertextBlob": blob, "EncryptionContext": context, "KeyId": key});
        assert_eq!(bench.fails("Decrypt", request).await, "IncorrectKeyException");
        let request = json!({"CiphertextBlob": blob, "SourceEncryptionContext": context, "SourceKeyId": key, "DestinationKeyId": id});
        assert_eq!(bench.fails("ReEncrypt", request).await, "IncorrectKeyException");
    }
    // A key that does not exist is not told from one that may not be used.
    let mut elsewhere = bytes(&blob);
    elsewhere[3] ^= 1;
    assert_eq!(
        bench.fails("Decrypt", json!({"CiphertextBlob": b64(elsewhere)})).await,
        "AccessDeniedException"
    );
    let twice = format!(r#"{{"KeyId":"{id}","Plaintext":"AAAA","EncryptionContext":{{"a":"1","a":"1"}}}}"#);
    let answer = bench.ask(bench.signed(ADMIN, "Encrypt", twice.as_bytes()), twice.into_bytes()).await;
    assert_eq!(answer.unwrap_err().0, "SerializationException");
    for (characters, error) in [(8192, None), (8193, Some("SerializationException"))] {
        let context = json!({"name": "é".repeat(characters - 4)});
        let request = json!({"KeyId": id, "Plaintext": "AAAA", "EncryptionContext": context});
        match error {
            None => drop(bench.ok("Encrypt", request).await),
            Some(error) => assert_eq!(bench.fails("Encrypt", request).await, error),
        }
    }
    let recipient = json!({"CiphertextBlob": blob, "Recipient": {"AttestationDocument": "AAAA"}});
    assert_eq!(bench.fails("Decrypt", recipient).await, "UnsupportedOperationException");
}

#[tokio::test]
async fn ciphertexts_go_from_key_to_key() {
    let bench = Bench::new().await;
    let (rsa, symmetric) = (bench.key("RSA_2048", "ENCRYPT_DECRYPT").await, bench.symmetric_key().await);
    let context = json!({"a": "b"});
    let encrypted = bench
        .ok("Encrypt", json!({"KeyId": symmetric, "Plaintext": b64("hello"), "EncryptionContext": context}))
        .await;
    let mut request = json!({
        "CiphertextBlob": encrypted["CiphertextBlob"], "SourceEncryptionContext": context,
        "DestinationKeyId": rsa, "DestinationEncryptionAlgorithm": "RSAES_OAEP_SHA_256", "DryRun": true,
    });
    assert_eq!(bench.fails("ReEncrypt", request.clone()).await, "DryRunOperationException");
    request["DryRun"] = false.into();
    let moved = bench.ok("ReEncrypt", request).await;
    assert_eq!(
        (moved["SourceKeyId"].clone(), moved["KeyId"].clone()),
        (key_arn(&symmetric).into(), key_arn(&rsa).into())
    );
    let back = json!({
        "CiphertextBlob": moved["CiphertextBlob"], "SourceKeyId": rsa, "SourceEncryptionAlgorithm": "RSAES_OAEP_SHA_256",
        "DestinationKeyId": symmetric,
    });
    let back = bench.ok("ReEncrypt", back).await;
    let decrypted = bench.ok("Decrypt", json!({"CiphertextBlob": back["CiphertextBlob"]})).await;
    assert_eq!(bytes(&decrypted["Plaintext"]), b"hello");
    let missing = json!({"CiphertextBlob": back["CiphertextBlob"]});
    assert_eq!(bench.fails("ReEncrypt", missing).await, "ValidationException");
}

#[tokio::test]
async fn data_keys_are_sealed() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let unsealed =
        async |blob: &Value| bytes(&bench.ok("Decrypt", json!({"CiphertextBlob": blob})).await["Plaintext"]);
    for (request, len) in [
        (json!({"KeyId": id, "KeySpec": "AES_256"}), 32),
        (json!({"KeyId": id, "KeySpec": "AES_128"}), 16),
        (json!({"KeyId": id, "NumberOfBytes": 1024}), 1024),
    ] {
        let answer = bench.ok("GenerateDataKey", request.clone()).await;
        assert_eq!(bytes(&answer["Plaintext"]).len(), len);
        assert_eq!(unsealed(&answer["CiphertextBlob"]).await, bytes(&answer["Plaintext"]));
        let answer = bench.ok("GenerateDataKeyWithoutPlaintext", request).await;
        assert!(answer.get("Plaintext").is_none());
        assert_eq!(unsealed(&answer["CiphertextBlob"]).await.len(), len);
    }
    let rsa = bench.key("RSA_2048", "ENCRYPT_DECRYPT").await;
    for (request, name) in [
        (json!({"KeyId": id}), "ValidationException"),
        (json!({"KeyId": id, "KeySpec": "AES_256", "NumberOfBytes": 3}), "ValidationException"),
        (json!({"KeyId": id, "KeySpec": "AES_192"}), "ValidationException"),
        (json!({"KeyId": id, "NumberOfBytes": 0}), "ValidationException"),
        (json!({"KeyId": id, "NumberOfBytes": 1025}), "ValidationException"),
        (json!({"KeyId": id, "NumberOfBytes": 9, "DryRun": true}), "DryRunOperationException"),
        (json!({"KeyId": rsa, "KeySpec": "AES_256"}), "InvalidKeyUsageException"),
    ] {
        assert_eq!(bench.fails("GenerateDataKey", request.clone()).await, name, "{request}");
    }
}

#[tokio::test]
async fn data_key_pairs_are_sealed() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let request = json!({"KeyId": id, "KeyPairSpec": "RSA_2048", "EncryptionContext": {"a": "b"}});
    let answer = bench.ok("GenerateDataKeyPair", request.clone()).await;
    let private = PrivateKey::read(&bytes(&answer["PrivateKeyPlaintext"]), None, Sizes::Standard).unwrap();
    let public = PublicKey::read(&bytes(&answer["PublicKey"]), Sizes::Standard).unwrap();
    assert_eq!(private.public_key().modulus_bytes(), public.modulus_bytes());
    let blob = &answer["PrivateKeyCiphertextBlob"];
    let opened = bench.ok("Decrypt", json!({"CiphertextBlob": blob, "EncryptionContext": {"a": "b"}})).await;
    assert_eq!(opened["Plaintext"], answer["PrivateKeyPlaintext"]);
    let answer = bench.ok("GenerateDataKeyPairWithoutPlaintext", request).await;
    assert!(answer.get("PrivateKeyPlaintext").is_none());
    for (spec, name) in [
        ("ECC_NIST_P256", "UnsupportedOperationException"),
        ("SYMMETRIC_DEFAULT", "ValidationException"),
        ("RSA_1024", "ValidationException"),
    ] {
        assert_eq!(bench.fails("GenerateDataKeyPair", json!({"KeyId": id, "KeyPairSpec": spec})).await, name);
    }
}

#[tokio::test]
async fn random_bytes_differ() {
    let bench = Bench::new().await;
    let one = bench.ok("GenerateRandom", json!({"NumberOfBytes": 1024})).await;
    let two = bench.ok("GenerateRandom", json!({"NumberOfBytes": 1024})).await;
    assert_eq!(bytes(&one["Plaintext"]).len(), 1024);
    assert_ne!(one, two);
    for request in [json!({}), json!({"NumberOfBytes": 0}), json!({"NumberOfBytes": 1025})] {
        assert_eq!(bench.fails("GenerateRandom", request).await, "ValidationException");
    }
}
