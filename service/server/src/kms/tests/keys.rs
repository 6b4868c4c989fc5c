use super::bench::{Bench, key_arn, text};
use crate::kms;
use serde_json::{Value, json};

const DAY: i64 = 86_400;

#[tokio::test]
async fn a_key_is_described_as_created() {
    let bench = Bench::new().await;
    let request = json!({
        "KeySpec": "RSA_2048", "KeyUsage": "SIGN_VERIFY", "Description": "for tests",
        "Tags": [{"TagKey": "team", "TagValue": "a"}],
    });
    let created = bench.ok("CreateKey", request).await;
    let id = text(&created["KeyMetadata"]["KeyId"]);
    let metadata = &created["KeyMetadata"];
    for (name, value) in [
        ("AWSAccountId", json!("000000000000")),
        ("Arn", json!(key_arn(&id))),
        ("Enabled", json!(true)),
        ("Description", json!("for tests")),
        ("KeyUsage", json!("SIGN_VERIFY")),
        ("KeyState", json!("Enabled")),
        ("Origin", json!("AWS_KMS")),
        ("KeyManager", json!("CUSTOMER")),
        ("KeySpec", json!("RSA_2048")),
        ("CustomerMasterKeySpec", json!("RSA_2048")),
        ("MultiRegion", json!(false)),
    ] {
        assert_eq!(metadata[name], value, "{name}");
    }
    let created_s = metadata["CreationDate"].as_f64().unwrap();
    assert!((created_s - bench.now_s() as f64).abs() < 60.0);
    for name in [id.clone(), key_arn(&id)] {
        assert_eq!(bench.ok("DescribeKey", json!({"KeyId": name})).await, created);
    }
    bench.ok("UpdateKeyDescription", json!({"KeyId": id, "Description": "new"})).await;
    assert_eq!(bench.ok("DescribeKey", json!({"KeyId": id})).await["KeyMetadata"]["Description"], "new");
    let tags = bench.ok("ListResourceTags", json!({"KeyId": id})).await;
    assert_eq!(tags, json!({"Tags": [{"TagKey": "team", "TagValue": "a"}], "Truncated": false}));
}

#[tokio::test]
async fn keys_that_cannot_be_made_are_refused() {
    let bench = Bench::new().await;
    for (request, name) in [
        (json!({"KeySpec": "RSA_2048"}), "ValidationException"),
        (json!({"KeySpec": "RSA_1024", "KeyUsage": "SIGN_VERIFY"}), "ValidationException"),
        (json!({"KeySpec": "ECC_NIST_P256", "KeyUsage": "SIGN_VERIFY"}), "UnsupportedOperationException"),
        (json!({"KeyUsage": "SIGN_VERIFY"}), "ValidationException"),
        (json!({"KeyUsage": "GENERATE_VERIFY_MAC"}), "UnsupportedOperationException"),
        (
            json!({"KeySpec": "SYMMETRIC_DEFAULT", "CustomerMasterKeySpec": "SYMMETRIC_DEFAULT"}),
            "ValidationException",
        ),
        (json!({"Origin": "AWS_CLOUDHSM"}), "UnsupportedOperationException"),
        (json!({"MultiRegion": true}), "UnsupportedOperationException"),
        (json!({"CustomKeyStoreId": "cks-1"}), "UnsupportedOperationException"),
        (json!({"Description": "x".repeat(8193)}), "ValidationException"),
        (json!({"Tags": [{"TagKey": ""}]}), "ValidationException"),
        (json!({"Tags": [{"TagKey": "a", "TagValue": ""}, {"TagKey": "a", "TagValue": ""}]}), "TagException"),
        (json!({"Tags": [{"TagKey": "aws:x", "TagValue": ""}]}), "TagException"),
        (json!({"Policy": "{}"}), "MalformedPolicyDocumentException"),
    ] {
        assert_eq!(bench.fails("CreateKey", request.clone()).await, name, "{request}");
    }
    assert_eq!(bench.ok("ListKeys", json!({})).await, json!({"Keys": [], "Truncated": false}));
}

#[tokio::test]
async fn keys_are_listed_in_pages() {
    let bench = Bench::new().await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(bench.symmetric_key().await);
    }
    ids.sort();
    let mut listed = Vec::new();
    let mut request = json!({"Limit": 2});
    loop {
        let page = bench.ok("ListKeys", request.clone()).await;
        let keys = page["Keys"].as_array().unwrap();
        assert!(keys.len() <= 2);
        listed.extend(keys.iter().map(|key| text(&key["KeyId"])));
        assert_eq!(page["Truncated"], page.get("NextMarker").is_some());
        let Some(marker) = page.get("NextMarker") else { break };
        request["Marker"] = marker.clone();
    }
    assert_eq!(listed, ids);
    assert_eq!(bench.fails("ListKeys", json!({"Limit": 0})).await, "ValidationException");
    assert_eq!(bench.fails("ListKeys", json!({"Marker": "?"})).await, "InvalidMarkerException");
}

#[tokio::test]
async fn names_that_stand_for_no_key_are_told() {
    let bench = Bench::new().await;
    let id = "11111111-2222-4333-8444-555555555555";
    let gone = format!("Key '{}' does not exist", key_arn(id));
    for (name, error, message) in [
        (id.to_owned(), "NotFoundException", gone.as_str()),
        (key_arn(id), "NotFoundException", gone.as_str()),
        ("nonsense".to_owned(), "NotFoundException", "Invalid keyId 'nonsense'"),
        (format!("key/{id}"), "NotFoundException", ""),
        (
            "mrk-1234".to_owned(),
            "NotFoundException",
            "Key 'arn:aws:kms:us-east-1:000000000000:key/mrk-1234' does not exist",
        ),
        (
            "alias/none".to_owned(),
            "NotFoundException",
            "Alias arn:aws:kms:us-east-1:000000000000:alias/none is not found.",
        ),
        ("arn:aws:kms:us-east-1".to_owned(), "InvalidArnException", ""),
        (key_arn(id).replace("us-east-1", "eu-west-1"), "NotFoundException", "Invalid arn eu-west-1"),
        (key_arn(id).replace("000000000000", "111111111111"), "NotFoundException", ""),
        ("arn:aws:kms:us-east-1:000000000000:alias/none".to_owned(), "NotFoundException", ""),
    ] {
        let found = bench.call("DescribeKey", json!({"KeyId": name})).await.unwrap_err();
        assert_eq!(found.0, error, "{name}");
        assert!(message.is_empty() || found.1 == message, "{name}: {found:?}");
    }
    let long = "x".repeat(2049);
    assert_eq!(bench.fails("DescribeKey", json!({"KeyId": long})).await, "ValidationException");
}

#[tokio::test]
async fn tags_are_set_and_removed() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let tags: Vec<Value> =
        (0..50).map(|tag| json!({"TagKey": format!("{tag:02}"), "TagValue": "v"})).collect();
    bench.ok("TagResource", json!({"KeyId": id, "Tags": tags})).await;
    bench.ok("TagResource", json!({"KeyId": id, "Tags": [{"TagKey": "00", "TagValue": "w"}]})).await;
    let more = json!({"KeyId": id, "Tags": [{"TagKey": "new", "TagValue": "v"}]});
    assert_eq!(bench.fails("TagResource", more).await, "LimitExceededException");
    let page = bench.ok("ListResourceTags", json!({"KeyId": id, "Limit": 1})).await;
    assert_eq!(page["Tags"], json!([{"TagKey": "00", "TagValue": "w"}]));
    assert_eq!(page["Truncated"], true);
    bench.ok("UntagResource", json!({"KeyId": id, "TagKeys": ["00", "none"]})).await;
    let rest = bench.ok("ListResourceTags", json!({"KeyId": id})).await;
    assert_eq!(rest["Tags"].as_array().unwrap().len(), 49);
    assert_eq!(bench.fails("UntagResource", json!({"KeyId": id})).await, "ValidationException");
}

#[tokio::test]
async fn deletion_waits_and_then_happens() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    bench.ok("CreateAlias", json!({"AliasName": "alias/a", "TargetKeyId": id})).await;
    for days in [6, 31] {
        let request = json!({"KeyId": id, "PendingWindowInDays": days});
        assert_eq!(bench.fails("ScheduleKeyDeletion", request).await, "ValidationException");
    }
    assert_eq!(bench.fails("CancelKeyDeletion", json!({"KeyId": id})).await, "KMSInvalidStateException");
    let answer = bench.ok("ScheduleKeyDeletion", json!({"KeyId": id, "PendingWindowInDays": 7})).await;
    assert_eq!(
        (answer["KeyState"].clone(), answer["PendingWindowInDays"].clone()),
        (json!("PendingDeletion"), json!(7))
    );
    let due_s = answer["DeletionDate"].as_f64().unwrap() - bench.now_s() as f64;
    assert!((due_s - 7.0 * DAY as f64).abs() < 60.0);
    for operation in ["ScheduleKeyDeletion", "EnableKey", "DisableKey"] {
        assert_eq!(
            bench.fails(operation, json!({"KeyId": id})).await,
            "KMSInvalidStateException",
            "{operation}"
        );
    }
    let tag = json!({"KeyId": id, "Tags": [{"TagKey": "a", "TagValue": "b"}]});
    assert_eq!(bench.fails("TagResource", tag).await, "KMSInvalidStateException");
    bench.wait_s(7 * DAY - 60);
    kms::sweep(&bench.service).await.unwrap();
    assert_eq!(
        bench.ok("DescribeKey", json!({"KeyId": id})).await["KeyMetadata"]["KeyState"],
        "PendingDeletion"
    );
    bench.wait_s(61);
    // A deletion that is due cannot be taken back, whether the sweep has come by or not.
    assert_eq!(bench.fails("CancelKeyDeletion", json!({"KeyId": id})).await, "NotFoundException");
    kms::sweep(&bench.service).await.unwrap();
    assert_eq!(bench.fails("DescribeKey", json!({"KeyId": id})).await, "NotFoundException");
    assert_eq!(bench.ok("ListAliases", json!({})).await["Aliases"], json!([]));
}

#[tokio::test]
async fn the_last_use_is_known_and_written() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let unused = bench.ok("GetKeyLastUsage", json!({"KeyId": id})).await;
    assert_eq!(unused["KeyLastUsage"], json!({}));
    bench.ok("Encrypt", json!({"KeyId": id, "Plaintext": "AAAA"})).await;
    let before = bench.service.records.seen();
    let used = bench.ok("GetKeyLastUsage", json!({"KeyId": id})).await;
    assert_eq!(used["KeyLastUsage"]["Operation"], "Encrypt");
    kms::sweep(&bench.service).await.unwrap();
    assert_eq!(bench.service.records.seen(), before + 1);
    assert_eq!(bench.ok("GetKeyLastUsage", json!({"KeyId": id})).await, used);
    kms::sweep(&bench.service).await.unwrap();
    assert_eq!(bench.service.records.seen(), before + 1);
}

#[tokio::test]
async fn rotation_is_for_symmetric_keys_and_off() {
    let bench = Bench::new().await;
    let (rsa, symmetric) = (bench.signing_key().await, bench.symmetric_key().await);
    for operation in ["GetKeyRotationStatus", "ListKeyRotations"] {
        assert_eq!(bench.fails(operation, json!({"KeyId": rsa})).await, "UnsupportedOperationException");
    }
    let status = bench.ok("GetKeyRotationStatus", json!({"KeyId": symmetric})).await;
    assert_eq!(status["KeyRotationEnabled"], false);
    assert_eq!(bench.ok("ListKeyRotations", json!({"KeyId": symmetric})).await["Rotations"], json!([]));
    assert_eq!(
        bench.fails("EnableKeyRotation", json!({"KeyId": symmetric})).await,
        "UnsupportedOperationException"
    );
}

#[tokio::test]
async fn symmetric_keys_have_no_public_key() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    assert_eq!(bench.fails("GetPublicKey", json!({"KeyId": id})).await, "UnsupportedOperationException");
}
