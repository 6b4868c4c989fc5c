//! FLINT: `fmpz_powm` and friends.
#![allow(unsafe_code)]

use super::integers::{Binary, Divide, IntegerPeer, Integers, Invert, Power, Symbol, Unary};
use super::library::{Kind, api, c_string};
use super::peer::{About, Peer};
use libloading::Library;
use modmill::Op;
use std::ffi::c_char;

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

/// `fmpz`: a small integer or a tagged pointer.
type Fmpz = isize;

api! {
    struct Api {
        clear = "fmpz_clear": unsafe extern "C" fn(*mut Fmpz),
        import = "fmpz_set_ui_array": unsafe extern "C" fn(*mut Fmpz, *const usize, isize),
        export = "fmpz_get_ui_array": unsafe extern "C" fn(*mut usize, isize, *const Fmpz),
        bits = "fmpz_bits": unsafe extern "C" fn(*const Fmpz) -> usize,
        mul = "fmpz_mul": Binary<Fmpz>,
        add_mul = "fmpz_addmul": Binary<Fmpz>,
        gcd = "fmpz_gcd": Binary<Fmpz>,
        modulo = "fmpz_mod": Binary<Fmpz>,
        divide = "fmpz_tdiv_qr": Divide<Fmpz>,
        sqrt = "fmpz_sqrt": Unary<Fmpz>,
        jacobi = "fmpz_jacobi": Symbol<Fmpz>,
        powm = "fmpz_powm": Power<Fmpz>,
        invmod = "fmpz_invmod": Invert<Fmpz>,
        version = "flint_version": *const c_char,
    }
}

fn load(library: Library, file: &str) -> Result<Box<dyn Peer>, libloading::Error> {
    let library = Api::new(library)?;
    // SAFETY: `flint_version` is a constant array of characters that ends in zero.
    let version = unsafe { c_string(library.version) };
    Ok(Box::new(IntegerPeer { library, about: About { name: KIND.name, version, library: file.to_owned() } }))
}

// SAFETY: FLINT's functions may be called from any thread on that thread's numbers, and the version is
// constant.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Integers for Api {
    type Number = Fmpz;

    fn mul(&self) -> Binary<Fmpz> {
        self.mul
    }

    fn add_mul(&self) -> Binary<Fmpz> {
        self.add_mul
    }

    fn gcd(&self) -> Binary<Fmpz> {
        self.gcd
    }

    fn modulo(&self) -> Binary<Fmpz> {
        self.modulo
    }

    fn divide(&self) -> Divide<Fmpz> {
        self.divide
    }

    fn sqrt(&self) -> Unary<Fmpz> {
        self.sqrt
    }

    fn jacobi(&self) -> Symbol<Fmpz> {
        self.jacobi
    }

    fn power(&self) -> Power<Fmpz> {
        self.powm
    }

    fn invert(&self) -> Invert<Fmpz> {
        self.invmod
    }

    fn import(&self, limbs: &[u64]) -> Fmpz {
        let words: Vec<usize> = limbs.iter().map(|&limb| limb as usize).collect();
        let mut number = 0; // A zero word is an initialised number.
        if !words.is_empty() {
            // SAFETY: reads as many words as are there into an initialised number.
            unsafe { (self.import)(&raw mut number, words.as_ptr(), words.len() as isize) };
        }
        number
    }

    fn export(&self, number: &Fmpz, limbs: usize) -> Vec<u64> {
        // SAFETY: an initialised number, and a buffer with room for all of its words.
        unsafe {
            let mut words = vec![0usize; limbs.max((self.bits)(number).div_ceil(64))];
            (self.export)(words.as_mut_ptr(), words.len() as isize, number);
            words.into_iter().map(|word| word as u64).collect()
        }
    }

    fn clear(&self, number: &mut Fmpz) {
        // SAFETY: the number was initialised and is not used again.
        unsafe { (self.clear)(number) }
    }

    const REMAINDER: &'static str = "fmpz_mod";

    fn function(op: Op) -> &'static str {
        match op {
            Op::Mul | Op::Square => "fmpz_mul",
            Op::MulMod | Op::SquareMod => "fmpz_mul, fmpz_mod",
            Op::Inv => "fmpz_invmod",
            Op::Gcd => "fmpz_gcd",
            Op::Jacobi => "fmpz_jacobi",
            Op::Div => "fmpz_tdiv_qr",
            Op::Isqrt => "fmpz_sqrt",
            _ => "fmpz_powm",
        }
    }
}
