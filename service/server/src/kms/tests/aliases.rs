use super::bench::{Bench, key_arn};
use serde_json::json;

#[tokio::test]
async fn an_alias_stands_for_its_key() {
    let bench = Bench::new().await;
    let (one, two) = (bench.symmetric_key().await, bench.symmetric_key().await);
    let rsa = bench.signing_key().await;
    bench.ok("CreateAlias", json!({"AliasName": "alias/app/key", "TargetKeyId": one})).await;
    let of = async |name: &str| {
        bench.ok("DescribeKey", json!({"KeyId": name})).await["KeyMetadata"]["KeyId"].clone()
    };
    assert_eq!(of("alias/app/key").await, one);
    assert_eq!(of("arn:aws:kms:us-east-1:000000000000:alias/app/key").await, one);
    let request = json!({"AliasName": "alias/app/key", "TargetKeyId": two});
    assert_eq!(bench.fails("CreateAlias", request.clone()).await, "AlreadyExistsException");
    bench.ok("UpdateAlias", request).await;
    assert_eq!(of("alias/app/key").await, two);
    let other = json!({"AliasName": "alias/app/key", "TargetKeyId": rsa});
    assert_eq!(bench.fails("UpdateAlias", other).await, "ValidationException");
    bench.ok("CreateAlias", json!({"AliasName": "alias/rsa", "TargetKeyId": key_arn(&rsa)})).await;
    let signed = json!({"KeyId": "alias/rsa", "Message": "AAAA", "SigningAlgorithm": "RSASSA_PSS_SHA_256"});
    assert_eq!(bench.ok("Sign", signed).await["KeyId"], key_arn(&rsa));
    let all = bench.ok("ListAliases", json!({"Limit": 1})).await;
    assert_eq!(all["Aliases"][0]["AliasName"], "alias/app/key");
    assert_eq!(all["Aliases"][0]["TargetKeyId"], two);
    assert_eq!(all["Aliases"][0]["AliasArn"], "arn:aws:kms:us-east-1:000000000000:alias/app/key");
    assert_eq!(all["Truncated"], true);
    let of_rsa = bench.ok("ListAliases", json!({"KeyId": rsa})).await;
    assert_eq!(of_rsa["Aliases"].as_array().unwrap().len(), 1);
    bench.ok("DeleteAlias", json!({"AliasName": "alias/rsa"})).await;
    assert_eq!(bench.fails("DeleteAlias", json!({"AliasName": "alias/rsa"})).await, "NotFoundException");
    assert_eq!(bench.fails("DescribeKey", json!({"KeyId": "alias/rsa"})).await, "NotFoundException");
}

#[tokio::test]
async fn names_that_are_no_aliases_are_refused() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    for (name, error) in [
        ("app", "ValidationException"),
        ("alias/", "InvalidAliasNameException"),
        ("alias/a:b", "ValidationException"),
        ("alias/a b", "ValidationException"),
        ("alias/aws/x", "NotAuthorizedException"),
        ("", "ValidationException"),
    ] {
        let request = json!({"AliasName": name, "TargetKeyId": id});
        assert_eq!(bench.fails("CreateAlias", request).await, error, "{name}");
    }
    let missing = json!({"AliasName": "alias/a", "TargetKeyId": "11111111-2222-4333-8444-555555555555"});
    assert_eq!(bench.fails("CreateAlias", missing).await, "NotFoundException");
    assert_eq!(
        bench.fails("UpdateAlias", json!({"AliasName": "alias/none", "TargetKeyId": id})).await,
        "NotFoundException"
    );
    bench.ok("CreateAlias", json!({"AliasName": "alias/a", "TargetKeyId": id})).await;
    // Keys are changed by their own names only.
    for operation in ["EnableKey", "DisableKey", "ScheduleKeyDeletion", "GetKeyPolicy", "ListGrants"] {
        assert_eq!(
            bench.fails(operation, json!({"KeyId": "alias/a"})).await,
            "NotFoundException",
            "{operation}"
        );
    }
    for target in ["alias/a", "arn:aws:kms:us-east-1:000000000000:alias/a"] {
        let error = bench.call("CreateAlias", json!({"AliasName": "alias/b", "TargetKeyId": target})).await;
        let text = "Aliases must refer to keys. Not aliases";
        assert_eq!(error.unwrap_err(), ("ValidationException".into(), text.into()));
    }
}
