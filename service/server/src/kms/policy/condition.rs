//! Conditions of statements.

use super::pattern::matches;
use super::{Question, strings};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The facts that conditions of a policy can ask about. A fact that is `None` is not in the request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// `kms:SigningAlgorithm`.
    pub signing_algorithm: Option<&'a str>,
    /// `kms:EncryptionAlgorithm`.
    pub encryption_algorithm: Option<&'a str>,
    /// `kms:MessageType`.
    pub message_type: Option<&'a str>,
    /// `kms:EncryptionContext:NAME` and `kms:EncryptionContextKeys`.
    pub encryption_context: Option<&'a BTreeMap<String, String>>,
    /// `kms:RequestAlias`: the alias that the request names the key by.
    pub request_alias: Option<&'a str>,
    /// `kms:KeySpec`.
    pub key_spec: &'a str,
    /// `kms:KeyUsage`.
    pub key_usage: &'a str,
    /// `kms:KeyOrigin`.
    pub key_origin: &'a str,
}

/// Whether a condition holds. In this order, the least of several is their conjunction: one that does not
/// hold decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Held {
    No,
    Unknown,
    Yes,
}

impl From<bool> for Held {
    fn from(held: bool) -> Self {
        if held { Self::Yes } else { Self::No }
    }
}

/// One key of one operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    operator: Operator,
    /// The condition key. Names are compared without regard to case.
    key: String,
    wanted: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Operator {
    compare: Compare,
    /// Whether the values must not be as the policy says.
    negated: bool,
    /// Whether the condition holds if the request has no such value.
    if_exists: bool,
    /// How several values of a request count.
    several: Several,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Compare {
    Equal,
    EqualIgnoreCase,
    Like,
    Bool,
    Null,
    /// An operator of AWS that is not supported.
    Unsupported,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Several {
    One,
    All,
    Any,
}

/// The values of a condition key in a request.
enum Values<'a> {
    Unknown,
    Known(Vec<&'a str>),
}

impl Condition {
    /// Reads the member `Condition` of a statement, and returns the operators without keys beside the
    /// conditions.
    pub(super) fn parse(operators: Map<String, Value>) -> Result<(Vec<Self>, Vec<String>), String> {
        let (mut conditions, mut empty) = (Vec::new(), Vec::new());
        for (name, keys) in operators {
            let operator =
                Operator::parse(&name).ok_or_else(|| format!("There is no condition operator {name}."))?;
            let Value::Object(keys) = keys else {
                return Err(format!("The condition {name} is not a JSON object."));
            };
            if keys.is_empty() {
                empty.push(name);
                continue;
            }
            for (key, wanted) in keys {
                let wanted = match wanted {
                    Value::Bool(wanted) => vec![wanted.to_string()],
                    wanted => {
                        strings(wanted).ok_or_else(|| format!("The condition {name} {key} has no values."))?
                    }
                };
                conditions.push(Self { operator, key, wanted });
            }
        }
        Ok((conditions, empty))
    }

    /// Refuses values that an operator would compare with in vain.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_flag =
            |wanted: &String| ["true", "false"].iter().any(|flag| wanted.eq_ignore_ascii_case(flag));
        match self.operator.compare {
            Compare::Bool | Compare::Null if !self.wanted.iter().all(is_flag) => Err(format!(
                "The condition key {} is compared with something other than true or false.",
                self.key
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn holds(&self, question: &Question<'_>) -> Held {
        let Values::Known(values) = values(&self.key, question) else { return Held::Unknown };
        let Operator { compare, negated, if_exists, several } = self.operator;
        let as_wanted = |value: &&str| {
            let one = |wanted: &String| match compare {
                Compare::Equal => wanted == value,
                Compare::EqualIgnoreCase | Compare::Bool => wanted.eq_ignore_ascii_case(value),
                Compare::Like => matches(wanted, value, false),
                Compare::Null | Compare::Unsupported => false,
            };
            self.wanted.iter().any(one) != negated
        };
        match compare {
            Compare::Unsupported => return Held::Unknown,
            // Variables are not supported.
            _ if self.wanted.iter().any(|wanted| wanted.contains("${")) => return Held::Unknown,
            Compare::Null => {
                let absent = if values.is_empty() { "true" } else { "false" };
                return self.wanted.iter().any(|wanted| wanted.eq_ignore_ascii_case(absent)).into();
            }
            _ => {}
        }
        match several {
            Several::One if values.is_empty() => (negated || if_exists).into(),
            Several::One | Several::All => values.iter().all(as_wanted).into(),
            Several::Any => values.iter().any(as_wanted).into(),
        }
    }
}

impl Operator {
    fn parse(name: &str) -> Option<Self> {
        let (several, name) = match name.split_once(':') {
            None => (Several::One, name),
            Some(("ForAllValues", name)) => (Several::All, name),
            Some(("ForAnyValue", name)) => (Several::Any, name),
            Some(_) => return None,
        };
        let (name, if_exists) = name.strip_suffix("IfExists").map_or((name, false), |name| (name, true));
        let (compare, negated) = match name {
            "StringEquals" => (Compare::Equal, false),
            "StringNotEquals" => (Compare::Equal, true),
            "StringEqualsIgnoreCase" => (Compare::EqualIgnoreCase, false),
            "StringNotEqualsIgnoreCase" => (Compare::EqualIgnoreCase, true),
            // AWS compares ARNs with wildcards in both forms.
            "StringLike" | "ArnLike" | "ArnEquals" => (Compare::Like, false),
            "StringNotLike" | "ArnNotLike" | "ArnNotEquals" => (Compare::Like, true),
            "Bool" => (Compare::Bool, false),
            "Null" => (Compare::Null, false),
            "NumericEquals"
            | "NumericNotEquals"
            | "NumericLessThan"
            | "NumericLessThanEquals"
            | "NumericGreaterThan"
            | "NumericGreaterThanEquals"
            | "DateEquals"
            | "DateNotEquals"
            | "DateLessThan"
            | "DateLessThanEquals"
            | "DateGreaterThan"
            | "DateGreaterThanEquals"
            | "BinaryEquals"
            | "IpAddress"
            | "NotIpAddress" => (Compare::Unsupported, false),
            _ => return None,
        };
        Some(Self { compare, negated, if_exists, several })
    }
}

/// The values that the request has for a condition key.
fn values<'a>(key: &str, question: &Question<'a>) -> Values<'a> {
    let facts = question.facts;
    let maybe = |value: Option<&'a str>| Values::Known(value.into_iter().collect());
    let lower = key.to_ascii_lowercase();
    if lower.starts_with("kms:encryptioncontext:") {
        // Names in an encryption context are compared as they are written.
        let name = key.get("kms:encryptioncontext:".len()..).unwrap_or_default();
        return maybe(facts.encryption_context.and_then(|context| context.get(name)).map(String::as_str));
    }
    match lower.as_str() {
        "kms:signingalgorithm" => maybe(facts.signing_algorithm),
        "kms:encryptionalgorithm" => maybe(facts.encryption_algorithm),
        "kms:messagetype" => maybe(facts.message_type),
        "kms:encryptioncontextkeys" => Values::Known(
            facts.encryption_context.into_iter().flatten().map(|(name, _)| name.as_str()).collect(),
        ),
        "kms:requestalias" => maybe(facts.request_alias),
        "kms:keyspec" | "kms:customermasterkeyspec" => maybe(Some(facts.key_spec)),
        "kms:keyusage" | "kms:customermasterkeyusage" => maybe(Some(facts.key_usage)),
        "kms:keyorigin" => maybe(Some(facts.key_origin)),
        "kms:calleraccount" | "aws:principalaccount" => maybe(Some(question.account)),
        "aws:principalarn" => maybe(Some(question.principal)),
        "aws:username" => maybe(question.principal.split_once(":user/").map(|(_, name)| name)),
        // Requests come from credentials, never from services of AWS.
        "kms:viaservice" | "aws:sourcearn" | "aws:sourceaccount" => maybe(None),
        "kms:grantisforawsresource" => maybe(Some("false")),
        _ => Values::Unknown,
    }
}
