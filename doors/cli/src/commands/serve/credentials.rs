//! `modmill serve credentials`: who may ask.

use super::options::DataOptions;
use crate::failure::Failure;
use crate::io;
use modmill_server::admin::Command;
use modmill_server::credentials::Right;
use serde_json::Value;
use std::collections::BTreeSet;

/// Makes, lists and revokes credentials
#[derive(Debug, clap::Subcommand)]
pub(super) enum Credentials {
    /// Makes a credential and prints its secrets, which are not shown again
    Create(Create),
    /// Lists credentials without their secrets
    List(List),
    /// Revokes a credential
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
pub(super) struct Create {
    #[command(flatten)]
    data: DataOptions,
    /// The name of the principal, for policies, limits and the audit log
    #[arg(long)]
    name: String,
    /// The rights of the credential: kms, transit, bulk, issue, watch; or none, for key policies and grants
    /// alone
    #[arg(long, value_name = "LIST", default_value = "kms,transit,bulk", value_parser = parse_rights)]
    allow: Rights,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct List {
    #[command(flatten)]
    data: DataOptions,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Revoke {
    #[command(flatten)]
    data: DataOptions,
    /// The identifier of the access key
    access_key_id: String,
}

/// The rights in a list.
type Rights = BTreeSet<Right>;

fn parse_rights(text: &str) -> Result<Rights, String> {
    if ["", "none"].contains(&text) {
        return Ok(Rights::new());
    }
    let right = |name: &str| {
        serde_json::from_value(name.into())
            .map_err(|_| format!("{name:?} is not one of kms, transit, bulk, issue, watch"))
    };
    text.split(',').map(right).collect()
}

impl Credentials {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Create(Create { data, name, allow, json }) => {
                let answer = data.execute(Command::CreateCredential { name, rights: allow })?;
                show(&answer, json)
            }
            Self::List(List { data, json }) => {
                let answer = data.execute(Command::ListCredentials)?;
                if json {
                    return io::print(&format!("{}\n", *answer));
                }
                let all: Vec<Value> = read(&answer)?;
                let line = |credential: &Value| {
                    let rights =
                        credential["rights"].as_array().into_iter().flatten().filter_map(Value::as_str);
                    let rights: Vec<_> = rights.collect();
                    format!(
                        "{}  {}  {}\n",
                        text(&credential["access_key_id"]),
                        text(&credential["name"]),
                        rights.join(",")
                    )
                };
                io::print(&all.iter().map(line).collect::<String>())
            }
            Self::Revoke(Revoke { data, access_key_id }) => {
                data.execute(Command::RevokeCredential { access_key_id })?;
                Ok(())
            }
        }
    }
}

/// Prints the answer of a command, as JSON or with a line for each field.
pub(super) fn show(answer: &str, json: bool) -> Result<(), Failure> {
    if json {
        return io::print(&format!("{answer}\n"));
    }
    let fields: serde_json::Map<String, Value> = read(answer)?;
    let line = |(name, value): (&String, &Value)| format!("{name}: {}\n", text(value));
    io::print(&fields.iter().map(line).collect::<String>())
}

pub(super) fn read<T: serde::de::DeserializeOwned>(answer: &str) -> Result<T, Failure> {
    serde_json::from_str(answer)
        .map_err(|error| Failure::Usage(format!("the answer cannot be read: {error}")))
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
