//! `modmill ec sign`.

use super::key_option::KeyOption;
use super::scheme_options::SchemeOptions;
use crate::commands::rsa::message_operation::{Columns, MessageOperation};
use crate::commands::rsa::sign::layout;
use crate::commands::rsa::streams::Streams;
use crate::failure::Failure;
use crate::records::{FileNames, FileRules};
use modmill_ec::{Ec, Nonce};

const LONG_ABOUT: &str = r#"Signs a file, or many messages at once, by ECDSA or Ed25519.

--in names the messages:
  a file       its signature is written to --out
  a folder     the signature of each file NAME is written to NAME.sig in the folder --out
  *.jsonl      each line {"message":"<hex>"} gives a line {"signature":"<hex>","message":"<hex>"}
  *.parquet    a binary column message gives a column signature beside the other columns
  *.arrow      the same
With --digest the inputs are digests of messages, and the field is called "digest". --records
says what --in is if its name does not: for example, --records lines for JSON Lines from a
pipe.

Nonces of ECDSA are hashes of random bytes, the key and the digest. With --deterministic they
follow from the key and the digest (RFC 6979). Every signature is checked before it is written.
A message that cannot be signed has an error at its place and costs no other message its
signature. The exit status is then 1."#;

const EXAMPLES: &str = "\
Examples:
  modmill ec sign --key key.pem --hash sha256 --in message --out message.sig
  modmill ec sign --key key.pem --hash sha256 --format raw --in letters --out signatures
  make-lines | modmill ec sign --key key.pem --hash sha256 --records lines";

/// Signs a file, or many messages at once
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Sign {
    #[command(flatten)]
    key: KeyOption,
    #[command(flatten)]
    scheme: SchemeOptions,
    /// Nonces of ECDSA by RFC 6979: the same signature every time
    #[arg(long)]
    deterministic: bool,
    /// ECDSA signatures with the smaller one of s and n - s
    #[arg(long)]
    low_s: bool,
    #[command(flatten)]
    streams: Streams,
}

impl Sign {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let format = self.scheme.format_option();
        let layout = layout(if self.scheme.digest { &["digest"] } else { &["message"] });
        self.streams.check(format, layout.answer, self.key.files(), None)?;
        let key = self.key.private()?;
        let nonce = if self.deterministic { Nonce::Rfc6979 } else { Nonce::Hedged };
        let scheme = self.scheme.scheme(key.curve(), nonce, self.low_s, None)?;
        let engine = self.streams.engine.engine()?;
        // Files were hashed while they were read.
        let file_hash = self.scheme.file_hash(scheme);
        let is_hashed = !self.streams.format(format).has_fields() && file_hash.is_some();
        let has_digests = self.scheme.digest || is_hashed;
        let compute = |columns: Columns<'_>| match has_digests {
            true => Ec::new(&engine).sign_digests(&key, scheme, &columns[0]),
            false => Ec::new(&engine).sign(&key, scheme, &columns[0]),
        };
        let files = FileRules { names: FileNames::Add("sig"), hash: file_hash };
        let operation = MessageOperation { layout, files, mode: None, engine: &engine, compute };
        self.streams.run(format, &operation, self.key.files(), None, &engine)?.finish()
    }
}
