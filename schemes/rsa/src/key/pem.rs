//! PEM (RFC 7468), read as tolerantly as OpenSSL does: lines of any length and with any ending, white space,
//! other text and other blocks around the key.

use crate::KeyError;
use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

/// A block that starts with `-----BEGIN label-----`.
pub struct Block<'a> {
    pub(super) label: &'a str,
    lines: Vec<&'a [u8]>,
    /// Whether `-----END label-----` follows.
    is_complete: bool,
}

/// Finds the blocks of a text.
///
/// ```
/// use modmill_rsa::pem;
///
/// let text = b"some text\n-----BEGIN THING-----\nAAEC\n-----END THING-----";
/// let blocks = pem::blocks(text);
/// assert_eq!((blocks[0].label(), &blocks[0].decode()?[..]), ("THING", &[0, 1, 2][..]));
/// # Ok::<(), modmill_rsa::KeyError>(())
/// ```
#[must_use]
pub fn blocks(text: &[u8]) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_inside = false;
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii) {
        if let Some(label) = marker(line, b"-----BEGIN ") {
            blocks.push(Block { label, lines: Vec::new(), is_complete: false });
            is_inside = true;
        } else if let Some(block) = blocks.last_mut().filter(|_| is_inside) {
            match marker(line, b"-----END ") {
                Some(label) => (block.is_complete, is_inside) = (label == block.label, false),
                None => block.lines.push(line),
            }
        }
    }
    blocks
}

/// The label of a line that begins or ends a block.
fn marker<'a>(line: &'a [u8], start: &[u8]) -> Option<&'a str> {
    std::str::from_utf8(line.strip_prefix(start)?.strip_suffix(b"-----")?).ok()
}

impl Block<'_> {
    /// The word after BEGIN.
    #[must_use]
    pub fn label(&self) -> &str {
        self.label
    }

    /// Whether the block has a header `Proc-Type: 4,ENCRYPTED`: its bytes are encrypted (RFC 1421).
    pub(super) fn is_encrypted(&self) -> bool {
        self.lines.iter().any(|line| line.starts_with(b"Proc-Type:") && line.ends_with(b"ENCRYPTED"))
    }

    /// The decoded bytes of the block.
    pub fn decode(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let wrong = |reason: &str| KeyError::Format(format!("the PEM of the {} {reason}", self.label));
        if !self.is_complete {
            return Err(wrong("has no END line"));
        }
        // A header has a colon, which is no character of base64.
        let body = self.lines.iter().filter(|line| !line.contains(&b':'));
        // Allocated at once: a buffer that grew would leave parts of the key behind.
        let mut buffer = Zeroizing::new(Vec::with_capacity(body.clone().map(|line| line.len()).sum()));
        buffer.extend(body.flat_map(|line| line.iter()).filter(|byte| !byte.is_ascii_whitespace()));
        let decoded = Base64::decode_in_place(&mut buffer).map(<[u8]>::len);
        let len = decoded.map_err(|_| wrong("is not base64"))?;
        buffer.truncate(len);
        Ok(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_any_text() {
        let text = b"\xff some bytes\n-----BEGIN A-----\r\nComment: none\r\n\r\nAAEC\r\n  AwQ=  \r\n-----END A-----\r\n\
                     -----BEGIN B-----\n-----END C-----\nBwg=\n\t-----BEGIN D-----\nB w\tg=\n-----END D-----  \nend";
        let blocks = blocks(text);
        let found: Vec<_> = blocks
            .iter()
            .map(|block| (block.label, block.decode().ok().map(|bytes| bytes.to_vec())))
            .collect();
        assert_eq!(found, [("A", Some(vec![0, 1, 2, 3, 4])), ("B", None), ("D", Some(vec![7, 8]))]);
        assert!(!blocks[0].is_encrypted());
    }

    #[test]
    fn bodies_that_are_not_base64_are_named() {
        for body in ["*", "AAE", "AAEC=", "A", "AAECA===", "=", "AA-_"] {
            let text = format!("-----BEGIN THING-----\n{body}\n-----END THING-----");
            let error = blocks(text.as_bytes())[0].decode().unwrap_err().to_string();
            assert!(error.contains("the PEM of the THING is not base64"), "{body}: {error}");
        }
    }
}
