//! `modmill fhe`: computing with encrypted bits.

mod bench;
mod bit_text;
mod decrypt;
mod demo;
mod encrypt;
mod eval;
mod files;
mod info;
mod keygen;
mod meter;
mod recrypt;
mod scheme_options;

use crate::failure::Failure;

/// The warning that every command of the scheme shows.
const WARNING: &str = "\
For study and measurement, not for protection: the published parameters of Gentry and Halevi's
scheme are broken (M. S. Lee, eprint 2011/567).";

const LONG_ABOUT: &str = "\
Computes with encrypted bits (fully homomorphic encryption): whoever has the public key encrypts
bits and computes with encrypted ones; only the owner of the secret key reads the answer.

For study and measurement, not for protection: the published parameters of Gentry and Halevi's
scheme are broken (M. S. Lee, eprint 2011/567).";

const EXAMPLES: &str = "\
Examples:
  modmill fhe demo
  modmill fhe keygen --setting toy --public key.public --secret key.secret
  modmill fhe encrypt --key key.public --bits 10110 --out a.bits
  modmill fhe encrypt --key key.public --value 22 --width 5 --out b.bits
  modmill fhe eval --key key.public --expr 'a < b ? a : b' --in a=a.bits --in b=b.bits --out least.bits
  modmill fhe decrypt --key key.secret --in least.bits --as number";

/// Computes with encrypted bits (homomorphic encryption), for study and measurement
#[derive(Debug, clap::Subcommand)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) enum Fhe {
    Demo(demo::Demo),
    Keygen(keygen::Keygen),
    Encrypt(encrypt::Encrypt),
    Eval(eval::Eval),
    Recrypt(recrypt::Recrypt),
    Decrypt(decrypt::Decrypt),
    Info(info::Info),
    Bench(bench::Bench),
}

impl Fhe {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Demo(command) => command.run(),
            Self::Keygen(command) => command.run(),
            Self::Encrypt(command) => command.run(),
            Self::Eval(command) => command.run(),
            Self::Recrypt(command) => command.run(),
            Self::Decrypt(command) => command.run(),
            Self::Info(command) => command.run(),
            Self::Bench(command) => command.run(),
        }
    }
}

/// Bits with too much noise have no answer; everything else is wrong with the command or its files.
impl From<modmill_fhe::gentry_halevi::Error> for Failure {
    fn from(error: modmill_fhe::gentry_halevi::Error) -> Self {
        match error {
            modmill_fhe::gentry_halevi::Error::Budget { .. } => Self::Items(error.to_string()),
            other => Self::Usage(other.to_string()),
        }
    }
}

impl From<modmill_fhe::circuit::PlanError> for Failure {
    fn from(error: modmill_fhe::circuit::PlanError) -> Self {
        use modmill_fhe::circuit::PlanError;
        match error {
            PlanError::Input { .. } | PlanError::TooDeep { .. } => Self::Items(error.to_string()),
            other => Self::Usage(other.to_string()),
        }
    }
}
