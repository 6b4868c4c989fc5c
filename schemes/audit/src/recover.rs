//! Private keys of moduli that were factored.

use crate::collection::Collection;
use crate::error::{Error, at};
use crate::files;
use crate::finding::Finding;
use modmill::{Engine, hex, number};
use modmill_rsa::{PrivateKey, PrivateParts, Sizes};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The public exponent of keys that came without one.
const USUAL: [u64; 1] = [65_537];

/// The outcome for a modulus that was factored.
#[derive(Debug, PartialEq, Eq)]
pub enum Recovered {
    /// It was written to this file.
    Written(PathBuf),
    /// The file was there before and stays as it was.
    Present(PathBuf),
    /// The key cannot be made, for this reason. The first name of the key stands before it.
    Refused(String),
}

/// Writes the private keys of moduli that have two known factors, as PEM of PKCS #8, to a folder:
/// `DIGEST.pem` with the first 32 digits of the SHA-256 of the modulus. Only the owner can read a file, and
/// no file is written over. A key without a public exponent gets 65537.
pub fn recover(
    engine: &Engine,
    collection: &Collection,
    findings: &[Finding],
    folder: &Path,
) -> Result<Vec<Recovered>, Error> {
    at(folder, std::fs::create_dir_all(folder))?;
    let mut seen = BTreeSet::new();
    let mut recovered = Vec::new();
    for finding in findings.iter().filter(|finding| !finding.factors.is_empty()) {
        if !seen.insert(finding.key) {
            continue;
        }
        let refused = |reason: String| {
            let name = finding.ids.first().map_or("", String::as_str);
            Recovered::Refused(format!("{name}: no private key: {reason}"))
        };
        let key = &collection.keys()[finding.key];
        let exponent = if key.exponent().is_empty() { &USUAL } else { key.exponent() };
        let [p, q] = &finding.factors[..] else {
            recovered.push(refused("the modulus has not two known factors".to_owned()));
            continue;
        };
        recovered.push(match private_key(engine, key.modulus(), exponent, [p, q]) {
            Err(reason) => refused(reason),
            Ok(private) => write(&private, key.modulus(), folder)?.unwrap_or_else(refused),
        });
    }
    Ok(recovered)
}

fn private_key(
    engine: &Engine,
    modulus: &[u64],
    exponent: &[u64],
    factors: [&str; 2],
) -> Result<PrivateKey, String> {
    // The report wrote them.
    let [p, q] = factors.map(|factor| hex::parse(factor).unwrap_or_default());
    if [&p, &q].iter().any(|prime| prime.first().is_none_or(|low| low & 1 == 0)) {
        return Err("a factor is even".to_owned());
    }
    let order = number::mul(&number::minus_one(&p), &number::minus_one(&q));
    let order = &order[..number::bit_length(&order).div_ceil(64)];
    let private = number::inv(exponent, order);
    let private = private.ok_or_else(|| "the public exponent has no inverse".to_owned())?;
    let bytes = |limbs: &[u64]| number::to_short_be_bytes(limbs);
    let parts = PrivateParts {
        modulus: &bytes(modulus),
        public_exponent: &bytes(exponent),
        private_exponent: &bytes(&private),
        prime1: &bytes(&p),
        prime2: &bytes(&q),
        ..PrivateParts::default()
    };
    let key = PrivateKey::new(&parts, Sizes::AllowSmall).map_err(|error| error.to_string())?;
    key.check_primes(engine).map_err(|error| error.to_string())?;
    Ok(key)
}

/// Writes a key to its file, or says why the key has no form in PEM.
fn write(key: &PrivateKey, modulus: &[u64], folder: &Path) -> Result<Result<Recovered, String>, Error> {
    let pem = match key.to_pem() {
        Ok(pem) => pem,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let digest = Sha256::digest(number::to_short_be_bytes(modulus));
    let path = folder.join(format!("{}.pem", files::name(&digest.into())));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Ok(Recovered::Present(path))),
        file => {
            let mut file = at(&path, file)?;
            at(&path, file.write_all(pem.as_bytes()).and_then(|()| file.sync_all()))?;
            Ok(Ok(Recovered::Written(path)))
        }
    }
}
