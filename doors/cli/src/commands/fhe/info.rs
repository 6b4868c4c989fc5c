//! `modmill fhe info`.

use super::files::{failure, file_name};
use super::meter::{meter, size};
use super::scheme_options::setting_text;
use crate::failure::Failure;
use crate::hexadecimal::format_octets;
use crate::io;
use modmill_container::{FileError, Header, Kind, Reader};
use modmill_fhe::gentry_halevi::{Description, SCHEME, StoredError};
use modmill_measure::table::beside;
use serde_json::json;
use std::path::Path;

const LONG_ABOUT: &str = "\
Describes a key or encrypted bits: what the file is, its parameters, the fingerprint of its public
key, and an estimate of the noise, which anyone can make. The whole file is read, and its
checksum compared. Nothing secret is shown.

The budget of a bit is how many bits its noise may still grow until the bit no longer decrypts.
XOR adds noise, AND multiplies it.";

const EXAMPLES: &str = "\
Examples:
  modmill fhe info key.public
  modmill fhe info answer.bits --json";

/// Describes a key or encrypted bits
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Info {
    /// File to describe
    #[arg(value_name = "FILE", value_parser = file_name)]
    file: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Width of the column of names.
const NAMES: usize = 16;

impl Info {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let path = Path::new(&self.file);
        let failed = |error: FileError| failure("read", &self.file)(StoredError::File(error));
        let reader = Reader::open(path).map_err(failed)?;
        let (header, length) = (reader.header().clone(), reader.length());
        drop(reader);
        header.expect_scheme(SCHEME).map_err(failed)?;
        let description = Description::read(path, header.kind).map_err(failure("read", &self.file))?;
        io::print(&match self.json {
            true => to_json(&header, length, &description),
            false => to_text(&header, length, &description),
        })
    }
}

/// The least budget of encrypted bits, as anyone can estimate it.
fn least_budget(description: &Description) -> Option<f64> {
    let budgets = description.bounds.iter().map(|noise| description.capacity - noise);
    budgets.min_by(f64::total_cmp)
}

fn to_json(header: &Header, length: u64, description: &Description) -> String {
    let kind = match header.kind {
        Kind::PublicKey => "public key",
        Kind::SecretKey => "secret key",
        Kind::Ciphertexts => "ciphertexts",
    };
    let parameters: serde_json::Map<_, _> =
        header.parameters.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let info = json!({
        "kind": kind,
        "scheme": header.scheme,
        "bytes": length,
        "fingerprint": format_octets(&header.fingerprint),
        "parameters": parameters,
        "capacity_bits": description.capacity,
        "recrypted_noise_bits": description.recrypted_noise,
        "noise_bits": description.bounds,
        "least_budget_bits": least_budget(description),
    });
    format!("{info:#}\n")
}

fn to_text(header: &Header, length: u64, description: &Description) -> String {
    let capacity = description.capacity;
    let after_recryption = capacity - description.recrypted_noise;
    let modulus =
        header.parameter("modulus_bits").map_or("unknown".to_owned(), |bits| format!("{bits} bits"));
    let mut facts = vec![
        ("file", format!("{}, {}", header.kind, size(length))),
        ("scheme", format!("{}; for study and measurement, not for protection", header.scheme)),
        ("setting", setting_text(&description.setting)),
        ("numbers", modulus),
        ("key", format_octets(&header.fingerprint)),
        ("capacity", format!("{capacity:.1} bits of noise; {after_recryption:.1} are left after recryption")),
    ];
    if let Some(budget) = least_budget(description) {
        let (count, meter) = (description.bounds.len(), meter(budget, capacity));
        facts.push(("encrypted bits", count.to_string()));
        facts.push(("least budget", format!("{budget:.1} bits of noise may be added  {meter}")));
    }
    facts.iter().map(|(name, value)| beside(name, NAMES, value)).collect()
}
