//! OpenSSL's big numbers: `BN_mod_exp_mont_consttime` with the Montgomery constants prepared.
#![allow(unsafe_code)]

mod rsa;

use super::library::{Kind, api, c_string, load_library};
use super::peer::{About, Peer, RsaPeer, Worker};
use crate::error::Refusal;
use crate::inputs::{Inputs, Workload, symbol_word};
use libloading::Library;
use modmill::{Batch, Op};
use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::ops::Range;

pub(super) const KIND: Kind = Kind {
    name: "openssl",
    files: &["libcrypto.so.4", "libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"],
    load,
};

/// `BIGNUM`, `BN_CTX` and `BN_MONT_CTX` are opaque types.
type Bn = *mut c_void;
type New = unsafe extern "C" fn() -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Three = unsafe extern "C" fn(Bn, Bn, Bn, Bn) -> c_int;
type Four = unsafe extern "C" fn(Bn, Bn, Bn, Bn, Bn) -> c_int;
type Exponentiate = unsafe extern "C" fn(Bn, Bn, Bn, Bn, *mut c_void, *mut c_void) -> c_int;

api! {
    struct Api {
        bn_new = "BN_new": New,
        bn_free = "BN_free": Free,
        ctx_new = "BN_CTX_new": New,
        ctx_free = "BN_CTX_free": Free,
        mont_new = "BN_MONT_CTX_new": New,
        mont_free = "BN_MONT_CTX_free": Free,
        mont_set = "BN_MONT_CTX_set": unsafe extern "C" fn(*mut c_void, Bn, *mut c_void) -> c_int,
        import = "BN_lebin2bn": unsafe extern "C" fn(*const c_uchar, c_int, Bn) -> Bn,
        export = "BN_bn2lebinpad": unsafe extern "C" fn(Bn, *mut c_uchar, c_int) -> c_int,
        mul = "BN_mul": Three,
        gcd = "BN_gcd": Three,
        div = "BN_div": Four,
        kronecker = "BN_kronecker": unsafe extern "C" fn(Bn, Bn, *mut c_void) -> c_int,
        sqr = "BN_sqr": unsafe extern "C" fn(Bn, Bn, *mut c_void) -> c_int,
        mod_sqr = "BN_mod_sqr": Three,
        mod_mul = "BN_mod_mul": Four,
        mod_inverse = "BN_mod_inverse": unsafe extern "C" fn(Bn, Bn, Bn, *mut c_void) -> Bn,
        exp_consttime = "BN_mod_exp_mont_consttime": Exponentiate,
        exp = "BN_mod_exp_mont": Exponentiate,
        version = "OpenSSL_version": unsafe extern "C" fn(c_int) -> *const c_char,
    }
}

struct OpenSsl {
    api: Api,
    about: About,
    rsa: rsa::Rsa,
}

fn load(library: Library, file: &str) -> Result<Box<dyn Peer>, libloading::Error> {
    let rsa = rsa::Rsa::new(load_library(file)?)?;
    let api = Api::new(library)?;
    // SAFETY: version 0 is a constant string, "OpenSSL 3.0.2 15 Mar 2022".
    let text = unsafe { c_string((api.version)(0)) };
    let version = text.split_whitespace().nth(1).unwrap_or(&text).to_owned();
    let about = About { name: KIND.name, version, library: file.to_owned() };
    Ok(Box::new(OpenSsl { api, about, rsa }))
}

impl Peer for OpenSsl {
    fn about(&self) -> &About {
        &self.about
    }

    fn rsa(&self) -> Option<&dyn RsaPeer> {
        Some(&self.rsa)
    }

    fn function(&self, workload: &Workload) -> &'static str {
        if workload.is_remainder { REMAINDER } else { function(workload.op) }
    }

    fn worker<'a>(&'a self, inputs: &Inputs, items: Range<usize>) -> Result<Box<dyn Worker + 'a>, Refusal> {
        let api = &self.api;
        let workload = inputs.workload;
        let Workload { op, bits, .. } = workload;
        if op == Op::Isqrt {
            return Err(Refusal { function: "libcrypto", what: "square roots".to_owned() });
        }
        let refused = |function| Refusal { function, what: format!("numbers of {bits} bits") };
        let object = |new: New, free: Free| {
            // SAFETY: constructors without arguments; the object is freed by its own destructor.
            Object { raw: unsafe { new() }, free }
        };
        let number = |limbs: &[u64]| {
            let object = object(api.bn_new, api.bn_free);
            let bytes: Vec<u8> = limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
            let length = c_int::try_from(bytes.len()).map_err(|_| refused("BN_lebin2bn"))?;
            // SAFETY: reads `length` bytes into a number we own.
            match unsafe { (api.import)(bytes.as_ptr(), length, object.raw) }.is_null() {
                true => Err(refused("BN_lebin2bn")),
                false => Ok(object),
            }
        };
        let numbers = |batch: &Batch| -> Result<Vec<Object>, Refusal> {
            items.clone().map(|item| number(batch.get(item))).collect()
        };
        let context = object(api.ctx_new, api.ctx_free);
        let moduli: Vec<Object> =
            items.clone().map(|item| number(inputs.modulus(item))).collect::<Result<_, _>>()?;
        let powers = matches!(op, Op::Pow | Op::PowVartime);
        let montgomery = moduli.iter().filter(|_| powers).map(|modulus| {
            let constants = object(api.mont_new, api.mont_free);
            // SAFETY: three live objects of the right kinds; the modulus is odd.
            match unsafe { (api.mont_set)(constants.raw, modulus.raw, context.raw) } {
                1 => Ok(constants),
                _ => Err(refused("BN_MONT_CTX_set")),
            }
        });
        Ok(Box::new(Numbers {
            api,
            workload,
            symbols: vec![0; items.len()],
            a: numbers(&inputs.a)?,
            b: numbers(&inputs.b)?,
            answers: items.clone().map(|_| number(&[])).collect::<Result<_, _>>()?,
            montgomery: montgomery.collect::<Result<_, _>>()?,
            moduli,
            context,
        }))
    }
}

/// The function that computes remainders.
const REMAINDER: &str = "BN_div";

fn function(op: Op) -> &'static str {
    match op {
        Op::Mul => "BN_mul",
        Op::Square => "BN_sqr",
        Op::MulMod => "BN_mod_mul",
        Op::SquareMod => "BN_mod_sqr",
        Op::Inv => "BN_mod_inverse",
        Op::Gcd => "BN_gcd",
        Op::Jacobi => "BN_kronecker",
        Op::Div => "BN_div",
        Op::PowVartime => "BN_mod_exp_mont",
        _ => "BN_mod_exp_mont_consttime",
    }
}

/// An object of OpenSSL's that is freed when dropped.
struct Object {
    raw: *mut c_void,
    free: Free,
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: made by the matching constructor, not used again; null is allowed.
        unsafe { (self.free)(self.raw) }
    }
}

/// The numbers of some items of a batch.
struct Numbers<'a> {
    api: &'a Api,
    workload: Workload,
    symbols: Vec<i8>,
    a: Vec<Object>,
    b: Vec<Object>,
    moduli: Vec<Object>,
    montgomery: Vec<Object>,
    answers: Vec<Object>,
    context: Object,
}

// SAFETY: a worker owns all its objects, and they are not bound to a thread.
unsafe impl Send for Numbers<'_> {}

impl Worker for Numbers<'_> {
    fn run(&mut self, items: Range<usize>) -> Result<(), Refusal> {
        let context = self.context.raw;
        for item in items {
            let (answer, a, b) = (self.answers[item].raw, self.a[item].raw, self.b[item].raw);
            let modulus = self.moduli[item].raw;
            // SAFETY: live objects of the right kinds, used by this thread alone.
            let is_done = unsafe {
                let null = std::ptr::null_mut();
                match self.workload.op {
                    Op::MulMod if self.workload.is_remainder => {
                        (self.api.div)(null, answer, a, modulus, context)
                    }
                    Op::Div => (self.api.div)(answer, b, a, modulus, context),
                    Op::Jacobi => {
                        let symbol = (self.api.kronecker)(a, modulus, context);
                        self.symbols[item] = symbol as i8;
                        c_int::from(symbol >= -1)
                    }
                    Op::Mul => (self.api.mul)(answer, a, b, context),
                    Op::Square => (self.api.sqr)(answer, a, context),
                    Op::Gcd => (self.api.gcd)(answer, a, b, context),
                    Op::MulMod => (self.api.mod_mul)(answer, a, b, modulus, context),
                    Op::SquareMod => (self.api.mod_sqr)(answer, a, modulus, context),
                    Op::Inv => i32::from(!(self.api.mod_inverse)(answer, a, modulus, context).is_null()),
                    Op::PowVartime => {
                        (self.api.exp)(answer, a, b, modulus, context, self.montgomery[item].raw)
                    }
                    _ => {
                        let montgomery = self.montgomery[item].raw;
                        (self.api.exp_consttime)(answer, a, b, modulus, context, montgomery)
                    }
                }
            };
            if is_done != 1 {
                let what = format!("numbers of {} bits", self.workload.bits);
                return Err(Refusal { function: function(self.workload.op), what });
            }
        }
        Ok(())
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        if self.workload.op == Op::Jacobi {
            return vec![symbol_word(self.symbols[item])];
        }
        let mut bytes = vec![0u8; 8 * limbs];
        // SAFETY: writes no more than the given length. An answer that is too long is not written, so
        // that zeros are returned.
        unsafe { (self.api.export)(self.answers[item].raw, bytes.as_mut_ptr(), bytes.len() as c_int) };
        let word = |word: &[u8]| word.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
        bytes.chunks(8).map(word).collect()
    }
}
