//! The tables of functions: the algorithm `RSA`, and those with a hash in their names.

use super::*;
use crate::context::{dup, free};
use crate::ffi::{Dispatch, dispatch};
use crate::names::signature::*;

/// The algorithm `RSA`: all paddings and digests.
pub(crate) static FUNCTIONS: &[Dispatch] = dispatch![
    NEWCTX => new,
    FREECTX => free::<Signature>,
    DUPCTX => dup::<Signature>,
    SIGN_INIT => init,
    SIGN => sign,
    VERIFY_INIT => init,
    VERIFY => verify,
    VERIFY_RECOVER_INIT => init,
    VERIFY_RECOVER => recover,
    DIGEST_SIGN_INIT => digest_init,
    DIGEST_SIGN_UPDATE => update,
    DIGEST_SIGN_FINAL => sign_final,
    DIGEST_VERIFY_INIT => digest_init,
    DIGEST_VERIFY_UPDATE => update,
    DIGEST_VERIFY_FINAL => verify_final,
    GET_CTX_PARAMS => get_params,
    GETTABLE_CTX_PARAMS => gettable_params,
    SET_CTX_PARAMS => set_params,
    SETTABLE_CTX_PARAMS => settable_params,
    SET_CTX_MD_PARAMS => set_digest_params,
    SETTABLE_CTX_MD_PARAMS => settable_digest_params,
];

/// The functions of an algorithm whose name includes the hash, as OpenSSL has them from 3.4 on: `RSA-SHA256`.
macro_rules! with_hash {
    ($($functions:ident = $new:ident($hash:expr);)*) => {$(
        unsafe extern "C" fn $new(provider: *const Provider, _: *const c_char) -> *mut Signature {
            make(provider, Some($hash))
        }

        pub(crate) static $functions: &[Dispatch] = dispatch![
            NEWCTX => $new,
            FREECTX => free::<Signature>,
            DUPCTX => dup::<Signature>,
            SIGN_INIT => init,
            SIGN => sign,
            SIGN_MESSAGE_INIT => message_init,
            SIGN_MESSAGE_UPDATE => update,
            SIGN_MESSAGE_FINAL => sign_final,
            VERIFY_INIT => init,
            VERIFY => verify,
            VERIFY_MESSAGE_INIT => message_init,
            VERIFY_MESSAGE_UPDATE => update,
            VERIFY_MESSAGE_FINAL => verify_message_final,
            VERIFY_RECOVER_INIT => init,
            VERIFY_RECOVER => recover,
            GET_CTX_PARAMS => get_params,
            GETTABLE_CTX_PARAMS => gettable_params,
            SET_CTX_PARAMS => set_params,
            SETTABLE_CTX_PARAMS => settable_params,
            QUERY_KEY_TYPES => key_types,
        ];
    )*};
}

with_hash! {
    SHA1 = new_sha1(Hash::Sha1);
    SHA224 = new_sha224(Hash::Sha224);
    SHA256 = new_sha256(Hash::Sha256);
    SHA384 = new_sha384(Hash::Sha384);
    SHA512 = new_sha512(Hash::Sha512);
}

/// The types of keys that an algorithm with a hash takes.
struct KeyTypes([*const c_char; 2]);

// SAFETY: the pointers are those of constants.
unsafe impl Sync for KeyTypes {}

static KEY_TYPES: KeyTypes = KeyTypes([c"RSA".as_ptr(), std::ptr::null()]);

unsafe extern "C" fn key_types() -> *const *const c_char {
    KEY_TYPES.0.as_ptr()
}
