//! Options that choose a signature scheme or an encryption scheme.

use crate::failure::Failure;
use crate::hexadecimal;
use modmill_rsa::{EncryptionScheme, Hash, Oaep, Pss, SaltLength, SignatureScheme};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SignaturePadding {
    Pkcs1v15,
    Pss,
}

/// A signature scheme.
#[derive(Debug, clap::Args)]
pub(crate) struct SignatureOptions {
    /// Padding of signatures
    #[arg(long, value_enum, ignore_case = true)]
    padding: SignaturePadding,
    /// Hash of messages: sha224, sha256, sha384, sha512, sha512-224, sha512-256, sha3-224, sha3-256,
    /// sha3-384, sha3-512; shake128 and shake256 with PSS; sha1 only to verify
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    hash: Hash,
    /// Hash of the mask of PSS [default: the hash of messages]
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    mgf_hash: Option<Hash>,
    /// Length of the salt of PSS: digest (as long as a digest), max, any, or a number of bytes
    /// [default: digest to sign, any to verify]
    #[arg(long, value_name = "LENGTH", value_parser = parse_salt)]
    salt: Option<SaltLength>,
    /// Take the input for digests of messages
    #[arg(long)]
    pub(crate) digest: bool,
}

impl SignatureOptions {
    pub(crate) fn scheme(&self) -> Result<SignatureScheme, Failure> {
        match self.padding {
            SignaturePadding::Pkcs1v15 => {
                let pss_options = [("--salt", self.salt.is_some()), ("--mgf-hash", self.mgf_hash.is_some())];
                check_unused(&pss_options, "--padding pss")?;
                Ok(SignatureScheme::Pkcs1v15(self.hash))
            }
            SignaturePadding::Pss => Ok(SignatureScheme::Pss(Pss {
                hash: self.hash,
                mask_hash: self.mgf_hash.unwrap_or(self.hash),
                salt: self.salt.unwrap_or_default(),
            })),
        }
    }

    /// The field of the messages or digests.
    pub(crate) fn input_fields(&self) -> &'static [&'static str] {
        if self.digest { &["digest"] } else { &["message"] }
    }

    /// The fields of the messages or digests and of their signatures.
    pub(crate) fn signed_fields(&self) -> &'static [&'static str] {
        if self.digest { &["digest", "signature"] } else { &["message", "signature"] }
    }

    /// The hash that messages in files are replaced by while they are read.
    pub(crate) fn file_hash(&self) -> Option<Hash> {
        (!self.digest).then_some(self.hash)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EncryptionPadding {
    Oaep,
    Pkcs1v15,
}

/// An encryption scheme.
#[derive(Debug, clap::Args)]
pub(crate) struct EncryptionOptions {
    /// Padding of messages
    #[arg(long, value_enum, ignore_case = true)]
    padding: EncryptionPadding,
    /// Hash of OAEP [default: sha256; OpenSSL's default is sha1]
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    hash: Option<Hash>,
    /// Hash of the masks of OAEP [default: the hash of OAEP]
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    mgf_hash: Option<Hash>,
    /// Label of OAEP as text [default: empty]
    #[arg(long, value_name = "TEXT", conflicts_with = "label_hex")]
    label: Option<String>,
    /// Label of OAEP in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = parse_label)]
    label_hex: Option<Label>,
}

/// The bytes of a label.
#[derive(Debug, Clone)]
struct Label(Vec<u8>);

impl EncryptionOptions {
    pub(crate) fn scheme(&self) -> Result<EncryptionScheme<'_>, Failure> {
        match self.padding {
            EncryptionPadding::Pkcs1v15 => {
                let oaep_options = [
                    ("--hash", self.hash.is_some()),
                    ("--mgf-hash", self.mgf_hash.is_some()),
                    ("--label", self.label.is_some()),
                    ("--label-hex", self.label_hex.is_some()),
                ];
                check_unused(&oaep_options, "--padding oaep")?;
                Ok(EncryptionScheme::Pkcs1v15)
            }
            EncryptionPadding::Oaep => {
                let hash = self.hash.unwrap_or(Hash::Sha256);
                let text = self.label.as_deref().unwrap_or_default().as_bytes();
                let label = self.label_hex.as_ref().map_or(text, |label| &label.0);
                Ok(EncryptionScheme::Oaep(Oaep { hash, mask_hash: self.mgf_hash.unwrap_or(hash), label }))
            }
        }
    }
}

/// Refuses options that have no effect. `options` are names and whether they were given; `needs` is the
/// option that gives them an effect.
fn check_unused(options: &[(&str, bool)], needs: &str) -> Result<(), Failure> {
    match options.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            Err(Failure::Usage(format!("{option} has an effect only with {needs}; leave it out")))
        }
    }
}

fn parse_hash(text: &str) -> Result<Hash, String> {
    text.parse()
}

fn parse_salt(text: &str) -> Result<SaltLength, String> {
    match text.to_ascii_lowercase().as_str() {
        "digest" => Ok(SaltLength::Digest),
        "max" => Ok(SaltLength::Longest),
        "any" => Ok(SaltLength::Any),
        _ => text.parse().map(SaltLength::Bytes).map_err(|_| "not digest, max, any or a number".to_owned()),
    }
}

fn parse_label(text: &str) -> Result<Label, String> {
    hexadecimal::octets(text).map(|octets| Label(octets.to_vec()))
}
