//! GMP: `mpz_powm` and friends.
#![allow(unsafe_code)]

use super::integers::{Binary, Divide, IntegerPeer, Integers, Invert, Power, Symbol, Unary};
use super::library::{Kind, api, c_string};
use super::peer::{About, Peer};
use libloading::Library;
use modmill::Op;
use std::ffi::{c_char, c_int, c_void};

pub(super) const KIND: Kind = Kind { name: "gmp", files: &["libgmp.so.10", "libgmp.so"], load };

/// The structure behind `mpz_t`, as in `gmp.h`.
#[repr(C)]
struct Mpz {
    alloc: c_int,
    size: c_int,
    limbs: *mut c_void,
}

api! {
    struct Api {
        init = "__gmpz_init": unsafe extern "C" fn(*mut Mpz),
        clear = "__gmpz_clear": unsafe extern "C" fn(*mut Mpz),
        import = "__gmpz_import":
            unsafe extern "C" fn(*mut Mpz, usize, c_int, usize, c_int, usize, *const c_void),
        export = "__gmpz_export":
            unsafe extern "C" fn(*mut c_void, *mut usize, c_int, usize, c_int, usize, *const Mpz) -> *mut c_void,
        mul = "__gmpz_mul": Binary<Mpz>,
        add_mul = "__gmpz_addmul": Binary<Mpz>,
        gcd = "__gmpz_gcd": Binary<Mpz>,
        modulo = "__gmpz_mod": Binary<Mpz>,
        divide = "__gmpz_tdiv_qr": Divide<Mpz>,
        sqrt = "__gmpz_sqrt": Unary<Mpz>,
        jacobi = "__gmpz_jacobi": Symbol<Mpz>,
        powm = "__gmpz_powm": Power<Mpz>,
        invert = "__gmpz_invert": Invert<Mpz>,
        version = "__gmp_version": *const *const c_char,
    }
}

fn load(library: Library, file: &str) -> Result<Box<dyn Peer>, libloading::Error> {
    let library = Api::new(library)?;
    // SAFETY: `gmp_version` is a constant pointer to a constant string.
    let version = unsafe { c_string(*library.version) };
    Ok(Box::new(IntegerPeer { library, about: About { name: KIND.name, version, library: file.to_owned() } }))
}

// SAFETY: GMP's functions may be called from any thread on that thread's numbers, and the version is
// constant.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Integers for Api {
    type Number = Mpz;

    fn mul(&self) -> Binary<Mpz> {
        self.mul
    }

    fn add_mul(&self) -> Binary<Mpz> {
        self.add_mul
    }

    fn gcd(&self) -> Binary<Mpz> {
        self.gcd
    }

    fn modulo(&self) -> Binary<Mpz> {
        self.modulo
    }

    fn divide(&self) -> Divide<Mpz> {
        self.divide
    }

    fn sqrt(&self) -> Unary<Mpz> {
        self.sqrt
    }

    fn jacobi(&self) -> Symbol<Mpz> {
        self.jacobi
    }

    fn power(&self) -> Power<Mpz> {
        self.powm
    }

    fn invert(&self) -> Invert<Mpz> {
        self.invert
    }

    fn import(&self, limbs: &[u64]) -> Mpz {
        let mut number = Mpz { alloc: 0, size: 0, limbs: std::ptr::null_mut() };
        // SAFETY: `init` makes a number in place, and the number may be moved. `import` reads `limbs.len()`
        // words: the least significant first, in native byte order, without nails.
        unsafe {
            (self.init)(&raw mut number);
            (self.import)(&raw mut number, limbs.len(), -1, 8, 0, 0, limbs.as_ptr().cast());
        }
        number
    }

    fn export(&self, number: &Mpz, limbs: usize) -> Vec<u64> {
        let mut value = vec![0u64; limbs.max(number.size.unsigned_abs() as usize)];
        // SAFETY: the buffer has room for all limbs of the number.
        unsafe {
            (self.export)(value.as_mut_ptr().cast(), std::ptr::null_mut(), -1, 8, 0, 0, number);
        }
        value
    }

    fn clear(&self, number: &mut Mpz) {
        // SAFETY: the number was initialised and is not used again.
        unsafe { (self.clear)(number) }
    }

    const REMAINDER: &'static str = "mpz_mod";

    fn function(op: Op) -> &'static str {
        match op {
            Op::Mul | Op::Square => "mpz_mul",
            Op::MulMod | Op::SquareMod => "mpz_mul, mpz_mod",
            Op::Inv => "mpz_invert",
            Op::Gcd => "mpz_gcd",
            Op::Jacobi => "mpz_jacobi",
            Op::Div => "mpz_tdiv_qr",
            Op::Isqrt => "mpz_sqrt",
            _ => "mpz_powm",
        }
    }
}
