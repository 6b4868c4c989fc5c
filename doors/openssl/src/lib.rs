//! A provider for OpenSSL 3. The provider has RSA keys, signatures and encryption, and a store for keys that
//! the signing service holds. It leaves everything else to OpenSSL's own providers.
//!
//! ```text
//!  libcrypto            OSSL_provider_init, tables of functions    provider.rs, ffi.rs
//!     |
//!  keymgmt.rs  keygen.rs  signature.rs  asym_cipher.rs  store.rs   the functions of each operation
//!     |
//!  job.rs               a job of ASYNC is paused while its operation is computed, other callers wait
//!     |
//!  modmill-client       one queue for all of them
//! ```
//!
//! The numbers of functions and the layout of parameters are OpenSSL's public interface (`core_dispatch.h`,
//! `core.h`, `core_names.h`), so that no OpenSSL is needed to build this library. ASYNC is not among the
//! functions that OpenSSL hands to a provider. It is looked up in the libcrypto that loaded the provider,
//! like the default provider's RSA (default_rsa.rs), which computes operations without company (single.rs)
//! and those with keys that are not for the engine (delegated.rs).

#![allow(unsafe_code)]

mod asym_cipher;
mod context;
mod core_handle;
mod decoder;
mod default_rsa;
mod delegated;
mod der;
mod digest;
mod failure;
mod ffi;
mod job;
mod key;
mod keygen;
mod keymgmt;
mod libcrypto;
mod names;
mod padding;
mod param_lists;
mod params;
mod provider;
mod provider_context;
mod signature;
mod signature_context;
mod single;
mod statistics;
mod store;
mod unusable;
mod x931;

pub use provider::OSSL_provider_init;
