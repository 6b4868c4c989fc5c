//! `modmill rsa decrypt`.

use super::options::{EncryptionOptions, ProtectionOptions, RunOptions, to_answers};
use crate::failure::Failure;
use crate::items::{Item, Suffix, Work};

const LONG_ABOUT: &str = r#"Decrypts a ciphertext, or many at once.

--in names
  a file          the message is written to --out
  a folder        every file NAME.enc in it is decrypted, into NAME in the folder --out
  *.jsonl         every line {"ciphertext":"<hex>"} gives a line {"message":"<hex>"}
  *.parquet       a binary column ciphertext gives a column message (needs --features parquet)

With PKCS #1 v1.5, a ciphertext with a wrong padding is no error: it decrypts to a random message that
depends on key and ciphertext alone (implicit rejection), so that nobody learns which paddings are wrong."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa decrypt --key key.pem --padding oaep --in message.enc --out message
  modmill rsa decrypt --key key.pem --padding oaep --in ciphertexts.jsonl --out messages.jsonl";

/// Decrypts a ciphertext, or many at once
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
        let key = self.run.key.private()?;
        let engine = self.run.engine.engine()?;
        let rsa = self.protection.rsa(&engine);
        let compute = |items: &[Item]| {
            let ciphertexts: Vec<&[u8]> = items.iter().map(|item| item[0].as_slice()).collect();
            let answers = rsa.decrypt(&key, self.encryption.scheme(), &ciphertexts)?;
            Ok(to_answers(answers, |message| message))
        };
        let work = Work {
            inputs: &["ciphertext"],
            sources: &[&self.run.input],
            output: Some("message"),
            sink: &self.run.output,
            suffix: Suffix::Removed(".enc"),
            quiet: self.run.quiet,
            compute: &compute,
        };
        self.run.finish(&work)
    }
}
