//! Numbers and names of OpenSSL's interface to providers, as `core_dispatch.h` and `core_names.h` of OpenSSL
//! 3 have them.

use std::ffi::{CStr, c_int};

/// Functions that OpenSSL hands to a provider.
pub(crate) mod upcall {
    use super::*;
    pub(crate) const GET_PARAMS: c_int = 2;
    pub(crate) const GET_LIBCTX: c_int = 4;
    pub(crate) const NEW_ERROR: c_int = 5;
    pub(crate) const SET_ERROR_DEBUG: c_int = 6;
    pub(crate) const VSET_ERROR: c_int = 7;
    pub(crate) const BIO_READ_EX: c_int = 42;
}

/// Functions of a provider.
pub(crate) mod provider {
    use super::*;
    pub(crate) const TEARDOWN: c_int = 1024;
    pub(crate) const GETTABLE_PARAMS: c_int = 1025;
    pub(crate) const GET_PARAMS: c_int = 1026;
    pub(crate) const QUERY_OPERATION: c_int = 1027;
    pub(crate) const GET_REASON_STRINGS: c_int = 1029;
}

/// Operations.
pub(crate) mod operation {
    use super::*;
    pub(crate) const KEYMGMT: c_int = 10;
    pub(crate) const SIGNATURE: c_int = 12;
    pub(crate) const ASYM_CIPHER: c_int = 13;
    pub(crate) const DECODER: c_int = 21;
    pub(crate) const STORE: c_int = 22;
}

/// Functions of the management of keys.
pub(crate) mod keymgmt {
    use super::*;
    pub(crate) const NEW: c_int = 1;
    pub(crate) const GEN_INIT: c_int = 2;
    pub(crate) const GEN_SET_PARAMS: c_int = 4;
    pub(crate) const GEN_SETTABLE_PARAMS: c_int = 5;
    pub(crate) const GEN: c_int = 6;
    pub(crate) const GEN_CLEANUP: c_int = 7;
    pub(crate) const LOAD: c_int = 8;
    pub(crate) const FREE: c_int = 10;
    pub(crate) const GET_PARAMS: c_int = 11;
    pub(crate) const GETTABLE_PARAMS: c_int = 12;
    pub(crate) const QUERY_OPERATION_NAME: c_int = 20;
    pub(crate) const HAS: c_int = 21;
    pub(crate) const VALIDATE: c_int = 22;
    pub(crate) const MATCH: c_int = 23;
    pub(crate) const IMPORT: c_int = 40;
    pub(crate) const IMPORT_TYPES: c_int = 41;
    pub(crate) const EXPORT: c_int = 42;
    pub(crate) const EXPORT_TYPES: c_int = 43;
    pub(crate) const DUP: c_int = 44;

    /// Parts of a key.
    pub(crate) const SELECT_PRIVATE: c_int = 0x01;
    pub(crate) const SELECT_PUBLIC: c_int = 0x02;
    pub(crate) const SELECT_KEYPAIR: c_int = SELECT_PRIVATE | SELECT_PUBLIC;
}

/// Functions of signatures. Those from 26 on are of OpenSSL 3.4.
pub(crate) mod signature {
    use super::*;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const SIGN_INIT: c_int = 2;
    pub(crate) const SIGN: c_int = 3;
    pub(crate) const VERIFY_INIT: c_int = 4;
    pub(crate) const VERIFY: c_int = 5;
    pub(crate) const VERIFY_RECOVER_INIT: c_int = 6;
    pub(crate) const VERIFY_RECOVER: c_int = 7;
    pub(crate) const DIGEST_SIGN_INIT: c_int = 8;
    pub(crate) const DIGEST_SIGN_UPDATE: c_int = 9;
    pub(crate) const DIGEST_SIGN_FINAL: c_int = 10;
    pub(crate) const DIGEST_VERIFY_INIT: c_int = 12;
    pub(crate) const DIGEST_VERIFY_UPDATE: c_int = 13;
    pub(crate) const DIGEST_VERIFY_FINAL: c_int = 14;
    pub(crate) const FREECTX: c_int = 16;
    pub(crate) const DUPCTX: c_int = 17;
    pub(crate) const GET_CTX_PARAMS: c_int = 18;
    pub(crate) const GETTABLE_CTX_PARAMS: c_int = 19;
    pub(crate) const SET_CTX_PARAMS: c_int = 20;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 21;
    pub(crate) const SET_CTX_MD_PARAMS: c_int = 24;
    pub(crate) const SETTABLE_CTX_MD_PARAMS: c_int = 25;
    pub(crate) const QUERY_KEY_TYPES: c_int = 26;
    pub(crate) const SIGN_MESSAGE_INIT: c_int = 27;
    pub(crate) const SIGN_MESSAGE_UPDATE: c_int = 28;
    pub(crate) const SIGN_MESSAGE_FINAL: c_int = 29;
    pub(crate) const VERIFY_MESSAGE_INIT: c_int = 30;
    pub(crate) const VERIFY_MESSAGE_UPDATE: c_int = 31;
    pub(crate) const VERIFY_MESSAGE_FINAL: c_int = 32;
}

/// Functions of encryption with public keys.
pub(crate) mod asym_cipher {
    use super::*;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const ENCRYPT_INIT: c_int = 2;
    pub(crate) const ENCRYPT: c_int = 3;
    pub(crate) const DECRYPT_INIT: c_int = 4;
    pub(crate) const DECRYPT: c_int = 5;
    pub(crate) const FREECTX: c_int = 6;
    pub(crate) const DUPCTX: c_int = 7;
    pub(crate) const GET_CTX_PARAMS: c_int = 8;
    pub(crate) const GETTABLE_CTX_PARAMS: c_int = 9;
    pub(crate) const SET_CTX_PARAMS: c_int = 10;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 11;
}

/// Functions of decoders.
pub(crate) mod decoder {
    use super::*;
    pub(crate) const NEWCTX: c_int = 1;
    pub(crate) const FREECTX: c_int = 2;
    pub(crate) const DOES_SELECTION: c_int = 10;
    pub(crate) const DECODE: c_int = 11;
}

/// Functions of stores.
pub(crate) mod store {
    use super::*;
    pub(crate) const OPEN: c_int = 1;
    pub(crate) const SETTABLE_CTX_PARAMS: c_int = 3;
    pub(crate) const SET_CTX_PARAMS: c_int = 4;
    pub(crate) const LOAD: c_int = 5;
    pub(crate) const EOF: c_int = 6;
    pub(crate) const CLOSE: c_int = 7;
}

/// Names of parameters.
pub(crate) mod param {
    use super::*;
    pub(crate) const BITS: &CStr = c"bits";
    pub(crate) const SECURITY_BITS: &CStr = c"security-bits";
    pub(crate) const MAX_SIZE: &CStr = c"max-size";
    pub(crate) const DEFAULT_DIGEST: &CStr = c"default-digest";
    pub(crate) const N: &CStr = c"n";
    pub(crate) const E: &CStr = c"e";
    pub(crate) const D: &CStr = c"d";
    pub(crate) const FACTOR1: &CStr = c"rsa-factor1";
    pub(crate) const FACTOR2: &CStr = c"rsa-factor2";
    pub(crate) const FACTOR3: &CStr = c"rsa-factor3";
    pub(crate) const EXPONENT1: &CStr = c"rsa-exponent1";
    pub(crate) const EXPONENT2: &CStr = c"rsa-exponent2";
    pub(crate) const COEFFICIENT1: &CStr = c"rsa-coefficient1";
    /// The numbers of a key with two primes.
    pub(crate) const NUMBERS: [&CStr; 8] = [N, E, D, FACTOR1, FACTOR2, EXPONENT1, EXPONENT2, COEFFICIENT1];
    /// The factors, exponents and coefficients of further primes, of which there may be eight.
    pub(crate) const FURTHER: [[&CStr; 8]; 3] = [
        [
            FACTOR3,
            c"rsa-factor4",
            c"rsa-factor5",
            c"rsa-factor6",
            c"rsa-factor7",
            c"rsa-factor8",
            c"rsa-factor9",
            c"rsa-factor10",
        ],
        [
            c"rsa-exponent3",
            c"rsa-exponent4",
            c"rsa-exponent5",
            c"rsa-exponent6",
            c"rsa-exponent7",
            c"rsa-exponent8",
            c"rsa-exponent9",
            c"rsa-exponent10",
        ],
        [
            c"rsa-coefficient2",
            c"rsa-coefficient3",
            c"rsa-coefficient4",
            c"rsa-coefficient5",
            c"rsa-coefficient6",
            c"rsa-coefficient7",
            c"rsa-coefficient8",
            c"rsa-coefficient9",
        ],
    ];
    pub(crate) const PRIMES: &CStr = c"primes";
    pub(crate) const PAD_MODE: &CStr = c"pad-mode";
    pub(crate) const DIGEST: &CStr = c"digest";
    pub(crate) const MGF1_DIGEST: &CStr = c"mgf1-digest";
    pub(crate) const SALT_LENGTH: &CStr = c"saltlen";
    pub(crate) const ALGORITHM_ID: &CStr = c"algorithm-id";
    pub(crate) const OAEP_LABEL: &CStr = c"oaep-label";
    pub(crate) const TLS_CLIENT_VERSION: &CStr = c"tls-client-version";
    pub(crate) const TLS_NEGOTIATED_VERSION: &CStr = c"tls-negotiated-version";
    pub(crate) const IMPLICIT_REJECTION: &CStr = c"implicit-rejection";
    pub(crate) const SIGNATURE: &CStr = c"signature";
    pub(crate) const SSL3_MASTER_SECRET: &CStr = c"ssl3-ms";
    pub(crate) const CORE_VERSION: &CStr = c"openssl-version";
    pub(crate) const OBJECT_TYPE: &CStr = c"type";
    pub(crate) const DATA_TYPE: &CStr = c"data-type";
    pub(crate) const REFERENCE: &CStr = c"reference";
    pub(crate) const NAME: &CStr = c"name";
    pub(crate) const VERSION: &CStr = c"version";
    pub(crate) const BUILDINFO: &CStr = c"buildinfo";
    pub(crate) const STATUS: &CStr = c"status";
    pub(crate) const BATCHES: &CStr = c"modmill-batches";
    pub(crate) const OPERATIONS: &CStr = c"modmill-operations";
}
