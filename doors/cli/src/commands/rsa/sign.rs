//! `modmill rsa sign`.

#[cfg(feature = "serve")]
use super::key_options::check_standard_input;
use super::message_operation::{AnswerList, Columns, MessageOperation};
use super::run_options::{ProtectionOptions, RunOptions};
use super::scheme_options::SignatureOptions;
use crate::failure::Failure;
use crate::records::{AnswerField, FileNames, FileRules, Layout, Notation, OtherFields};
use modmill::Engine;

const LONG_ABOUT: &str = r#"Signs a file, or many messages at once.

--in names the messages:
  a file       its signature is written to --out
  a folder     the signature of each file NAME is written to NAME.sig in the folder --out
  *.jsonl      each line {"message":"<hex>"} gives a line {"signature":"<hex>","message":"<hex>"}
  *.parquet    a binary column message gives a column signature beside the other columns
  *.arrow      the same
With --digest the inputs are digests of messages, and the field is called "digest". --format
says what --in is if its name does not: for example, --format lines for JSON Lines from a
pipe.

With --server the service of `modmill serve` at that address signs instead of this
machine. --key is then the name of a key there. Messages are hashed here, and only digests
are sent.

Lines and rows keep all their other fields, so that `modmill rsa verify` reads what this
command writes. Every signature is checked with the public exponent before it is written. A
message that cannot be signed has an error at its place, or for a folder a line on standard
error. It costs no other message its signature. The exit status is then 1."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa sign --key key.pem --padding pkcs1v15 --hash sha256 --in message --out message.sig
  modmill rsa sign --key key.pem --padding pss --hash sha512 --in letters --out signatures
  modmill rsa sign --key key.pem --padding pss --hash sha256 --digest --in digests.jsonl
  modmill rsa sign --server https://signer.example:8443 --token-file token --key transit/release \\
      --padding pss --hash sha256 --in letters --out signatures
  make-lines | modmill rsa sign --key key.pem --padding pss --hash sha256 --format lines";

/// The fields of a record that is signed. `inputs` are the fields that it must have.
pub(crate) fn layout(inputs: &'static [&'static str]) -> Layout {
    Layout {
        required: inputs,
        optional: &[],
        notation: Notation::Octets,
        others: OtherFields::KeepAll,
        answer: AnswerField::Octets("signature"),
    }
}

/// Signs a file, or many messages at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Sign {
    #[command(flatten)]
    signature: SignatureOptions,
    #[command(flatten)]
    protection: ProtectionOptions,
    #[cfg(feature = "serve")]
    #[command(flatten)]
    server: super::remote::ServerOptions,
    #[command(flatten)]
    run: RunOptions,
}

impl Sign {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let scheme = self.signature.scheme()?;
        self.run.check(self.layout().answer, None)?;
        // Files were hashed while they were read.
        let has_digests = self.signature.digest || !self.run.format().has_fields();
        #[cfg(feature = "serve")]
        {
            check_standard_input(self.server.files().chain(self.run.inputs()))?;
            if let Some(remote) = self.server.connect(self.run.key.name(), scheme)? {
                let engine = self.run.streams.engine.engine()?;
                return self.answer(&engine, |columns| remote.sign(&engine, &columns[0], has_digests));
            }
        }
        let key = self.run.key.private()?;
        let engine = self.run.streams.engine.engine()?;
        let rsa = self.protection.rsa(&engine);
        self.answer(&engine, |columns| match has_digests {
            true => rsa.sign_digests_rows(&key, scheme, &columns[0]),
            false => rsa.sign_rows(&key, scheme, &columns[0]),
        })
    }

    fn layout(&self) -> Layout {
        layout(self.signature.input_fields())
    }

    /// Answers all records by `compute`.
    fn answer<A: AnswerList, E: Into<Failure>>(
        &self,
        engine: &Engine,
        compute: impl Fn(Columns<'_>) -> Result<A, E> + Sync,
    ) -> Result<(), Failure> {
        let files = FileRules { names: FileNames::Add("sig"), hash: self.signature.file_hash() };
        let operation = MessageOperation { layout: self.layout(), files, mode: None, engine, compute };
        self.run.run(&operation, None, engine)?.finish()
    }
}
