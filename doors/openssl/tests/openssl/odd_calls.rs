//! Calls that few programs make, and that OpenSSL's own tests (`evp_extra_test`) do.
#![allow(unsafe_code)]

use crate::api::{Api, LAST, Param, Pointer, call, param};
use std::ffi::{CStr, c_char, c_int, c_ulong};
use std::ptr::{null, null_mut};

/// `OSSL_PARAM_UNSIGNED_INTEGER`, `OSSL_PARAM_UTF8_STRING` and `OSSL_PARAM_OCTET_STRING`.
const UNSIGNED: u32 = 2;
const UTF8: u32 = 4;
const OCTETS: u32 = 5;

/// A key whose modulus, exponents and primes are all `number`, made of parameters.
fn key_of_one_number(api: &Api, number: u8) -> Pointer {
    let mut values = [[number]; 5];
    let names = [c"n", c"e", c"d", c"rsa-factor1", c"rsa-factor2"];
    let mut numbers: Vec<Param> =
        names.into_iter().zip(&mut values).map(|(name, value)| param(name, UNSIGNED, value)).collect();
    numbers.push(LAST);
    api.key_of(numbers.as_mut_ptr()).expect("the numbers are taken")
}

/// The number of a key that is called `name`, which has to be one byte at most.
fn number_of(api: &Api, key: Pointer, name: &CStr) -> c_ulong {
    let mut number = null_mut();
    let status = call!(
        api.libcrypto,
        c"EVP_PKEY_get_bn_param"(
            key => Pointer, name.as_ptr() => *const c_char, &mut number => *mut Pointer
        ) -> c_int
    );
    assert_eq!(status, 1, "{name:?}");
    call!(api.libcrypto, c"BN_get_word"(number => Pointer) -> c_ulong)
}

/// The number of the library and the number of the reason in the first error of the queue.
fn first_error(api: &Api) -> (c_ulong, c_ulong) {
    let error = call!(api.libcrypto, c"ERR_peek_error"() -> c_ulong);
    call!(api.libcrypto, c"ERR_clear_error"() -> ());
    ((error >> 23) & 0xff, error & 0x7f_ffff)
}

#[test]
fn numbers_that_are_no_key_are_held() {
    let Some(api) = Api::new() else { return };
    let keys = [0, 1].map(|number| key_of_one_number(&api, number));
    for (number, key) in [0, 1].into_iter().zip(keys) {
        assert_eq!(api.provider(key), "modmill");
        for name in [c"n", c"e", c"d", c"rsa-factor2"] {
            assert_eq!(number_of(&api, key, name), number, "{name:?}");
        }
        let bits = call!(api.libcrypto, c"EVP_PKEY_get_bits"(key => Pointer) -> c_int);
        assert_eq!(c_ulong::try_from(bits), Ok(number), "0 has no bits, and 1 has one");
        let security = call!(api.libcrypto, c"EVP_PKEY_get_security_bits"(key => Pointer) -> c_int);
        assert_eq!(security, 0);
        let same = api.key_of(api.numbers_of(key)).expect("a key");
        assert_eq!(call!(api.libcrypto, c"EVP_PKEY_eq"(key => Pointer, same => Pointer) -> c_int), 1);
        let copy = call!(api.libcrypto, c"EVP_PKEY_dup"(key => Pointer) -> Pointer);
        assert_eq!(number_of(&api, copy, c"d"), number);
    }
    assert_eq!(call!(api.libcrypto, c"EVP_PKEY_eq"(keys[0] => Pointer, keys[1] => Pointer) -> c_int), 0);
    let usable = api.generate(2);
    assert_eq!(call!(api.libcrypto, c"EVP_PKEY_eq"(keys[0] => Pointer, usable => Pointer) -> c_int), 0);
}

#[test]
fn numbers_that_are_no_key_compute_nothing() {
    let Some(api) = Api::new() else { return };
    for number in [0, 1] {
        let (context, mut out, mut len) =
            (api.with_key(key_of_one_number(&api, number)), [0u8; 256], 256usize);
        for check in [c"EVP_PKEY_check", c"EVP_PKEY_public_check", c"EVP_PKEY_pairwise_check"] {
            assert_eq!(call!(api.libcrypto, check(context => Pointer) -> c_int), 0, "{check:?}");
        }
        for (init, compute) in [
            (c"EVP_PKEY_sign_init", c"EVP_PKEY_sign"),
            (c"EVP_PKEY_verify_recover_init", c"EVP_PKEY_verify_recover"),
            (c"EVP_PKEY_encrypt_init", c"EVP_PKEY_encrypt"),
            (c"EVP_PKEY_decrypt_init", c"EVP_PKEY_decrypt"),
        ] {
            assert_eq!(call!(api.libcrypto, init(context => Pointer) -> c_int), 1, "{init:?}");
            let status = call!(
                api.libcrypto,
                compute(
                    context => Pointer, out.as_mut_ptr() => *mut u8, &mut len => *mut usize,
                    [7u8; 20].as_ptr() => *const u8, 20 => usize
                ) -> c_int
            );
            assert!(status <= 0, "{compute:?}");
        }
        assert_eq!(call!(api.libcrypto, c"EVP_PKEY_verify_init"(context => Pointer) -> c_int), 1);
        let status = call!(
            api.libcrypto,
            c"EVP_PKEY_verify"(
                context => Pointer, out.as_ptr() => *const u8, out.len() => usize,
                [7u8; 20].as_ptr() => *const u8, 20 => usize
            ) -> c_int
        );
        assert!(status <= 0);
    }
}

/// The signature of a digest by a key, with PKCS #1 v1.5, by a provider that `properties` name. `None` if it
/// refuses.
fn signature_by(api: &Api, key: Pointer, properties: &CStr) -> Option<[u8; 128]> {
    let context = call!(
        api.libcrypto,
        c"EVP_PKEY_CTX_new_from_pkey"(
            api.context => Pointer, key => Pointer, properties.as_ptr() => *const c_char
        ) -> Pointer
    );
    assert_eq!(call!(api.libcrypto, c"EVP_PKEY_sign_init"(context => Pointer) -> c_int), 1, "{properties:?}");
    let (mut signature, mut len, digest) = ([0u8; 128], 128usize, [7u8; 32]);
    let status = call!(
        api.libcrypto,
        c"EVP_PKEY_sign"(
            context => Pointer, signature.as_mut_ptr() => *mut u8, &mut len => *mut usize,
            digest.as_ptr() => *const u8, digest.len() => usize
        ) -> c_int
    );
    (status == 1).then_some(signature)
}

#[test]
fn numbers_that_do_not_belong_together_sign_as_openssl_signs() {
    let Some(api) = Api::new() else { return };
    let right = api.generate(2);
    for name in [c"d", c"rsa-factor1", c"rsa-exponent2", c"rsa-coefficient1"] {
        let numbers = api.numbers_of(right);
        let param = call!(
            api.libcrypto,
            c"OSSL_PARAM_locate"(numbers => *mut Param, name.as_ptr() => *const c_char) -> *mut Param
        );
        // SAFETY: the key has this number, and its lowest byte may be written.
        unsafe { *(*param).data.cast::<u8>() ^= 2 };
        let wrong = api.key_of(numbers).expect("the numbers are taken");
        assert_eq!(api.provider(wrong), "modmill");
        let ours = signature_by(&api, wrong, c"provider=modmill");
        assert_eq!(ours, signature_by(&api, wrong, c"provider=default"), "{name:?}");
        assert!(ours.is_some(), "{name:?}");
        let context = api.with_key(wrong);
        assert_eq!(call!(api.libcrypto, c"EVP_PKEY_check"(context => Pointer) -> c_int), 0, "{name:?}");
        call!(api.libcrypto, c"ERR_clear_error"() -> ());
    }
}

#[test]
fn signatures_are_prepared_with_an_old_key_of_ones() {
    let Some(api) = Api::new() else { return };
    let one = || {
        let one = call!(api.libcrypto, c"BN_value_one"() -> Pointer);
        call!(api.libcrypto, c"BN_dup"(one => Pointer) -> Pointer)
    };
    let rsa = call!(api.libcrypto, c"RSA_new"() -> Pointer);
    let status = call!(
        api.libcrypto,
        c"RSA_set0_factors"(rsa => Pointer, one() => Pointer, one() => Pointer) -> c_int
    );
    assert_eq!(status, 1);
    let status = call!(
        api.libcrypto,
        c"RSA_set0_key"(rsa => Pointer, one() => Pointer, one() => Pointer, one() => Pointer) -> c_int
    );
    assert_eq!(status, 1);
    let key = call!(api.libcrypto, c"EVP_PKEY_new"() -> Pointer);
    // EVP_PKEY_RSA.
    let status =
        call!(api.libcrypto, c"EVP_PKEY_assign"(key => Pointer, 6 => c_int, rsa => Pointer) -> c_int);
    assert_eq!(status, 1);
    assert!(sign_init(&api, key, c"SHA256", None).is_some());
}

/// A context that hashes and signs by a provider that `properties` name. `None` if the key or the digest is
/// refused.
fn sign_init(api: &Api, key: Pointer, digest: &CStr, properties: Option<&CStr>) -> Option<Pointer> {
    let context = call!(api.libcrypto, c"EVP_MD_CTX_new"() -> Pointer);
    let properties = properties.map_or(null(), CStr::as_ptr);
    let status = call!(
        api.libcrypto,
        c"EVP_DigestSignInit_ex"(
            context => Pointer, null_mut() => *mut Pointer, digest.as_ptr() => *const c_char,
            api.context => Pointer, properties => *const c_char, key => Pointer, null() => *const Param
        ) -> c_int
    );
    (status == 1).then_some(context)
}

#[test]
fn digests_of_ssl_3_take_the_master_secret() {
    let Some(api) = Api::new() else { return };
    let key = api.generate(2);
    let set = |context: Pointer, secret: &mut [u8]| {
        let params = [param(c"ssl3-ms", OCTETS, secret), LAST];
        call!(
            api.libcrypto,
            c"EVP_MD_CTX_set_params"(context => Pointer, params.as_ptr() => *const Param) -> c_int
        )
    };
    for digest in [c"SHA1", c"MD5-SHA1"] {
        let [ours, theirs] = [c"provider=modmill", c"provider=default"].map(|properties| {
            let context = sign_init(&api, key, digest, Some(properties)).expect("a context");
            let list =
                call!(api.libcrypto, c"EVP_MD_CTX_settable_params"(context => Pointer) -> *const Param);
            assert!(!list.is_null(), "{digest:?} by {properties:?} has parameters");
            let (message, mut signature, mut len) = (b"the handshake", [0u8; 128], 128usize);
            let status = call!(
                api.libcrypto,
                c"EVP_DigestSignUpdate"(
                    context => Pointer, message.as_ptr() => *const u8, message.len() => usize
                ) -> c_int
            );
            assert_eq!(status, 1);
            assert!(set(context, &mut [7; 47]) <= 0, "a master secret has 48 bytes");
            assert_eq!(set(context, &mut [7; 48]), 1, "{digest:?} by {properties:?}");
            let status = call!(
                api.libcrypto,
                c"EVP_DigestSignFinal"(
                    context => Pointer, signature.as_mut_ptr() => *mut u8, &mut len => *mut usize
                ) -> c_int
            );
            assert_eq!((status, len), (1, 128));
            signature
        });
        assert_eq!(ours, theirs, "{digest:?}");
    }
    let context = sign_init(&api, key, c"SHA256", Some(c"provider=modmill")).expect("a context");
    assert!(set(context, &mut [7; 48]) <= 0, "SSL 3.0 does not sign with SHA-256");
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
