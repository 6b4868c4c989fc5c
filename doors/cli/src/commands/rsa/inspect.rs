//! `modmill rsa inspect`.

use super::key_options::KeyOptions;
use crate::failure::Failure;
use crate::hexadecimal::format_octets;
use crate::io::print;
use crate::options::EngineOptions;
use modmill::Engine;
use modmill_rsa::{AnyKey, Error, Hash};
use serde_json::json;

const LONG_ABOUT: &str = "\
Describes a key and looks for flaws. Nothing secret is shown.

Every number of the key is compared with the others. The modulus is well-formed if it has no
prime factor below 2^16, is no power of another number and is not prime; that does not prove
that it is the product of two large primes. --check tests whether the factors of a private
key are prime.

The fingerprint is the SHA-256 digest of the public key's DER encoding
(SubjectPublicKeyInfo). The exit status is 1 if the key has a flaw.";

const EXAMPLES: &str = "\
Examples:
  modmill rsa inspect --key public.pem
  modmill rsa inspect --key key.pem --check --json";

/// Describes a key and looks for flaws
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Inspect {
    #[command(flatten)]
    key: KeyOptions,
    /// Test that the factors of a private key are prime
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    engine: EngineOptions,
    /// Print the description in JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let key = self.key.any()?;
        let public = key.public_key();
        let kind = match &key {
            AnyKey::Private(_) => "private",
            AnyKey::Public(_) if self.check => {
                let reason = "--check tests the factors of a private key; this key is public";
                return Err(Failure::Usage(reason.to_owned()));
            }
            AnyKey::Public(_) => "public",
        };
        let flaw = self.flaw(&key, &self.engine.engine()?)?;
        let der = public.to_der().map_err(|error| Failure::Usage(error.to_string()))?;
        let fingerprint = format_octets(Hash::Sha256.digest(&[&der]).as_ref());
        let exponent = format_octets(&public.exponent_bytes());
        let modulus = format_octets(public.modulus_bytes());
        print(&if self.json {
            let description = json!({
                "kind": kind, "bits": public.bits(), "exponent": exponent, "modulus": modulus,
                "sha256": fingerprint, "well_formed": flaw.is_none(), "flaw": flaw,
                "primes_checked": (self.check && flaw.is_none()).then_some(true),
            });
            format!("{description}\n")
        } else {
            let verdict = match (&flaw, self.check) {
                (Some(_), _) => "flawed",
                (None, true) => "well-formed, factors prime",
                (None, false) => "well-formed",
            };
            format!(
                "{kind} RSA key of {} bits, {verdict}\npublic exponent {exponent}\nmodulus {modulus}\n\
                 SHA-256 of the public key {fingerprint}\n",
                public.bits()
            )
        })?;
        flaw.map_or(Ok(()), |flaw| Err(Failure::Items(flaw)))
    }

    /// The first flaw that is found.
    fn flaw(&self, key: &AnyKey, engine: &Engine) -> Result<Option<String>, Failure> {
        let checked = key.public_key().check_modulus(engine).and_then(|()| match key {
            AnyKey::Private(private) if self.check => private.check_primes(engine),
            AnyKey::Private(_) | AnyKey::Public(_) => Ok(()),
        });
        match checked {
            Ok(()) => Ok(None),
            Err(Error::Key(flaw)) => Ok(Some(flaw.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}
