//! `modmill rsa inspect`.

use super::key_options::KeyOptions;
use crate::failure::Failure;
use crate::hexadecimal::format_octets;
use crate::io::print;
use crate::options::EngineOptions;
use modmill_rsa::{AnyKey, Hash};
use serde_json::json;

const LONG_ABOUT: &str = "\
Says what a key is, and whether it is in order: every number is checked against the others, and with
--check the factors are proved prime beyond reasonable doubt. Shows nothing secret.

The fingerprint is the SHA-256 digest of the public key's DER encoding (SubjectPublicKeyInfo).";

/// Says what a key is, and whether it is in order
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT)]
pub(crate) struct Inspect {
    #[command(flatten)]
    key: KeyOptions,
    /// Test that the factors of a private key are prime
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    engine: EngineOptions,
    /// Say it in JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let key = self.key.any()?;
        let public = key.public_key();
        let kind = match &key {
            AnyKey::Private(private) => {
                if self.check {
                    let checked = private.check_primes(&self.engine.engine()?);
                    checked.map_err(|error| Failure::Items(error.to_string()))?;
                }
                "private"
            }
            AnyKey::Public(_) => "public",
        };
        let der = public.to_der().map_err(|error| Failure::Usage(error.to_string()))?;
        let fingerprint = format_octets(Hash::Sha256.digest(&[&der]).as_ref());
        let (exponent, modulus) =
            (format_octets(&public.exponent_bytes()), format_octets(public.modulus_bytes()));
        let primes = match (&key, self.check) {
            (AnyKey::Private(_), true) => Some(true),
            _ => None,
        };
        if self.json {
            let description = json!({
                "kind": kind, "bits": public.bits(), "exponent": exponent, "modulus": modulus,
                "sha256": fingerprint, "primes_checked": primes,
            });
            return print(&format!("{description}\n"));
        }
        let checked = if primes.is_some() { ", factors prime" } else { "" };
        print(&format!(
            "{kind} RSA key of {} bits, consistent{checked}\npublic exponent {exponent}\nmodulus {modulus}\n\
             SHA-256 of the public key {fingerprint}\n",
            public.bits()
        ))
    }
}
