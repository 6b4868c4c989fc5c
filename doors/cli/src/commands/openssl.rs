//! `modmill openssl`: OpenSSL's programs on modmill's provider.

mod configure;
mod doctor;

use crate::failure::Failure;

/// Sets OpenSSL's programs up to compute RSA in batches, and proves that they do
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Openssl {
    Configure(configure::Configure),
    Doctor(doctor::Doctor),
}

impl Openssl {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Configure(command) => command.run(),
            Self::Doctor(command) => command.run(),
        }
    }
}
