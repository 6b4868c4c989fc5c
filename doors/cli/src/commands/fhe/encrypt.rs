//! `modmill fhe encrypt`.

use super::bit_text::{bits_of, parse_bits, parse_number};
use super::files::{file_name, open_scheme, protect, write_bits};
use crate::failure::Failure;
use crate::options::EngineOptions;
use zeroize::Zeroizing;

const LONG_ABOUT: &str = "\
Encrypts bits with a public key. The first character of --bits is the highest bit, so that
--bits 10110 and --value 22 --width 5 are the same.

Other users of a machine can see the command lines of its processes. For study and measurement,
not for protection: the published parameters are broken (M. S. Lee, eprint 2011/567).";

const EXAMPLES: &str = "\
Examples:
  modmill fhe encrypt --key key.public --bits 10110 --out a.bits
  modmill fhe encrypt --key key.public --value 22 --width 5 --out a.bits";

/// Encrypts bits
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Encrypt {
    /// Public key
    #[arg(long, value_name = "FILE", value_parser = file_name)]
    key: String,
    #[command(flatten)]
    message: Message,
    /// The number of bits of --value; the highest are 0 if it has fewer
    #[arg(long, value_name = "W", requires = "value", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    width: Option<u32>,
    /// File for the encrypted bits
    #[arg(long = "out", value_name = "FILE", value_parser = file_name)]
    output: String,
    #[command(flatten)]
    engine: EngineOptions,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Message {
    /// Bits, the highest first, such as 10110
    #[arg(long, value_name = "BITS")]
    bits: Option<String>,
    /// A number: decimal, hexadecimal (0x16) or binary (0b10110)
    #[arg(long, value_name = "N", requires = "width", value_parser = parse_number)]
    value: Option<u128>,
}

impl Encrypt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let bits = self.bits()?;
        protect([("--key", self.key.as_str())], &self.output)?;
        let engine = self.engine.engine()?;
        let scheme = open_scheme(&engine, &self.key)?;
        write_bits(&scheme, &scheme.encrypt(&bits)?, &self.output)
    }

    fn bits(&self) -> Result<Zeroizing<Vec<bool>>, Failure> {
        match (&self.message.bits, self.message.value, self.width) {
            (Some(text), ..) => {
                parse_bits(text).map_err(|reason| Failure::Usage(format!("--bits {text}: {reason}")))
            }
            (None, Some(value), Some(width)) => bits_of(value, width as usize)
                .ok_or_else(|| Failure::Usage(format!("--value {value} has more than {width} bits"))),
            _ => Err(Failure::Usage("give --bits, or --value and --width".to_owned())),
        }
    }
}
