//! The C functions. Each reads its arguments, calls a safe function, and writes its answers.
//!
//! A pointer that is null where a value is needed, that is not aligned, or whose length cannot be that of an
//! object in memory is refused with CKR_ARGUMENTS_BAD. Whether other pointers can be read cannot be found
//! out: PKCS #11 has the program promise it.
#![allow(unsafe_code, non_snake_case)]

mod crypt;
mod digest;
mod general;
mod keys;
mod lists;
mod mechanism;
mod memory;
mod objects;
mod sessions;
mod sign;
mod slots;
mod unsupported;

pub use lists::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};

use crate::module::Module;
use crate::refusal::{Answer, Refusal};
use crate::{global, log};
use cryptoki_sys::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Has `work` done with the initialised module, for the C function `name`.
fn call(name: &str, work: impl FnOnce(&Module) -> Answer) -> CK_RV {
    finish(name, || work(&*global::current()?))
}

/// The return value of `work`. A panic does not leave this function: the program is not ours to end.
fn finish(name: &str, work: impl FnOnce() -> Answer) -> CK_RV {
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Refusal::new(CKR_GENERAL_ERROR, "the module failed: this is a bug of modmill"))
    });
    match outcome {
        Ok(()) => CKR_OK,
        Err(refusal) => {
            log::refused(name, &refusal);
            refusal.code
        }
    }
}

/// Defines C functions by what they do with the initialised module.
macro_rules! functions {
    ($(fn $name:ident($module:ident $(, $argument:ident: $type:ty)* $(,)?) $body:block)*) => { $(
        #[allow(unused_unsafe, clippy::too_many_arguments)]
        pub(super) unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            $crate::api::call(stringify!($name), |$module| {
                // SAFETY: the program promises that pointers which are not null point to as many values as
                // their lengths say, and that nobody else writes them during the call (PKCS #11 3.0,
                // section 5). `memory` checks the rest.
                unsafe { $body }
            })
        }
    )* };
}

use functions;
