//! `modmill serve issuer`: keys that sign Privacy Pass token requests.

use super::credentials::{read, show, text};
use super::options::DataOptions;
use crate::failure::Failure;
use crate::io;
use modmill_server::admin::Command;
use serde_json::Value;

/// Makes, lists and retires keys that sign Privacy Pass token requests
#[derive(Debug, clap::Subcommand)]
pub(super) enum Issuer {
    /// Makes a key
    Create(Create),
    /// Lists keys, first the one that clients should use
    List(List),
    /// Deletes a key: it signs no longer
    Retire(Retire),
}

#[derive(Debug, clap::Args)]
pub(super) struct Create {
    #[command(flatten)]
    data: DataOptions,
    /// The time from which on the key signs, in seconds since 1970 [default: now]
    #[arg(long, value_name = "SECONDS")]
    not_before: Option<u64>,
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
pub(super) struct Retire {
    #[command(flatten)]
    data: DataOptions,
    /// The key's identifier
    id: String,
}

impl Issuer {
    pub(super) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Create(Create { data, not_before, json }) => {
                show(&data.execute(Command::CreateIssuerKey { not_before_s: not_before })?, json)
            }
            Self::List(List { data, json }) => {
                let answer = data.execute(Command::ListIssuerKeys)?;
                if json {
                    return io::print(&format!("{}\n", *answer));
                }
                let all: Vec<Value> = read(&answer)?;
                let line = |key: &Value| format!("{}  {}\n", text(&key["id"]), key["not_before_s"]);
                io::print(&all.iter().map(line).collect::<String>())
            }
            Self::Retire(Retire { data, id }) => {
                data.execute(Command::RetireIssuerKey { id })?;
                Ok(())
            }
        }
    }
}
