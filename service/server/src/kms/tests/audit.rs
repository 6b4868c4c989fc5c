use super::bench::{ADMIN, ALICE, Bench, arn};
use crate::audit;
use crate::door::testing::{audit_lines, audited};
use crate::kms;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

async fn bench(folder: &Path) -> Bench {
    let mut bench = Bench::new().await;
    Arc::get_mut(&mut bench.service).unwrap().batcher = audited(folder);
    bench
}

fn last(folder: &Path) -> Value {
    audit_lines(folder).pop().unwrap()
}

#[tokio::test]
async fn changes_are_noted_with_who_made_them() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path()).await;
    let id = bench.symmetric_key().await;
    let policy = kms::Policy::default_text("000000000000");
    let grantee = arn(ALICE);
    for (operation, request, change) in [
        (
            "DescribeKey",
            json!({}),
            json!({"spec": "SYMMETRIC_DEFAULT", "usage": "ENCRYPT_DECRYPT", "origin": "AWS_KMS"}),
        ),
        ("PutKeyPolicy", json!({"Policy": policy}), json!({"policy": policy})),
        (
            "TagResource",
            json!({"Tags": [{"TagKey": "team", "TagValue": "a secret?"}]}),
            json!({"tag_keys": ["team"]}),
        ),
        ("UntagResource", json!({"TagKeys": ["team"]}), json!({"tag_keys": ["team"]})),
        ("UpdateKeyDescription", json!({"Description": "d"}), Value::Null),
        ("DisableKey", json!({}), Value::Null),
        ("EnableKey", json!({}), Value::Null),
    ] {
        let mut request = request;
        request["KeyId"] = id.as_str().into();
        bench.ok(operation, request).await;
        let line = last(folder.path());
        let expected = if operation == "DescribeKey" { "CreateKey" } else { operation };
        let found =
            ["principal", "access_key", "door", "operation", "key", "outcome"].map(|name| line[name].clone());
        assert_eq!(found, [ADMIN, "AKIAADMIN", "kms", expected, &id, "ok"].map(Value::from), "{line}");
        assert_eq!(line["change"], change, "{line}");
    }
    bench.ok("CreateAlias", json!({"AliasName": "alias/a", "TargetKeyId": id})).await;
    assert_eq!(last(folder.path())["change"], json!({"alias": "alias/a"}));
    bench.ok("DeleteAlias", json!({"AliasName": "alias/a"})).await;
    let line = last(folder.path());
    assert_eq!((&line["operation"], &line["key"]), (&json!("DeleteAlias"), &json!(id)));
    let grant = json!({"KeyId": id, "GranteePrincipal": grantee, "Operations": ["Encrypt"]});
    let made = bench.ok("CreateGrant", grant).await["GrantId"].clone();
    let change = json!({"grant": made, "grantee": grantee, "operations": ["Encrypt"], "retiring": null});
    assert_eq!(last(folder.path())["change"], change);
    bench.ok("RevokeGrant", json!({"KeyId": id, "GrantId": made})).await;
    assert_eq!(last(folder.path())["change"], json!({"grant": made}));

    // Whoever may not is noted too, and so is what went wrong.
    bench.of(ALICE, "DisableKey", json!({"KeyId": id})).await.unwrap_err();
    let line = last(folder.path());
    let found = [&line["principal"], &line["key"], &line["outcome"]];
    assert_eq!(found, [&json!(ALICE), &json!(id), &json!("AccessDeniedException")]);
    bench.fails("CreateAlias", json!({"AliasName": "?"})).await;
    assert_eq!(last(folder.path())["outcome"], "ValidationException");

    // The service deletes a key whose time has come.
    bench.ok("ScheduleKeyDeletion", json!({"KeyId": id, "PendingWindowInDays": 7})).await;
    assert!(last(folder.path())["change"]["deletion_ms"].is_u64());
    bench.wait_s(7 * 86_400);
    kms::sweep(&bench.service).await.unwrap();
    let line = last(folder.path());
    let found = [&line["principal"], &line["access_key"], &line["operation"], &line["key"]];
    assert_eq!(found, [&json!("service"), &json!(""), &json!("DeleteKey"), &json!(id)]);
    let lines = audit_lines(folder.path()).len();
    bench.ok("ListKeys", json!({})).await;
    kms::sweep(&bench.service).await.unwrap();
    assert_eq!(audit_lines(folder.path()).len(), lines, "reading is not noted");
    let text = std::fs::read_to_string(folder.path().join("audit-00000001.jsonl")).unwrap();
    assert!(!text.contains("a secret?"));
    assert_eq!(audit::verify(folder.path()).unwrap().findings, []);
}

#[tokio::test]
async fn refused_changes_do_not_fill_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path()).await;
    // From the beginning of a minute on.
    bench.wait_s(60 - (bench.now_s() % 60) as i64);
    for _ in 0..70 {
        bench.of(ALICE, "CreateKey", json!({})).await.unwrap_err();
    }
    assert_eq!(audit_lines(folder.path()).len(), 1 + 60);
    bench.wait_s(60);
    bench.of(ALICE, "CreateKey", json!({})).await.unwrap_err();
    assert_eq!(last(folder.path())["change"], json!({"left_out": 10}));
    bench.symmetric_key().await;
    assert_eq!(last(folder.path())["outcome"], "ok");
}

#[tokio::test]
async fn a_change_has_its_line_though_its_client_left() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path()).await;
    tokio::select! {
        biased;
        _ = bench.call("CreateKey", json!({})) => panic!("the change waits for its line"),
        () = std::future::ready(()) => {}
    }
    let noted = async {
        while last(folder.path())["operation"] != "CreateKey" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), noted).await.expect("the line is written");
    assert_eq!(bench.service.records.all::<kms::KeyRecord>().len(), 1);
}

#[tokio::test]
async fn without_a_log_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path()).await;
    bench.service.batcher.audit().unwrap().fail(true);
    // The first change shows that the log is broken, and is not acknowledged.
    assert_eq!(bench.fails("CreateKey", json!({})).await, "KMSInternalException");
    assert_eq!(bench.fails("CreateKey", json!({})).await, "KMSInternalException");
    assert_eq!(bench.service.records.all::<kms::KeyRecord>().len(), 1);
    bench.ok("ListKeys", json!({})).await;
}
