//! Lines of OpenSSH (RFC 4253, section 6.6): public keys, `authorized_keys` and `known_hosts`.

use super::Entry;
use crate::{EntryError, Key};
use base64ct::{Base64, Encoding};

/// Names of RSA keys, and of certificates with an RSA key, in which a nonce comes before the key.
const RSA: &str = "ssh-rsa";
const CERTIFICATE: &str = "ssh-rsa-cert-v01@openssh.com";

/// The first bytes of the names of algorithms.
const ALGORITHMS: [&str; 6] = ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-", "rsa-sha2-", "webauthn-sk-"];

/// The words of a line around a key.
struct Line<'a> {
    /// Words before the algorithm: the names of hosts, or options.
    before: Vec<&'a str>,
    algorithm: &'a str,
    encoded: &'a str,
    comment: String,
}

impl<'a> Line<'a> {
    /// Finds an algorithm that is followed by base64.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let words: Vec<&str> = std::str::from_utf8(line).ok()?.split_whitespace().collect();
        // Every encoded key begins with the length of a short name: three zero bytes.
        let is_key = |pair: &[&str]| {
            ALGORITHMS.iter().any(|start| pair[0].starts_with(start)) && pair[1].starts_with("AAAA")
        };
        let at = words.windows(2).position(is_key)?;
        let comment = words[at + 2..].join(" ");
        Some(Self { before: words[..at].to_vec(), algorithm: words[at], encoded: words[at + 1], comment })
    }

    /// The names of hosts, or the comment.
    fn label(&self) -> &str {
        // Options have an equals sign, or are single words that only OpenSSH knows; hosts come last.
        let hosts = self.before.last().filter(|word| !word.contains(['=', '"']));
        if self.comment.is_empty() { hosts.copied().unwrap_or("") } else { &self.comment }
    }

    fn key(&self) -> Result<Key, EntryError> {
        if ![RSA, CERTIFICATE].contains(&self.algorithm) {
            return Err(EntryError::Algorithm(self.algorithm.to_owned()));
        }
        let bytes = Base64::decode_vec(self.encoded);
        let bytes = bytes.map_err(|_| EntryError::Format("the key is not base64".to_owned()))?;
        let mut strings = Strings(&bytes);
        let cut = || EntryError::Format("the key is cut short".to_owned());
        if strings.next().ok_or_else(cut)? != self.algorithm.as_bytes() {
            return Err(EntryError::Format(format!("the key is not of the algorithm {:?}", self.algorithm)));
        }
        if self.algorithm == CERTIFICATE {
            strings.next().ok_or_else(cut)?;
        }
        let (exponent, modulus) = (strings.next().ok_or_else(cut)?, strings.next().ok_or_else(cut)?);
        if modulus.first().is_some_and(|&byte| byte >= 0x80) {
            return Err(EntryError::Format("the modulus is negative".to_owned()));
        }
        Key::new(modulus, exponent)
    }
}

/// Strings that follow each other, each after its length.
struct Strings<'a>(&'a [u8]);

impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (string, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        self.0 = rest;
        Some(string)
    }
}

/// Whether a line has a key.
pub(super) fn is_key(line: &[u8]) -> bool {
    Line::parse(line).is_some()
}

/// The keys of a file. Empty lines and comments are passed over.
pub(super) fn keys(name: &str, text: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (index, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let place = format!("{name}:{}", index + 1);
        entries.push(match Line::parse(line) {
            None => (place, Err(EntryError::Format("there is no key of OpenSSH in this line".to_owned()))),
            Some(line) if line.label().is_empty() => (place, line.key()),
            Some(line) => (format!("{place} {}", line.label()), line.key()),
        });
    }
    entries
}
