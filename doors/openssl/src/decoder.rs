//! Files that stand for keys of the signing service, for programs that read keys from files only, as HAProxy
//! and nginx do.
//!
//! Such a file is PEM with the label `MODMILL KEY`. Its contents are a URI as the store takes it, in Base64.
//! The file holds no secret.

use crate::context::free;
use crate::core_handle::Core;
use crate::failure::Failure;
use crate::ffi::{Callback, Dispatch, dispatch, guard};
use crate::key::{ProviderKey, hand_over};
use crate::names::decoder::*;
use crate::provider_context::Provider;
use crate::store::Store;
use base64ct::{Base64, Encoding};
use std::ffi::{c_int, c_void};

pub(crate) static FUNCTIONS: &[Dispatch] = dispatch![
    NEWCTX => new,
    FREECTX => free::<Core>,
    DOES_SELECTION => does_selection,
    DECODE => decode,
];

const BEGIN: &str = "-----BEGIN MODMILL KEY-----";
const END: &str = "-----END MODMILL KEY-----";

/// The longest file that is looked at. A chain of certificates before the key is shorter.
const LONGEST: usize = 1 << 20;

/// The text before and after the first place where `mark` stands.
fn split<'a>(text: &'a [u8], mark: &str) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(mark.len()).position(|window| window == mark.as_bytes())?;
    Some((&text[..at], &text[at + mark.len()..]))
}

/// The URI in the first block with our label, if there is one.
fn uri(text: &[u8]) -> Option<Result<String, Failure>> {
    let (_, block) = split(text, BEGIN)?;
    let wrong = || Failure::Key(format!("what follows {BEGIN} is no URI of a key in Base64"));
    let read = || {
        let (contents, _) = split(block, END)?;
        let contents: String = std::str::from_utf8(contents).ok()?.split_whitespace().collect();
        String::from_utf8(Base64::decode_vec(&contents).ok()?).ok()
    };
    Some(read().ok_or_else(wrong))
}

unsafe extern "C" fn new(provider: *const Provider) -> *mut Core {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes the context that OSSL_provider_init returned.
        unsafe { provider.as_ref() }
            .map_or(std::ptr::null_mut(), |provider| Box::into_raw(Box::new(provider.core)))
    })
}

/// A key has a public and a private half, so that it serves whatever is asked for.
unsafe extern "C" fn does_selection(_: *const c_void, _selection: c_int) -> c_int {
    1
}

/// Reads a file. One without our label is left to other decoders, which 1 says.
unsafe extern "C" fn decode(
    context: *const Core,
    input: *mut c_void,
    _selection: c_int,
    callback: Option<Callback>,
    argument: *mut c_void,
    _passphrase: *const c_void,
    _passphrase_argument: *mut c_void,
) -> c_int {
    guard(0, || {
        // SAFETY: OpenSSL passes what `new` returned.
        let (Some(core), Some(callback)) = (unsafe { context.as_ref() }, callback) else { return 0 };
        // SAFETY: OpenSSL passes one of its BIOs.
        let text = unsafe { core.read(input, LONGEST) };
        let Some(uri) = uri(&text) else { return 1 };
        let key: Result<ProviderKey, Failure> = uri.and_then(|uri| Store::open(*core, &uri)?.key());
        match key {
            // SAFETY: the callback and its argument are OpenSSL's.
            Ok(key) => unsafe { hand_over(key, callback, argument) },
            Err(failure) => core.status(Err(failure)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_are_found_behind_other_blocks() {
        let encoded = Base64::encode_string(b"modmill:transit/web?socket=/run/s");
        let (front, back) = encoded.split_at(20);
        let block = format!("{BEGIN}\n{front}\n{back}\n{END}\n");
        let other = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        for text in [block.clone(), format!("{other}{block}{other}")] {
            assert_eq!(uri(text.as_bytes()).unwrap().unwrap(), "modmill:transit/web?socket=/run/s");
        }
        assert!(uri(other.as_bytes()).is_none());
        assert!(uri(&[&[0xff], block.as_bytes()].concat()).unwrap().is_ok(), "other blocks may be anything");
        for wrong in [BEGIN.to_owned(), format!("{BEGIN}\n*\n{END}"), format!("{BEGIN}\n/w==\n{END}")] {
            assert!(uri(wrong.as_bytes()).unwrap().is_err(), "{wrong}");
        }
    }
}
