//! `modmill rsa keygen`.

use super::key_options::{PasswordOption, SizesOption};
use crate::failure::Failure;
use crate::io::{Output, STANDARD, print, writes_terminal};
use crate::options::EngineOptions;
use crate::records::check_terminal;
use modmill_rsa::{KeyError, PrivateKey, PublicKey};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use zeroize::Zeroizing;

const LONG_ABOUT: &str = "\
Generates a key by the rules of FIPS 186-5: two random probable primes of half the length,
and the public exponent 65537. Many candidates are tested at a time.

With --count the primes of several keys are searched for together. --out and --public-out
then name folders, in which each key is a file: 1.pem, 2.pem and so on, or .der or .json.

A file that exists is not overwritten, because it may hold a key: --force overwrites it.";

const EXAMPLES: &str = "\
Examples:
  modmill rsa keygen --out key.pem --public-out public.pem
  modmill rsa keygen --bits 4096 --password-file secret.txt --out key.pem
  modmill rsa keygen --bits 3072 --format jwk --out key.json
  modmill rsa keygen --bits 2048 --count 100 --out keys --public-out public";

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
    /// Keys to generate
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    count: u32,
    /// Format of the keys
    #[arg(long, value_enum, default_value = "pkcs8", ignore_case = true)]
    format: Format,
    /// Write DER instead of PEM
    #[arg(long)]
    der: bool,
    /// File for the private key, readable only by its owner; - is standard output. Folder for several
    #[arg(long = "out", value_name = "FILE", default_value = "-", value_parser = crate::io::output_name)]
    output: String,
    /// File for the public key; folder for several
    #[arg(long, value_name = "FILE", value_parser = crate::io::output_name)]
    public_out: Option<String>,
    /// Overwrite files that exist
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    password: PasswordOption,
    #[command(flatten)]
    sizes: SizesOption,
    #[command(flatten)]
    engine: EngineOptions,
    /// Print the length of the key and the time taken to standard output, in JSON
    #[arg(long)]
    json: bool,
}

impl Keygen {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let password = self.password.read()?;
        self.check(password.as_ref().map(|bytes| bytes.as_slice()))
            .map_err(|reason| Failure::Usage(reason.to_owned()))?;
        self.check_files()?;
        let engine = self.engine.engine()?;
        let start = Instant::now();
        let keys = PrivateKey::generate_many(&engine, self.bits, self.count as usize, self.sizes.sizes())?;
        let seconds = start.elapsed().as_secs_f64();
        let failed = |error: KeyError| Failure::Usage(error.to_string());
        if self.count > 1 {
            let make = |folder: &str| {
                fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))
            };
            self.outputs().try_for_each(make)?;
        }
        for (index, key) in keys.iter().enumerate() {
            let private =
                self.private(key, password.as_ref().map(|bytes| bytes.as_slice())).map_err(failed)?;
            write(&self.file(&self.output, index), &private, Some(0o600))?;
            if let Some(path) = &self.public_out {
                write(&self.file(path, index), &self.public(key.public_key()).map_err(failed)?, None)?;
            }
        }
        if self.json {
            let found = json!({
                "bits": self.bits, "count": self.count, "seconds": seconds, "key": self.output
            });
            print(&format!("{found}\n"))?;
        }
        Ok(())
    }

    fn outputs(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.output.as_str()).chain(self.public_out.as_deref())
    }

    /// The file of a key: the output itself if there is one key, and a numbered file in it if there are more.
    fn file(&self, output: &str, index: usize) -> String {
        let extension = match (self.format, self.der) {
            (Format::Jwk, _) => "json",
            (_, true) => "der",
            (_, false) => "pem",
        };
        match self.count {
            1 => output.to_owned(),
            _ => format!("{output}/{}.{extension}", index + 1),
        }
    }

    /// Refuses files that exist, unless they may be overwritten.
    fn check_files(&self) -> Result<(), Failure> {
        let files = |output| (0..self.count as usize).map(move |index| self.file(output, index));
        check_new(self.outputs().flat_map(files), self.force)
    }

    /// Refuses options that do not go together.
    fn check(&self, password: Option<&[u8]>) -> Result<(), &'static str> {
        let to_standard_output = self.outputs().any(|path| path == STANDARD);
        let is_same = |public: &String| absolute(public) == absolute(&self.output);
        match password {
            Some(_) if self.format != Format::Pkcs8 => Err("only PKCS #8 is written under a password"),
            Some(b"") => Err("the password is empty"),
            _ if self.count > 1 && to_standard_output => {
                Err("several keys need a folder; name it with --out")
            }
            _ if self.der && self.format == Format::Jwk => Err("a JSON Web Key has no DER"),
            _ if self.json && to_standard_output => {
                Err("--json and a key cannot both go to standard output; name a file with --out")
            }
            _ if !to_standard_output && self.public_out.as_ref().is_some_and(is_same) => {
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

/// Refuses files that exist, unless they may be overwritten by `force`.
pub(crate) fn check_new(mut files: impl Iterator<Item = String>, force: bool) -> Result<(), Failure> {
    // A device or a named pipe loses nothing.
    match files.find(|path| path != STANDARD && Path::new(path).is_file()) {
        Some(path) if !force => {
            Err(Failure::Usage(format!("{path} exists and may hold a key; --force overwrites it")))
        }
        _ => Ok(()),
    }
}

/// A path whose folder has one name only, so that two paths of a file that may not exist yet are equal.
pub(crate) fn absolute(path: &str) -> PathBuf {
    let path = Path::new(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Writes a file, on Unix with the given mode, or standard output for `-`.
pub(crate) fn write(path: &str, bytes: &[u8], mode: Option<u32>) -> Result<(), Failure> {
    if writes_terminal(path) {
        check_terminal(bytes)?;
    }
    let mut output = match path {
        STANDARD => Output::stdout(),
        _ => Output::create_file(Path::new(path), mode)?,
    };
    output.write_bytes(bytes)?;
    output.finish()
}
