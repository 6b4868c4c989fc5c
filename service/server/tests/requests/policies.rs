//! Key policies of anybody, compared with a small model of what they mean. The fuzz target uses this file
//! too.

use modmill_server::kms::{Facts, Policy, Question, Verdict};
use serde_json::Value;

const ACCOUNT: &str = "000000000000";
const KEY: &str = "arn:aws:kms:us-east-1:000000000000:key/k";

/// Reads a policy. One that is accepted has each element once, names no wildcards as principals, is the same
/// when it is written anew, and answers questions as the model does. Returns whether it was accepted.
///
/// # Panics
/// If that does not hold.
pub(crate) fn policy(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(policy) = Policy::parse(text) else { return false };
    let value: Value = serde_json::from_str(text).expect("what is accepted is JSON");
    assert_eq!(colons(text), members(&value), "an element comes twice: {text}");
    assert_eq!(Policy::parse(&value.to_string()).as_ref(), Ok(&policy), "{text}");
    assert_eq!(Policy::parse_stored(text).as_ref(), Ok(&policy), "{text}");
    for name in ["alice", "bob"] {
        for action in ["kms:Sign", "kms:Verify", "kms:PutKeyPolicy"] {
            for signing_algorithm in [None, Some("RSASSA_PSS_SHA_256")] {
                let principal = format!("arn:aws:iam::{ACCOUNT}:user/{name}");
                let facts = Facts { signing_algorithm, key_spec: "RSA_2048", ..Facts::default() };
                let question = Question {
                    principal: &principal,
                    account: ACCOUNT,
                    action,
                    resource: KEY,
                    facts: &facts,
                };
                if let Some(expected) = verdict(&value, &question) {
                    assert_eq!(policy.verdict(&question), expected, "{name} {action} {facts:?}: {text}");
                }
            }
        }
    }
    true
}

/// Colons outside of texts: one for each member of an object.
fn colons(json: &str) -> usize {
    let (mut count, mut in_text, mut escaped) = (0, false, false);
    for c in json.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = in_text,
            '"' => in_text = !in_text,
            ':' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

fn members(value: &Value) -> usize {
    match value {
        Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
        Value::Array(values) => values.iter().map(members).sum(),
        _ => 0,
    }
}

/// The verdict of the model on a policy; `None` if it has a condition that the model does not know.
fn verdict(policy: &Value, question: &Question<'_>) -> Option<Verdict> {
    let one = std::slice::from_ref(&policy["Statement"]);
    let mut found = Vec::new();
    for statement in policy["Statement"].as_array().map_or(one, Vec::as_slice) {
        let fits =
            |name: &str, asked: &str| texts(&statement[name]).iter().any(|pattern| glob(pattern, asked));
        let lower = |text: &str| text.to_ascii_lowercase();
        let action =
            |name: &str| texts(&statement[name]).iter().any(|it| glob(&lower(it), &lower(question.action)));
        let has = |name: &str| statement.get(name).is_some();
        let concerns = (if has("Action") { action("Action") } else { !action("NotAction") })
            && (if has("Resource") {
                fits("Resource", question.resource)
            } else {
                !fits("NotResource", question.resource)
            });
        let named = match has("Principal") {
            true => named(&statement["Principal"], question),
            false if named(&statement["NotPrincipal"], question) == Some(true) => None,
            false => Some(true),
        };
        let held = conditions(&statement["Condition"], question)?;
        let denies = statement["Effect"] == "Deny";
        match (named.filter(|_| concerns), held) {
            (Some(_), Some(true) | None) if denies => found.push(Verdict::Denied),
            (Some(true), Some(true)) if !denies => found.push(Verdict::Allowed),
            (Some(false), Some(true)) if !denies => found.push(Verdict::Delegated),
            _ => {}
        }
    }
    let order = [Verdict::Denied, Verdict::Allowed, Verdict::Delegated];
    Some(order.into_iter().find(|verdict| found.contains(verdict)).unwrap_or(Verdict::Silent))
}

/// Whether principals are about who asks: `Some(true)` by name, `Some(false)` by the account.
fn named(principals: &Value, question: &Question<'_>) -> Option<bool> {
    let names = if principals == "*" { vec!["*"] } else { texts(&principals["AWS"]) };
    for name in &names {
        assert!(*name == "*" || !name.contains(['*', '?', ' ']), "{name} would stand for nobody");
    }
    let root = format!("arn:aws:iam::{}:root", question.account);
    if names.iter().any(|name| *name == "*" || *name == question.principal) {
        return Some(true);
    }
    names.iter().any(|name| *name == root || *name == question.account).then_some(false)
}

/// Whether all conditions hold; the inner `None` is one that cannot be decided, the outer one that the model
/// does not know.
fn conditions(conditions: &Value, question: &Question<'_>) -> Option<Option<bool>> {
    let mut all = Some(true);
    for (operator, keys) in conditions.as_object().into_iter().flatten() {
        for (key, wanted) in keys.as_object()? {
            let value = match key.to_ascii_lowercase().as_str() {
                "kms:signingalgorithm" => Some(question.facts.signing_algorithm),
                "kms:keyspec" => Some(Some(question.facts.key_spec)),
                "aws:username" => Some(question.principal.rsplit('/').next()),
                "unknown:key" => None,
                _ => return None,
            };
            let wanted = texts(wanted);
            let compare =
                |value: &str, by: fn(&str, &str) -> bool| wanted.iter().any(|wanted| by(wanted, value));
            let equal: fn(&str, &str) -> bool = |a, b| a == b;
            let held = match (operator.as_str(), value) {
                ("StringEquals" | "StringNotEquals" | "StringLike", None) => None,
                _ if wanted.iter().any(|wanted| wanted.contains("${")) => None,
                ("StringEquals", Some(value)) => Some(value.is_some_and(|value| compare(value, equal))),
                ("StringNotEquals", Some(value)) => Some(value.is_none_or(|value| !compare(value, equal))),
                ("StringLike", Some(value)) => Some(value.is_some_and(|value| compare(value, glob))),
                _ => return None,
            };
            // One that does not hold decides, whatever others cannot.
            all = match (all, held) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (None, _) | (_, None) => None,
                _ => Some(true),
            };
        }
    }
    Some(all)
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect(),
    }
}

/// Whether `text` fits `pattern`, by a table of all beginnings of both.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let mut fits = vec![false; text.len() + 1];
    fits[0] = true;
    for &wanted in pattern {
        let before = fits.clone();
        for end in 0..=text.len() {
            fits[end] = match wanted {
                b'*' => before[end] || end > 0 && fits[end - 1],
                wanted => end > 0 && before[end - 1] && (wanted == b'?' || wanted == text[end - 1]),
            };
        }
    }
    fits[text.len()]
}
