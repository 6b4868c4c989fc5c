use super::bench::{ADMIN, ALICE, Bench, arn, b64, text};
use serde_json::{Value, json};

fn sign(id: &str) -> Value {
    json!({"KeyId": id, "Message": "AAAA", "SigningAlgorithm": "RSASSA_PSS_SHA_256"})
}

#[tokio::test]
async fn a_grant_allows_what_it_says_until_it_ends() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let denied = |answer: super::bench::Answer| assert_eq!(answer.unwrap_err().0, "AccessDeniedException");
    denied(bench.of(ALICE, "Sign", sign(&id)).await);
    let mut request = json!({"KeyId": id, "GranteePrincipal": arn(ALICE), "Operations": ["Sign"], "Name": "n", "DryRun": true});
    assert_eq!(bench.fails("CreateGrant", request.clone()).await, "DryRunOperationException");
    request["DryRun"] = false.into();
    let grant = bench.ok("CreateGrant", request.clone()).await;
    // A second request like the first finds the same grant.
    assert_eq!(bench.ok("CreateGrant", request.clone()).await["GrantId"], grant["GrantId"]);
    let mut with_token = sign(&id);
    with_token["GrantTokens"] = json!([grant["GrantToken"]]);
    bench.of(ALICE, "Sign", with_token).await.unwrap();
    denied(bench.of(ALICE, "GetPublicKey", json!({"KeyId": id})).await);
    denied(bench.of(ALICE, "ListGrants", json!({"KeyId": id})).await);
    let listed = bench.ok("ListGrants", json!({"KeyId": id})).await;
    assert_eq!(listed["Grants"].as_array().unwrap().len(), 1);
    let entry = &listed["Grants"][0];
    assert_eq!((text(&entry["GranteePrincipal"]), text(&entry["Name"])), (arn(ALICE), "n".into()));
    assert_eq!(entry["Operations"], json!(["Sign"]));
    let none = bench.ok("ListGrants", json!({"KeyId": id, "GranteePrincipal": arn(ADMIN)})).await;
    assert_eq!(none["Grants"], json!([]));
    let end = json!({"KeyId": id, "GrantId": grant["GrantId"]});
    denied(bench.of(ALICE, "RetireGrant", end.clone()).await);
    bench.ok("RevokeGrant", end.clone()).await;
    denied(bench.of(ALICE, "Sign", sign(&id)).await);
    assert_eq!(bench.fails("RevokeGrant", end).await, "NotFoundException");
}

#[tokio::test]
async fn grants_are_retired_by_whom_they_name() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let create = async |retiring: Option<String>, operations: Value| {
        let request = json!({
            "KeyId": id, "GranteePrincipal": arn(ALICE), "Operations": operations, "RetiringPrincipal": retiring,
        });
        bench.ok("CreateGrant", request).await
    };
    let grant = create(Some(arn(ALICE)), json!(["Verify"])).await;
    let retirable = bench.ok("ListRetirableGrants", json!({"RetiringPrincipal": arn(ALICE)})).await;
    assert_eq!(retirable["Grants"][0]["GrantId"], grant["GrantId"]);
    bench.of(ALICE, "RetireGrant", json!({"GrantToken": grant["GrantToken"]})).await.unwrap();
    let again = bench.of(ALICE, "RetireGrant", json!({"GrantToken": grant["GrantToken"]})).await;
    assert_eq!(again.unwrap_err().0, "InvalidGrantTokenException");
    let own = create(None, json!(["RetireGrant"])).await;
    let other = create(None, json!(["Sign"])).await;
    // A grant to retire is a grant to retire itself.
    let end = |grant: &Value| json!({"KeyId": id, "GrantId": grant["GrantId"]});
    assert_eq!(bench.of(ALICE, "RetireGrant", end(&other)).await.unwrap_err().0, "AccessDeniedException");
    bench.of(ALICE, "RetireGrant", end(&own)).await.unwrap();
    bench.ok("RetireGrant", end(&other)).await;
}

#[tokio::test]
async fn constraints_ask_for_an_encryption_context() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let encrypt = async |context: Value| {
        let request = json!({"KeyId": id, "Plaintext": b64("x"), "EncryptionContext": context});
        bench.of(ALICE, "Encrypt", request).await.is_ok()
    };
    for (constraint, equal) in [("EncryptionContextEquals", true), ("EncryptionContextSubset", false)] {
        let request = json!({
            "KeyId": id, "GranteePrincipal": arn(ALICE), "Operations": ["Encrypt", "DescribeKey"],
            "Constraints": {constraint: {"a": "b"}},
        });
        let grant = bench.ok("CreateGrant", request).await;
        assert!(encrypt(json!({"a": "b"})).await);
        assert_eq!(encrypt(json!({"a": "b", "c": "d"})).await, !equal);
        assert!(!encrypt(json!({"a": "c"})).await);
        assert!(!encrypt(json!({})).await);
        bench.of(ALICE, "DescribeKey", json!({"KeyId": id})).await.unwrap();
        let listed = bench.ok("ListGrants", json!({"KeyId": id})).await;
        assert_eq!(listed["Grants"][0]["Constraints"], json!({constraint: {"a": "b"}}));
        bench.ok("RevokeGrant", json!({"KeyId": id, "GrantId": grant["GrantId"]})).await;
    }
}

#[tokio::test]
async fn who_may_grant_grants_no_more_than_was_granted() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let parent = json!({"KeyId": id, "GranteePrincipal": arn(ALICE), "Operations": ["CreateGrant", "Sign"]});
    bench.ok("CreateGrant", parent).await;
    let child =
        |operations: Value| json!({"KeyId": id, "GranteePrincipal": arn("carol"), "Operations": operations});
    bench.of(ALICE, "CreateGrant", child(json!(["Sign"]))).await.unwrap();
    let more = bench.of(ALICE, "CreateGrant", child(json!(["Sign", "Verify"]))).await;
    assert_eq!(more.unwrap_err().0, "AccessDeniedException");
}

#[tokio::test]
async fn grants_that_make_no_sense_are_refused() {
    let bench = Bench::new().await;
    let id = bench.signing_key().await;
    let request = |name: &str, value: Value| {
        let mut request = json!({"KeyId": id, "GranteePrincipal": arn(ALICE), "Operations": ["Sign"]});
        request[name] = value;
        request
    };
    for (request, error) in [
        (request("Operations", json!([])), "ValidationException"),
        (request("Operations", json!(["Encrypt"])), "ValidationException"),
        (request("Operations", json!(null)), "ValidationException"),
        (request("GranteePrincipal", json!("alice")), "InvalidArnException"),
        (request("GranteePrincipal", json!(null)), "ValidationException"),
        (request("RetiringPrincipal", json!("x")), "InvalidArnException"),
        (request("Name", json!("a b")), "ValidationException"),
        (request("Constraints", json!({"EncryptionContextEquals": {"a": "b"}})), "ValidationException"),
        (request("GranteeServicePrincipal", json!("a.amazonaws.com")), "UnsupportedOperationException"),
    ] {
        assert_eq!(bench.fails("CreateGrant", request.clone()).await, error, "{request}");
    }
    bench.ok("DisableKey", json!({"KeyId": id})).await;
    assert_eq!(bench.fails("CreateGrant", request("Name", json!("n"))).await, "DisabledException");
}
