//! The functions of signatures.

mod tables;

pub(crate) use tables::{FUNCTIONS, SHA1, SHA224, SHA256, SHA384, SHA512};

use crate::context::with;
use crate::digest::Digest;
use crate::failure::Failure;
use crate::ffi::{Param, guard, octets};
use crate::key::{Content, ProviderKey};
use crate::param_lists;
use crate::params::{Given, Wanted};
use crate::provider_context::Provider;
use crate::signature_context::Signature;
use modmill_rsa::Hash;
use std::ffi::{CStr, c_char, c_int, c_void};

fn make(provider: *const Provider, hash: Option<Hash>) -> *mut Signature {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes the context that OSSL_provider_init returned.
        let Some(provider) = (unsafe { provider.as_ref() }) else { return std::ptr::null_mut() };
        Box::into_raw(Box::new(Signature::new(provider.core, hash)))
    })
}

unsafe extern "C" fn new(provider: *const Provider, _properties: *const c_char) -> *mut Signature {
    make(provider, None)
}

/// Takes the key and the parameters of an operation. Without a key the context keeps the one it has.
unsafe fn begin(
    context: &mut Signature,
    key: *const ProviderKey,
    params: *const Param,
) -> Result<(), Failure> {
    // SAFETY: OpenSSL passes a key of this provider or null.
    match unsafe { key.as_ref() } {
        Some(key) => context.content = key.content.clone(),
        None if matches!(context.content, Content::Empty) => return Err(Failure::NotInitialised),
        None => {}
    }
    (context.hashing, context.takes_message, context.signature) = (None, false, None);
    // SAFETY: OpenSSL passes parameters that live until the call returns.
    context.set(unsafe { Given::new(params) })
}

unsafe extern "C" fn init(context: *mut Signature, key: *const ProviderKey, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context and a key of this provider.
    unsafe { with(context, |context| begin(context, key, params)) }
}

unsafe extern "C" fn digest_init(
    context: *mut Signature,
    digest: *const c_char,
    key: *const ProviderKey,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL passes a context and a key of this provider, and a name that ends with a zero or null.
    unsafe {
        with(context, |context| {
            begin(context, key, std::ptr::null())?;
            let name = (!digest.is_null()).then(|| CStr::from_ptr(digest).to_string_lossy().into_owned());
            match name.filter(|name| !name.is_empty()) {
                Some(name) => context.set_digest(&name)?,
                None if context.digest.is_none() => context.set_digest("SHA256")?,
                None => {}
            }
            context.set(Given::new(params))?;
            context.hashing = context.digest.map(Digest::hashing).transpose()?;
            Ok(())
        })
    }
}

unsafe extern "C" fn message_init(
    context: *mut Signature,
    key: *const ProviderKey,
    params: *const Param,
) -> c_int {
    // SAFETY: OpenSSL passes a context and a key of this provider.
    unsafe {
        with(context, |context| {
            begin(context, key, params)?;
            context.takes_message = true;
            context.hashing = context.digest.map(Digest::hashing).transpose()?;
            Ok(())
        })
    }
}

unsafe extern "C" fn update(context: *mut Signature, data: *const u8, len: usize) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and `len` bytes.
    unsafe {
        with(context, |context| {
            context.hashing.as_mut().ok_or(Failure::NotInitialised)?.update(octets(data, len));
            Ok(())
        })
    }
}

/// The digest of the message so far. The message may go on.
fn digest_so_far(context: &Signature) -> Result<Vec<u8>, Failure> {
    Ok(context.hashing.clone().ok_or(Failure::NotInitialised)?.finish())
}

/// The digest of `input`, or `input` itself where it is a digest.
fn to_sign(context: &Signature, input: &[u8]) -> Result<Vec<u8>, Failure> {
    match (context.takes_message, context.digest) {
        (true, Some(digest)) => {
            let mut hashing = digest.hashing()?;
            hashing.update(input);
            Ok(hashing.finish())
        }
        _ => Ok(input.to_vec()),
    }
}

/// Writes `answer` to memory of the caller.
///
/// # Safety
/// `size` bytes can be written at `out`, and `len` can be written.
unsafe fn give(answer: &[u8], out: *mut u8, len: *mut usize, size: usize) -> Result<(), Failure> {
    if answer.len() > size {
        return Err(Failure::Room { needed: answer.len(), room: size });
    }
    // SAFETY: there is room, as was checked, and as the caller promises.
    unsafe {
        std::ptr::copy_nonoverlapping(answer.as_ptr(), out, answer.len());
        *len = answer.len();
    }
    Ok(())
}

/// Signs what `digest` returns and writes the signature to `out`; without `out` only its length is written.
///
/// # Safety
/// `out` is null, or `size` bytes can be written there; `len` can be written.
unsafe fn sign_to(
    context: &Signature,
    out: *mut u8,
    len: *mut usize,
    size: usize,
    digest: impl FnOnce(&Signature) -> Result<Vec<u8>, Failure>,
) -> Result<(), Failure> {
    let needed = context.size()?;
    if len.is_null() {
        return Err(Failure::Parameter("there is no place for the length of the signature".into()));
    }
    if out.is_null() {
        // SAFETY: as the caller promises.
        unsafe { *len = needed };
        return Ok(());
    }
    // Before the work is done.
    if size < needed {
        return Err(Failure::Room { needed, room: size });
    }
    let signature = context.sign(&digest(context)?)?;
    // SAFETY: as the caller promises.
    unsafe { give(&signature, out, len, size) }
}

unsafe extern "C" fn sign(
    context: *mut Signature,
    out: *mut u8,
    len: *mut usize,
    size: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, `input_len` bytes, and room for `size`.
    unsafe {
        with(context, |context| {
            sign_to(context, out, len, size, |context| to_sign(context, octets(input, input_len)))
        })
    }
}

unsafe extern "C" fn sign_final(
    context: *mut Signature,
    out: *mut u8,
    len: *mut usize,
    size: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and room for `size` bytes.
    unsafe { with(context, |context| sign_to(context, out, len, size, digest_so_far)) }
}

unsafe extern "C" fn verify(
    context: *mut Signature,
    signature: *const u8,
    len: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and bytes of both lengths.
    unsafe {
        with(context, |context| {
            context.verify(&to_sign(context, octets(input, input_len))?, octets(signature, len))
        })
    }
}

unsafe extern "C" fn verify_final(context: *mut Signature, signature: *const u8, len: usize) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and `len` bytes.
    unsafe { with(context, |context| context.verify(&digest_so_far(context)?, octets(signature, len))) }
}

unsafe extern "C" fn verify_message_final(context: *mut Signature) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider.
    unsafe {
        with(context, |context| {
            let missing = || Failure::Parameter("no signature was set".into());
            let signature = context.signature.clone().ok_or_else(missing)?;
            context.verify(&digest_so_far(context)?, &signature)
        })
    }
}

unsafe extern "C" fn recover(
    context: *mut Signature,
    out: *mut u8,
    len: *mut usize,
    size: usize,
    signature: *const u8,
    signature_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, `signature_len` bytes, and room for `size`.
    unsafe {
        with(context, |context| {
            if len.is_null() {
                return Err(Failure::Parameter("there is no place for the length".into()));
            }
            if out.is_null() {
                *len = context.size()?;
                return Ok(());
            }
            give(&context.recover(octets(signature, signature_len))?, out, len, size)
        })
    }
}

unsafe extern "C" fn get_params(context: *mut Signature, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and parameters that may be written until this
    // returns.
    unsafe { with(context, |context| context.get(&mut Wanted::new(params))) }
}

unsafe extern "C" fn set_params(context: *mut Signature, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and parameters that live until this returns.
    unsafe { with(context, |context| context.set(Given::new(params))) }
}

unsafe extern "C" fn gettable_params(_: *const c_void, _: *const c_void) -> *const Param {
    param_lists::SIGNATURE_GETTABLE.as_ptr()
}

unsafe extern "C" fn settable_params(_: *const c_void, _: *const c_void) -> *const Param {
    param_lists::SIGNATURE_SETTABLE.as_ptr()
}

unsafe extern "C" fn set_digest_params(context: *mut Signature, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and parameters that live until this returns.
    unsafe { with(context, |context| context.set_for_digest(Given::new(params))) }
}

unsafe extern "C" fn settable_digest_params(context: *const Signature) -> *const Param {
    // SAFETY: OpenSSL passes a context of this provider or null.
    match unsafe { context.as_ref() }.and_then(|context| context.digest) {
        Some(digest) if digest.takes_master_secret() => param_lists::DIGEST_SETTABLE.as_ptr(),
        _ => std::ptr::null(),
    }
}
