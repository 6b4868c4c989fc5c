//! `modmill rsa verify`.

use super::message_operation::{Columns, MessageOperation};
use super::run_options::RunOptions;
use super::scheme_options::SignatureOptions;
use super::streams::{FormatOption, Streams};
use crate::failure::Failure;
use crate::io::print;
use crate::records::{AnswerField, FileNames, FileRules, Layout, Notation, OtherFields, Tally};
use modmill_rsa::{ItemError, Rsa};
use std::sync::atomic::{AtomicU64, Ordering};

const LONG_ABOUT: &str = r#"Verifies the signature of a file, or many signatures at once.

--in names the messages:
  a file       its signature is in the file --sig
  a folder     the signature of each file NAME is NAME.sig in the folder --sig
  *.jsonl      each line {"message":"<hex>","signature":"<hex>"} gives a line {"valid":true} or
               {"valid":false,"error":"line 3: ..."} in --out
  *.parquet    binary columns message and signature give columns valid and error in --out
  *.arrow      the same
With --digest the inputs are digests of messages, and the field is called "digest". --format
says what --in is if its name does not. Lines and rows keep their other fields.

The exit status is 0 only if there is at least one signature and all signatures verify. The
key may be public or private. A salt of PSS may have any length unless --salt names one."#;

const EXAMPLES: &str = "\
Examples:
  modmill rsa verify --key public.pem --padding pss --hash sha256 --in message --sig message.sig
  modmill rsa verify --key public.pem --padding pss --hash sha512 --in letters --sig signatures
  modmill rsa verify --key public.pem --padding pss --hash sha256 --in signed.jsonl";

/// Verifies a signature, or many signatures at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Verify {
    #[command(flatten)]
    signature: SignatureOptions,
    /// Signature of a file, or folder of signatures
    #[arg(long = "sig", value_name = "FILE", value_parser = crate::io::input_name)]
    signatures: Option<String>,
    #[command(flatten)]
    run: RunOptions,
}

impl Verify {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let scheme = self.signature.scheme()?;
        let signatures = self.signatures()?;
        let layout = Layout {
            required: self.signature.signed_fields(),
            optional: &[],
            notation: Notation::Octets,
            others: OtherFields::Keep,
            answer: AnswerField::Verdict,
        };
        self.run.check(layout.answer, signatures)?;
        let key = self.run.key.public()?;
        let engine = self.run.streams.engine.engine()?;
        // Files were hashed while they were read.
        let has_digests = self.signature.digest || !self.run.format().has_fields();
        let wrong = AtomicU64::new(0);
        let compute = |columns: Columns<'_>| {
            let (inputs, signatures) = (&columns[0], &columns[1]);
            let rsa = Rsa::new(&engine);
            let verdicts = match has_digests {
                true => rsa.verify_digests(&key, scheme, inputs, signatures),
                false => rsa.verify(&key, scheme, inputs, signatures),
            }?;
            let here = verdicts.iter().filter(|verdict| **verdict == Err(ItemError::Verification)).count();
            wrong.fetch_add(here as u64, Ordering::Relaxed);
            Ok::<_, modmill_rsa::Error>(verdicts)
        };
        let files = FileRules { names: FileNames::Add("sig"), hash: self.signature.file_hash() };
        let operation = MessageOperation { layout, files, mode: None, engine: &engine, compute };
        let tally = self.run.run(&operation, signatures, &engine)?;
        let streams = &self.run.streams;
        let is_silent = streams.quiet || streams.json || self.run.writes_to_standard_output(layout.answer);
        confirm(tally, wrong.into_inner(), is_silent)
    }

    /// The place of the signatures, if they are not fields of the records.
    fn signatures(&self) -> Result<Option<&str>, Failure> {
        place_of_signatures(self.signatures.as_deref(), &self.run.streams, self.run.format_option())
    }
}

/// The place of signatures, if they are not fields of the records. `signatures` is the value of `--sig`.
pub(crate) fn place_of_signatures<'a>(
    signatures: Option<&'a str>,
    streams: &Streams,
    format: FormatOption,
) -> Result<Option<&'a str>, Failure> {
    match (signatures, streams.format(format).has_fields()) {
        (None, false) => Err(Failure::Usage(format!(
            "--sig names the signature; records with a field for it need {} lines, parquet or arrow",
            format.name
        ))),
        (Some(_), true) => Err(Failure::Usage(
            "--sig is for files and folders; here the signature is a field of the input".to_owned(),
        )),
        (signatures, _) => Ok(signatures),
    }
}

/// Says how many of the records have wrong signatures, and confirms in words that none has unless it
/// `is_silent`.
pub(crate) fn confirm(tally: Tally, wrong: u64, is_silent: bool) -> Result<(), Failure> {
    if tally.items == 0 {
        return Err(Failure::Items("there is nothing to verify: --in has no records".to_owned()));
    }
    let (items, unit) = (tally.items, tally.unit);
    let summary = summary(&tally, wrong);
    tally.finish_in_words(&summary)?;
    if is_silent {
        return Ok(());
    }
    print(&match items {
        1 => "Verified OK\n".to_owned(),
        _ => format!("Verified OK: {items} {unit}\n"),
    })
}

/// How many of the records have wrong signatures, and how many could not be verified for another reason.
fn summary(tally: &Tally, wrong: u64) -> String {
    let Tally { items, failed, unit, .. } = tally;
    let others = failed.saturating_sub(wrong);
    let verb = if wrong == 1 { "is" } else { "are" };
    let wrong_part = format!("{wrong} of {items} signatures {verb} wrong");
    let other_part = format!("{others} of {items} {unit} could not be verified");
    match (wrong, others) {
        (_, 0) => wrong_part,
        (0, _) => other_part,
        _ => format!("{wrong_part}, and {other_part}"),
    }
}
