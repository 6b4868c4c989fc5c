//! Reading public keys from text and bytes of every form in which they are passed on.

mod der;
mod jwk;
mod ssh;

use crate::{EntryError, Key};
use modmill_rsa::pem;

/// A form in which keys are passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PEM: certificates, requests and public keys, with any text around them.
    Pem,
    /// DER: one certificate, request or public key.
    Der,
    /// Lines of OpenSSH: public keys, `authorized_keys`, `known_hosts`.
    Ssh,
    /// A JSON Web Key or a set of them.
    Jwk,
}

/// The name of an entry, and its key or the reason why there is none.
pub type Entry = (String, Result<Key, EntryError>);

impl Format {
    /// The format of a file by its first bytes, if they are those of a key.
    ///
    /// ```
    /// use modmill_audit::Format;
    ///
    /// assert_eq!(Format::detect(b"host ssh-rsa AAAAB3NzaC1yc2E="), Some(Format::Ssh));
    /// assert_eq!(Format::detect(br#"{"keys":[]}"#), Some(Format::Jwk));
    /// assert_eq!(Format::detect(br#"{"n":"f"}"#), None);
    /// ```
    #[must_use]
    pub fn detect(start: &[u8]) -> Option<Self> {
        let contains = |text: &[u8]| start.windows(text.len()).any(|window| window == text);
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        if start.first() == Some(&0x30) && start.iter().any(|byte| !byte.is_ascii()) {
            Some(Self::Der)
        } else if contains(b"-----BEGIN ") {
            Some(Self::Pem)
        } else if text.starts_with(b"{") {
            (contains(b"\"kty\"") || contains(b"\"keys\"")).then_some(Self::Jwk)
        } else {
            start.split(|&byte| byte == b'\n').any(ssh::is_key).then_some(Self::Ssh)
        }
    }

    /// The keys of a file. `name` is the name of the file, with which the names of its entries begin.
    ///
    /// An entry that is no public RSA key is an error at its place. Nothing of a private key is kept.
    #[must_use]
    pub fn read(self, name: &str, bytes: &[u8]) -> Vec<Entry> {
        match self {
            Self::Pem => read_pem(name, bytes),
            Self::Der => vec![(name.to_owned(), der::key(bytes))],
            Self::Ssh => ssh::keys(name, bytes),
            Self::Jwk => jwk::keys(name, bytes),
        }
    }
}

/// The keys of the blocks of a text.
fn read_pem(name: &str, text: &[u8]) -> Vec<Entry> {
    let blocks = pem::blocks(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    let many = blocks.len() > 1;
    let read = |(index, block): (usize, pem::Block<'_>)| {
        let id = if many { format!("{name}#{}", index + 1) } else { name.to_owned() };
        (id, read_block(&block))
    };
    if blocks.is_empty() {
        return vec![(name.to_owned(), Err(EntryError::Format("there is no block of PEM".to_owned())))];
    }
    blocks.into_iter().enumerate().map(read).collect()
}

fn read_block(block: &pem::Block<'_>) -> Result<Key, EntryError> {
    match block.label() {
        label if label.ends_with("PRIVATE KEY") => Err(EntryError::Private),
        "CERTIFICATE"
        | "X509 CERTIFICATE"
        | "TRUSTED CERTIFICATE"
        | "CERTIFICATE REQUEST"
        | "NEW CERTIFICATE REQUEST"
        | "PUBLIC KEY"
        | "RSA PUBLIC KEY" => der::key(&block.decode()?),
        label => Err(EntryError::Format(format!("it is the PEM of a {label:?}"))),
    }
}
