//! Mechanisms: what can be computed, with which keys and parameters.

use crate::object::OLD_BITS;
use crate::refusal::{Answer, refuse};
use cryptoki_sys::*;
use modmill_client::Encryption;
use modmill_rsa::{Hash, Pss, SaltLength, Sizes};

/// The scheme of a mechanism, apart from the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// Makes an RSA key pair.
    KeyPair,
    /// PKCS #1 v1.5, for signatures and encryption.
    Pkcs1v15,
    /// PSS.
    Pss,
    /// OAEP.
    Oaep,
    /// RSA without a padding.
    Raw,
    /// A digest alone.
    Digest,
    /// Makes an AES key.
    AesKey,
    /// AES key wrap (RFC 3394).
    KeyWrap,
    /// AES key wrap with padding (RFC 5649).
    KeyWrapPadded,
    /// AES key wrap with padding under a fresh key, which OAEP encrypts.
    RsaAesWrap,
}

/// A row of the table of mechanisms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The number of the mechanism.
    pub(crate) number: CK_MECHANISM_TYPE,
    /// The scheme.
    pub(crate) scheme: Scheme,
    /// The hash, of mechanisms that hash the message.
    pub(crate) hash: Option<Hash>,
    flags: CK_FLAGS,
}

const RSA: CK_FLAGS = CKF_ENCRYPT | CKF_DECRYPT;
const SIGN: CK_FLAGS = CKF_SIGN | CKF_VERIFY;
const WRAP: CK_FLAGS = CKF_WRAP | CKF_UNWRAP;

const fn row(number: CK_MECHANISM_TYPE, scheme: Scheme, hash: Option<Hash>, flags: CK_FLAGS) -> Row {
    Row { number, scheme, hash, flags }
}

const fn digest(number: CK_MECHANISM_TYPE, hash: Hash) -> Row {
    row(number, Scheme::Digest, Some(hash), CKF_DIGEST)
}

const fn sign(number: CK_MECHANISM_TYPE, scheme: Scheme, hash: Hash) -> Row {
    row(number, scheme, Some(hash), SIGN)
}

/// Every mechanism. No message is hashed with SHA-1 for a signature: collisions are known.
const ROWS: &[Row] = &[
    row(CKM_RSA_PKCS_KEY_PAIR_GEN, Scheme::KeyPair, None, CKF_GENERATE_KEY_PAIR),
    row(CKM_RSA_PKCS, Scheme::Pkcs1v15, None, RSA | SIGN | CKF_VERIFY_RECOVER | WRAP),
    row(CKM_RSA_X_509, Scheme::Raw, None, RSA | SIGN | CKF_VERIFY_RECOVER),
    row(CKM_RSA_PKCS_OAEP, Scheme::Oaep, None, RSA | WRAP),
    row(CKM_RSA_PKCS_PSS, Scheme::Pss, None, SIGN),
    row(CKM_SHA1_RSA_PKCS, Scheme::Pkcs1v15, Some(Hash::Sha1), CKF_VERIFY),
    sign(CKM_SHA224_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha224),
    sign(CKM_SHA256_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha256),
    sign(CKM_SHA384_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha384),
    sign(CKM_SHA512_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha512),
    sign(CKM_SHA3_224_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha3_224),
    sign(CKM_SHA3_256_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha3_256),
    sign(CKM_SHA3_384_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha3_384),
    sign(CKM_SHA3_512_RSA_PKCS, Scheme::Pkcs1v15, Hash::Sha3_512),
    row(CKM_SHA1_RSA_PKCS_PSS, Scheme::Pss, Some(Hash::Sha1), CKF_VERIFY),
    sign(CKM_SHA224_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha224),
    sign(CKM_SHA256_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha256),
    sign(CKM_SHA384_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha384),
    sign(CKM_SHA512_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha512),
    sign(CKM_SHA3_224_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha3_224),
    sign(CKM_SHA3_256_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha3_256),
    sign(CKM_SHA3_384_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha3_384),
    sign(CKM_SHA3_512_RSA_PKCS_PSS, Scheme::Pss, Hash::Sha3_512),
    digest(CKM_SHA_1, Hash::Sha1),
    digest(CKM_SHA224, Hash::Sha224),
    digest(CKM_SHA256, Hash::Sha256),
    digest(CKM_SHA384, Hash::Sha384),
    digest(CKM_SHA512, Hash::Sha512),
    digest(CKM_SHA512_224, Hash::Sha512_224),
    digest(CKM_SHA512_256, Hash::Sha512_256),
    digest(CKM_SHA3_224, Hash::Sha3_224),
    digest(CKM_SHA3_256, Hash::Sha3_256),
    digest(CKM_SHA3_384, Hash::Sha3_384),
    digest(CKM_SHA3_512, Hash::Sha3_512),
    row(CKM_AES_KEY_GEN, Scheme::AesKey, None, CKF_GENERATE),
    row(CKM_AES_KEY_WRAP, Scheme::KeyWrap, None, WRAP),
    // The older name was given to two forms. Programs that still use it mean the one of RFC 5649.
    row(CKM_AES_KEY_WRAP_PAD, Scheme::KeyWrapPadded, None, WRAP),
    row(CKM_AES_KEY_WRAP_KWP, Scheme::KeyWrapPadded, None, WRAP),
    row(CKM_RSA_AES_KEY_WRAP, Scheme::RsaAesWrap, None, WRAP),
];

/// The numbers of all mechanisms that a token has. A token that cannot be written to makes no keys.
pub(crate) fn numbers(writable: bool) -> Vec<CK_MECHANISM_TYPE> {
    ROWS.iter().filter(|row| row.is_offered(writable)).map(|row| row.number).collect()
}

/// The row of a mechanism that a token has.
pub(crate) fn find(number: CK_MECHANISM_TYPE) -> Answer<&'static Row> {
    match ROWS.iter().find(|row| row.number == number) {
        Some(row) => Ok(row),
        None => refuse(CKR_MECHANISM_INVALID, format!("the mechanism {number:#x} is not supported")),
    }
}

impl Row {
    /// Whether a token has this mechanism. Keys of the service, whose token is not writable, sign and do
    /// nothing else.
    pub(crate) fn is_offered(&self, writable: bool) -> bool {
        writable || matches!(self.scheme, Scheme::Digest | Scheme::Pkcs1v15 | Scheme::Pss)
    }

    /// Refuses a `purpose`, one of the flags of PKCS #11, that the mechanism does not serve.
    pub(crate) fn serves(&self, purpose: CK_FLAGS) -> Answer {
        match self.flags & purpose == purpose {
            true => Ok(()),
            false => {
                refuse(CKR_MECHANISM_INVALID, format!("the mechanism {:#x} does not do this", self.number))
            }
        }
    }

    /// The answer of `C_GetMechanismInfo`.
    pub(crate) fn info(&self) -> CK_MECHANISM_INFO {
        let (least, most) = match self.scheme {
            Scheme::Digest => (0, 0),
            Scheme::AesKey | Scheme::KeyWrap | Scheme::KeyWrapPadded => (16, 32),
            _ if self.flags & CKF_VERIFY != 0 => (OLD_BITS, Sizes::MAX_BITS),
            _ => (Sizes::Standard.min_bits(), Sizes::MAX_BITS),
        };
        CK_MECHANISM_INFO {
            ulMinKeySize: least as CK_ULONG,
            ulMaxKeySize: most as CK_ULONG,
            flags: self.flags,
        }
    }
}

/// A mechanism with its parameter, as a program gives it.
#[derive(Debug, Clone)]
pub(crate) struct Mechanism {
    /// The row of the mechanism.
    pub(crate) row: &'static Row,
    /// Its parameter.
    pub(crate) parameter: Parameter,
}

/// The parameter of a mechanism.
#[derive(Debug, Clone)]
pub(crate) enum Parameter {
    /// There is none.
    None,
    /// The parameters of PSS.
    Pss(Pss),
    /// The parameters of OAEP.
    Oaep(Encryption),
    /// The length of the fresh AES key in bytes, and the parameters of OAEP.
    RsaAes(usize, Encryption),
}

/// The hash that a mechanism names, as parameters do.
pub(crate) fn hash(number: CK_MECHANISM_TYPE) -> Answer<Hash> {
    match ROWS
        .iter()
        .find(|row| row.number == number && row.scheme == Scheme::Digest)
        .and_then(|row| row.hash)
    {
        Some(hash) => Ok(hash),
        None => refuse(CKR_MECHANISM_PARAM_INVALID, format!("the mechanism {number:#x} is not a known hash")),
    }
}

/// The hash of a mask generation function.
pub(crate) fn mask_hash(function: CK_RSA_PKCS_MGF_TYPE) -> Answer<Hash> {
    Ok(match function {
        CKG_MGF1_SHA1 => Hash::Sha1,
        CKG_MGF1_SHA224 => Hash::Sha224,
        CKG_MGF1_SHA256 => Hash::Sha256,
        CKG_MGF1_SHA384 => Hash::Sha384,
        CKG_MGF1_SHA512 => Hash::Sha512,
        CKG_MGF1_SHA3_224 => Hash::Sha3_224,
        CKG_MGF1_SHA3_256 => Hash::Sha3_256,
        CKG_MGF1_SHA3_384 => Hash::Sha3_384,
        CKG_MGF1_SHA3_512 => Hash::Sha3_512,
        _ => {
            let reason = format!("the mask generation function {function:#x} is not known");
            return refuse(CKR_MECHANISM_PARAM_INVALID, reason);
        }
    })
}

/// The parameters of PSS in the mechanism `row`: its hash, if it has one, is that of the parameters.
pub(crate) fn pss(row: &Row, hash: Hash, mask_hash: Hash, salt: usize) -> Answer<Parameter> {
    match row.hash.is_none_or(|own| own == hash) {
        true => Ok(Parameter::Pss(Pss { hash, mask_hash, salt: SaltLength::Bytes(salt) })),
        false => refuse(CKR_MECHANISM_PARAM_INVALID, "the mechanism has another hash than its parameters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_is_listed_once_and_found() {
        let numbers = numbers(true);
        let different: std::collections::BTreeSet<_> = numbers.iter().collect();
        assert_eq!(different.len(), ROWS.len());
        assert!(numbers.iter().all(|number| find(*number).is_ok()));
        assert!(!super::numbers(false).contains(&CKM_RSA_PKCS_KEY_PAIR_GEN));
    }

    #[test]
    fn sha1_signs_nothing() {
        for number in [CKM_SHA1_RSA_PKCS, CKM_SHA1_RSA_PKCS_PSS] {
            let row = find(number).unwrap();
            assert!(row.serves(CKF_VERIFY).is_ok() && row.serves(CKF_SIGN).is_err());
        }
    }
}
