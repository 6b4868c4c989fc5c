use super::*;
use serde_json::json;
use std::collections::BTreeMap;

const KEY: &str = "arn:aws:kms:us-east-1:000000000000:key/k";
const ALICE: &str = "arn:aws:iam::000000000000:user/alice";
const ROOT: &str = "arn:aws:iam::000000000000:root";

fn policy(statements: Value) -> Policy {
    Policy::parse(&json!({"Version": "2012-10-17", "Statement": statements}).to_string()).unwrap()
}

fn ask(policy: &Policy, principal: &str, action: &str, facts: &Facts<'_>) -> Verdict {
    policy.verdict(&Question { principal, account: "000000000000", action, resource: KEY, facts })
}

fn allow(principal: &str, action: &str) -> Value {
    json!({"Effect": "Allow", "Principal": {"AWS": principal}, "Action": action, "Resource": "*"})
}

#[test]
fn the_default_policy_leaves_it_to_the_account() {
    let policy = Policy::parse(&Policy::default_text("000000000000")).unwrap();
    assert_eq!(ask(&policy, ALICE, "kms:Sign", &Facts::default()), Verdict::Delegated);
    let other = Policy::parse(&Policy::default_text("111111111111")).unwrap();
    assert_eq!(ask(&other, ALICE, "kms:Sign", &Facts::default()), Verdict::Silent);
}

#[test]
fn principals_actions_and_resources_are_compared() {
    let facts = Facts::default();
    let one = policy(json!([allow(ALICE, "kms:Sign")]));
    assert_eq!(ask(&one, ALICE, "kms:Sign", &facts), Verdict::Allowed);
    assert_eq!(ask(&one, ALICE, "kms:Verify", &facts), Verdict::Silent);
    assert_eq!(ask(&one, "arn:aws:iam::000000000000:user/alic", "kms:Sign", &facts), Verdict::Silent);
    let everybody =
        policy(json!({"Effect": "Allow", "Principal": "*", "Action": ["KMS:s*"], "Resource": KEY}));
    assert_eq!(ask(&everybody, ALICE, "kms:Sign", &facts), Verdict::Allowed);
    let elsewhere = policy(
        json!([{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "arn:aws:kms:*:key/x"}]),
    );
    assert_eq!(ask(&elsewhere, ALICE, "kms:Sign", &facts), Verdict::Silent);
    let but =
        policy(json!([{"Effect": "Allow", "Principal": "*", "NotAction": "kms:Sign", "Resource": "*"}]));
    assert_eq!(ask(&but, ALICE, "kms:Sign", &facts), Verdict::Silent);
    assert_eq!(ask(&but, ALICE, "kms:Verify", &facts), Verdict::Allowed);
}

#[test]
fn a_denial_wins() {
    let deny = json!({"Effect": "Deny", "Principal": {"AWS": ALICE}, "Action": "kms:*", "Resource": "*"});
    let policy = policy(json!([allow(ROOT, "kms:*"), deny, allow(ALICE, "kms:Sign")]));
    assert_eq!(ask(&policy, ALICE, "kms:Sign", &Facts::default()), Verdict::Denied);
    assert_eq!(
        ask(&policy, "arn:aws:iam::000000000000:user/bob", "kms:Sign", &Facts::default()),
        Verdict::Delegated
    );
}

#[test]
fn denying_all_but_some() {
    let deny =
        json!({"Effect": "Deny", "NotPrincipal": {"AWS": [ALICE, ROOT]}, "Action": "kms:*", "Resource": "*"});
    let policy = policy(json!([allow(ROOT, "kms:*"), deny]));
    assert_eq!(ask(&policy, ALICE, "kms:Sign", &Facts::default()), Verdict::Delegated);
    assert_eq!(
        ask(&policy, "arn:aws:iam::000000000000:user/bob", "kms:Sign", &Facts::default()),
        Verdict::Denied
    );
}

fn with_condition(effect: &str, condition: Value) -> Policy {
    policy(json!([
        allow(ROOT, "kms:Sign"),
        {"Effect": effect, "Principal": {"AWS": ALICE}, "Action": "*", "Resource": "*", "Condition": condition}
    ]))
}

#[test]
fn conditions_are_compared_with_the_request() {
    let context = BTreeMap::from([("Department".to_owned(), "Finance".to_owned())]);
    let facts = Facts {
        signing_algorithm: Some("RSASSA_PSS_SHA_256"),
        encryption_context: Some(&context),
        key_spec: "RSA_2048",
        ..Facts::default()
    };
    for (condition, expected) in [
        (json!({"StringEquals": {"kms:SigningAlgorithm": "RSASSA_PSS_SHA_256"}}), Verdict::Allowed),
        (json!({"StringEquals": {"kms:SigningAlgorithm": ["x", "RSASSA_PSS_SHA_256"]}}), Verdict::Allowed),
        (json!({"StringEquals": {"kms:SigningAlgorithm": "RSASSA_PSS_SHA_512"}}), Verdict::Delegated),
        (json!({"StringLike": {"KMS:signingalgorithm": "RSASSA_PSS_*"}}), Verdict::Allowed),
        (json!({"StringNotLike": {"kms:SigningAlgorithm": "RSASSA_PSS_*"}}), Verdict::Delegated),
        (json!({"StringEquals": {"kms:EncryptionContext:Department": "Finance"}}), Verdict::Allowed),
        (json!({"StringEquals": {"kms:EncryptionContext:department": "Finance"}}), Verdict::Delegated),
        (
            json!({"ForAnyValue:StringEquals": {"kms:EncryptionContextKeys": ["Department"]}}),
            Verdict::Allowed,
        ),
        (json!({"ForAllValues:StringEquals": {"kms:EncryptionContextKeys": ["Other"]}}), Verdict::Delegated),
        (json!({"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::*:user/*"}}), Verdict::Allowed),
        (json!({"ArnNotEquals": {"aws:PrincipalArn": "arn:aws:iam::*:user/*"}}), Verdict::Delegated),
        (json!({"StringEquals": {"kms:MessageType": "RAW"}}), Verdict::Delegated),
        (json!({"StringEqualsIfExists": {"kms:MessageType": "RAW"}}), Verdict::Allowed),
        (json!({"StringNotEquals": {"kms:MessageType": "RAW"}}), Verdict::Allowed),
        (json!({"Null": {"kms:MessageType": true}}), Verdict::Allowed),
        (json!({"Bool": {"kms:GrantIsForAWSResource": true}}), Verdict::Delegated),
        (json!({"StringEquals": {"aws:username": "alice", "kms:KeySpec": "RSA_2048"}}), Verdict::Allowed),
        (json!({"StringEquals": {"aws:username": "alice", "kms:KeySpec": "RSA_4096"}}), Verdict::Delegated),
    ] {
        assert_eq!(
            ask(&with_condition("Allow", condition.clone()), ALICE, "kms:Sign", &facts),
            expected,
            "{condition}"
        );
    }
}

/// A condition that asks for nothing would let a statement count for every request.
#[test]
fn empty_conditions_are_refused_where_they_are_set() {
    let mut statement = allow(ALICE, "kms:Sign");
    statement["Condition"] = json!({"StringEquals": {}});
    let text = json!({"Version": "2012-10-17", "Statement": [allow(ROOT, "kms:*"), statement]}).to_string();
    let error = Policy::parse(&text).unwrap_err();
    assert_eq!(error, "The condition StringEquals has no keys. (Statement 2)");
    let stored = Policy::parse_stored(&text).unwrap();
    assert_eq!(ask(&stored, ALICE, "kms:Sign", &Facts::default()), Verdict::Allowed);
}

#[test]
fn unknown_conditions_allow_nothing_and_may_deny() {
    for condition in [
        json!({"StringNotEquals": {"aws:SomethingNew": "x"}}),
        json!({"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}),
        json!({"NumericLessThanIfExists": {"kms:KeySpec": "3"}}),
        json!({"StringNotEquals": {"kms:KeySpec": "${aws:username}"}}),
    ] {
        let facts = Facts::default();
        assert_eq!(
            ask(&with_condition("Allow", condition.clone()), ALICE, "kms:Sign", &facts),
            Verdict::Delegated
        );
        assert_eq!(ask(&with_condition("Deny", condition), ALICE, "kms:Sign", &facts), Verdict::Denied);
    }
}

#[test]
fn what_is_no_policy_is_refused() {
    let good = allow(ALICE, "kms:Sign");
    let with = |name: &str, value: Value| {
        let mut statement = good.clone();
        statement[name] = value;
        json!({"Statement": statement}).to_string()
    };
    for text in [
        String::new(),
        "[]".into(),
        "{}".into(),
        json!({"Statement": []}).to_string(),
        json!({"Statement": good, "Extra": 1}).to_string(),
        json!({"Version": "2030-01-01", "Statement": good}).to_string(),
        with("Effect", json!("Maybe")),
        with("Principal", json!("alice")),
        with("Principal", json!({"AWS": "alice"})),
        with("Principal", json!({"AWS": "arn:aws:iam::0:user/alice"})),
        with("Principal", json!({"AWS": []})),
        with("Principal", json!({"AWS": "*", "Other": "x"})),
        with("Action", json!(7)),
        with("Action", json!("Sign")),
        with("NotAction", json!("kms:Sign")),
        with("Resource", json!(null)),
        with("Resource", json!("arn:aws:kms:*:${aws:username}")),
        with("Condition", json!([])),
        with("Condition", json!({"Equals": {"a": "b"}})),
        with("Condition", json!({"StringEquals": {"a": {}}})),
        with("Extra", json!(1)),
        json!({"Statement": {"Effect": "Allow", "NotPrincipal": {"AWS": ALICE}, "Action": "*", "Resource": "*"}}).to_string(),
    ] {
        assert!(Policy::parse(&text).is_err(), "{text}");
    }
    assert!(Policy::parse(&json!({"Statement": good}).to_string()).is_ok());
}

#[test]
fn statements_that_would_be_about_nobody_are_refused() {
    let user = |name: &str| json!({"AWS": [ROOT, format!("arn:aws:iam::000000000000:{name}")]});
    let deny = |principal: Value, element: &str, value: Value| {
        let mut statement =
            json!({"Effect": "Deny", "Principal": principal, "Action": "kms:Sign", "Resource": "*"});
        statement[element] = value;
        json!({"Statement": [allow(ALICE, "kms:*"), statement]}).to_string()
    };
    let of = |principal: Value| deny(principal, "Sid", json!("sid"));
    for name in [
        "user/*",
        "user/al?ce",
        "*",
        "user/alice ",
        "user/ alice",
        "user/a/alice",
        "user/\u{e9}",
        "user/alice\0",
        "user/",
        "USER/alice",
        "User/alice",
        "Root",
        "role/",
        "role/a//b",
        "assumed-role/r/s",
        "group/g",
    ] {
        let error = Policy::parse(&of(user(name))).unwrap_err();
        assert!(error.starts_with(INVALID_PRINCIPALS) && error.ends_with("(Statement 2)"), "{name}: {error}");
    }
    for principal in [
        json!({}),
        json!({"AWS": "ARN:aws:iam::000000000000:user/alice"}),
        json!({"AWS": "arn:aws:sts::000000000000:user/alice"}),
        json!({"AWS": "arn:aws:iam::00000000000 :user/alice"}),
        json!({"AWS": "00000000000*"}),
        json!({"AWS": format!("arn:aws:iam::000000000000:user/{}", "a".repeat(65))}),
    ] {
        assert!(Policy::parse(&of(principal.clone())).is_err(), "{principal}");
    }
    for (element, value) in [
        ("Action", json!("kms:Sign ")),
        ("Action", json!(["kms:Verify", " kms:Sign"])),
        ("Action", json!("kms:")),
        ("Action", json!("kms:Sign,kms:Verify")),
        ("Resource", json!("key/1")),
        ("Resource", json!(" *")),
        ("Resource", json!("arn:aws:kms:*:key/1 ")),
        ("Condition", json!({"Bool": {"kms:GrantIsForAWSResource": "yes"}})),
        ("Condition", json!({"Null": {"kms:MessageType": ["true", ""]}})),
    ] {
        let error = Policy::parse(&deny(json!("*"), element, value.clone())).unwrap_err();
        assert!(error.ends_with("(Statement 2)"), "{element} {value}: {error}");
    }
    for principal in [
        user("user/a_b+c=d,e.f@g-h"),
        user("role/path/name"),
        json!({"AWS": "arn:aws:sts::000000000000:assumed-role/role/session"}),
        json!({"AWS": "000000000000"}),
        json!({"AWS": "*"}),
        json!({"Service": "ec2.amazonaws.com"}),
    ] {
        Policy::parse(&of(principal.clone())).unwrap_or_else(|error| panic!("{principal}: {error}"));
    }
}

#[test]
fn elements_that_come_twice_are_refused_and_named() {
    let statement = allow(ALICE, "kms:Sign").to_string();
    let good = format!(r#"{{"Statement":[{statement}]}}"#);
    Policy::parse(&good).unwrap();
    for (from, to, name) in [
        (r#""Effect":"#, r#""Effect":"Deny","Effect":"#, "Effect"),
        (r#""Effect":"#, r#""Effec\u0074":"Deny","Effect":"#, "Effect"),
        (r#"{"AWS":"#, r#"{"AWS":"*","AWS":"#, "AWS"),
        (r#"{"Statement":"#, r#"{"Statement":[],"Statement":"#, "Statement"),
        (r#""Effect":"#, r#""Condition":{"Bool":{"a":true,"a":false}},"Effect":"#, "a"),
        (r#""Effect":"#, r#""Sid":{"b":1,"b":1},"Effect":"#, "b"),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        let error = Policy::parse(&text).unwrap_err();
        assert!(error.contains(&format!("the element {name:?} comes twice at line 1 column")), "{error}");
        assert!(Policy::parse_stored(&text).is_ok(), "what the store holds is read as before: {text}");
    }
}
