//! OpenSSL's RSA, by `EVP_PKEY_sign`, `EVP_PKEY_verify` and `EVP_PKEY_decrypt`.

use crate::bench::rsa::{RsaOp, Task, to_limbs};
use crate::peers::{RsaPeer, Worker, api};
use std::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_void};
use std::ops::Range;
use std::ptr::{null, null_mut};

/// `EVP_PKEY` and `EVP_PKEY_CTX` are known by address only.
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

    /// A context for an operation with the key in some DER; null where the library refuses it.
    fn context(&self, op: RsaOp, der: &[u8]) -> Context<'_> {
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
        // SAFETY: reads no more than the bytes given. A context holds a reference to its key, so that ours
        // may go; null is refused by every function.
        unsafe {
            let key = (api.read)(null_mut(), &mut start, der.len() as c_long);
            let context = Context { raw: (api.context_new)(key, null()), api };
            (api.key_free)(key);
            init(context.raw);
            for [name, value] in options {
                (api.set)(context.raw, name.as_ptr(), value.as_ptr());
            }
            context
        }
    }
}

impl RsaPeer for Rsa {
    fn function(&self, op: RsaOp) -> &'static str {
        match op {
            RsaOp::Sign => "EVP_PKEY_sign",
            RsaOp::Verify => "EVP_PKEY_verify",
            RsaOp::Decrypt => "EVP_PKEY_decrypt",
        }
    }

    fn worker<'a>(&'a self, task: &'a Task, items: Range<usize>) -> Box<dyn Worker + 'a> {
        let context = |key: &modmill_rsa::PrivateKey| {
            let der = key.to_pkcs1_der().unwrap_or_default();
            self.context(task.shape.op, &der)
        };
        Box::new(Items {
            task,
            contexts: task.keys.iter().map(context).collect(),
            answers: vec![vec![0; task.shape.bits.div_ceil(8)]; items.len()],
            lengths: vec![0; items.len()],
            first: items.start,
        })
    }
}

/// A key ready for an operation, freed when dropped.
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

struct Items<'a> {
    task: &'a Task,
    contexts: Vec<Context<'a>>,
    /// Buffers as long as the modulus, and how much of each is an answer.
    answers: Vec<Vec<u8>>,
    lengths: Vec<usize>,
    first: usize,
}

// SAFETY: a worker owns all its contexts, and these know no threads.
unsafe impl Send for Items<'_> {}

impl Worker for Items<'_> {
    fn run(&mut self, items: Range<usize>) {
        let Task { shape, digests, signatures, ciphertexts, .. } = self.task;
        for index in items {
            let item = self.first + index;
            let Context { raw, api } = &self.contexts[item % self.contexts.len()];
            let answer = &mut self.answers[index];
            let mut transform = |function: Transform, input: &[u8]| {
                let (output, mut length) = (answer.as_mut_ptr(), answer.len());
                // SAFETY: live objects of the right kinds, used by this thread alone; buffers with their
                // lengths. A call that fails leaves no answer, which the comparison finds.
                let done = unsafe { function(*raw, output, &mut length, input.as_ptr(), input.len()) };
                if done == 1 { length } else { 0 }
            };
            let length = match shape.op {
                RsaOp::Sign => transform(api.sign, &digests[item]),
                RsaOp::Decrypt => transform(api.decrypt, &ciphertexts[item]),
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
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        to_limbs(&self.answers[item][..self.lengths[item]], limbs)
    }
}
