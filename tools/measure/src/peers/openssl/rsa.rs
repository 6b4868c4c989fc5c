//! OpenSSL's RSA, by `EVP_PKEY_sign`, `EVP_PKEY_verify` and `EVP_PKEY_decrypt`.

use crate::error::Refusal;
use crate::op::RsaOp;
use crate::peers::library::api;
use crate::peers::peer::{RsaPeer, Worker};
use crate::rsa_items::{RsaItems, RsaWorkload, to_limbs};
use std::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_void};
use std::ops::Range;
use std::ptr::{null, null_mut};

/// `EVP_PKEY` and `EVP_PKEY_CTX` are opaque types.
type Object = *mut c_void;
type Init = unsafe extern "C" fn(Object) -> c_int;
type Transform = unsafe extern "C" fn(Object, *mut c_uchar, *mut usize, *const c_uchar, usize) -> c_int;
type Verify = unsafe extern "C" fn(Object, *const c_uchar, usize, *const c_uchar, usize) -> c_int;
type Read = unsafe extern "C" fn(*mut Object, *mut *const c_uchar, c_long) -> Object;

api! {
    /// The functions of libcrypto.
    struct Api {
        read = "d2i_AutoPrivateKey": Read,
        key_free = "EVP_PKEY_free": unsafe extern "C" fn(Object),
        context_new = "EVP_PKEY_CTX_new": unsafe extern "C" fn(Object, *const c_void) -> Object,
        context_free = "EVP_PKEY_CTX_free": unsafe extern "C" fn(Object),
        set = "EVP_PKEY_CTX_ctrl_str": unsafe extern "C" fn(Object, *const c_char, *const c_char) -> c_int,
        sign_init = "EVP_PKEY_sign_init": Init,
        sign = "EVP_PKEY_sign": Transform,
        verify_init = "EVP_PKEY_verify_init": Init,
        verify = "EVP_PKEY_verify": Verify,
        decrypt_init = "EVP_PKEY_decrypt_init": Init,
        decrypt = "EVP_PKEY_decrypt": Transform,
    }
}

/// RSA of OpenSSL.
pub(super) struct Rsa {
    api: Api,
}

impl Rsa {
    pub(super) fn new(library: libloading::Library) -> Result<Self, libloading::Error> {
        Ok(Self { api: Api::new(library)? })
    }

    /// A context for an operation with a key in DER; `None` if the library refuses the key.
    fn context(&self, op: RsaOp, der: &[u8]) -> Option<Context<'_>> {
        let api = &self.api;
        let (init, options): (Init, &[[&CStr; 2]]) = match op {
            RsaOp::Sign => (api.sign_init, &[[c"rsa_padding_mode", c"pkcs1"], [c"digest", c"sha256"]]),
            RsaOp::Verify => (api.verify_init, &[[c"rsa_padding_mode", c"pkcs1"], [c"digest", c"sha256"]]),
            RsaOp::Decrypt => (
                api.decrypt_init,
                &[[c"rsa_padding_mode", c"oaep"], [c"rsa_oaep_md", c"sha256"], [c"rsa_mgf1_md", c"sha256"]],
            ),
        };
        let mut start = der.as_ptr();
        // SAFETY: reads no more than the given bytes. A context holds a reference to its key, so that ours
        // may go; every function refuses null.
        unsafe {
            let key = (api.read)(null_mut(), &mut start, der.len() as c_long);
            let context = Context { raw: (api.context_new)(key, null()), api };
            (api.key_free)(key);
            let set = |[name, value]: &[&CStr; 2]| (api.set)(context.raw, name.as_ptr(), value.as_ptr()) == 1;
            (init(context.raw) == 1 && options.iter().all(set)).then_some(context)
        }
    }
}

impl RsaPeer for Rsa {
    fn function(&self, op: RsaOp) -> &'static str {
        function(op)
    }

    fn worker<'a>(&'a self, all: &'a RsaItems, items: Range<usize>) -> Result<Box<dyn Worker + 'a>, Refusal> {
        let RsaWorkload { op, bits, .. } = all.workload;
        if op == RsaOp::Verify && bits > MAX_VERIFY_BITS {
            return Err(refusal(op, bits));
        }
        let context = |key: &modmill_rsa::PrivateKey| {
            let der = key.to_pkcs1_der().unwrap_or_default();
            self.context(op, &der).ok_or_else(|| refusal(op, bits))
        };
        Ok(Box::new(Items {
            all,
            contexts: all.keys.iter().map(context).collect::<Result<_, _>>()?,
            answers: vec![vec![0; bits.div_ceil(8)]; items.len()],
            lengths: vec![0; items.len()],
            first: items.start,
        }))
    }
}

/// `OPENSSL_RSA_MAX_MODULUS_BITS`: OpenSSL rejects every signature by a longer key.
const MAX_VERIFY_BITS: usize = 16_384;

fn function(op: RsaOp) -> &'static str {
    match op {
        RsaOp::Sign => "EVP_PKEY_sign",
        RsaOp::Verify => "EVP_PKEY_verify",
        RsaOp::Decrypt => "EVP_PKEY_decrypt",
    }
}

fn refusal(op: RsaOp, bits: usize) -> Refusal {
    Refusal { function: function(op), what: format!("keys of {bits} bits") }
}

/// A key that is prepared for an operation, and freed when dropped.
struct Context<'a> {
    raw: Object,
    api: &'a Api,
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        // SAFETY: made by the matching constructor, not used again; null is allowed.
        unsafe { (self.api.context_free)(self.raw) }
    }
}

/// Some items of a batch.
struct Items<'a> {
    all: &'a RsaItems,
    contexts: Vec<Context<'a>>,
    /// Buffers as long as the modulus.
    answers: Vec<Vec<u8>>,
    /// The length of each answer in its buffer.
    lengths: Vec<usize>,
    first: usize,
}

// SAFETY: a worker owns all its contexts, and they are not bound to a thread.
unsafe impl Send for Items<'_> {}

impl Worker for Items<'_> {
    fn run(&mut self, items: Range<usize>) -> Result<(), Refusal> {
        let RsaItems { workload: RsaWorkload { op, bits, .. }, digests, signatures, ciphertexts, .. } =
            self.all;
        for index in items {
            let item = self.first + index;
            let Context { raw, api } = &self.contexts[item % self.contexts.len()];
            let answer = &mut self.answers[index];
            let mut transform = |function: Transform, input: &[u8]| {
                let (output, mut length) = (answer.as_mut_ptr(), answer.len());
                // SAFETY: live objects of the right kinds, used by this thread alone; buffers with their
                // lengths.
                match unsafe { function(*raw, output, &mut length, input.as_ptr(), input.len()) } {
                    1 => Ok(length),
                    _ => Err(refusal(*op, *bits)),
                }
            };
            let length = match op {
                RsaOp::Sign => transform(api.sign, &digests[item])?,
                RsaOp::Decrypt => transform(api.decrypt, &ciphertexts[item])?,
                RsaOp::Verify => {
                    let (signature, digest) = (&signatures[item], &digests[item]);
                    let [(signature, signature_len), (digest, digest_len)] =
                        [&signature[..], digest].map(|bytes| (bytes.as_ptr(), bytes.len()));
                    // SAFETY: as above.
                    let verdict = unsafe { (api.verify)(*raw, signature, signature_len, digest, digest_len) };
                    answer[0] = u8::from(verdict == 1);
                    1
                }
            };
            self.lengths[index] = length;
        }
        Ok(())
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        to_limbs(&self.answers[item][..self.lengths[item]], limbs)
    }
}
