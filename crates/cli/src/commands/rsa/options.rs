//! Options that commands of RSA share.

use crate::failure::Failure;
use crate::io::print;
use crate::items::{Answer, Work, read};
use crate::options::EngineOptions;
use modmill::Engine;
use modmill_rsa::{
    Answers, AnyKey, EncryptionScheme, Hash, KeyError, Oaep, PrivateKey, Pss, PublicKey, Rsa, SaltLength,
    SignatureScheme, Sizes,
};
use zeroize::Zeroizing;

/// Which key, and how it is read.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyOptions {
    /// Key: PEM or DER (PKCS #8, PKCS #1, public keys), or a JSON Web Key
    #[arg(long, value_name = "FILE")]
    key: String,
    #[command(flatten)]
    password: PasswordOption,
    #[command(flatten)]
    sizes: SizesOption,
}

/// The password of an encrypted key.
#[derive(Debug, clap::Args)]
pub(crate) struct PasswordOption {
    /// File whose first line is the password of the key
    #[arg(long, value_name = "FILE")]
    password_file: Option<String>,
}

impl PasswordOption {
    pub(crate) fn read(&self) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
        let Some(file) = &self.password_file else { return Ok(None) };
        let text = read(file)?;
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        Ok(Some(Zeroizing::new(line.strip_suffix(b"\r").unwrap_or(line).to_vec())))
    }
}

/// Which lengths of keys are taken.
#[derive(Debug, clap::Args)]
pub(crate) struct SizesOption {
    /// Allow keys of 512 to 2047 bits, which protect little or nothing
    #[arg(long)]
    allow_small: bool,
}

impl SizesOption {
    pub(crate) fn sizes(&self) -> Sizes {
        if self.allow_small { Sizes::AllowSmall } else { Sizes::Standard }
    }
}

impl KeyOptions {
    pub(crate) fn any(&self) -> Result<AnyKey, Failure> {
        let password = self.password.read()?;
        let password = password.as_ref().map(|password| password.as_slice());
        AnyKey::read(&read(&self.key)?, password, self.sizes.sizes()).map_err(|error| self.failure(&error))
    }

    pub(crate) fn private(&self) -> Result<PrivateKey, Failure> {
        match self.any()? {
            AnyKey::Private(key) => Ok(key),
            AnyKey::Public(_) => Err(self.failure(&KeyError::NotPrivate)),
        }
    }

    pub(crate) fn public(&self) -> Result<PublicKey, Failure> {
        Ok(self.any()?.public_key().clone())
    }

    fn failure(&self, error: &KeyError) -> Failure {
        let hint = match error {
            KeyError::PasswordNeeded => " (--password-file)",
            KeyError::TooShort { bits: 512.., .. } => " (--allow-small takes it all the same)",
            _ => "",
        };
        Failure::Usage(format!("{}: {error}{hint}", self.key))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SignaturePadding {
    Pkcs1v15,
    Pss,
}

/// Which signature.
#[derive(Debug, clap::Args)]
pub(crate) struct SignatureOptions {
    /// Padding of signatures
    #[arg(long, value_enum)]
    padding: SignaturePadding,
    /// Hash of messages: sha224, sha256, sha384, sha512, sha512-224, sha512-256, sha3-224, sha3-256,
    /// sha3-384, sha3-512; shake128 and shake256 with PSS; sha1 to verify
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    hash: Hash,
    /// Hash of the mask of PSS [default: that of messages]
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    mgf_hash: Option<Hash>,
    /// Salt of PSS: digest (as long as it), max, any (to verify), or a number of bytes
    #[arg(long, value_name = "LENGTH", default_value = "digest", value_parser = parse_salt)]
    salt: SaltLength,
    /// The input is digests of messages
    #[arg(long)]
    pub(crate) digest: bool,
}

impl SignatureOptions {
    pub(crate) fn scheme(&self) -> SignatureScheme {
        match self.padding {
            SignaturePadding::Pkcs1v15 => SignatureScheme::Pkcs1v15(self.hash),
            SignaturePadding::Pss => SignatureScheme::Pss(Pss {
                hash: self.hash,
                mask_hash: self.mgf_hash.unwrap_or(self.hash),
                salt: self.salt,
            }),
        }
    }

    /// The field that inputs are in.
    pub(crate) fn input(&self) -> &'static str {
        if self.digest { "digest" } else { "message" }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EncryptionPadding {
    Oaep,
    Pkcs1v15,
}

/// Which encryption.
#[derive(Debug, clap::Args)]
pub(crate) struct EncryptionOptions {
    /// Padding of messages
    #[arg(long, value_enum)]
    padding: EncryptionPadding,
    /// Hash of OAEP; OpenSSL takes sha1 if nothing is said
    #[arg(long, value_name = "NAME", default_value = "sha256", value_parser = parse_hash)]
    hash: Hash,
    /// Hash of the masks of OAEP [default: that of OAEP]
    #[arg(long, value_name = "NAME", value_parser = parse_hash)]
    mgf_hash: Option<Hash>,
    /// Label of OAEP
    #[arg(long, value_name = "TEXT", default_value = "")]
    label: String,
}

impl EncryptionOptions {
    pub(crate) fn scheme(&self) -> EncryptionScheme<'_> {
        match self.padding {
            EncryptionPadding::Pkcs1v15 => EncryptionScheme::Pkcs1v15,
            EncryptionPadding::Oaep => EncryptionScheme::Oaep(Oaep {
                hash: self.hash,
                mask_hash: self.mgf_hash.unwrap_or(self.hash),
                label: self.label.as_bytes(),
            }),
        }
    }
}

/// How private operations are protected beyond what they always are.
#[derive(Debug, clap::Args)]
pub(crate) struct ProtectionOptions {
    /// Blind inputs of private operations by random factors
    #[arg(long)]
    blinding: bool,
    /// Let GPUs read only those entries of tables of powers that they need, by blinded exponents: faster, and hides less
    #[arg(long)]
    direct_tables: bool,
}

impl ProtectionOptions {
    pub(crate) fn rsa<'a>(&self, engine: &'a Engine) -> Rsa<'a> {
        Rsa::new(engine).blinding(self.blinding).blinded_direct_reads(self.direct_tables)
    }
}

/// What an operation is done with, on what, how, and what is said about it.
#[derive(Debug, clap::Args)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) key: KeyOptions,
    /// What comes in, or many: a folder, *.jsonl, *.parquet; - is standard input
    #[arg(long = "in", value_name = "FILE", default_value = "-")]
    pub(crate) input: String,
    /// Where answers go; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-")]
    pub(crate) output: String,
    #[command(flatten)]
    pub(crate) engine: EngineOptions,
    /// Show no progress bar
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Say in JSON, on standard output, how many items there were and how many failed
    #[arg(long)]
    json: bool,
}

impl RunOptions {
    /// Answers items and ends a command.
    pub(crate) fn finish(&self, work: &Work<'_>) -> Result<(), Failure> {
        if self.json && work.fills_sink() && work.sink == "-" {
            return Err(Failure::Usage(
                "--json and the answers cannot both go to standard output".to_owned(),
            ));
        }
        let summary = work.run()?;
        if self.json {
            let text = serde_json::to_string(&summary).map_err(|error| Failure::Usage(error.to_string()))?;
            print(&format!("{text}\n"))?;
        }
        summary.finish()
    }
}

/// Answers of the library as answers of items.
pub(crate) fn to_answers<T>(answers: Answers<T>, bytes: impl Fn(T) -> Zeroizing<Vec<u8>>) -> Vec<Answer> {
    answers.into_iter().map(|answer| answer.map(&bytes).map_err(|error| error.to_string())).collect()
}

fn parse_hash(text: &str) -> Result<Hash, String> {
    text.parse()
}

fn parse_salt(text: &str) -> Result<SaltLength, String> {
    match text {
        "digest" => Ok(SaltLength::Digest),
        "max" => Ok(SaltLength::Longest),
        "any" => Ok(SaltLength::Any),
        _ => text.parse().map(SaltLength::Bytes).map_err(|_| "not digest, max, any or a number".to_owned()),
    }
}
