//! `modmill rsa`: keys, signatures and encryption.

mod decrypt;
mod encrypt;
mod inspect;
mod keygen;
mod options;
mod sign;
mod verify;

use crate::failure::Failure;

/// RSA: generate keys, sign, verify, encrypt, decrypt
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
