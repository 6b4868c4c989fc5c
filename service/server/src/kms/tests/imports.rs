use super::bench::{Bench, b64, bytes, text};
use crate::kms;
use aes_kw::{KeyInit, KwpAes256};
use modmill::Engine;
use modmill_rsa::{EncryptionScheme, Hash, PrivateKey, PublicKey, Rsa, Sizes};
use serde_json::{Value, json};

const DAY: i64 = 86_400;

async fn external(bench: &Bench, spec: &str, usage: &str) -> String {
    let request = json!({"KeySpec": spec, "KeyUsage": usage, "Origin": "EXTERNAL"});
    let answer = bench.ok("CreateKey", request).await;
    assert_eq!(answer["KeyMetadata"]["KeyState"], "PendingImport");
    text(&answer["KeyMetadata"]["KeyId"])
}

/// Encrypts with OAEP for the public key of an import.
fn oaep(parameters: &Value, hash: Hash, plain: &[u8]) -> Vec<u8> {
    let public = PublicKey::read(&bytes(&parameters["PublicKey"]), Sizes::Standard).unwrap();
    let engine = Engine::new().unwrap();
    let mut answers = Rsa::new(&engine).encrypt(&public, EncryptionScheme::oaep(hash), &[plain]).unwrap();
    answers.pop().unwrap().unwrap()
}

/// Wraps with an AES key, which is encrypted with OAEP.
fn key_wrap(parameters: &Value, hash: Hash, plain: &[u8]) -> Vec<u8> {
    let mut wrapped = vec![0; plain.len().div_ceil(8) * 8 + 8];
    KwpAes256::new_from_slice(&[9; 32]).unwrap().wrap_key(plain, &mut wrapped).unwrap();
    [oaep(parameters, hash, &[9; 32]), wrapped].concat()
}

async fn parameters(bench: &Bench, id: &str, algorithm: &str) -> Value {
    let request = json!({"KeyId": id, "WrappingAlgorithm": algorithm, "WrappingKeySpec": "RSA_2048"});
    bench.ok("GetParametersForImport", request).await
}

fn import(id: &str, parameters: &Value, wrapped: &[u8]) -> Value {
    json!({
        "KeyId": id, "ImportToken": parameters["ImportToken"], "EncryptedKeyMaterial": b64(wrapped),
        "ExpirationModel": "KEY_MATERIAL_DOES_NOT_EXPIRE",
    })
}

fn rsa_key() -> PrivateKey {
    PrivateKey::generate(&Engine::new().unwrap(), 2048, Sizes::Standard).unwrap()
}

#[tokio::test]
async fn rsa_keys_are_imported_and_deleted() {
    let bench = Bench::new().await;
    let id = external(&bench, "RSA_2048", "SIGN_VERIFY").await;
    let sign = json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": "RSASSA_PSS_SHA_256"});
    assert_eq!(bench.fails("Sign", sign.clone()).await, "KMSInvalidStateException");
    assert_eq!(bench.fails("DisableKey", json!({"KeyId": id})).await, "KMSInvalidStateException");
    let (key, other) = (rsa_key(), rsa_key());
    for (algorithm, hash) in
        [("RSA_AES_KEY_WRAP_SHA_256", Hash::Sha256), ("RSA_AES_KEY_WRAP_SHA_1", Hash::Sha1)]
    {
        let parameters = parameters(&bench, &id, algorithm).await;
        let wrapped = key_wrap(&parameters, hash, &key.to_der().unwrap());
        let imported = bench.ok("ImportKeyMaterial", import(&id, &parameters, &wrapped)).await;
        bench.ok("Sign", sign.clone()).await;
        let public = bench.ok("GetPublicKey", json!({"KeyId": id})).await;
        assert_eq!(bytes(&public["PublicKey"]), key.public_key().to_der().unwrap());
        // Other material than the first is refused for good.
        let wrapped = key_wrap(&parameters, hash, &other.to_der().unwrap());
        let refused = bench.fails("ImportKeyMaterial", import(&id, &parameters, &wrapped)).await;
        assert_eq!(refused, "IncorrectKeyMaterialException");
        let deleted = bench.ok("DeleteImportedKeyMaterial", json!({"KeyId": id})).await;
        assert_eq!(deleted["KeyMaterialId"], imported["KeyMaterialId"]);
        assert_eq!(bench.fails("Sign", sign.clone()).await, "KMSInvalidStateException");
        bench.ok("DeleteImportedKeyMaterial", json!({"KeyId": id})).await;
    }
}

#[tokio::test]
async fn wrong_material_is_refused() {
    let bench = Bench::new().await;
    let id = external(&bench, "RSA_2048", "SIGN_VERIFY").await;
    let parameters = parameters(&bench, &id, "RSA_AES_KEY_WRAP_SHA_256").await;
    let wrap = |plain: &[u8]| key_wrap(&parameters, Hash::Sha256, plain);
    let key = rsa_key();
    let der = key.to_der().unwrap();
    let mut changed = wrap(&der);
    changed[300] ^= 1;
    let mut broken = der.to_vec();
    broken[400] ^= 1;
    let composite = include_bytes!("../../../tests/vectors/composite-factor.pem");
    let composite = PrivateKey::read(composite, None, Sizes::Standard).unwrap();
    let longer = PrivateKey::generate(&Engine::new().unwrap(), 3072, Sizes::Standard).unwrap();
    for (wrapped, error) in [
        (vec![1; 300], "InvalidCiphertextException"),
        (vec![1], "InvalidCiphertextException"),
        (changed, "InvalidCiphertextException"),
        (key_wrap(&parameters, Hash::Sha1, &der), "InvalidCiphertextException"),
        (oaep(&parameters, Hash::Sha256, &[1; 32]), "InvalidCiphertextException"),
        (wrap(&[1; 32]), "IncorrectKeyMaterialException"),
        (wrap(&broken), "IncorrectKeyMaterialException"),
        (wrap(key.to_pem().unwrap().as_bytes()), "IncorrectKeyMaterialException"),
        (wrap(&longer.to_der().unwrap()), "IncorrectKeyMaterialException"),
        (wrap(&composite.to_der().unwrap()), "IncorrectKeyMaterialException"),
        (wrap(&key.public_key().to_der().unwrap()), "IncorrectKeyMaterialException"),
        (vec![1; 6145], "ValidationException"),
    ] {
        assert_eq!(bench.fails("ImportKeyMaterial", import(&id, &parameters, &wrapped)).await, error);
    }
    let mut request = import(&id, &parameters, &wrap(&der));
    request["ImportToken"] = b64([7; 32]).into();
    assert_eq!(bench.fails("ImportKeyMaterial", request.clone()).await, "InvalidImportTokenException");
    let other = external(&bench, "RSA_2048", "SIGN_VERIFY").await;
    let elsewhere = import(&other, &parameters, &wrap(&der));
    assert_eq!(bench.fails("ImportKeyMaterial", elsewhere).await, "InvalidImportTokenException");
    bench.wait_s(DAY + 1);
    let late = import(&id, &parameters, &wrap(&der));
    assert_eq!(bench.fails("ImportKeyMaterial", late.clone()).await, "ExpiredImportTokenException");
    kms::sweep(&bench.service).await.unwrap();
    assert_eq!(bench.fails("ImportKeyMaterial", late).await, "InvalidImportTokenException");
}

#[tokio::test]
async fn parameters_that_fit_no_import_are_refused() {
    let bench = Bench::new().await;
    let (rsa, here) = (external(&bench, "RSA_2048", "SIGN_VERIFY").await, bench.symmetric_key().await);
    for (id, algorithm, spec, error) in [
        (&rsa, "RSAES_OAEP_SHA_256", "RSA_2048", "UnsupportedOperationException"),
        (&rsa, "RSAES_PKCS1_V1_5", "RSA_2048", "UnsupportedOperationException"),
        (&rsa, "NONE", "RSA_2048", "ValidationException"),
        (&rsa, "RSA_AES_KEY_WRAP_SHA_256", "RSA_1024", "ValidationException"),
        (&rsa, "RSA_AES_KEY_WRAP_SHA_256", "SM2", "UnsupportedOperationException"),
        (&here, "RSAES_OAEP_SHA_256", "RSA_2048", "UnsupportedOperationException"),
    ] {
        let request = json!({"KeyId": id, "WrappingAlgorithm": algorithm, "WrappingKeySpec": spec});
        assert_eq!(bench.fails("GetParametersForImport", request).await, error, "{algorithm} {spec}");
    }
    assert_eq!(
        bench.fails("DeleteImportedKeyMaterial", json!({"KeyId": here})).await,
        "UnsupportedOperationException"
    );
}

#[tokio::test]
async fn symmetric_material_expires() {
    let bench = Bench::new().await;
    let id = external(&bench, "SYMMETRIC_DEFAULT", "ENCRYPT_DECRYPT").await;
    let parameters = parameters(&bench, &id, "RSAES_OAEP_SHA_256").await;
    let wrapped = oaep(&parameters, Hash::Sha256, &[3; 32]);
    let short = import(&id, &parameters, &oaep(&parameters, Hash::Sha256, &[3; 31]));
    assert_eq!(bench.fails("ImportKeyMaterial", short).await, "IncorrectKeyMaterialException");
    let mut request = import(&id, &parameters, &wrapped);
    let now = bench.now_s();
    for (model, valid_to) in [
        (json!("KEY_MATERIAL_EXPIRES"), json!(null)),
        (json!(null), json!(null)),
        (json!("KEY_MATERIAL_EXPIRES"), json!(now - 1)),
        (json!("KEY_MATERIAL_EXPIRES"), json!(now + 366 * 86_400)),
        (json!("KEY_MATERIAL_EXPIRES"), json!(-1e300)),
        (json!("KEY_MATERIAL_DOES_NOT_EXPIRE"), json!(now + 60)),
        (json!("NEVER"), json!(now + 60)),
    ] {
        request["ExpirationModel"] = model;
        request["ValidTo"] = valid_to;
        assert_eq!(bench.fails("ImportKeyMaterial", request.clone()).await, "ValidationException");
    }
    request["ExpirationModel"] = "KEY_MATERIAL_EXPIRES".into();
    request["ValidTo"] = (now + 3600).into();
    bench.ok("ImportKeyMaterial", request.clone()).await;
    let metadata = bench.ok("DescribeKey", json!({"KeyId": id})).await["KeyMetadata"].clone();
    assert_eq!(metadata["ExpirationModel"], "KEY_MATERIAL_EXPIRES");
    assert_eq!(metadata["ValidTo"].as_f64().unwrap(), (now + 3600) as f64);
    let encrypt = json!({"KeyId": id, "Plaintext": "AAAA"});
    let blob = bench.ok("Encrypt", encrypt.clone()).await["CiphertextBlob"].clone();
    bench.wait_s(3601);
    // Expired material is of no use, whether the sweep has come by or not.
    for _ in 0..2 {
        assert_eq!(bench.fails("Encrypt", encrypt.clone()).await, "KMSInvalidStateException");
        assert_eq!(
            bench.ok("DescribeKey", json!({"KeyId": id})).await["KeyMetadata"]["KeyState"],
            "PendingImport"
        );
        kms::sweep(&bench.service).await.unwrap();
    }
    let record = bench.service.records.get::<kms::KeyRecord>(&id).unwrap();
    assert!(record.material.is_none());
    let current = async || {
        bench.ok("DescribeKey", json!({"KeyId": id})).await["KeyMetadata"]["CurrentKeyMaterialId"].clone()
    };
    assert_eq!(current().await, metadata["CurrentKeyMaterialId"], "it may be imported again");
    request["ValidTo"] = (now + 2 * 3600).into();
    request["ImportType"] = "EXISTING_KEY_MATERIAL".into();
    bench.ok("ImportKeyMaterial", request).await;
    assert_eq!(bench.ok("Decrypt", json!({"CiphertextBlob": blob})).await["Plaintext"], "AAAA");
    bench.ok("DeleteImportedKeyMaterial", json!({"KeyId": id})).await;
    assert_eq!(current().await, metadata["CurrentKeyMaterialId"]);
}
