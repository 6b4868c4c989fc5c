use super::bench::{ADMIN, ALICE, Bench, arn, key_arn};
use crate::kms::KeyRecord;
use crate::records::{Changes, RecordsError};
use serde_json::{Value, json};

fn policy(statements: Value) -> String {
    json!({"Version": "2012-10-17", "Statement": statements}).to_string()
}

fn allow(principal: &str, action: Value) -> Value {
    json!({"Effect": "Allow", "Principal": {"AWS": principal}, "Action": action, "Resource": "*"})
}

const ROOT: &str = "arn:aws:iam::000000000000:root";

#[tokio::test]
async fn without_the_right_only_policies_and_grants_count() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let sign = json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": "RSASSA_PSS_SHA_256"});
    let error = bench.of(ALICE, "Sign", sign.clone()).await.unwrap_err();
    let message = format!(
        "User: {} is not authorized to perform: kms:Sign on resource: {} because no resource-based policy allows the \
         kms:Sign action",
        arn(ALICE),
        key_arn(&id)
    );
    assert_eq!(error, ("AccessDeniedException".into(), message));
    for operation in ["CreateKey", "ListKeys", "ListAliases", "GenerateRandom", "ListRetirableGrants"] {
        let error = bench.of(ALICE, operation, json!({"NumberOfBytes": 1})).await.unwrap_err();
        assert_eq!(error.0, "AccessDeniedException", "{operation}");
        assert!(error.1.contains("no identity-based policy"), "{}", error.1);
    }
    let put = |policy: String| json!({"KeyId": id, "Policy": policy, "PolicyName": "default"});
    bench
        .ok(
            "PutKeyPolicy",
            put(policy(json!([allow(ROOT, json!("kms:*")), allow(&arn(ALICE), json!("kms:Sign"))]))),
        )
        .await;
    bench.of(ALICE, "Sign", sign.clone()).await.unwrap();
    assert!(bench.of(ALICE, "GetKeyPolicy", json!({"KeyId": id})).await.is_err());
    let deny = json!({"Effect": "Deny", "Principal": "*", "Action": "kms:Sign", "Resource": "*",
        "Condition": {"StringNotEquals": {"kms:MessageType": "DIGEST"}}});
    bench.ok("PutKeyPolicy", put(policy(json!([allow(ROOT, json!("kms:*")), deny])))).await;
    for who in [ALICE, ADMIN] {
        let error = bench.of(who, "Sign", sign.clone()).await.unwrap_err();
        assert!(error.1.ends_with("with an explicit deny in a resource-based policy"), "{}", error.1);
    }
    let digest = json!({"KeyId": id, "Message": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "MessageType": "DIGEST",
        "SigningAlgorithm": "RSASSA_PSS_SHA_256"});
    bench.ok("Sign", digest).await;
}

#[tokio::test]
async fn policies_are_kept_as_written_and_cannot_lock_out() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let found = bench.ok("GetKeyPolicy", json!({"KeyId": id})).await;
    assert_eq!(found["PolicyName"], "default");
    assert!(found["Policy"].as_str().unwrap().contains(ROOT));
    let listed = bench.ok("ListKeyPolicies", json!({"KeyId": id})).await;
    assert_eq!(listed, json!({"PolicyNames": ["default"], "Truncated": false}));
    let put = async |policy: String, bypass: bool| {
        let request = json!({"KeyId": id, "Policy": policy, "BypassPolicyLockoutSafetyCheck": bypass});
        bench.call("PutKeyPolicy", request).await.map_err(|error| error.0)
    };
    let malformed = Err("MalformedPolicyDocumentException".to_owned());
    assert_eq!(put("{".into(), true).await, malformed);
    let alice_only = policy(json!([allow(&arn(ALICE), json!("kms:*"))]));
    assert_eq!(put(alice_only.clone(), false).await, malformed);
    assert_eq!(
        put(format!("{alice_only}{}", " ".repeat(33_000)), true).await,
        Err("LimitExceededException".into())
    );
    let mine = format!("{} ", policy(json!([allow(&arn(ADMIN), json!("kms:*"))])));
    put(mine.clone(), false).await.unwrap();
    assert_eq!(bench.ok("GetKeyPolicy", json!({"KeyId": id})).await["Policy"], mine);
    put(alice_only, true).await.unwrap();
    assert_eq!(bench.fails("GetKeyPolicy", json!({"KeyId": id})).await, "AccessDeniedException");
    bench.of(ALICE, "GetKeyPolicy", json!({"KeyId": id})).await.unwrap();
    let other = json!({"KeyId": id, "PolicyName": "other"});
    assert_eq!(bench.of(ALICE, "GetKeyPolicy", other).await.unwrap_err().0, "NotFoundException");
}

#[tokio::test]
async fn a_key_may_be_created_with_a_policy() {
    let bench = Bench::new().await;
    let locked = json!({"Policy": policy(json!([allow(&arn(ALICE), json!("kms:*"))]))});
    assert_eq!(bench.fails("CreateKey", locked.clone()).await, "MalformedPolicyDocumentException");
    let mut bypassed = locked;
    bypassed["BypassPolicyLockoutSafetyCheck"] = true.into();
    let id = bench.ok("CreateKey", bypassed).await["KeyMetadata"]["KeyId"].clone();
    let encrypt = json!({"KeyId": id, "Plaintext": "AAAA"});
    assert_eq!(bench.fails("Encrypt", encrypt.clone()).await, "AccessDeniedException");
    bench.of(ALICE, "Encrypt", encrypt).await.unwrap();
}

#[tokio::test]
async fn aliases_need_the_right_besides_the_policy() {
    let bench = Bench::new().await;
    let statements = json!([allow(ROOT, json!("kms:*")), allow(&arn(ALICE), json!("kms:*"))]);
    let id =
        bench.ok("CreateKey", json!({"Policy": policy(statements)})).await["KeyMetadata"]["KeyId"].clone();
    let request = json!({"AliasName": "alias/a", "TargetKeyId": id});
    assert_eq!(bench.of(ALICE, "CreateAlias", request).await.unwrap_err().0, "AccessDeniedException");
}

#[tokio::test]
async fn both_sides_of_a_re_encryption_are_asked() {
    let bench = Bench::new().await;
    let key = async |action: &str| {
        let statements = json!([allow(ROOT, json!("kms:*")), allow(&arn(ALICE), json!(action))]);
        bench.ok("CreateKey", json!({"Policy": policy(statements)})).await["KeyMetadata"]["KeyId"].clone()
    };
    let (from, to) = (key("kms:ReEncryptFrom").await, key("kms:ReEncryptTo").await);
    let re_encrypt = async |from: &Value, to: &Value| {
        let blob =
            bench.ok("Encrypt", json!({"KeyId": from, "Plaintext": "AAAA"})).await["CiphertextBlob"].clone();
        bench.of(ALICE, "ReEncrypt", json!({"CiphertextBlob": blob, "DestinationKeyId": to})).await
    };
    re_encrypt(&from, &to).await.unwrap();
    for (from, to) in [(&to, &from), (&from, &from), (&to, &to)] {
        assert_eq!(re_encrypt(from, to).await.unwrap_err().0, "AccessDeniedException");
    }
}

#[tokio::test]
async fn policies_that_fail_open_are_refused() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let put = async |policy: String| {
        let request = json!({"KeyId": id, "Policy": policy, "BypassPolicyLockoutSafetyCheck": true});
        bench.call("PutKeyPolicy", request).await.unwrap_err()
    };
    let deny = |name: &str| {
        let deny =
            json!({"Effect": "Deny", "Principal": {"AWS": arn(name)}, "Action": "kms:*", "Resource": "*"});
        policy(json!([allow(ROOT, json!("kms:*")), deny]))
    };
    for (policy, text) in [
        (deny("*"), "invalid principals"),
        (deny("Alice"), "There is no user \"Alice\", but \"alice\"."),
        (
            deny(ALICE).replace("\"Effect\":\"Deny\"", "\"Effect\":\"Deny\",\"Effect\":\"Allow\""),
            "comes twice",
        ),
    ] {
        let (name, message) = put(policy).await;
        assert_eq!(name, "MalformedPolicyDocumentException");
        assert!(message.contains(text), "{message}");
    }
    let grant =
        |grantee: String| json!({"KeyId": id, "GranteePrincipal": grantee, "Operations": ["Encrypt"]});
    assert_eq!(bench.fails("CreateGrant", grant(arn("*"))).await, "InvalidArnException");
    bench.ok("CreateGrant", grant(arn("somebody"))).await;
}

#[tokio::test]
async fn a_policy_of_an_earlier_version_is_read_as_before() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let mut record = KeyRecord::clone(&bench.service.records.get(&id).unwrap());
    let deny = json!({"Effect": "Deny", "Principal": {"AWS": arn("*")}, "Action": "kms:*", "Resource": "*"});
    record.policy = policy(json!([allow(ROOT, json!("kms:*")), deny]));
    let records = &bench.service.records;
    records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&record), ()))).await.unwrap();
    bench.ok("Encrypt", json!({"KeyId": id, "Plaintext": "AAAA"})).await;
    let alice = bench.of(ALICE, "Encrypt", json!({"KeyId": id, "Plaintext": "AAAA"})).await;
    assert_eq!(alice.unwrap_err().0, "AccessDeniedException");
}
