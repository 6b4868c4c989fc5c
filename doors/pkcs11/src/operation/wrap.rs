//! Keys that leave and enter under other keys.
//!
//! A private key is wrapped as the DER of PKCS #8, a secret key as its value.

use super::allow;
use super::crypt::{decrypt, encrypt, encryption};
use crate::attributes::Value;
use crate::mechanism::{Mechanism, Parameter, Scheme};
use crate::object::{Attributes, Object};
use crate::refusal::{Answer, Refusal, refuse};
use crate::template::{self, Origin, Template, private_numbers};
use aes_kw::{AesKw, AesKwp, KeyInit, aes};
use cryptoki_sys::*;
use modmill_rsa::{PrivateKey, Sizes};
use modmill_seal::SecretBytes;
use zeroize::Zeroizing;

/// The bytes that AES key wrap adds.
const ADDED: usize = 8;

/// Wraps the key `target` under the key `wrapper`.
pub(crate) fn wrap(mechanism: &Mechanism, wrapper: &Object, target: &Object) -> Answer<Vec<u8>> {
    mechanism.row.serves(CKF_WRAP)?;
    allow(wrapper, mechanism, CKA_WRAP, "CKA_WRAP")?;
    if !target.flag(CKA_EXTRACTABLE) {
        return refuse(CKR_KEY_UNEXTRACTABLE, "the key has CKA_EXTRACTABLE false");
    }
    if target.flag(CKA_WRAP_WITH_TRUSTED) && !wrapper.flag(CKA_TRUSTED) {
        return refuse(CKR_KEY_NOT_WRAPPABLE, "the key is wrapped under trusted keys only");
    }
    let plain = match target.class() {
        CKO_SECRET_KEY => Zeroizing::new(target.aes_key()?.to_vec()),
        CKO_PRIVATE_KEY => match target.private_key()?.private_key() {
            Some(key) => key.to_der()?,
            None => return refuse(CKR_KEY_UNEXTRACTABLE, "the key is held by the service"),
        },
        _ => return refuse(CKR_KEY_NOT_WRAPPABLE, "only private and secret keys are wrapped"),
    };
    match (mechanism.row.scheme, &mechanism.parameter) {
        (Scheme::KeyWrap | Scheme::KeyWrapPadded, _) => {
            aes_wrap(mechanism.row.scheme, wrapper_key(wrapper.aes_key())?, &plain)
        }
        (Scheme::RsaAesWrap, Parameter::RsaAes(len, oaep)) => {
            public_wrapper(wrapper)?;
            let fresh = SecretBytes::random(*len)?;
            let head = encrypt(wrapper, Some(oaep), fresh.expose())?;
            Ok([head, aes_wrap(Scheme::KeyWrapPadded, fresh.expose(), &plain)?].concat())
        }
        _ => {
            public_wrapper(wrapper)?;
            encrypt(wrapper, encryption(mechanism)?.as_ref(), &plain).map_err(|refusal| match refusal.code {
                CKR_DATA_LEN_RANGE => Refusal { code: CKR_KEY_SIZE_RANGE, ..refusal },
                _ => refusal,
            })
        }
    }
}

/// Makes a key object of `template` and of the key that `wrapped` holds under the key `wrapper`.
pub(crate) fn unwrap(
    mechanism: &Mechanism,
    wrapper: &Object,
    wrapped: &[u8],
    template: &Template,
) -> Answer<Object> {
    mechanism.row.serves(CKF_UNWRAP)?;
    allow(wrapper, mechanism, CKA_UNWRAP, "CKA_UNWRAP")?;
    if wrapper.flag(CKA_ALWAYS_AUTHENTICATE) {
        // The PIN is given between the beginning and the end of an operation, and this one has none.
        return refuse(CKR_USER_NOT_LOGGED_IN, "a key that asks for the PIN at every use does not unwrap");
    }
    let invalid = |refusal: Refusal| Refusal { code: CKR_WRAPPED_KEY_INVALID, ..refusal };
    let plain = match (mechanism.row.scheme, &mechanism.parameter) {
        (Scheme::KeyWrap | Scheme::KeyWrapPadded, _) => {
            aes_unwrap(mechanism.row.scheme, unwrapper_key(wrapper.aes_key())?, wrapped)?
        }
        (Scheme::RsaAesWrap, Parameter::RsaAes(len, oaep)) => {
            let size = unwrapper_key(wrapper.private_key())?.public_key().size();
            let Some((head, rest)) = wrapped.split_at_checked(size) else {
                return refuse(CKR_WRAPPED_KEY_LEN_RANGE, "the wrapped key is shorter than the modulus");
            };
            let fresh = decrypt(wrapper, Some(oaep), head).map_err(invalid)?;
            if fresh.len() != *len {
                return refuse(
                    CKR_WRAPPED_KEY_INVALID,
                    "the fresh key has another length than the parameters say",
                );
            }
            aes_unwrap(Scheme::KeyWrapPadded, &fresh, rest)?
        }
        _ => {
            unwrapper_key(wrapper.private_key())?;
            decrypt(wrapper, encryption(mechanism)?.as_ref(), wrapped).map_err(invalid)?
        }
    };
    let class = template::class(template);
    let class =
        class.ok_or_else(|| Refusal::new(CKR_TEMPLATE_INCOMPLETE, "the template has no CKA_CLASS"))?;
    let numbers = match class {
        CKO_SECRET_KEY => {
            Attributes::from([(CKA_KEY_TYPE, Value::from(CKK_AES as u64)), (CKA_VALUE, plain[..].into())])
        }
        CKO_PRIVATE_KEY => {
            let key = PrivateKey::read(&plain, None, Sizes::Standard);
            let key = key.map_err(|error| Refusal::new(CKR_WRAPPED_KEY_INVALID, error.to_string()))?;
            let kind = (CKA_KEY_TYPE, Value::from(CKK_RSA as u64));
            private_numbers(&key)?.into_iter().chain([kind]).collect()
        }
        _ => return refuse(CKR_TEMPLATE_INCONSISTENT, "only private and secret keys are unwrapped"),
    };
    template::build(class, template, numbers, Origin::Unwrapped, false)
}

fn public_wrapper(wrapper: &Object) -> Answer {
    match wrapper.class() {
        CKO_PUBLIC_KEY => Ok(()),
        _ => refuse(CKR_WRAPPING_KEY_TYPE_INCONSISTENT, "the mechanism wraps under an RSA public key"),
    }
}

/// Gives a refusal the return value for the key that wraps.
fn wrapper_key<T>(key: Answer<T>) -> Answer<T> {
    key.map_err(|refusal| Refusal { code: CKR_WRAPPING_KEY_TYPE_INCONSISTENT, ..refusal })
}

/// Gives a refusal the return value for the key that unwraps.
fn unwrapper_key<T>(key: Answer<T>) -> Answer<T> {
    key.map_err(|refusal| Refusal { code: CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT, ..refusal })
}

/// Evaluates `$body` with `$Cipher` as AES with a key of the length of `$key`.
macro_rules! with_aes {
    ($key:expr, |$Cipher:ident| $body:expr) => {
        match $key.len() {
            16 => {
                type $Cipher = aes::Aes128;
                $body
            }
            24 => {
                type $Cipher = aes::Aes192;
                $body
            }
            _ => {
                type $Cipher = aes::Aes256;
                $body
            }
        }
    };
}

fn aes_wrap(scheme: Scheme, key: &[u8], plain: &[u8]) -> Answer<Vec<u8>> {
    let mut out = vec![0; plain.len().next_multiple_of(8) + ADDED];
    let len = with_aes!(key, |Cipher| {
        let wrapped = match scheme {
            Scheme::KeyWrap => {
                AesKw::<Cipher>::new_from_slice(key).map(|wrap| wrap.wrap_key(plain, &mut out))
            }
            _ => AesKwp::<Cipher>::new_from_slice(key).map(|wrap| wrap.wrap_key(plain, &mut out)),
        };
        let wrong =
            || Refusal::new(CKR_KEY_SIZE_RANGE, "the key cannot be wrapped: use the form with padding");
        wrapped.ok().and_then(Result::ok).ok_or_else(wrong)?.len()
    });
    out.truncate(len);
    Ok(out)
}

fn aes_unwrap(scheme: Scheme, key: &[u8], wrapped: &[u8]) -> Answer<Zeroizing<Vec<u8>>> {
    let mut out = Zeroizing::new(vec![0; wrapped.len()]);
    let len = with_aes!(key, |Cipher| {
        let plain = match scheme {
            Scheme::KeyWrap => {
                AesKw::<Cipher>::new_from_slice(key).map(|wrap| wrap.unwrap_key(wrapped, &mut out))
            }
            _ => AesKwp::<Cipher>::new_from_slice(key).map(|wrap| wrap.unwrap_key(wrapped, &mut out)),
        };
        let wrong = || Refusal::new(CKR_WRAPPED_KEY_INVALID, "the wrapped key does not open under this key");
        plain.ok().and_then(Result::ok).ok_or_else(wrong)?.len()
    });
    out.truncate(len);
    Ok(out)
}
