//! `modmill rsa decrypt`.

use super::message_operation::{Columns, MessageOperation};
use super::run_options::{ProtectionOptions, RunOptions};
use super::scheme_options::EncryptionOptions;
use crate::failure::Failure;
use crate::records::{AnswerField, FileNames, FileRules, Layout, Notation, OtherFields};

const LONG_ABOUT: &str = r#"Decrypts a ciphertext, or many ciphertexts at once.

--in names the ciphertexts:
  a file       its message is written to --out
  a folder     the message of each file NAME.enc is written to NAME in the folder --out
  *.jsonl      each line {"ciphertext":"<hex>"} gives a line {"message":"<hex>"}
  *.parquet    a binary column ciphertext gives a column message
  *.arrow      the same
--format says what --in is if its name does not. Lines and rows keep their other fields.

With PKCS #1 v1.5, a ciphertext with a wrong padding is no error. It decrypts to a random
message that depends on nothing but the key and the ciphertext (implicit rejection), so that
nobody learns which paddings are wrong."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa decrypt --key key.pem --padding oaep --in message.enc --out message
  modmill rsa decrypt --key key.pem --padding oaep --in ciphertexts.jsonl --out messages.jsonl";

/// Decrypts a ciphertext, or many ciphertexts at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Decrypt {
    #[command(flatten)]
    encryption: EncryptionOptions,
    #[command(flatten)]
    protection: ProtectionOptions,
    #[command(flatten)]
    run: RunOptions,
}

impl Decrypt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let scheme = self.encryption.scheme()?;
        let layout = Layout {
            required: &["ciphertext"],
            optional: &[],
            notation: Notation::Octets,
            others: OtherFields::Keep,
            answer: AnswerField::Octets("message"),
        };
        self.run.check(layout.answer, None)?;
        let key = self.run.key.private()?;
        let engine = self.run.streams.engine.engine()?;
        let rsa = self.protection.rsa(&engine);
        let compute = |columns: Columns<'_>| rsa.decrypt_rows(&key, scheme, &columns[0]);
        let files = FileRules { names: FileNames::Remove("enc"), hash: None };
        let operation = MessageOperation { layout, files, mode: None, engine: &engine, compute };
        self.run.run(&operation, None, &engine)?.finish()
    }
}
