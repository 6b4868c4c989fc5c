//! `modmill rsa keygen`.

use super::options::{PasswordOption, SizesOption};
use crate::failure::Failure;
use crate::io::print;
use crate::items::write;
use crate::options::EngineOptions;
use modmill_rsa::{KeyError, PrivateKey, PublicKey};
use serde_json::json;
use std::time::Instant;
use zeroize::Zeroizing;

const LONG_ABOUT: &str = "\
Generates a key by the rules of FIPS 186-5: two random probable primes of half the length, the public
exponent 65537. Candidates are tested many at a time on the engine.";

const EXAMPLES: &str = "\
Examples:
  modmill rsa keygen --out key.pem --public-out public.pem
  modmill rsa keygen --bits 4096 --password-file secret.txt --out key.pem
  modmill rsa keygen --bits 3072 --format jwk --out key.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Pkcs8,
    Pkcs1,
    Jwk,
}

/// Generates a key
#[derive(Debug, clap::Args)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct Keygen {
    /// Length of the modulus: even, 2048 to 16384
    #[arg(long, value_name = "N", default_value_t = 3072)]
    bits: usize,
    /// How the key is written
    #[arg(long, value_enum, default_value = "pkcs8")]
    format: Format,
    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,
    /// File for the private key, readable by its owner alone; - is standard output
    #[arg(long = "out", value_name = "FILE", default_value = "-")]
    output: String,
    /// File for the public key
    #[arg(long, value_name = "FILE")]
    public_out: Option<String>,
    #[command(flatten)]
    password: PasswordOption,
    #[command(flatten)]
    sizes: SizesOption,
    #[command(flatten)]
    engine: EngineOptions,
    /// Say in JSON, on standard output, what was generated
    #[arg(long)]
    json: bool,
}

impl Keygen {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let password = self.password.read()?;
        self.check(password.as_ref().map(|bytes| bytes.as_slice()))
            .map_err(|reason| Failure::Usage(reason.to_owned()))?;
        let engine = self.engine.engine()?;
        let start = Instant::now();
        let key = PrivateKey::generate(&engine, self.bits, self.sizes.sizes())?;
        let seconds = start.elapsed().as_secs_f64();
        let failed = |error: KeyError| Failure::Usage(error.to_string());
        let private = self.private(&key, password.as_ref().map(|bytes| bytes.as_slice())).map_err(failed)?;
        write_private(&self.output, &private)?;
        if let Some(path) = &self.public_out {
            write(path, &self.public(key.public_key()).map_err(failed)?)?;
        }
        if self.json {
            print(&format!("{}\n", json!({ "bits": key.bits(), "seconds": seconds, "key": self.output })))?;
        }
        Ok(())
    }

    /// Whether the options go together.
    fn check(&self, password: Option<&[u8]>) -> Result<(), &'static str> {
        let outputs = [Some(&self.output), self.public_out.as_ref()];
        let to_standard_output = outputs.into_iter().flatten().any(|path| path == "-");
        match password {
            Some(_) if self.format != Format::Pkcs8 => Err("only PKCS #8 is written under a password"),
            Some(b"") => Err("the password is empty"),
            _ if self.der && self.format == Format::Jwk => Err("a JSON Web Key has no DER"),
            _ if self.json && to_standard_output => Err("--json and a key cannot both go to standard output"),
            _ if self.public_out.as_ref() == Some(&self.output) && !to_standard_output => {
                Err("--out and --public-out name the same file")
            }
            _ => Ok(()),
        }
    }

    fn private(&self, key: &PrivateKey, password: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let text = |text: Zeroizing<String>| Zeroizing::new(text.as_bytes().to_vec());
        Ok(match (self.format, self.der, password) {
            (Format::Pkcs8, true, None) => key.to_der()?,
            (Format::Pkcs8, false, None) => text(key.to_pem()?),
            (Format::Pkcs8, true, Some(password)) => Zeroizing::new(key.to_encrypted_der(password)?),
            (Format::Pkcs8, false, Some(password)) => text(Zeroizing::new(key.to_encrypted_pem(password)?)),
            (Format::Pkcs1, true, _) => key.to_pkcs1_der()?,
            (Format::Pkcs1, false, _) => text(key.to_pkcs1_pem()?),
            (Format::Jwk, ..) => text(key.to_jwk()?),
        })
    }

    fn public(&self, key: &PublicKey) -> Result<Vec<u8>, KeyError> {
        match (self.format, self.der) {
            (Format::Pkcs8, true) => key.to_der(),
            (Format::Pkcs8, false) => key.to_pem().map(String::into_bytes),
            (Format::Pkcs1, true) => key.to_pkcs1_der(),
            (Format::Pkcs1, false) => key.to_pkcs1_pem().map(String::into_bytes),
            (Format::Jwk, _) => key.to_jwk().map(String::into_bytes),
        }
    }
}

/// Writes a file that nobody else may read.
fn write_private(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    #[cfg(unix)]
    if path != "-" {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
        // A file that was there before keeps its mode unless told otherwise.
        let result = file.and_then(|mut file| {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
            std::io::Write::write_all(&mut file, bytes)
        });
        return result.map_err(|error| Failure::write(path, &error));
    }
    write(path, bytes)
}
