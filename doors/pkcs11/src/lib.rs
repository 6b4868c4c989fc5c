//! A PKCS #11 module whose RSA operations are computed in batches across the threads of a program.
//!
//! ```text
//!  api          the C functions: pointers become values, panics and refusals become return values
//!    |
//!  global       the module of this process; a fork
//!    |
//!  module       slots and sessions            config   which tokens there are
//!    |
//!  slot         a token and session objects   object, attributes, template   what an object is
//!    |      \
//!  token      operation                       mechanism   what can be computed
//!    |             \
//!  keystore file    modmill-client            batches, or the signing service
//!  or the service
//! ```
//!
//! Programs load the shared library `libmodmill_pkcs11.so` and call what `C_GetFunctionList` names.
//! `docs/use/pkcs11.md` says how. All code below `api` is free of `unsafe`, but for the handlers of `fork` in
//! `global`.

// CK_ULONG has 32 bits on some platforms and 64 on others, so that some conversions change nothing here.
#![allow(clippy::unnecessary_cast)]

mod api;
mod attributes;
mod codec;
mod config;
mod global;
mod log;
mod mechanism;
mod module;
mod object;
mod operation;
mod refusal;
mod session;
mod slot;
mod template;
mod token;

pub use api::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};
