//! `AlgorithmIdentifier` of signatures in DER (RFC 8017, appendix A.2; RFC 4055; RFC 8702).

use crate::digest::Digest;
use modmill_rsa::Hash;

/// 1.2.840.113549.1.1, the arcs of PKCS #1.
const PKCS1: [u8; 8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// 2.16.840.1.101.3.4, the arcs of NIST's algorithms.
const NIST: [u8; 8] = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x00];

fn tagged(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match contents.len() {
        len @ ..0x80 => out.push(len as u8),
        // All contents here are shorter than 256 bytes.
        len => out.extend([0x81, len as u8]),
    }
    out.extend(contents);
    out
}

fn sequence(parts: &[&[u8]]) -> Vec<u8> {
    tagged(0x30, &parts.concat())
}

fn oid(octets: &[u8]) -> Vec<u8> {
    tagged(6, octets)
}

const NULL: [u8; 2] = [5, 0];

/// The identifier of a PKCS #1 v1.5 signature with `digest`. `None` if there is none.
pub(crate) fn pkcs1v15(digest: Digest) -> Option<Vec<u8>> {
    let under_pkcs1 = |arc: u8| oid(&[&PKCS1[..], &[arc]].concat());
    // id-rsassa-pkcs1-v1-5-with-sha3-224 and its followers are 2.16.840.1.101.3.4.3.13 to 16.
    let sha3 = |arc: u8| oid(&[&NIST[..7], &[3, arc]].concat());
    let identifier = match digest {
        Digest::Md5 => under_pkcs1(4),
        Digest::Md5Sha1 => return None,
        Digest::Known(hash) => match hash {
            Hash::Sha1 => under_pkcs1(5),
            Hash::Sha256 => under_pkcs1(11),
            Hash::Sha384 => under_pkcs1(12),
            Hash::Sha512 => under_pkcs1(13),
            Hash::Sha224 => under_pkcs1(14),
            Hash::Sha512_224 => under_pkcs1(15),
            Hash::Sha512_256 => under_pkcs1(16),
            Hash::Sha3_224 => sha3(13),
            Hash::Sha3_256 => sha3(14),
            Hash::Sha3_384 => sha3(15),
            Hash::Sha3_512 => sha3(16),
            _ => return None,
        },
    };
    Some(sequence(&[&identifier, &NULL]))
}

/// The identifier of a hash inside of the parameters of PSS: the one that its `DigestInfo` has, between the
/// head of the whole and the head of the digest.
fn hash_identifier(hash: Hash) -> Option<Vec<u8>> {
    let prefix = hash.digest_info_prefix()?;
    Some(prefix[2..prefix.len() - 2].to_vec())
}

/// The identifier of a PSS signature. Values that are the defaults of RFC 8017 are left out, as DER demands.
/// `None` if a hash has no identifier.
pub(crate) fn pss(hash: Hash, mask_hash: Hash, salt_len: usize) -> Option<Vec<u8>> {
    let mut parameters = Vec::new();
    if hash != Hash::Sha1 {
        parameters.extend(tagged(0xa0, &hash_identifier(hash)?));
    }
    if mask_hash != Hash::Sha1 {
        let mgf1 = sequence(&[&oid(&[&PKCS1[..], &[8]].concat()), &hash_identifier(mask_hash)?]);
        parameters.extend(tagged(0xa1, &mgf1));
    }
    if salt_len != 20 {
        // An integer is positive: one that begins with a high bit gets a zero in front.
        let bytes = u32::try_from(salt_len).ok()?.to_be_bytes();
        let start = bytes.iter().position(|octet| *octet != 0).unwrap_or(3);
        let zero: &[u8] = if bytes[start] & 0x80 != 0 { &[0] } else { &[] };
        parameters.extend(tagged(0xa2, &tagged(2, &[zero, &bytes[start..]].concat())));
    }
    Some(sequence(&[&oid(&[&PKCS1[..], &[10]].concat()), &tagged(0x30, &parameters)]))
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
        // rSASSA-PSS-SHA256-Identifier of RFC 4055 with a salt of 32 bytes, as in certificates.
        let pss_sha256 = pss(Hash::Sha256, Hash::Sha256, 32).unwrap();
        let expected = "304106092a864886f70d01010a3034a00f300d06096086480165030402010500\
                        a11c301a06092a864886f70d010108300d06096086480165030402010500a203020120";
        assert_eq!(hex(&pss_sha256), expected);
        assert_eq!(hex(&pss(Hash::Sha1, Hash::Sha1, 20).unwrap()), "300d06092a864886f70d01010a3000");
        let pss_sha1 = hex(&pss(Hash::Sha256, Hash::Sha1, 20).unwrap());
        assert_eq!(pss_sha1, "301e06092a864886f70d01010a3011a00f300d06096086480165030402010500");
        let long = hex(&pss(Hash::Sha512, Hash::Sha512, 222).unwrap());
        assert!(long.ends_with("a204020200de"), "{long}");
        assert_eq!(pkcs1v15(Digest::Md5Sha1), None);
    }
}
