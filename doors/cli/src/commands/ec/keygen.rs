//! `modmill ec keygen`.

use crate::commands::rsa::keygen::{absolute, check_new, write};
use crate::failure::Failure;
use crate::io::STANDARD;
use modmill_ec::{Curve, KeyError, PrivateKey};
use zeroize::Zeroizing;

const LONG_ABOUT: &str = "\
Generates a key: for ECDSA and ECDH on p256, p384, p521 and secp256k1, for Ed25519 on ed25519,
for X25519 on x25519. The files are PKCS #8 and public keys in PEM, as OpenSSL reads them.

A file that exists is not overwritten, because it may hold a key: --force overwrites it.";

const EXAMPLES: &str = "\
Examples:
  modmill ec keygen --curve p256 --out key.pem --public-out public.pem
  modmill ec keygen --curve ed25519 --format jwk --out key.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Pkcs8,
    Sec1,
    Jwk,
}

/// Generates a key
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Keygen {
    /// Curve: p256, p384, p521, secp256k1, ed25519 or x25519
    #[arg(long, value_name = "NAME", value_parser = parse_curve)]
    curve: Curve,
    /// Format of the key
    #[arg(long, value_enum, default_value = "pkcs8", ignore_case = true)]
    format: Format,
    /// File for the private key, readable only by its owner; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-", value_parser = crate::io::output_name)]
    output: String,
    /// File for the public key
    #[arg(long, value_name = "FILE", value_parser = crate::io::output_name)]
    public_out: Option<String>,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
}

impl Keygen {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let outputs = || std::iter::once(&self.output).chain(&self.public_out);
        let is_same = |public: &String| public != STANDARD && absolute(public) == absolute(&self.output);
        if self.public_out.as_ref().is_some_and(is_same) {
            return Err(Failure::Usage("--out and --public-out name the same file".to_owned()));
        }
        let failed = |error: KeyError| Failure::Usage(error.to_string());
        if self.format == Format::Sec1 && !self.curve.is_weierstrass() {
            return Err(failed(KeyError::NoSec1(self.curve)));
        }
        check_new(outputs().cloned(), self.force)?;
        let key = PrivateKey::generate(self.curve)?;
        let (private, public) = self.texts(&key).map_err(failed)?;
        write(&self.output, private.as_bytes(), Some(0o600))?;
        self.public_out.as_ref().map_or(Ok(()), |path| write(path, public.as_bytes(), None))
    }

    fn texts(&self, key: &PrivateKey) -> Result<(Zeroizing<String>, String), KeyError> {
        let public = key.public_key();
        Ok(match self.format {
            Format::Pkcs8 => (key.to_pem()?, public.to_pem()?),
            Format::Sec1 => (key.to_sec1_pem()?, public.to_pem()?),
            Format::Jwk => (key.to_jwk()?, public.to_jwk()?),
        })
    }
}

fn parse_curve(text: &str) -> Result<Curve, String> {
    text.parse()
}
