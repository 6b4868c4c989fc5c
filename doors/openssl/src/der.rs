//! `AlgorithmIdentifier` of signatures in DER (RFC 8017, appendix A.2; RFC 4055; RFC 8702).

use crate::digest::Digest;
use modmill_rsa::Hash;
use spki::der::asn1::{Any, AnyRef, ContextSpecific};
use spki::der::{self, Decode, Encode, EncodeValue, TagMode, TagNumber, Tagged};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierRef, ObjectIdentifier};

/// The arcs of PKCS #1.
const PKCS1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1");
const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");
const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
/// The arcs of NIST's signatures.
const NIST: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3");

/// The arcs of the algorithms of the OSE Implementors' Workshop.
const OIW: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2");

/// The identifier of a PKCS #1 v1.5 signature with `digest`. `None` if there is none.
pub(crate) fn pkcs1v15(digest: Digest) -> Option<Vec<u8>> {
    let (arcs, last) = match digest {
        Digest::Md5 => (PKCS1, 4),
        Digest::Md5Sha1 => return None,
        Digest::Mdc2 => (OIW, 14),
        Digest::Known(hash) => match hash {
            Hash::Sha1 => (PKCS1, 5),
            Hash::Sha256 => (PKCS1, 11),
            Hash::Sha384 => (PKCS1, 12),
            Hash::Sha512 => (PKCS1, 13),
            Hash::Sha224 => (PKCS1, 14),
            Hash::Sha512_224 => (PKCS1, 15),
            Hash::Sha512_256 => (PKCS1, 16),
            Hash::Sha3_224 => (NIST, 13),
            Hash::Sha3_256 => (NIST, 14),
            Hash::Sha3_384 => (NIST, 15),
            Hash::Sha3_512 => (NIST, 16),
            _ => return None,
        },
    };
    let oid = arcs.push_arc(last).ok()?;
    AlgorithmIdentifierRef { oid, parameters: Some(AnyRef::NULL) }.to_der().ok()
}

/// The identifier of a hash inside of the parameters of PSS: the one that its `DigestInfo` has, between the
/// head of the whole and the head of the digest.
fn hash_identifier(hash: Hash) -> Option<Any> {
    let prefix = hash.digest_info_prefix()?;
    Any::from_der(&prefix[2..prefix.len() - 2]).ok()
}

/// A field of the parameters of PSS.
fn field<T: EncodeValue + Tagged>(number: u32, value: T) -> der::Result<Any> {
    Any::encode_from(&ContextSpecific { tag_number: TagNumber(number), tag_mode: TagMode::Explicit, value })
}

/// The identifier of a PSS signature. Values that are the defaults of RFC 8017 are left out, as DER demands.
/// `None` if a hash has no identifier.
pub(crate) fn pss(hash: Hash, mask_hash: Hash, salt_len: usize) -> Option<Vec<u8>> {
    let mut fields = Vec::new();
    if hash != Hash::Sha1 {
        fields.push(field(0, hash_identifier(hash)?).ok()?);
    }
    if mask_hash != Hash::Sha1 {
        let mgf1 = AlgorithmIdentifier { oid: MGF1, parameters: Some(hash_identifier(mask_hash)?) };
        fields.push(field(1, mgf1).ok()?);
    }
    if salt_len != 20 {
        fields.push(field(2, u32::try_from(salt_len).ok()?).ok()?);
    }
    AlgorithmIdentifier { oid: PSS, parameters: Some(Any::encode_from(&fields).ok()?) }.to_der().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(octets: &[u8]) -> String {
        octets.iter().map(|octet| format!("{octet:02x}")).collect()
    }

    #[test]
    fn identifiers_are_those_of_the_standards() {
        // RFC 4055, section 5, and RFC 5280: sha256WithRSAEncryption with NULL.
        let sha256 = pkcs1v15(Digest::Known(Hash::Sha256)).unwrap();
        assert_eq!(hex(&sha256), "300d06092a864886f70d01010b0500");
        let sha1 = pkcs1v15(Digest::Known(Hash::Sha1)).unwrap();
        assert_eq!(hex(&sha1), "300d06092a864886f70d0101050500");
        let md5 = pkcs1v15(Digest::Md5).unwrap();
        assert_eq!(hex(&md5), "300d06092a864886f70d0101040500");
        // The workshop's mdc2WithRSASignature, with NULL as OpenSSL writes it.
        let mdc2 = pkcs1v15(Digest::Mdc2).unwrap();
        assert_eq!(hex(&mdc2), "300906052b0e03020e0500");
        // NIST's id-rsassa-pkcs1-v1-5-with-sha3-256.
        let sha3 = pkcs1v15(Digest::Known(Hash::Sha3_256)).unwrap();
        assert_eq!(hex(&sha3), "300d060960864801650304030e0500");
        // rSASSA-PSS-SHA256-Identifier of RFC 4055 with a salt of 32 bytes, as in certificates.
        let pss_sha256 = pss(Hash::Sha256, Hash::Sha256, 32).unwrap();
        let expected = "304106092a864886f70d01010a3034a00f300d06096086480165030402010500\
                        a11c301a06092a864886f70d010108300d06096086480165030402010500a203020120";
        assert_eq!(hex(&pss_sha256), expected);
        assert_eq!(hex(&pss(Hash::Sha1, Hash::Sha1, 20).unwrap()), "300d06092a864886f70d01010a3000");
        let pss_sha1 = hex(&pss(Hash::Sha256, Hash::Sha1, 20).unwrap());
        assert_eq!(pss_sha1, "301e06092a864886f70d01010a3011a00f300d06096086480165030402010500");
        for (salt_len, end) in
            [(0, "a203020100"), (127, "a20302017f"), (222, "a204020200de"), (478, "a204020201de")]
        {
            let found = hex(&pss(Hash::Sha512, Hash::Sha512, salt_len).unwrap());
            assert!(found.ends_with(end), "{found}");
        }
        assert_eq!(pkcs1v15(Digest::Md5Sha1), None);
    }
}
