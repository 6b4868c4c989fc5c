//! `modmill ec verify`.

use super::key_option::KeyOption;
use super::scheme_options::SchemeOptions;
use crate::commands::rsa::message_operation::{Columns, MessageOperation};
use crate::commands::rsa::streams::Streams;
use crate::commands::rsa::verify::{confirm, place_of_signatures};
use crate::failure::Failure;
use crate::records::{AnswerField, FileNames, FileRules, Layout, Notation, OtherFields};
use modmill_ec::{Ec, ItemError, Nonce, Rules};
use std::sync::atomic::{AtomicU64, Ordering};

const LONG_ABOUT: &str = r#"Verifies the signature of a file, or many signatures at once.

--in names the messages:
  a file       its signature is in the file --sig
  a folder     the signature of each file NAME is NAME.sig in the folder --sig
  *.jsonl      each line {"message":"<hex>","signature":"<hex>"} gives a line {"valid":true} or
               {"valid":false,"error":"line 3: ..."} in --out
  *.parquet    binary columns message and signature give columns valid and error in --out
  *.arrow      the same
With --digest the inputs are digests of messages, and the field is called "digest". --records
says what --in is if its name does not.

The exit status is 0 only if there is at least one signature and all signatures verify. The
key may be public or private."#;

const EXAMPLES: &str = "\
Examples:
  modmill ec verify --key public.pem --hash sha256 --in message --sig message.sig
  modmill ec verify --key public.pem --hash sha256 --in signed.jsonl";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum RulesChoice {
    /// The rules of OpenSSL and Go
    Common,
    /// Common, with the key in canonical form and no point of small order
    Strict,
    /// The rules of ZIP 215, with the cofactor
    Zip215,
}

/// Verifies a signature, or many signatures at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Verify {
    #[command(flatten)]
    key: KeyOption,
    #[command(flatten)]
    scheme: SchemeOptions,
    /// Rules of Ed25519 [default: common]
    #[arg(long, value_enum, value_name = "NAME", ignore_case = true)]
    rules: Option<RulesChoice>,
    /// Refuse ECDSA signatures whose s is above half the order
    #[arg(long)]
    low_s: bool,
    /// Signature of a file, or folder of signatures
    #[arg(long = "sig", value_name = "FILE", value_parser = crate::io::input_name)]
    signatures: Option<String>,
    #[command(flatten)]
    streams: Streams,
}

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let format = self.scheme.format_option();
        let signatures = place_of_signatures(self.signatures.as_deref(), &self.streams, format)?;
        let layout = Layout {
            required: if self.scheme.digest { &["digest", "signature"] } else { &["message", "signature"] },
            optional: &[],
            notation: Notation::Octets,
            others: OtherFields::Keep,
            answer: AnswerField::Verdict,
        };
        self.streams.check(format, layout.answer, self.key.files(), signatures)?;
        let key = self.key.any()?;
        let key = key.public_key();
        let rules = self.rules.map(|rules| match rules {
            RulesChoice::Common => Rules::Common,
            RulesChoice::Strict => Rules::Strict,
            RulesChoice::Zip215 => Rules::Zip215,
        });
        let scheme = self.scheme.scheme(key.curve(), Nonce::default(), self.low_s, rules)?;
        let engine = self.streams.engine.engine()?;
        // Files were hashed while they were read.
        let file_hash = self.scheme.file_hash(scheme);
        let is_hashed = !self.streams.format(format).has_fields() && file_hash.is_some();
        let has_digests = self.scheme.digest || is_hashed;
        let wrong = AtomicU64::new(0);
        let compute = |columns: Columns<'_>| {
            let (inputs, signatures) = (&columns[0], &columns[1]);
            let verdicts = match has_digests {
                true => Ec::new(&engine).verify_digests(key, scheme, inputs, signatures),
                false => Ec::new(&engine).verify(key, scheme, inputs, signatures),
            }?;
            let here = verdicts.iter().filter(|verdict| is_wrong(verdict)).count();
            wrong.fetch_add(here as u64, Ordering::Relaxed);
            Ok::<_, modmill_ec::Error>(verdicts)
        };
        let files = FileRules { names: FileNames::Add("sig"), hash: file_hash };
        let operation = MessageOperation { layout, files, mode: None, engine: &engine, compute };
        let tally = self.streams.run(format, &operation, self.key.files(), signatures, &engine)?;
        let streams = &self.streams;
        let is_silent =
            streams.quiet || streams.json || streams.writes_to_standard_output(format, layout.answer);
        confirm(tally, wrong.into_inner(), is_silent)
    }
}

/// Whether the verdict is that the signature is wrong, and not that its digest cannot be one.
fn is_wrong(verdict: &Result<(), ItemError>) -> bool {
    use ItemError::{HighS, NotDer, OutOfRange, Point, SignatureLength, Verification};
    matches!(verdict, Err(Verification | NotDer | SignatureLength { .. } | OutOfRange(_) | HighS | Point(_)))
}
