//! `modmill rsa`: keys, signatures and encryption.

mod decrypt;
mod encrypt;
mod inspect;
pub(super) mod key_options;
pub(super) mod keygen;
pub(super) mod message_operation;
#[cfg(feature = "serve")]
mod remote;
mod run_options;
mod scheme_options;
pub(super) mod sign;
pub(super) mod streams;
pub(super) mod verify;

use crate::failure::Failure;

/// Generates keys, signs, verifies, encrypts and decrypts with RSA
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Rsa {
    Keygen(keygen::Keygen),
    Sign(sign::Sign),
    Verify(verify::Verify),
    Encrypt(encrypt::Encrypt),
    Decrypt(decrypt::Decrypt),
    Inspect(inspect::Inspect),
}

impl Rsa {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Keygen(command) => command.run(),
            Self::Sign(command) => command.run(),
            Self::Verify(command) => command.run(),
            Self::Encrypt(command) => command.run(),
            Self::Decrypt(command) => command.run(),
            Self::Inspect(command) => command.run(),
        }
    }
}
