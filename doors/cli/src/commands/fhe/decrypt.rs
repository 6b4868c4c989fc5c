//! `modmill fhe decrypt`.

use super::bit_text::{bits_text, number_text};
use super::files::{failure, file_name};
use crate::failure::Failure;
use crate::io;
use crate::options::EngineOptions;
use modmill_fhe::gentry_halevi::Decryptor;
use serde_json::json;
use std::path::Path;
use zeroize::Zeroizing;

const LONG_ABOUT: &str = "\
Decrypts bits with the secret key and prints them, the highest bit first.

--json prints the bits, the number that they are, and the exact noise budget of the bit that has
the least: how many bits its noise may still grow. It is at least what `modmill fhe info`
estimates without the key.";

const EXAMPLES: &str = "\
Examples:
  modmill fhe decrypt --key key.secret --in answer.bits
  modmill fhe decrypt --key key.secret --in answer.bits --as number
  modmill fhe decrypt --key key.secret --in answer.bits --json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Bits,
    Number,
}

/// Decrypts bits and prints them
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Decrypt {
    /// Secret key
    #[arg(long, value_name = "FILE", value_parser = file_name)]
    key: String,
    /// Encrypted bits
    #[arg(long = "in", value_name = "FILE", value_parser = file_name)]
    input: String,
    /// Form of the answer: the bits, or the decimal number that they stand for
    #[arg(long = "as", value_enum, value_name = "FORM", default_value = "bits", ignore_case = true)]
    form: Form,
    /// Print JSON
    #[arg(long, conflicts_with = "form")]
    json: bool,
    #[command(flatten)]
    engine: EngineOptions,
}

impl Decrypt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let engine = self.engine.engine()?;
        let owner = Decryptor::read(&engine, Path::new(&self.key)).map_err(failure("read", &self.key))?;
        let ciphertexts = owner.ciphertexts(Path::new(&self.input)).map_err(failure("read", &self.input))?;
        let bits = Zeroizing::new(owner.decrypt(&ciphertexts)?);
        if self.json {
            let budget = owner.exact_budget(&ciphertexts)?.into_iter().min();
            let answer = json!({
                "bits": bits_text(&bits).as_str(),
                "number": number_text(&bits).as_str(),
                "width": bits.len(),
                "least_budget_bits": budget,
            });
            return io::print(&format!("{answer}\n"));
        }
        let text = match self.form {
            Form::Bits => bits_text(&bits),
            Form::Number => number_text(&bits),
        };
        io::print(&Zeroizing::new(format!("{}\n", text.as_str())))
    }
}
