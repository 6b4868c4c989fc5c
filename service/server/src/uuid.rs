//! Random identifiers: UUIDs of version 4.

use crate::hex;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The number of UUIDs whose random bits a thread fetches from the system at a time.
const FETCHED: usize = 256;

thread_local! {
    /// Random bits that were not used yet.
    static FRESH: RefCell<Vec<[u8; 16]>> = const { RefCell::new(Vec::new()) };
}

/// A random UUID.
pub(crate) fn random() -> Result<String, getrandom::Error> {
    FRESH.with_borrow_mut(|fresh| {
        if fresh.is_empty() {
            let mut octets = vec![[0; 16]; FETCHED];
            getrandom::fill(octets.as_flattened_mut())?;
            *fresh = octets;
        }
        Ok(marked(fresh.pop().unwrap_or_default()))
    })
}

/// An identifier of a request. It names the request in logs, so that a request is served even if there are no
/// random bits: it is then named by the time and a number.
pub(crate) fn of_request() -> Arc<str> {
    random()
        .unwrap_or_else(|error| {
            tracing::error!(%error, "a request has an identifier that is not random");
            numbered()
        })
        .into()
}

/// An identifier that this process gives once, in the form of a UUID.
fn numbered() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_micros()).unwrap_or_default() & (u64::MAX >> 16);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) & (u64::MAX >> 2);
    // The time is above the four bits that `marked` sets, the number below the two.
    marked((u128::from(now) << 80 | u128::from(number)).to_be_bytes())
}

/// The text of 16 bytes with the marks of version 4.
fn marked(mut octets: [u8; 16]) -> String {
    octets[6] = octets[6] & 0x0f | 0x40;
    octets[8] = octets[8] & 0x3f | 0x80;
    text(&octets)
}

/// A UUID as text.
pub(crate) fn text(octets: &[u8; 16]) -> String {
    let mut text = Vec::with_capacity(36);
    for (place, octet) in octets.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push(b'-');
        }
        text.extend_from_slice(&hex::digits(*octet));
    }
    // Digits are ASCII: this does not fail.
    String::from_utf8(text).unwrap_or_default()
}

/// The bytes of a UUID.
pub(crate) fn octets(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.bytes().filter(|octet| *octet != b'-').collect();
    let mut octets = [0; 16];
    hex::decode(&digits, &mut octets)?;
    Some(octets)
}

/// Whether `name` has the form of a UUID.
pub(crate) fn is_one(name: &str) -> bool {
    octets(name).is_some_and(|octets| text(&octets).eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_different_and_of_version_4() {
        let all = [random().unwrap(), random().unwrap(), of_request().to_string(), numbered(), numbered()];
        for (place, one) in all.iter().enumerate() {
            assert!(is_one(one), "{one}");
            assert_eq!(one.as_bytes()[14], b'4');
            assert!(b"89ab".contains(&one.as_bytes()[19]));
            assert!(!all[..place].contains(one));
        }
    }

    #[test]
    fn identifiers_are_read_as_written() {
        let one = random().unwrap();
        assert_eq!(text(&octets(&one).unwrap()), one);
        assert!(is_one(&one.to_uppercase()));
        for wrong in ["", "1", "zzzzzzzz-0000-0000-0000-000000000000", "00000000_0000-0000-0000-000000000000"]
        {
            assert!(!is_one(wrong), "{wrong}");
        }
        assert!(!is_one("00000000000000000000000000000000"), "it has dashes");
        assert_eq!(octets("\u{e9}0000000-0000-0000-0000-000000000000"), None);
    }
}
