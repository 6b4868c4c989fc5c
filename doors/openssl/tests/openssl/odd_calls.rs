//! Calls that few programs make, and that OpenSSL's own tests (`evp_extra_test`) do.
#![allow(unsafe_code)]

use crate::api::{Api, LAST, Param, Pointer, call, param};
use std::ffi::{CStr, c_int, c_ulong};

/// `OSSL_PARAM_UTF8_STRING`.
const UTF8: u32 = 4;

/// The number of the library and the number of the reason in the first error of the queue.
fn first_error(api: &Api) -> (c_ulong, c_ulong) {
    let error = call!(api.libcrypto, c"ERR_peek_error"() -> c_ulong);
    call!(api.libcrypto, c"ERR_clear_error"() -> ());
    ((error >> 23) & 0xff, error & 0x7f_ffff)
}

#[test]
fn a_short_buffer_has_openssls_error_number() {
    /// `ERR_LIB_PROV` and `PROV_R_OUTPUT_BUFFER_TOO_SMALL`.
    const EXPECTED: (c_ulong, c_ulong) = (57, 106);
    let Some(api) = Api::new() else { return };
    let (context, digest) = (api.with_key(api.generate(2)), [7u8; 32]);
    let (mut signature, mut len) = ([0u8; 128], 128usize);
    let (mut name, mut out) = (*b"SHA256", [0xa5u8, 0x5a]);
    let options = [param(c"digest", UTF8, &mut name), LAST];
    let run = |init: &CStr, compute: &CStr, room: (*mut u8, *mut usize), input: &[u8]| {
        let status = call!(
            api.libcrypto,
            init(context => Pointer, options.as_ptr() => *const Param) -> c_int
        );
        assert_eq!(status, 1, "{init:?}");
        call!(api.libcrypto, c"ERR_clear_error"() -> ());
        call!(
            api.libcrypto,
            compute(
                context => Pointer, room.0 => *mut u8, room.1 => *mut usize,
                input.as_ptr() => *const u8, input.len() => usize
            ) -> c_int
        )
    };
    let sign = (c"EVP_PKEY_sign_init_ex", c"EVP_PKEY_sign");
    assert_eq!(run(sign.0, sign.1, (signature.as_mut_ptr(), &mut len), &digest), 1);
    let mut short = 1usize;
    let status = run(
        c"EVP_PKEY_verify_recover_init_ex",
        c"EVP_PKEY_verify_recover",
        (out.as_mut_ptr(), &mut short),
        &signature,
    );
    assert!(status <= 0);
    assert_eq!(first_error(&api), EXPECTED);
    assert_eq!(out, [0xa5, 0x5a], "nothing is written");
}
