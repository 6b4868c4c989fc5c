//! Lists of the parameters that functions take and give, for callers that ask.

use crate::ffi::{LAST, Param};
use crate::names::param::*;
use crate::params::{INTEGER, OCTETS, OCTETS_POINTER, UNSIGNED, UTF8, UTF8_POINTER};
use std::ffi::CStr;

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

/// A list of `FIRST` parameters and of all numbers of a key.
const fn with_numbers<const FIRST: usize, const ALL: usize>(
    first: [(&'static CStr, u32); FIRST],
) -> [Param; ALL] {
    assert!(ALL == FIRST + NUMBERS.len() + FURTHER.len() * FURTHER[0].len() + 1);
    let mut list = [const { LAST }; ALL];
    let mut index = 0;
    while index < ALL - 1 {
        list[index] = match index.checked_sub(FIRST) {
            None => named(first[index].0, first[index].1),
            Some(number) if number < NUMBERS.len() => named(NUMBERS[number], UNSIGNED),
            Some(number) => named(FURTHER[number / 8 - 1][number % 8], UNSIGNED),
        };
        index += 1;
    }
    list
}

/// The numbers of a key pair.
pub(crate) static KEYPAIR: [Param; 33] = with_numbers([]);

/// The numbers of a public key.
pub(crate) static PUBLIC_KEY: [Param; 3] = [named(N, UNSIGNED), named(E, UNSIGNED), LAST];

/// The parameters that can be read from a key.
pub(crate) static KEY: [Param; 37] =
    with_numbers([(BITS, INTEGER), (SECURITY_BITS, INTEGER), (MAX_SIZE, INTEGER), (DEFAULT_DIGEST, UTF8)]);

/// The parameters that the generation of a key takes.
pub(crate) static GENERATION: [Param; 4] =
    [named(BITS, UNSIGNED), named(PRIMES, UNSIGNED), named(E, UNSIGNED), LAST];

/// The parameters that a signature takes.
pub(crate) static SIGNATURE_SETTABLE: [Param; 5] =
    [named(DIGEST, UTF8), named(PAD_MODE, UTF8), named(SALT_LENGTH, UTF8), named(MGF1_DIGEST, UTF8), LAST];

/// The parameters that the digest of a signature takes, if SSL 3.0 signs with it.
pub(crate) static DIGEST_SETTABLE: [Param; 2] = [named(SSL3_MASTER_SECRET, OCTETS), LAST];

/// The parameters that can be read from a signature.
pub(crate) static SIGNATURE_GETTABLE: [Param; 6] = [
    named(ALGORITHM_ID, OCTETS),
    named(DIGEST, UTF8),
    named(PAD_MODE, UTF8),
    named(SALT_LENGTH, UTF8),
    named(MGF1_DIGEST, UTF8),
    LAST,
];

/// The parameters that an encryption takes.
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

/// The parameters that can be read from an encryption.
pub(crate) static CIPHER_GETTABLE: [Param; 8] = [
    named(OAEP_LABEL, OCTETS_POINTER),
    named(DIGEST, UTF8),
    named(PAD_MODE, UTF8),
    named(MGF1_DIGEST, UTF8),
    named(TLS_CLIENT_VERSION, UNSIGNED),
    named(TLS_NEGOTIATED_VERSION, UNSIGNED),
    named(IMPLICIT_REJECTION, UNSIGNED),
    LAST,
];
