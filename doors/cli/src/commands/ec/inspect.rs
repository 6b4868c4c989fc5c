//! `modmill ec inspect`.

use super::key_option::KeyOption;
use crate::failure::Failure;
use crate::hexadecimal::format_octets;
use crate::io::print;
use modmill_ec::{AnyKey, Hash};
use serde_json::json;

const LONG_ABOUT: &str = "\
Describes a key. Nothing secret is shown.

Whatever is read is checked: that the point is on its curve, that the private number is in
range, and that the two halves belong together. The fingerprint is the SHA-256 digest of the
public key's DER encoding (SubjectPublicKeyInfo).";

const EXAMPLES: &str = "\
Examples:
  modmill ec inspect --key public.pem
  modmill ec inspect --key key.pem --json";

/// Describes a key
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Inspect {
    #[command(flatten)]
    key: KeyOption,
    /// Print the description in JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let key = self.key.any()?;
        let kind = if matches!(key, AnyKey::Private(_)) { "private" } else { "public" };
        let public = key.public_key();
        let der = public.to_der().map_err(|error| Failure::Usage(error.to_string()))?;
        let fingerprint = format_octets(Hash::Sha256.digest(&[&der]).as_ref());
        let (curve, point) = (public.curve().name(), format_octets(public.as_ref()));
        print(&match self.json {
            true => {
                let description =
                    json!({ "kind": kind, "curve": curve, "point": point, "sha256": fingerprint });
                format!("{description}\n")
            }
            false => {
                format!("{kind} key on {curve}\npoint {point}\nSHA-256 of the public key {fingerprint}\n")
            }
        })
    }
}
