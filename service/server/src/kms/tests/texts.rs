//! Messages that programs and people compare with those of AWS.

use super::bench::{Bench, b64};
use serde_json::{Value, json};

#[tokio::test]
async fn wrong_values_are_shown_with_their_places_and_secrets_are_not() {
    let bench = Bench::new().await;
    let id = bench.symmetric_key().await;
    let value = |value: &str, member: &str, constraint: &str| {
        format!(
            "1 validation error detected: Value {value} at '{member}' failed to satisfy constraint: Member must {constraint}"
        )
    };
    let tag = |key: &str, value: &str| json!({"TagKey": key, "TagValue": value});
    let (long_key, long_value) = ("k".repeat(129), "v".repeat(257));
    let many: Vec<Value> = (0..51).map(|number| tag(&number.to_string(), "")).collect();
    let pattern = "satisfy regular expression pattern: ^[a-zA-Z0-9:/_-]+$";
    let prefix = "Alias must start with the prefix \"alias/\". Please see \
                  https://docs.aws.amazon.com/kms/latest/developerguide/kms-alias.html";
    let cut = format!("'{}...'", "d".repeat(1024));
    for (operation, request, name, message) in [
        (
            "CreateKey",
            json!({"Tags": [tag("a", ""), tag(&long_key, "")]}),
            "ValidationException",
            value(&format!("'{long_key}'"), "tags.2.member.tagKey", "have length less than or equal to 128"),
        ),
        (
            "TagResource",
            json!({"KeyId": id, "Tags": [tag("a", &long_value)]}),
            "ValidationException",
            value(
                &format!("'{long_value}'"),
                "tags.1.member.tagValue",
                "have length less than or equal to 256",
            ),
        ),
        (
            "TagResource",
            json!({"KeyId": id, "Tags": [{"TagKey": "a"}]}),
            "ValidationException",
            value("null", "tags.1.member.tagValue", "not be null"),
        ),
        ("CreateKey", json!({"Tags": many}), "TagException", "Too many tags".into()),
        (
            "CreateKey",
            json!({"Tags": [tag("a", ""), tag("a", "")]}),
            "TagException",
            "Duplicate tag keys".into(),
        ),
        (
            "CreateKey",
            json!({"Tags": [tag("AWS:a", "")]}),
            "TagException",
            "Tags beginning with aws: are reserved".into(),
        ),
        (
            "CreateAlias",
            json!({"AliasName": "alias/my-alias!", "TargetKeyId": id}),
            "ValidationException",
            value("'alias/my-alias!'", "aliasName", pattern),
        ),
        (
            "CreateAlias",
            json!({"AliasName": "my-alias", "TargetKeyId": id}),
            "ValidationException",
            prefix.into(),
        ),
        (
            "CreateAlias",
            json!({"AliasName": "alias/my:alias", "TargetKeyId": id}),
            "ValidationException",
            "alias/my:alias contains invalid characters for an alias".into(),
        ),
        (
            "CreateKey",
            json!({"Description": "d".repeat(8193)}),
            "ValidationException",
            value(&cut, "description", "have length less than or equal to 8192"),
        ),
        (
            "Encrypt",
            json!({"KeyId": id, "Plaintext": b64(vec![7; 4097])}),
            "ValidationException",
            value("", "plaintext", "have length less than or equal to 4096").replace("Value  at", "Value at"),
        ),
        ("GenerateRandom", json!({}), "ValidationException", "NumberOfBytes is required.".into()),
        (
            "GenerateRandom",
            json!({"NumberOfBytes": 0}),
            "ValidationException",
            value("'0'", "numberOfBytes", "have value greater than or equal to 1"),
        ),
    ] {
        assert_eq!(
            bench.call(operation, request).await.unwrap_err(),
            (name.to_owned(), message),
            "{operation}"
        );
    }
}
