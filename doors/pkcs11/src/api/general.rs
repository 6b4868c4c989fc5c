//! The beginning, the end, and random numbers.

use super::memory::{is_possible, padded, put, value};
use super::{finish, functions};
use crate::global;
use crate::refusal::{Answer, refuse};
use cryptoki_sys::*;
use std::ffi::c_void;

/// The version of PKCS #11 that the first function list follows.
pub(super) const VERSION_2: CK_VERSION = CK_VERSION { major: 2, minor: 40 };

/// The version of this module.
pub(super) fn library_version() -> CK_VERSION {
    let part = |text: &str| text.parse().unwrap_or(0);
    CK_VERSION { major: part(env!("CARGO_PKG_VERSION_MAJOR")), minor: part(env!("CARGO_PKG_VERSION_MINOR")) }
}

pub(super) unsafe extern "C" fn C_Initialize(arguments: *mut c_void) -> CK_RV {
    finish("C_Initialize", || {
        if !arguments.is_null() {
            // SAFETY: the program promises that the pointer is null or points to these arguments.
            check(unsafe { value(arguments.cast::<CK_C_INITIALIZE_ARGS>().cast_const()) }?)?;
        }
        global::initialise()
    })
}

/// Refuses a way of locking that this module does not have: it has the locks of the system, whether they are
/// asked for or not.
fn check(given: &CK_C_INITIALIZE_ARGS) -> Answer {
    let functions = [
        given.CreateMutex.is_some(),
        given.DestroyMutex.is_some(),
        given.LockMutex.is_some(),
        given.UnlockMutex.is_some(),
    ];
    let any = functions.contains(&true);
    if !given.pReserved.is_null() {
        return refuse(CKR_ARGUMENTS_BAD, "pReserved is not null");
    }
    if any && functions.contains(&false) {
        return refuse(CKR_ARGUMENTS_BAD, "some of the four functions of locks are given, and some are not");
    }
    if any && given.flags & CKF_OS_LOCKING_OK == 0 {
        return refuse(
            CKR_CANT_LOCK,
            "the module uses the locks of the system, and not those of the program",
        );
    }
    Ok(())
}

pub(super) unsafe extern "C" fn C_Finalize(reserved: *mut c_void) -> CK_RV {
    finish("C_Finalize", || match reserved.is_null() {
        true => global::finalise(),
        false => refuse(CKR_ARGUMENTS_BAD, "pReserved is not null"),
    })
}

functions! {
    fn C_GetInfo(_module, info: *mut CK_INFO) {
        put(info, CK_INFO {
            cryptokiVersion: VERSION_2,
            manufacturerID: padded("modmill"),
            flags: 0,
            libraryDescription: padded("RSA in batches"),
            libraryVersion: library_version(),
        })
    }

    fn C_GenerateRandom(module, session: CK_SESSION_HANDLE, buffer: *mut CK_BYTE, len: CK_ULONG) {
        module.session(session)?;
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        if buffer.is_null() || !is_possible(buffer.cast_const(), len) {
            return refuse(CKR_ARGUMENTS_BAD, "the buffer is null, or its length is impossible");
        }
        let mut piece = zeroize::Zeroizing::new([0; 4096]);
        let mut done = 0;
        while done < len {
            let count = piece.len().min(len - done);
            getrandom::fill(&mut piece[..count])?;
            std::ptr::copy_nonoverlapping(piece.as_ptr(), buffer.add(done), count);
            done += count;
        }
        Ok(())
    }

    fn C_SeedRandom(module, session: CK_SESSION_HANDLE, _seed: *mut CK_BYTE, _len: CK_ULONG) {
        module.session(session)?;
        refuse(CKR_RANDOM_SEED_NOT_SUPPORTED, "the system's generator takes no seed of a program")
    }

    fn C_GetFunctionStatus(module, session: CK_SESSION_HANDLE) {
        module.session(session)?;
        refuse(CKR_FUNCTION_NOT_PARALLEL, "no function runs beside the program")
    }

    fn C_CancelFunction(module, session: CK_SESSION_HANDLE) {
        module.session(session)?;
        refuse(CKR_FUNCTION_NOT_PARALLEL, "no function runs beside the program")
    }
}
