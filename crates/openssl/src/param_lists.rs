//! Lists of the parameters that functions take and give, for callers that ask.

use crate::ffi::Param;
use crate::names::param::*;
use crate::params::{INTEGER, OCTETS, OCTETS_POINTER, UNSIGNED, UTF8, UTF8_POINTER};
use std::ffi::CStr;

/// The end of a list.
pub(crate) const LAST: Param =
    Param { key: std::ptr::null(), data_type: 0, data: std::ptr::null_mut(), data_size: 0, return_size: 0 };

const fn named(name: &'static CStr, data_type: u32) -> Param {
    Param { key: name.as_ptr(), data_type, ..LAST }
}

/// No parameters.
pub(crate) static NOTHING: [Param; 1] = [LAST];

/// Parameters of the provider.
pub(crate) static PROVIDER: [Param; 7] = [
    named(NAME, UTF8_POINTER),
    named(VERSION, UTF8_POINTER),
    named(BUILDINFO, UTF8_POINTER),
    named(STATUS, INTEGER),
    named(OPERATIONS, UNSIGNED),
    named(BATCHES, UNSIGNED),
    LAST,
];

/// The numbers of a key pair.
pub(crate) static KEYPAIR: [Param; 9] = [
    named(N, UNSIGNED),
    named(E, UNSIGNED),
    named(D, UNSIGNED),
    named(FACTOR1, UNSIGNED),
    named(FACTOR2, UNSIGNED),
    named(EXPONENT1, UNSIGNED),
    named(EXPONENT2, UNSIGNED),
    named(COEFFICIENT1, UNSIGNED),
    LAST,
];

/// The numbers of a public key.
pub(crate) static PUBLIC_KEY: [Param; 3] = [named(N, UNSIGNED), named(E, UNSIGNED), LAST];

/// What a key tells of itself.
pub(crate) static KEY: [Param; 13] = [
    named(BITS, INTEGER),
    named(SECURITY_BITS, INTEGER),
    named(MAX_SIZE, INTEGER),
    named(DEFAULT_DIGEST, UTF8),
    named(N, UNSIGNED),
    named(E, UNSIGNED),
    named(D, UNSIGNED),
    named(FACTOR1, UNSIGNED),
    named(FACTOR2, UNSIGNED),
    named(EXPONENT1, UNSIGNED),
    named(EXPONENT2, UNSIGNED),
    named(COEFFICIENT1, UNSIGNED),
    LAST,
];

/// What the generation of a key takes.
pub(crate) static GENERATION: [Param; 4] =
    [named(BITS, UNSIGNED), named(PRIMES, UNSIGNED), named(E, UNSIGNED), LAST];

/// What a signature takes.
pub(crate) static SIGNATURE_SETTABLE: [Param; 5] =
    [named(DIGEST, UTF8), named(PAD_MODE, UTF8), named(SALT_LENGTH, UTF8), named(MGF1_DIGEST, UTF8), LAST];

/// What a signature tells of itself.
pub(crate) static SIGNATURE_GETTABLE: [Param; 6] = [
    named(ALGORITHM_ID, OCTETS),
    named(DIGEST, UTF8),
    named(PAD_MODE, UTF8),
    named(SALT_LENGTH, UTF8),
    named(MGF1_DIGEST, UTF8),
    LAST,
];

/// What an encryption takes.
pub(crate) static CIPHER_SETTABLE: [Param; 8] = [
    named(DIGEST, UTF8),
    named(PAD_MODE, UTF8),
    named(MGF1_DIGEST, UTF8),
    named(OAEP_LABEL, OCTETS),
    named(TLS_CLIENT_VERSION, UNSIGNED),
    named(TLS_NEGOTIATED_VERSION, UNSIGNED),
    named(IMPLICIT_REJECTION, UNSIGNED),
    LAST,
];

/// What an encryption tells of itself.
pub(crate) static CIPHER_GETTABLE: [Param; 7] = [
    named(OAEP_LABEL, OCTETS_POINTER),
    named(DIGEST, UTF8),
    named(PAD_MODE, UTF8),
    named(MGF1_DIGEST, UTF8),
    named(TLS_CLIENT_VERSION, UNSIGNED),
    named(TLS_NEGOTIATED_VERSION, UNSIGNED),
    LAST,
];
