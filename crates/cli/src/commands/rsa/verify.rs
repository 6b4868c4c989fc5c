//! `modmill rsa verify`.

use super::options::{RunOptions, SignatureOptions, to_answers};
use crate::failure::Failure;
use crate::items::{Form, Item, Suffix, Work};
use modmill_rsa::Rsa;
use zeroize::Zeroizing;

const LONG_ABOUT: &str = r#"Verifies the signature of a file, or many at once. The exit status is 0 only if all verify.

--in names
  a file          its signature is in the file --sig
  a folder        the signature of every file NAME in it is NAME.sig in the folder --sig
  *.jsonl         every line {"message":"<hex>","signature":"<hex>"} gives a line {"valid":true} or
                  {"valid":false,"error":"..."} in --out
  *.parquet       binary columns message and signature give columns valid and error in --out
With --digest the input is digests, and the field is called "digest".
The key may be public or private."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa verify --key public.pem --padding pkcs1v15 --hash sha256 --in message --sig message.sig
  modmill rsa verify --key public.pem --padding pss --hash sha512 --in letters --sig signatures
  modmill rsa verify --key public.pem --padding pss --salt any --hash sha256 --in signed.jsonl --out -";

/// Verifies a signature, or many at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Verify {
    #[command(flatten)]
    signature: SignatureOptions,
    /// Signature of a file, or folder of signatures
    #[arg(long = "sig", value_name = "FILE")]
    signatures: Option<String>,
    #[command(flatten)]
    run: RunOptions,
}

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let key = self.run.key.public()?;
        let engine = self.run.engine.engine()?;
        let scheme = self.signature.scheme();
        let compute = |items: &[Item]| {
            let column = |index: usize| items.iter().map(|item| item[index].as_slice()).collect::<Vec<_>>();
            let (inputs, signatures) = (column(0), column(1));
            let rsa = Rsa::new(&engine);
            let verdicts = match self.signature.digest {
                true => rsa.verify_digests(&key, scheme, &inputs, &signatures)?,
                false => rsa.verify(&key, scheme, &inputs, &signatures)?,
            };
            Ok(to_answers(verdicts, |()| Zeroizing::default()))
        };
        let sources = match (&self.signatures, Form::of(&self.run.input).has_fields()) {
            (Some(signatures), false) => vec![self.run.input.as_str(), signatures],
            (None, true) => vec![self.run.input.as_str()],
            (None, false) => return Err(Failure::Usage("--sig names the signature".to_owned())),
            (Some(_), true) => {
                let reason = "--sig is for files and folders; here signatures are a field of the input";
                return Err(Failure::Usage(reason.to_owned()));
            }
        };
        let work = Work {
            inputs: &[self.signature.input(), "signature"],
            sources: &sources,
            output: None,
            sink: &self.run.output,
            suffix: Suffix::Added(".sig"),
            quiet: self.run.quiet,
            compute: &compute,
        };
        self.run.finish(&work)
    }
}
