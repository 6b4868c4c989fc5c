//! Checks of what statements name. A name that nobody can have, and a pattern that nothing fits, would make a
//! statement mean nothing.

use super::{Policy, Principals, Statement};
use crate::credentials::is_name;

impl Policy {
    /// Refuses statements that cannot mean what they say.
    pub(super) fn check(&self) -> Result<(), String> {
        self.statements.iter().enumerate().try_for_each(|(place, statement)| {
            statement.check().map_err(|error| super::placed(place, &error))
        })
    }

    /// The names of the principals in all statements.
    pub(in crate::kms) fn principals(&self) -> impl Iterator<Item = &str> {
        self.statements
            .iter()
            .flat_map(|statement| match &statement.principals {
                Principals::Everybody => &[][..],
                Principals::Some { names, .. } => names,
            })
            .map(String::as_str)
    }
}

impl Statement {
    fn check(&self) -> Result<(), String> {
        if let Principals::Some { names, elsewhere } = &self.principals {
            if names.is_empty() && !elsewhere {
                return Err(format!("{} Nobody is named.", super::INVALID_PRINCIPALS));
            }
            if let Some(name) = names.iter().find(|name| !is_principal(name)) {
                return Err(format!(
                    "{} {name:?} is neither the number of an account nor the ARN of a principal without wildcards.",
                    super::INVALID_PRINCIPALS
                ));
            }
        }
        if let Some(action) = self.actions.iter().find(|action| !is_action(action)) {
            return Err(format!(
                "The Action {action:?} is neither * nor a service and a name, as in kms:Sign."
            ));
        }
        if let Some(resource) = self.resources.iter().find(|resource| !is_resource(resource)) {
            return Err(format!(
                "The Resource {resource:?} is neither * nor an ARN without policy variables."
            ));
        }
        if let Some(name) = self.empty_conditions.first() {
            return Err(format!("The condition {name} has no keys."));
        }
        self.conditions.iter().try_for_each(super::Condition::check)
    }
}

/// Whether a text is an account's number or the ARN of a principal that may exist, here or at AWS. Names are
/// compared letter by letter, so that there are no wildcards.
pub(in crate::kms) fn is_principal(text: &str) -> bool {
    let account = |text: &str| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    let path = |text: &str| text.split('/').all(is_name);
    let arn = |text: &str| {
        let (service, rest) = text.split_once("::")?;
        let (number, name) = rest.split_once(':')?;
        let fits = match (service, name.split_once('/')) {
            ("arn:aws:iam", None) => name == "root",
            // Users have no paths here: their names are those of credentials.
            ("arn:aws:iam", Some(("user", name))) => is_name(name),
            ("arn:aws:iam", Some(("role", name))) => path(name),
            ("arn:aws:sts", Some(("assumed-role", name))) => path(name),
            _ => false,
        };
        Some(fits && account(number))
    };
    account(text) || arn(text).unwrap_or(false)
}

fn is_action(text: &str) -> bool {
    let fits = |text: &str, more: &[u8]| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"*?".contains(&byte) || more.contains(&byte))
    };
    text == "*" || text.split_once(':').is_some_and(|(service, name)| fits(service, b"-") && fits(name, b""))
}

fn is_resource(text: &str) -> bool {
    text == "*"
        || text.starts_with("arn:")
            && text.bytes().all(|byte| byte.is_ascii_graphic())
            && !text.contains("${")
}
