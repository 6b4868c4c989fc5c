//! `modmill rsa encrypt`.

use super::message_operation::{Columns, MessageOperation};
use super::run_options::RunOptions;
use super::scheme_options::EncryptionOptions;
use crate::failure::Failure;
use crate::records::{AnswerField, FileNames, FileRules, Layout, Notation, OtherFields};
use modmill_rsa::Rsa;

const LONG_ABOUT: &str = r#"Encrypts a short message, or many messages at once.

--in names the messages:
  a file       its ciphertext is written to --out
  a folder     the ciphertext of each file NAME is written to NAME.enc in the folder --out
  *.jsonl      each line {"message":"<hex>"} gives a line {"ciphertext":"<hex>"}
  *.parquet    a binary column message gives a column ciphertext
  *.arrow      the same
--format says what --in is if its name does not. Lines and rows keep their other fields, but
not the message.

A message has to be shorter than the key: by two digests and two bytes with OAEP, by 11
bytes with PKCS #1 v1.5. The key may be public or private."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa encrypt --key public.pem --padding oaep --in message --out message.enc
  modmill rsa encrypt --key public.pem --padding oaep --hash sha1 --in message --out message.enc
  modmill rsa encrypt --key public.pem --padding oaep --in plain.jsonl --out secret.jsonl";

/// Encrypts a short message, or many messages at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Encrypt {
    #[command(flatten)]
    encryption: EncryptionOptions,
    #[command(flatten)]
    run: RunOptions,
}

impl Encrypt {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let scheme = self.encryption.scheme()?;
        let layout = Layout {
            required: &["message"],
            optional: &[],
            notation: Notation::Octets,
            others: OtherFields::Keep,
            answer: AnswerField::Octets("ciphertext"),
        };
        self.run.check(layout.answer, None)?;
        let key = self.run.key.public()?;
        let engine = self.run.streams.engine.engine()?;
        let compute = |columns: Columns<'_>| Rsa::new(&engine).encrypt_rows(&key, scheme, &columns[0]);
        let files = FileRules { names: FileNames::Add("enc"), hash: None };
        let operation = MessageOperation { layout, files, mode: None, engine: &engine, compute };
        self.run.run(&operation, None, &engine)?.finish()
    }
}
