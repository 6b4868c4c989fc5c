//! Options that name a key.

use crate::failure::Failure;
use crate::io::{Input, STANDARD};
use crate::records;
use modmill_rsa::{AnyKey, KeyError, PrivateKey, PublicKey, Sizes};
use zeroize::Zeroizing;

/// Reads a whole file with a key, a password, a token or certificates, or standard input for `-`.
pub(crate) fn read_small(path: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let input = Input::open(path)?;
    let (name, size) = (input.name.clone(), input.size);
    records::read_small(input, size).map_err(|error| Failure::file("read", &name, &error))
}

/// A key and how it is read.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyOptions {
    /// Key: PEM or DER (PKCS #8, PKCS #1, public keys), or a JSON Web Key
    #[arg(long, value_name = "FILE", value_parser = crate::io::input_name)]
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
    #[arg(long, value_name = "FILE", value_parser = crate::io::input_name)]
    password_file: Option<String>,
}

impl PasswordOption {
    pub(crate) fn read(&self) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
        let Some(file) = &self.password_file else { return Ok(None) };
        let text = read_small(file)?;
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        Ok(Some(Zeroizing::new(line.strip_suffix(b"\r").unwrap_or(line).to_vec())))
    }

    /// The option and the file that it names.
    pub(crate) fn file(&self) -> Option<(&str, &str)> {
        self.password_file.as_deref().map(|file| ("--password-file", file))
    }
}

/// The lengths of keys that are allowed.
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
        check_standard_input(self.files())?;
        let password = self.password.read()?;
        let password = password.as_ref().map(|password| password.as_slice());
        AnyKey::read(&read_small(&self.key)?, password, self.sizes.sizes())
            .map_err(|error| self.failure(&error))
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

    /// The value of `--key`, for keys that are not in a file.
    #[cfg(feature = "serve")]
    pub(crate) fn name(&self) -> &str {
        &self.key
    }

    /// The options and the files that they name.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::once(("--key", self.key.as_str())).chain(self.password.file())
    }

    fn failure(&self, error: &KeyError) -> Failure {
        let hint = match error {
            KeyError::PasswordNeeded => " (--password-file names a file with it)",
            KeyError::TooShort { bits: 512.., .. } => " (--allow-small takes it all the same)",
            _ => "",
        };
        Failure::Usage(format!("{}: {error}{hint}", self.key))
    }
}

/// Refuses to read two things from standard input. `files` are options and the files that they name.
pub(crate) fn check_standard_input<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), Failure> {
    let readers: Vec<&str> =
        files.into_iter().filter(|(_, path)| *path == STANDARD).map(|(option, _)| option).collect();
    match readers[..] {
        [] | [_] => Ok(()),
        [first, second, ..] => Err(Failure::Usage(format!(
            "{first} and {second} cannot both read standard input; name a file for one of them"
        ))),
    }
}
