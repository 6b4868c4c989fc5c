//! Memory that is free goes back to the system.
#![allow(unsafe_code)]

/// Allocations of this length and above have pages of their own, which the system has back as soon as they
/// are free: bodies of requests and batches. By itself glibc raises this limit to 32 MiB when such an
/// allocation is freed, and keeps what is below.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: std::ffi::c_int = 128 << 10;

/// Has large allocations given back to the system when they are free. Call it before threads start.
pub(super) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        const M_MMAP_THRESHOLD: c_int = -3;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        // SAFETY: the signature is that of glibc, and the parameter takes any value up to 32 MiB. A refusal
        // changes nothing.
        unsafe { mallopt(M_MMAP_THRESHOLD, OWN_PAGES) };
    }
}
