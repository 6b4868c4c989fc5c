//! Calls of libcrypto that the program `openssl` does not make, in this process and in a library context of
//! their own.
#![allow(unsafe_code)]

use crate::common::Setup;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

pub(crate) type Pointer = *mut c_void;

/// `OSSL_PARAM`.
#[repr(C)]
pub(crate) struct Param {
    key: *const c_char,
    data_type: u32,
    pub(crate) data: Pointer,
    data_size: usize,
    return_size: usize,
}

pub(crate) const LAST: Param =
    Param { key: null(), data_type: 0, data: null_mut(), data_size: 0, return_size: 0 };

/// `EVP_PKEY_KEYPAIR`.
const KEYPAIR: c_int = 0x87;

/// A parameter whose value is at `data`.
pub(crate) fn param<T>(key: &'static CStr, data_type: u32, data: &mut [T]) -> Param {
    let data_size = size_of_val(data);
    Param { key: key.as_ptr(), data_type, data: data.as_mut_ptr().cast(), data_size, return_size: 0 }
}

/// Calls the function `$name` of libcrypto.
macro_rules! call {
    ($libcrypto:expr, $name:tt($($argument:expr => $type:ty),*) -> $result:ty) => {{
        // SAFETY: the tests name public functions of OpenSSL 3 with their types, and pass what these take.
        unsafe {
            let symbol = libc::dlsym($libcrypto, $name.as_ptr());
            assert!(!symbol.is_null(), "libcrypto has no {:?}", $name);
            std::mem::transmute::<Pointer, unsafe extern "C" fn($($type),*) -> $result>(symbol)($($argument),*)
        }
    }};
}
pub(crate) use call;

/// libcrypto with a library context that has the provider.
pub(crate) struct Api {
    pub(crate) libcrypto: Pointer,
    pub(crate) context: Pointer,
    _setup: Setup,
}

impl Api {
    pub(crate) fn new() -> Option<Self> {
        let setup = Setup::new()?;
        // SAFETY: the name ends with a zero, and nothing is closed.
        let libcrypto = unsafe { libc::dlopen(c"libcrypto.so.3".as_ptr(), libc::RTLD_NOW) };
        if libcrypto.is_null() {
            eprintln!("LEFT OUT: there is no libcrypto.so.3");
            return None;
        }
        let context = call!(libcrypto, c"OSSL_LIB_CTX_new"() -> Pointer);
        let file = CString::new(setup.path("modmill.cnf").to_str().expect("a name")).expect("a name");
        let status = call!(
            libcrypto,
            c"OSSL_LIB_CTX_load_config"(context => Pointer, file.as_ptr() => *const c_char) -> c_int
        );
        assert_eq!(status, 1, "the configuration is loaded");
        Some(Self { libcrypto, context, _setup: setup })
    }

    /// A context for RSA keys.
    pub(crate) fn rsa(&self) -> Pointer {
        call!(
            self.libcrypto,
            c"EVP_PKEY_CTX_new_from_name"(
                self.context => Pointer, c"RSA".as_ptr() => *const c_char, null() => *const c_char
            ) -> Pointer
        )
    }

    /// A new key of 1024 bits with the given number of primes.
    pub(crate) fn generate(&self, primes: i32) -> Pointer {
        let (mut bits, mut primes, mut key) = ([1024], [primes], null_mut());
        let options = [param(c"bits", 1, &mut bits), param(c"primes", 1, &mut primes), LAST];
        let context = self.rsa();
        assert_eq!(call!(self.libcrypto, c"EVP_PKEY_keygen_init"(context => Pointer) -> c_int), 1);
        let status = call!(
            self.libcrypto,
            c"EVP_PKEY_CTX_set_params"(context => Pointer, options.as_ptr() => *const Param) -> c_int
        );
        assert_eq!(status, 1);
        let status = call!(
            self.libcrypto,
            c"EVP_PKEY_generate"(context => Pointer, &mut key => *mut Pointer) -> c_int
        );
        assert_eq!(status, 1);
        key
    }

    /// A key of its numbers, private ones among them. `None` if the provider refuses them.
    pub(crate) fn key_of(&self, numbers: *mut Param) -> Option<Pointer> {
        let (context, mut key) = (self.rsa(), null_mut());
        assert_eq!(call!(self.libcrypto, c"EVP_PKEY_fromdata_init"(context => Pointer) -> c_int), 1);
        let status = call!(
            self.libcrypto,
            c"EVP_PKEY_fromdata"(
                context => Pointer, &mut key => *mut Pointer, KEYPAIR => c_int, numbers => *mut Param
            ) -> c_int
        );
        (status == 1).then_some(key)
    }

    /// The numbers of a key, private ones among them.
    pub(crate) fn numbers_of(&self, key: Pointer) -> *mut Param {
        let mut numbers = null_mut();
        let status = call!(
            self.libcrypto,
            c"EVP_PKEY_todata"(key => Pointer, KEYPAIR => c_int, &mut numbers => *mut *mut Param) -> c_int
        );
        assert_eq!(status, 1, "a key has numbers");
        numbers
    }

    /// A context for operations with a key.
    pub(crate) fn with_key(&self, key: Pointer) -> Pointer {
        call!(
            self.libcrypto,
            c"EVP_PKEY_CTX_new_from_pkey"(
                self.context => Pointer, key => Pointer, null() => *const c_char
            ) -> Pointer
        )
    }

    pub(crate) fn provider(&self, key: Pointer) -> String {
        let provider = call!(self.libcrypto, c"EVP_PKEY_get0_provider"(key => Pointer) -> Pointer);
        let name = call!(self.libcrypto, c"OSSL_PROVIDER_get0_name"(provider => Pointer) -> *const c_char);
        // SAFETY: OpenSSL's names end with a zero.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

#[test]
fn keys_are_made_of_their_numbers() {
    let Some(api) = Api::new() else { return };
    for primes in [2, 3] {
        let key = api.generate(primes);
        let again = api.key_of(api.numbers_of(key)).expect("a key");
        assert_eq!(api.provider(again), "modmill");
        assert_eq!(call!(api.libcrypto, c"EVP_PKEY_eq"(key => Pointer, again => Pointer) -> c_int), 1);
        let check = api.with_key(again);
        assert_eq!(call!(api.libcrypto, c"EVP_PKEY_check"(check => Pointer) -> c_int), 1, "{primes} primes");
    }
}

#[test]
fn an_empty_key_takes_no_parameters() {
    let Some(api) = Api::new() else { return };
    let (key, empty) = (api.generate(2), call!(api.libcrypto, c"EVP_PKEY_new"() -> Pointer));
    let copied = call!(api.libcrypto, c"EVP_PKEY_copy_parameters"(empty => Pointer, key => Pointer) -> c_int);
    assert_eq!(copied, 0, "RSA has none");
}

#[test]
fn digests_of_oaep_have_openssls_first_names() {
    let Some(api) = Api::new() else { return };
    let context = api.with_key(api.generate(2));
    let (mut padding, mut hash, mut mask) = ([4], *b"SHA256", *b"SHA1");
    let options = [
        param(c"pad-mode", 1, &mut padding),
        param(c"digest", 4, &mut hash),
        param(c"mgf1-digest", 4, &mut mask),
        LAST,
    ];
    let status = call!(
        api.libcrypto,
        c"EVP_PKEY_encrypt_init_ex"(context => Pointer, options.as_ptr() => *const Param) -> c_int
    );
    assert_eq!(status, 1);
    let (mut hash, mut mask) = ([0u8; 30], [0u8; 30]);
    let mut wanted = [param(c"digest", 4, &mut hash), param(c"mgf1-digest", 4, &mut mask), LAST];
    let status = call!(
        api.libcrypto,
        c"EVP_PKEY_CTX_get_params"(context => Pointer, wanted.as_mut_ptr() => *mut Param) -> c_int
    );
    assert_eq!(status, 1);
    assert!(hash.starts_with(b"SHA2-256\0") && mask.starts_with(b"SHA1\0"), "{hash:?} {mask:?}");
}
