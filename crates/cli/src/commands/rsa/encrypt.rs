//! `modmill rsa encrypt`.

use super::options::{EncryptionOptions, RunOptions, to_answers};
use crate::failure::Failure;
use crate::items::{Item, Suffix, Work};
use modmill_rsa::Rsa;
use zeroize::Zeroizing;

const LONG_ABOUT: &str = r#"Encrypts a short message, or many at once.

--in names
  a file          the ciphertext is written to --out
  a folder        every file NAME in it is encrypted, into NAME.enc in the folder --out
  *.jsonl         every line {"message":"<hex>"} gives a line {"ciphertext":"<hex>"}
  *.parquet       a binary column message gives a column ciphertext (needs --features parquet)

A message has to be shorter than the key: with OAEP by two digests and two bytes, with PKCS #1 v1.5 by
11 bytes. The key may be public or private."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa encrypt --key public.pem --padding oaep --in message --out message.enc
  modmill rsa encrypt --key public.pem --padding oaep --hash sha1 --in message --out message.enc";

/// Encrypts a short message, or many at once
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
        let key = self.run.key.public()?;
        let engine = self.run.engine.engine()?;
        let compute = |items: &[Item]| {
            let messages: Vec<&[u8]> = items.iter().map(|item| item[0].as_slice()).collect();
            let answers = Rsa::new(&engine).encrypt(&key, self.encryption.scheme(), &messages)?;
            Ok(to_answers(answers, Zeroizing::new))
        };
        let work = Work {
            inputs: &["message"],
            sources: &[&self.run.input],
            output: Some("ciphertext"),
            sink: &self.run.output,
            suffix: Suffix::Added(".enc"),
            quiet: self.run.quiet,
            compute: &compute,
        };
        self.run.finish(&work)
    }
}
