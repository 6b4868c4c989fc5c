//! `modmill ec derive`.

use super::key_option::{KeyOption, read_key};
use crate::commands::rsa::key_options::check_standard_input;
use crate::commands::rsa::keygen::write;
use crate::commands::rsa::message_operation::{Columns, MessageOperation};
use crate::commands::rsa::streams::{FormatOption, Streams};
use crate::failure::Failure;
use crate::io::Protected;
use crate::records::{AnswerField, FileNames, FileRules, FormatChoice, Layout, Notation, OtherFields};
use modmill_ec::{Curve, Ec, PrivateKey};

/// The mode of files with secrets: only their owner reads them.
const OWN_MODE: u32 = 0o600;

const LONG_ABOUT: &str = r#"Derives the secret that a private key shares with a public one, by ECDH or X25519.

--peer names the file of the other public key, and the secret is written to --out. Without
--peer, --in names many points:
  *.jsonl      each line {"peer":"<hex>"} gives a line {"secret":"<hex>"}
  *.parquet    a binary column peer gives a column secret
  *.arrow      the same
A point is uncompressed or compressed (SEC 1), or has the 32 bytes of X25519. Each point is
checked before it meets the key. The secret is the x of the product (u for X25519), which is
not uniform: give it to a key derivation function."#;

const EXAMPLES: &str = "\
Examples:
  modmill ec derive --key key.pem --peer public.pem --out secret
  modmill ec derive --key key.pem --in peers.jsonl --out secrets.jsonl";

/// Derives the secret that a private key shares with a public one, or with many
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Derive {
    #[command(flatten)]
    key: KeyOption,
    /// Public key of the other side: PEM, DER or a JSON Web Key
    #[arg(
        long,
        value_name = "FILE",
        value_parser = crate::io::input_name,
        conflicts_with_all = ["input", "records", "json"]
    )]
    peer: Option<String>,
    /// Kind of the input and the output
    #[arg(long, value_enum, value_name = "NAME", default_value = "auto", ignore_case = true)]
    records: FormatChoice,
    #[command(flatten)]
    streams: Streams,
}

impl Derive {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match &self.peer {
            Some(peer) => self.derive_one(peer),
            None => self.derive_many(),
        }
    }

    fn derive_one(&self, peer: &str) -> Result<(), Failure> {
        let files = || self.key.files().chain([("--peer", peer)]);
        check_standard_input(files())?;
        Protected::new(files()).check(self.streams.output())?;
        let (key, other) = (self.key()?, read_key(peer)?);
        let other = other.public_key();
        if other.curve() != key.curve() {
            let (own, other) = (key.curve(), other.curve());
            return Err(Failure::Usage(format!("the key is for {own}, and {peer} is for {other}")));
        }
        let secret = Ec::new(&self.streams.engine.engine()?).derive(&key, &[other])?.remove(0);
        let secret = secret.map_err(|error| Failure::Items(format!("{peer}: {error}")))?;
        write(self.streams.output(), &secret, Some(OWN_MODE))
    }

    /// The private key, which derives secrets.
    fn key(&self) -> Result<PrivateKey, Failure> {
        let key = self.key.private()?;
        match key.curve() {
            Curve::Ed25519 => {
                Err(Failure::Usage("the key is for ed25519, which derives no secrets".to_owned()))
            }
            _ => Ok(key),
        }
    }

    fn derive_many(&self) -> Result<(), Failure> {
        let format = FormatOption { name: "--records", choice: self.records };
        if !self.streams.format(format).has_fields() {
            let reason = "--peer names a public key; many points need --in with lines, Parquet or Arrow";
            return Err(Failure::Usage(reason.to_owned()));
        }
        let layout = Layout {
            required: &["peer"],
            optional: &[],
            notation: Notation::Octets,
            others: OtherFields::Keep,
            answer: AnswerField::Octets("secret"),
        };
        self.streams.check(format, layout.answer, self.key.files(), None)?;
        let (key, engine) = (self.key()?, self.streams.engine.engine()?);
        let compute = |columns: Columns<'_>| Ec::new(&engine).derive(&key, &columns[0]);
        let files = FileRules { names: FileNames::Add("secret"), hash: None };
        let operation = MessageOperation { layout, files, mode: Some(OWN_MODE), engine: &engine, compute };
        self.streams.run(format, &operation, self.key.files(), None, &engine)?.finish()
    }
}
