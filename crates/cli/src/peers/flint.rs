//! FLINT: `fmpz_powm` and friends.
#![allow(unsafe_code)]

use super::{About, Kind, Peer, Worker, api, c_string};
use crate::bench::inputs::Inputs;
use libloading::Library;
use modmill::Op;
use std::ffi::{c_char, c_int};
use std::ops::Range;

pub(super) const KIND: Kind = Kind {
    name: "flint",
    files: &[
        "libflint.so",
        "libflint.so.22",
        "libflint.so.21",
        "libflint.so.20",
        "libflint.so.19",
        "libflint.so.18",
        "libflint.so.17",
    ],
    load,
};

/// `fmpz`: a small integer, or a tagged pointer that is FLINT's own affair.
type Fmpz = isize;
type Two = unsafe extern "C" fn(*mut Fmpz, *const Fmpz, *const Fmpz);

api! {
    struct Api {
        clear = "fmpz_clear": unsafe extern "C" fn(*mut Fmpz),
        import = "fmpz_set_ui_array": unsafe extern "C" fn(*mut Fmpz, *const usize, isize),
        export = "fmpz_get_ui_array": unsafe extern "C" fn(*mut usize, isize, *const Fmpz),
        bits = "fmpz_bits": unsafe extern "C" fn(*const Fmpz) -> usize,
        mul = "fmpz_mul": Two,
        gcd = "fmpz_gcd": Two,
        modulo = "fmpz_mod": Two,
        powm = "fmpz_powm": unsafe extern "C" fn(*mut Fmpz, *const Fmpz, *const Fmpz, *const Fmpz),
        invmod = "fmpz_invmod": unsafe extern "C" fn(*mut Fmpz, *const Fmpz, *const Fmpz) -> c_int,
        version = "flint_version": *const c_char,
    }
}

struct Flint {
    api: Api,
    about: About,
}

fn load(library: Library, file: &str) -> Result<Box<dyn Peer>, libloading::Error> {
    let api = Api::new(library)?;
    // SAFETY: `flint_version` is a constant array of characters that ends in zero.
    let version = unsafe { c_string(api.version) };
    Ok(Box::new(Flint { api, about: About { name: KIND.name, version, library: file.to_owned() } }))
}

// SAFETY: FLINT's functions may be called from any thread (on numbers of its own), and the
// version is constant.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Peer for Flint {
    fn about(&self) -> &About {
        &self.about
    }

    fn function(&self, op: Op) -> &'static str {
        match op {
            Op::Mul | Op::Square => "fmpz_mul",
            Op::MulMod | Op::SquareMod => "fmpz_mul, fmpz_mod",
            Op::Inv => "fmpz_invmod",
            Op::Gcd => "fmpz_gcd",
            _ => "fmpz_powm",
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

/// An integer of FLINT's, freed when dropped.
struct Number<'a> {
    api: &'a Api,
    raw: Fmpz,
}

impl<'a> Number<'a> {
    fn new(api: &'a Api, limbs: &[u64]) -> Self {
        let words: Vec<usize> = limbs.iter().map(|&limb| limb as usize).collect();
        let mut raw = 0; // a zero word is an initialised zero
        if !words.is_empty() {
            // SAFETY: reads as many words as are there into an initialised number.
            unsafe { (api.import)(&raw mut raw, words.as_ptr(), words.len() as isize) };
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
                        (self.api.invmod)(answer, a, modulus);
                    }
                    _ => (self.api.powm)(answer, a, b, modulus),
                }
            }
        }
    }

    fn answer(&self, item: usize, limbs: usize) -> Vec<u64> {
        let raw = &raw const self.answers[item].raw;
        // SAFETY: an initialised number, and a buffer with room for all of its words.
        unsafe {
            let mut words = vec![0usize; limbs.max((self.api.bits)(raw).div_ceil(64))];
            (self.api.export)(words.as_mut_ptr(), words.len() as isize, raw);
            words.into_iter().map(|word| word as u64).collect()
        }
    }
}
