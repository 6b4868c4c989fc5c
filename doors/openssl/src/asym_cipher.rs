//! Encryption with public keys, and decryption.

use crate::context::{Context, dup, free, with};
use crate::core_handle::Core;
use crate::digest::Digest;
use crate::failure::Failure;
use crate::ffi::{Dispatch, Param, dispatch, guard, octets};
use crate::key::{Content, ProviderKey};
use crate::names::asym_cipher::*;
use crate::names::param;
use crate::padding::{Padding, message, premaster};
use crate::param_lists;
use crate::params::{Given, Value, Wanted};
use crate::provider_context::Provider;
use modmill_client::{Encryption, Task, with_engine};
use modmill_rsa::{Hash, ItemError, PublicKey, PublicTask, Rsa, hazmat};
use std::ffi::{c_int, c_void};
use zeroize::Zeroizing;

pub(crate) static FUNCTIONS: &[Dispatch] = dispatch![
    NEWCTX => new,
    FREECTX => free::<Cipher>,
    DUPCTX => dup::<Cipher>,
    ENCRYPT_INIT => init,
    ENCRYPT => encrypt,
    DECRYPT_INIT => init,
    DECRYPT => decrypt,
    GET_CTX_PARAMS => get_params,
    GETTABLE_CTX_PARAMS => gettable_params,
    SET_CTX_PARAMS => set_params,
    SETTABLE_CTX_PARAMS => settable_params,
];

/// The context of an encryption or a decryption.
#[derive(Clone)]
struct Cipher {
    core: Core,
    content: Content,
    padding: Padding,
    digest: Option<Digest>,
    mask: Option<Digest>,
    label: Vec<u8>,
    tls_version: i64,
    tls_alternative: i64,
    /// Whether a wrong padding of PKCS #1 v1.5 gives a substitute. A program may switch this off, as
    /// OpenSSL's CMS does, and learns whether the padding is right.
    implicit_rejection: bool,
}

impl Context for Cipher {
    fn core(&self) -> Core {
        self.core
    }
}

impl Cipher {
    fn set(&mut self, given: Given<'_>) -> Result<(), Failure> {
        if let Some(name) = given.text(param::DIGEST)? {
            self.digest = Some(Digest::named(&name)?);
        }
        if let Some(name) = given.text(param::MGF1_DIGEST)? {
            self.mask = Some(Digest::named(&name)?);
        }
        if let Some(padding) = Padding::read(given)? {
            self.padding = match padding {
                Padding::Pss | Padding::X931 => {
                    return Err(Failure::Unsupported(format!("encryption with the padding {padding:?}")));
                }
                padding => padding,
            };
            // OpenSSL's default for OAEP.
            if self.padding == Padding::Oaep && self.digest.is_none() {
                self.digest = Some(Digest::Known(Hash::Sha1));
            }
        }
        if let Some(label) = given.octets(param::OAEP_LABEL)? {
            self.label = label;
        }
        if let Some(version) = given.integer(param::TLS_CLIENT_VERSION)? {
            self.tls_version = version;
        }
        if let Some(version) = given.integer(param::TLS_NEGOTIATED_VERSION)? {
            self.tls_alternative = version;
        }
        if let Some(number) = given.integer(param::IMPLICIT_REJECTION)? {
            self.implicit_rejection = number != 0;
        }
        Ok(())
    }

    fn get(&self, wanted: &mut Wanted) -> Result<(), Failure> {
        wanted
            .set(param::PAD_MODE, || Ok(self.padding.value(false)))
            .or_else(|_| wanted.set(param::PAD_MODE, || Ok(self.padding.value(true))))?;
        wanted.set(param::DIGEST, || Ok(Value::Text(self.digest.map_or(c"", Digest::first_name))))?;
        let mask = self.mask.or(self.digest).map_or(c"", Digest::first_name);
        wanted.set(param::MGF1_DIGEST, || Ok(Value::Text(mask)))?;
        wanted.set(param::OAEP_LABEL, || Ok(Value::Kept(&self.label)))?;
        wanted.set(param::TLS_CLIENT_VERSION, || Ok(Value::Integer(self.tls_version)))?;
        wanted.set(param::TLS_NEGOTIATED_VERSION, || Ok(Value::Integer(self.tls_alternative)))?;
        wanted.set(param::IMPLICIT_REJECTION, || Ok(Value::Integer(self.implicit_rejection.into())))
    }

    fn public(&self) -> Result<&PublicKey, Failure> {
        self.content.public()
    }

    /// The scheme of the padding.
    fn scheme(&self) -> Result<Encryption, Failure> {
        match self.padding {
            Padding::Pkcs1v15 => Ok(Encryption::Pkcs1v15),
            Padding::Oaep => {
                let hash = self.digest.unwrap_or(Digest::Known(Hash::Sha1)).hash()?;
                let mask_hash = self.mask.map_or(Ok(hash), Digest::hash)?;
                Ok(Encryption::Oaep { hash, mask_hash, label: self.label.clone() })
            }
            padding => Err(Failure::Unsupported(format!("encryption with the padding {padding:?}"))),
        }
    }

    fn encrypt(&self, input: &[u8]) -> Result<Vec<u8>, Failure> {
        let key = self.public()?;
        let mut answers = match self.padding {
            Padding::None => with_engine(|engine| hazmat::public(&Rsa::new(engine), key, &[input]))??,
            _ => {
                let task = PublicTask::Encrypt { scheme: self.scheme()?, message: input.to_vec().into() };
                with_engine(|engine| Rsa::new(engine).public_tasks(key, &[task]))??
            }
        };
        Ok(answers.pop().unwrap_or(Err(ItemError::Fault))?)
    }

    fn decrypt(&self, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let size = self.public()?.size();
        // OpenSSL takes shorter ciphertexts for numbers with zeros in front.
        let mut ciphertext = vec![0; size.saturating_sub(input.len())];
        ciphertext.extend(input);
        let raw = |number: Vec<u8>| Task::Raw { number: number.into() };
        let compute = |task| self.content.compute(&self.core, task);
        match self.padding {
            Padding::None => compute(raw(ciphertext)),
            Padding::Pkcs1v15 if !self.implicit_rejection => {
                Ok(message(&compute(raw(ciphertext))?).ok_or(ItemError::Decryption)?)
            }
            Padding::Tls => {
                let mut substitute = Zeroizing::new([0; 48]);
                getrandom::fill(&mut substitute[..])
                    .map_err(|error| modmill_client::Error::Engine(error.to_string()))?;
                let [version, alternative] = [self.tls_version, self.tls_alternative].map(u16::try_from);
                let wrong = |_| Failure::Parameter("the version of TLS is no number of 16 bits".into());
                let (version, alternative) = (version.map_err(wrong)?, alternative.map_err(wrong)?);
                premaster(&compute(raw(ciphertext))?, version, alternative, substitute)
            }
            _ => compute(Task::Decrypt { scheme: self.scheme()?, ciphertext }),
        }
    }
}

unsafe extern "C" fn new(provider: *const Provider) -> *mut Cipher {
    guard(std::ptr::null_mut(), || {
        // SAFETY: OpenSSL passes the context that OSSL_provider_init returned.
        let Some(provider) = (unsafe { provider.as_ref() }) else { return std::ptr::null_mut() };
        Box::into_raw(Box::new(Cipher {
            core: provider.core,
            content: Content::Empty,
            padding: Padding::Pkcs1v15,
            digest: None,
            mask: None,
            label: Vec::new(),
            tls_version: 0,
            tls_alternative: 0,
            implicit_rejection: true,
        }))
    })
}

unsafe extern "C" fn init(context: *mut Cipher, key: *const ProviderKey, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context and a key of this provider, and parameters that live until this
    // returns.
    unsafe {
        with(context, |context| {
            context.content = key.as_ref().ok_or(Failure::NotInitialised)?.content.clone();
            context.set(Given::new(params))
        })
    }
}

/// Writes what `work` returns to `out`; without `out` only the length of the longest result is written.
///
/// # Safety
/// `out` is null, or `size` bytes can be written there; `len` can be written.
unsafe fn give(
    (out, len, size): (*mut u8, *mut usize, usize),
    longest: usize,
    work: impl FnOnce() -> Result<Zeroizing<Vec<u8>>, Failure>,
) -> Result<(), Failure> {
    if len.is_null() {
        return Err(Failure::Parameter("there is no place for the length of the result".into()));
    }
    // SAFETY: as the caller promises; the result fits, as is checked.
    unsafe {
        if out.is_null() {
            *len = longest;
            return Ok(());
        }
        // The length of a message is not compared: a caller whose memory is too short for some would learn of
        // it.
        if size < longest {
            return Err(Failure::Room { needed: longest, room: size });
        }
        let answer = work()?;
        let count = answer.len().min(size);
        std::ptr::copy_nonoverlapping(answer.as_ptr(), out, count);
        *len = count;
    }
    Ok(())
}

unsafe extern "C" fn encrypt(
    context: *mut Cipher,
    out: *mut u8,
    len: *mut usize,
    size: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, `input_len` bytes, and room for `size`.
    unsafe {
        with(context, |context| {
            let longest = context.public()?.size();
            give((out, len, size), longest, || Ok(context.encrypt(octets(input, input_len))?.into()))
        })
    }
}

unsafe extern "C" fn decrypt(
    context: *mut Cipher,
    out: *mut u8,
    len: *mut usize,
    size: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, `input_len` bytes, and room for `size`.
    unsafe {
        with(context, |context| {
            let longest = if context.padding == Padding::Tls { 48 } else { context.public()?.size() };
            give((out, len, size), longest, || context.decrypt(octets(input, input_len)))
        })
    }
}

unsafe extern "C" fn get_params(context: *mut Cipher, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and parameters that may be written until this
    // returns.
    unsafe { with(context, |context| context.get(&mut Wanted::new(params))) }
}

unsafe extern "C" fn set_params(context: *mut Cipher, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of this provider, and parameters that live until this returns.
    unsafe { with(context, |context| context.set(Given::new(params))) }
}

unsafe extern "C" fn gettable_params(_: *const c_void, _: *const c_void) -> *const Param {
    param_lists::CIPHER_GETTABLE.as_ptr()
}

unsafe extern "C" fn settable_params(_: *const c_void, _: *const c_void) -> *const Param {
    param_lists::CIPHER_SETTABLE.as_ptr()
}
