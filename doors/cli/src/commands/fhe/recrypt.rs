//! `modmill fhe recrypt`.

use super::files::{file_name, open_scheme, protect, read_bits, write_bits};
use crate::failure::Failure;
use crate::options::EngineOptions;

const LONG_ABOUT: &str = "\
Recrypts bits: decrypts them within the encryption, which needs the public key only and leaves as
much noise as one decryption makes, however much there was. `modmill fhe eval` recrypts by itself
where a circuit needs it.";

const EXAMPLES: &str = "\
Examples:
  modmill fhe recrypt --key key.public --in answer.bits --out fresh.bits";

/// Recrypts bits, so that they have less noise
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Recrypt {
    /// Public key
    #[arg(long, value_name = "FILE", value_parser = file_name)]
    key: String,
    /// Encrypted bits
    #[arg(long = "in", value_name = "FILE", value_parser = file_name)]
    input: String,
    /// File for the recrypted bits
    #[arg(long = "out", value_name = "FILE", value_parser = file_name)]
    output: String,
    #[command(flatten)]
    engine: EngineOptions,
}

impl Recrypt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        protect([("--key", self.key.as_str()), ("--in", &self.input)], &self.output)?;
        let engine = self.engine.engine()?;
        let scheme = open_scheme(&engine, &self.key)?;
        let bits = read_bits(&scheme, &self.input)?;
        write_bits(&scheme, &scheme.recrypt(&bits)?, &self.output)
    }
}
