//! `modmill ec`: keys, signatures and shared secrets on elliptic curves.

mod derive;
mod inspect;
mod key_option;
mod keygen;
mod scheme_options;
mod sign;
mod verify;

use crate::failure::Failure;

/// Generates keys, signs, verifies and derives shared secrets on elliptic curves
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Ec {
    Keygen(keygen::Keygen),
    Sign(sign::Sign),
    Verify(verify::Verify),
    Derive(derive::Derive),
    Inspect(inspect::Inspect),
}

impl Ec {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Keygen(command) => command.run(),
            Self::Sign(command) => command.run(),
            Self::Verify(command) => command.run(),
            Self::Derive(command) => command.run(),
            Self::Inspect(command) => command.run(),
        }
    }
}
