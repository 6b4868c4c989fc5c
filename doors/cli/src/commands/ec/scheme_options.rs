//! Options that choose a signature scheme.

use crate::commands::rsa::streams::FormatOption;
use crate::failure::Failure;
use crate::records::FormatChoice;
use modmill_ec::{Curve, Ecdsa, Ed25519, Format, Hash, Nonce, Rules, SignatureScheme, Variant};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SignatureFormat {
    /// A DER sequence of r and s
    Der,
    /// r and s one after the other, each as long as the order
    Raw,
}

/// A signature scheme.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemeOptions {
    /// Hash of messages for ECDSA: sha224, sha256, sha384, sha512, sha512-224, sha512-256, sha3-224,
    /// sha3-256, sha3-384, sha3-512, shake128, shake256 [default: by the curve: sha256, sha384 or sha512]
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    hash: Option<Hash>,
    /// Format of ECDSA signatures [default: der]
    #[arg(long, value_enum, value_name = "NAME", ignore_case = true)]
    format: Option<SignatureFormat>,
    /// Take the input for digests of messages: by the hash of ECDSA, or by SHA-512 with --prehash
    #[arg(long)]
    pub(crate) digest: bool,
    /// Ed25519ph: sign the SHA-512 digests of messages
    #[arg(long)]
    prehash: bool,
    /// Context of Ed25519ctx or Ed25519ph
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
    /// Kind of the input and the output
    #[arg(long, value_enum, value_name = "NAME", default_value = "auto", ignore_case = true)]
    records: FormatChoice,
}

impl SchemeOptions {
    /// The option that says what the input is.
    pub(crate) fn format_option(&self) -> FormatOption {
        FormatOption { name: "--records", choice: self.records }
    }

    /// The scheme for keys of `curve`. `rules` are none if they were not given.
    pub(crate) fn scheme(
        &self,
        curve: Curve,
        nonce: Nonce,
        low_s: bool,
        rules: Option<Rules>,
    ) -> Result<SignatureScheme<'_>, Failure> {
        if curve == Curve::X25519 {
            return Err(Failure::Usage(format!("the key is for {curve}, which has no signatures")));
        }
        if curve.is_weierstrass() {
            let given = [
                ("--prehash", self.prehash),
                ("--context", self.context.is_some()),
                ("--rules", rules.is_some()),
            ];
            refuse(&given, "Ed25519", curve)?;
            let format = match self.format {
                Some(SignatureFormat::Raw) => Format::Raw,
                Some(SignatureFormat::Der) | None => Format::Der,
            };
            let hash = self.hash.unwrap_or(match curve {
                Curve::P384 => Hash::Sha384,
                Curve::P521 => Hash::Sha512,
                _ => Hash::Sha256,
            });
            return Ok(Ecdsa { hash, nonce, format, low_s }.into());
        }
        let given = [
            ("--format der", self.format == Some(SignatureFormat::Der)),
            ("--hash", self.hash.is_some_and(|hash| !self.prehash || hash != Hash::Sha512)),
            ("--low-s", low_s),
            ("--deterministic", nonce == Nonce::Rfc6979),
        ];
        refuse(&given, "ECDSA", curve)?;
        let context = self.context.as_deref().map(str::as_bytes);
        let variant = match (self.prehash, context) {
            (true, context) => Variant::Prehashed(context.unwrap_or_default()),
            (false, Some(context)) => Variant::Context(context),
            (false, None) => Variant::Pure,
        };
        Ok(Ed25519 { variant, rules: rules.unwrap_or_default() }.into())
    }

    /// The hash that messages in files are replaced by while they are read.
    pub(crate) fn file_hash(&self, scheme: SignatureScheme<'_>) -> Option<Hash> {
        match scheme {
            _ if self.digest => None,
            SignatureScheme::Ecdsa(scheme) => Some(scheme.hash),
            SignatureScheme::Ed25519(Ed25519 { variant: Variant::Prehashed(_), .. }) => Some(Hash::Sha512),
            SignatureScheme::Ed25519(_) => None,
        }
    }
}

/// Refuses options that the curve does not have. `options` are names and whether they were given.
fn refuse(options: &[(&str, bool)], scheme: &str, curve: Curve) -> Result<(), Failure> {
    match options.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            Err(Failure::Usage(format!("{option} is for {scheme}, and the key is for {curve}; leave it out")))
        }
    }
}

fn parse_hash(text: &str) -> Result<Hash, String> {
    text.parse()
}
