//! `modmill rsa sign`.

use super::options::{ProtectionOptions, RunOptions, SignatureOptions, to_answers};
use crate::failure::Failure;
use crate::items::{Item, Suffix, Work};
use zeroize::Zeroizing;

const LONG_ABOUT: &str = r#"Signs a file, or many at once.

--in names
  a file          the signature is written to --out
  a folder        every file NAME in it is signed, into NAME.sig in the folder --out
  *.jsonl         every line {"message":"<hex>"} gives a line {"signature":"<hex>"}
  *.parquet       a binary column message gives a column signature (needs --features parquet)
With --digest the input is digests: the file has nothing else, and the field is called "digest".

Every signature is checked with the public exponent before it is written. An item that cannot be signed
gives an error at its place, or of a folder a line on standard error, the others are signed, and the exit
status is 1 at the end."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa sign --key key.pem --padding pkcs1v15 --hash sha256 --in message --out message.sig
  modmill rsa sign --key key.pem --padding pss --hash sha512 --in letters --out signatures
  modmill rsa sign --key key.pem --padding pss --hash sha256 --digest --in digests.jsonl --out -";

/// Signs a file, or many at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Sign {
    #[command(flatten)]
    signature: SignatureOptions,
    #[command(flatten)]
    protection: ProtectionOptions,
    #[command(flatten)]
    run: RunOptions,
}

impl Sign {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let key = self.run.key.private()?;
        let engine = self.run.engine.engine()?;
        let rsa = self.protection.rsa(&engine);
        let scheme = self.signature.scheme();
        let compute = |items: &[Item]| {
            let inputs: Vec<&[u8]> = items.iter().map(|item| item[0].as_slice()).collect();
            let answers = match self.signature.digest {
                true => rsa.sign_digests(&key, scheme, &inputs)?,
                false => rsa.sign(&key, scheme, &inputs)?,
            };
            Ok(to_answers(answers, Zeroizing::new))
        };
        let work = Work {
            inputs: &[self.signature.input()],
            sources: &[&self.run.input],
            output: Some("signature"),
            sink: &self.run.output,
            suffix: Suffix::Added(".sig"),
            quiet: self.run.quiet,
            compute: &compute,
        };
        self.run.finish(&work)
    }
}
