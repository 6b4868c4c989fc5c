//! The option that names a key.

use crate::commands::rsa::key_options::read_small;
use crate::failure::Failure;
use modmill_ec::{AnyKey, KeyError, PrivateKey};

/// A key.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyOption {
    /// Key: PEM or DER (PKCS #8, SEC 1, public keys), or a JSON Web Key
    #[arg(long, value_name = "FILE", value_parser = crate::io::input_name)]
    key: String,
}

/// Reads a key from a file.
pub(crate) fn read_key(path: &str) -> Result<AnyKey, Failure> {
    AnyKey::read(&read_small(path)?).map_err(|error| failure(path, &error))
}

fn failure(path: &str, error: &KeyError) -> Failure {
    Failure::Usage(format!("{path}: {error}"))
}

impl KeyOption {
    pub(crate) fn any(&self) -> Result<AnyKey, Failure> {
        read_key(&self.key)
    }

    pub(crate) fn private(&self) -> Result<PrivateKey, Failure> {
        match self.any()? {
            AnyKey::Private(key) => Ok(key),
            AnyKey::Public(_) => Err(failure(&self.key, &KeyError::NotPrivate)),
        }
    }

    /// The option and the file that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::once(("--key", self.key.as_str()))
    }
}
