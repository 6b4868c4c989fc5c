//! The native part of the Python package `modmill`: numbers of Python in, batches of the engine, numbers of
//! Python out.
//!
//! A call goes through four files: [`reader`] reads the arguments, [`arithmetic`], [`rsa`] or [`paillier`]
//! computes, [`watching`] lets Python's signals and progress in while the engine works without the
//! interpreter's lock, and [`answers`] makes Python's objects of the answers. The functions and classes that
//! users call are in the package's Python files, which document them.

mod answers;
mod arguments;
mod arithmetic;
mod arrow_in;
mod arrow_out;
mod arrow_values;
mod audit;
mod checks;
mod column;
mod device;
mod dlpack;
mod engine;
mod errors;
mod integers;
mod ints;
mod limb_arrays;
mod on_device;
mod options;
mod paillier;
mod parquet;
mod powers;
mod primes;
mod psi;
mod psi_party;
mod reader;
mod rsa;
mod rsa_schemes;
mod signs;
mod strings;
mod trees;
mod upload;
mod watching;

use pyo3::prelude::*;

/// The native part of the package `modmill`.
#[pymodule(gil_used = false)]
mod _modmill {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn version(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    #[pymodule_export]
    use crate::arithmetic::{gcd, invert, mul, mulmod, powmod};
    #[pymodule_export]
    use crate::arrow_out::Column;
    #[pymodule_export]
    use crate::audit::{audit, audit_corpus_len};
    #[pymodule_export]
    use crate::engine::{Engine, nvrtc};
    #[pymodule_export]
    use crate::integers::{divexact, f_divmod, gcdext, is_square, isqrt, isqrt_rem, jacobi, lcm};
    #[pymodule_export]
    use crate::on_device::DeviceBatch;
    #[pymodule_export]
    use crate::paillier::arrow::{paillier_decrypt_arrow, paillier_decrypt_column_to_arrow};
    #[pymodule_export]
    use crate::paillier::column::PaillierColumn;
    #[pymodule_export]
    use crate::paillier::encrypt::{paillier_encrypt, paillier_encrypt_to_arrow};
    #[pymodule_export]
    use crate::paillier::keys::{PaillierPrivateKey, PaillierPublicKey, paillier_generate, paillier_warm};
    #[pymodule_export]
    use crate::paillier::packed::{PaillierPackedColumn, paillier_slots};
    #[pymodule_export]
    use crate::paillier::raw::PaillierCiphertexts;
    #[pymodule_export]
    use crate::parquet::{ParquetReader, ParquetWriter};
    #[pymodule_export]
    use crate::powers::{FixedBase, fixed_base, multi_pow, product_mod};
    #[pymodule_export]
    use crate::primes::{is_prime, is_strong_bpsw_prp, is_strong_selfridge_prp, next_prime};
    #[pymodule_export]
    use crate::psi::{psi_intersect, psi_run};
    #[pymodule_export]
    use crate::psi_party::PsiParty;
    #[pymodule_export]
    use crate::rsa::{RsaPrivateKey, RsaPublicKey, rsa_generate, rsa_load};
    #[pymodule_export]
    use crate::trees::{ProductTree, batch_gcd, crt};
}
