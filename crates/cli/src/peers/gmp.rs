//! GMP: `mpz_powm` and friends.
#![allow(unsafe_code)]

use super::{About, Kind, Peer, Worker, api, c_string};
use crate::bench::inputs::Inputs;
use libloading::Library;
use modmill::Op;
use std::ffi::{c_char, c_int, c_void};
use std::ops::Range;

pub(super) const KIND: Kind = Kind { name: "gmp", files: &["libgmp.so.10", "libgmp.so"], load };

/// `mpz_t`'s element, as `gmp.h` lays it out.
#[repr(C)]
struct Mpz {
    alloc: c_int,
    size: c_int,
    limbs: *mut c_void,
}

type Unary = unsafe extern "C" fn(*mut Mpz);
type Binary = unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz);

api! {
    struct Api {
        init = "__gmpz_init": Unary,
        clear = "__gmpz_clear": Unary,
        import = "__gmpz_import":
            unsafe extern "C" fn(*mut Mpz, usize, c_int, usize, c_int, usize, *const c_void),
        export = "__gmpz_export":
            unsafe extern "C" fn(*mut c_void, *mut usize, c_int, usize, c_int, usize, *const Mpz) -> *mut c_void,
        mul = "__gmpz_mul": Binary,
        gcd = "__gmpz_gcd": Binary,
        modulo = "__gmpz_mod": Binary,
        powm = "__gmpz_powm": unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz, *const Mpz),
        invert = "__gmpz_invert": unsafe extern "C" fn(*mut Mpz, *const Mpz, *const Mpz) -> c_int,
        version = "__gmp_version": *const *const c_char,
    }
}

struct Gmp {
    api: Api,
    about: About,
}

fn load(library: Library, file: &str) -> Result<Box<dyn Peer>, libloading::Error> {
    let api = Api::new(library)?;
    // SAFETY: `gmp_version` is a constant pointer to a constant string.
    let version = unsafe { c_string(*api.version) };
    Ok(Box::new(Gmp { api, about: About { name: KIND.name, version, library: file.to_owned() } }))
}

// SAFETY: the functions may be called from any thread (on numbers of its own), and the version
// is constant.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Peer for Gmp {
    fn about(&self) -> &About {
        &self.about
    }

    fn function(&self, op: Op) -> &'static str {
        match op {
            Op::Mul | Op::Square => "mpz_mul",
            Op::MulMod | Op::SquareMod => "mpz_mul, mpz_mod",
            Op::Inv => "mpz_invert",
            Op::Gcd => "mpz_gcd",
            _ => "mpz_powm",
        }
    }

    fn worker<'a>(&'a self, inputs: &Inputs, items: Range<usize>) -> Box<dyn Worker + 'a> {
        let number = |limbs| Number::new(&self.api, limbs);
        Box::new(Numbers {
            api: &self.api,
            op: inputs.shape.op,
            a: items.clone().map(|item| number(inputs.a.get(item))).collect(),
            b: items.clone().map(|item| number(inputs.b.get(item))).collect(),
            moduli: items.clone().map(|item| number(inputs.modulus(item))).collect(),
            answers: items.map(|_| number(&[])).collect(),
            product: number(&[]),
        })
    }
}

/// An integer of GMP's, freed when dropped.
struct Number<'a> {
    api: &'a Api,
    raw: Mpz,
}

impl<'a> Number<'a> {
    fn new(api: &'a Api, limbs: &[u64]) -> Self {
        let mut raw = Mpz { alloc: 0, size: 0, limbs: std::ptr::null_mut() };
        // SAFETY: `init` makes a number in place, which may be moved; `import` reads as many
        // words as are there, least significant first, in native byte order, without nails.
        unsafe {
            (api.init)(&raw mut raw);
            (api.import)(&raw mut raw, limbs.len(), -1, 8, 0, 0, limbs.as_ptr().cast());
        }
        Self { api, raw }
    }
}

impl Drop for Number<'_> {
    fn drop(&mut self) {
        // SAFETY: the number was initialised and is not used again.
        unsafe { (self.api.clear)(&raw mut self.raw) }
    }
}

struct Numbers<'a> {
    api: &'a Api,
    op: Op,
    a: Vec<Number<'a>>,
    b: Vec<Number<'a>>,
    moduli: Vec<Number<'a>>,
    answers: Vec<Number<'a>>,
    product: Number<'a>,
}

// SAFETY: a worker owns its numbers, and GMP keeps no state tied to a thread.
unsafe impl Send for Numbers<'_> {}

impl Worker for Numbers<'_> {
    fn run(&mut self, items: Range<usize>) {
        for item in items {
            let (a, b) = (&raw const self.a[item].raw, &raw const self.b[item].raw);
            let modulus = &raw const self.moduli[item].raw;
            let (answer, product) = (&raw mut self.answers[item].raw, &raw mut self.product.raw);
            // SAFETY: all are initialised numbers, those written to are not shared, and moduli
            // are not zero.
            unsafe {
                match self.op {
                    Op::Mul => (self.api.mul)(answer, a, b),
                    Op::Square => (self.api.mul)(answer, a, a),
                    Op::Gcd => (self.api.gcd)(answer, a, b),
                    Op::MulMod => {
                        (self.api.mul)(product, a, b);
                        (self.api.modulo)(answer, product, modulus);
                    }
                    Op::SquareMod => {
                        (self.api.mul)(product, a, a);
                        (self.api.modulo)(answer, product, modulus);
                    }
                    Op::Inv => {
                        (self.api.invert)(answer, a, modulus);
                    }
                    _ => (self.api.powm)(answer, a, b, modulus),
                }
            }
        }
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        let raw = &self.answers[item].raw;
        let mut value = vec![0u64; limbs.max(raw.size.unsigned_abs() as usize)];
        // SAFETY: the buffer has room for all limbs of the number.
        unsafe {
            (self.api.export)(value.as_mut_ptr().cast(), std::ptr::null_mut(), -1, 8, 0, 0, raw);
        }
        value
    }
}
