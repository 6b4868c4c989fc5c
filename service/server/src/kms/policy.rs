//! Key policies: JSON that says who may do what with a key.

mod check;
mod condition;
mod json;
mod pattern;

pub(super) use check::is_principal;
pub use condition::Facts;
use condition::{Condition, Held};
use json::Once;
use pattern::matches;
use serde_json::{Map, Value};

/// A question to a policy: the caller, the action and the key.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The ARN of who asks.
    pub principal: &'a str,
    /// The account of who asks.
    pub account: &'a str,
    /// The action: `kms:Sign`.
    pub action: &'a str,
    /// The ARN of the key.
    pub resource: &'a str,
    /// The facts that conditions ask about.
    pub facts: &'a Facts<'a>,
}

/// The answer of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A statement denies it, whatever others say.
    Denied,
    /// A statement names who asks, or everybody, and allows it.
    Allowed,
    /// A statement leaves it to the account: its own credentials' rights decide.
    Delegated,
    /// No statement allows it.
    Silent,
}

/// A policy that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    statements: Vec<Statement>,
}

#[derive(Debug, Clone, PartialEq)]
struct Statement {
    allow: bool,
    principals: Principals,
    /// Whether `principals` are those that the statement is not about.
    other_principals: bool,
    actions: Vec<String>,
    other_actions: bool,
    resources: Vec<String>,
    other_resources: bool,
    conditions: Vec<Condition>,
    /// Operators of conditions that have no keys. Policies from earlier versions may have some: they ask for
    /// nothing.
    empty_conditions: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Principals {
    Everybody,
    Some {
        /// ARNs and account numbers.
        names: Vec<String>,
        /// Whether there are services or federations too. They stand for nobody here.
        elsewhere: bool,
    },
}

/// How much a statement is about someone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Nobody,
    Account,
    Themselves,
}

/// The versions of the language.
const VERSIONS: [&str; 2] = ["2012-10-17", "2008-10-17"];

/// The message of AWS for principals that cannot be.
const INVALID_PRINCIPALS: &str = "Policy contains a statement with one or more invalid principals.";

impl Policy {
    /// The policy of a key that was created without one: the account decides.
    #[must_use]
    pub fn default_text(account: &str) -> String {
        serde_json::json!({
            "Version": VERSIONS[0],
            "Id": "key-default-1",
            "Statement": [{
                "Sid": "Enable IAM User Permissions",
                "Effect": "Allow",
                "Principal": {"AWS": format!("arn:aws:iam::{account}:root")},
                "Action": "kms:*",
                "Resource": "*",
            }],
        })
        .to_string()
    }

    /// A policy that allows nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self { statements: Vec::new() }
    }

    /// Reads a policy that somebody wants to set. The error says what is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Once(value) = serde_json::from_str(text).map_err(not_json)?;
        let policy = Self::read(value)?;
        policy.check()?;
        Ok(policy)
    }

    /// Reads a policy that the store holds. Earlier versions took some that [`Policy::parse`] refuses. They
    /// mean what they have always meant: the last of repeated elements counts, and names that nobody can have
    /// stand for nobody.
    pub fn parse_stored(text: &str) -> Result<Self, String> {
        Self::read(serde_json::from_str(text).map_err(not_json)?)
    }

    fn read(value: Value) -> Result<Self, String> {
        let Value::Object(mut policy) = value else { return Err("Policy is not a JSON object.".into()) };
        if let Some(version) = policy.remove("Version")
            && !version.as_str().is_some_and(|version| VERSIONS.contains(&version))
        {
            return Err("Policy has an unknown Version.".into());
        }
        policy.remove("Id");
        let statements = match policy.remove("Statement") {
            Some(Value::Array(statements)) => statements,
            Some(statement @ Value::Object(_)) => vec![statement],
            _ => return Err("Policy has no Statement.".into()),
        };
        if let Some(name) = policy.keys().next() {
            return Err(format!("Policy has an unknown element {name}."));
        }
        if statements.is_empty() {
            return Err("Policy has no Statement.".into());
        }
        let read = |(place, value)| statement(value).map_err(|error| placed(place, &error));
        Ok(Self { statements: statements.into_iter().enumerate().map(read).collect::<Result<_, _>>()? })
    }

    /// The policy's answer to a question.
    #[must_use]
    pub fn verdict(&self, question: &Question<'_>) -> Verdict {
        let mut verdict = Verdict::Silent;
        for statement in &self.statements {
            let about = statement.about(question);
            if about == About::Nobody {
                continue;
            }
            let held = statement.conditions.iter().map(|condition| condition.holds(question)).min();
            // A condition that cannot be decided allows nothing, and denies what it might deny.
            match (statement.allow, held.unwrap_or(Held::Yes), about) {
                (false, Held::Yes | Held::Unknown, _) => return Verdict::Denied,
                (true, Held::Yes, About::Themselves) => verdict = Verdict::Allowed,
                (true, Held::Yes, _) if verdict == Verdict::Silent => verdict = Verdict::Delegated,
                _ => {}
            }
        }
        verdict
    }
}

impl Statement {
    fn about(&self, question: &Question<'_>) -> About {
        let action = self.actions.iter().any(|pattern| matches(pattern, question.action, true));
        let resource = self.resources.iter().any(|pattern| matches(pattern, question.resource, false));
        if action == self.other_actions || resource == self.other_resources {
            return About::Nobody;
        }
        let named = match &self.principals {
            Principals::Everybody => About::Themselves,
            Principals::Some { names, .. } => {
                names.iter().map(|name| about(name, question)).max().unwrap_or(About::Nobody)
            }
        };
        match (self.other_principals, named) {
            (false, named) => named,
            // Naming the account exempts nobody else in it.
            (true, About::Themselves) => About::Nobody,
            (true, _) => About::Themselves,
        }
    }
}

/// Whether a principal's name stands for who asks.
fn about(name: &str, question: &Question<'_>) -> About {
    let root = name.strip_prefix("arn:aws:iam::").and_then(|rest| rest.strip_suffix(":root"));
    if name == question.principal {
        About::Themselves
    } else if root.unwrap_or(name) == question.account {
        About::Account
    } else {
        About::Nobody
    }
}

fn not_json(error: serde_json::Error) -> String {
    format!("Policy is not valid JSON: {error}.")
}

/// An error of the statement in `place`, which is counted from 0.
fn placed(place: usize, error: &str) -> String {
    format!("{error} (Statement {})", place + 1)
}

fn statement(value: Value) -> Result<Statement, String> {
    let Value::Object(mut statement) = value else { return Err("A Statement is not a JSON object.".into()) };
    statement.remove("Sid");
    let allow = match statement.remove("Effect").as_ref().and_then(Value::as_str) {
        Some("Allow") => true,
        Some("Deny") => false,
        _ => return Err("A Statement has no Effect of Allow or Deny.".into()),
    };
    let (principal, other_principals) = either(&mut statement, "Principal", "NotPrincipal")?;
    let (actions, other_actions) = either(&mut statement, "Action", "NotAction")?;
    let (resources, other_resources) = either(&mut statement, "Resource", "NotResource")?;
    if other_principals && allow {
        return Err("A Statement allows everybody but a NotPrincipal.".into());
    }
    let (conditions, empty_conditions) = match statement.remove("Condition") {
        None => Default::default(),
        Some(Value::Object(conditions)) => Condition::parse(conditions)?,
        Some(_) => return Err("A Condition is not a JSON object.".into()),
    };
    if let Some(name) = statement.keys().next() {
        return Err(format!("A Statement has an unknown element {name}."));
    }
    let actions = strings(actions).ok_or("An Action is not a text.")?;
    let resources = strings(resources).ok_or("A Resource is not a text.")?;
    Ok(Statement {
        allow,
        principals: principals(principal)?,
        other_principals,
        actions,
        other_actions,
        resources,
        other_resources,
        conditions,
        empty_conditions,
    })
}

/// The element with one of two names, and whether it is the second.
fn either(statement: &mut Map<String, Value>, name: &str, other: &str) -> Result<(Value, bool), String> {
    match (statement.remove(name), statement.remove(other)) {
        (Some(value), None) => Ok((value, false)),
        (None, Some(value)) => Ok((value, true)),
        _ => Err(format!("A Statement needs either {name} or {other}.")),
    }
}

fn principals(value: Value) -> Result<Principals, String> {
    let kinds = match value {
        Value::String(text) if text == "*" => return Ok(Principals::Everybody),
        Value::Object(kinds) => kinds,
        _ => return Err(INVALID_PRINCIPALS.into()),
    };
    let (mut names, mut elsewhere) = (Vec::new(), false);
    for (kind, value) in kinds {
        let values = strings(value).ok_or(INVALID_PRINCIPALS)?;
        match kind.as_str() {
            "AWS" => names.extend(values),
            // Nobody here is a service or comes from elsewhere.
            "Service" | "Federated" => elsewhere = true,
            _ => return Err(INVALID_PRINCIPALS.into()),
        }
    }
    Ok(match names.iter().any(|name| name == "*") {
        true => Principals::Everybody,
        false => Principals::Some { names, elsewhere },
    })
}

/// A text, or several.
fn strings(value: Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text]),
        Value::Array(values) if !values.is_empty() => {
            values.into_iter().map(|value| value.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
