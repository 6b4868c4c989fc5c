//! Vectors of RFC 6979, RFC 8032 and RFC 7748.

use crate::{engine, hex};
use modmill_ec::{Curve, Ec, Ecdsa, Ed25519, Format, Hash, ItemError, Nonce, PrivateKey, Rules, Variant};

/// RFC 6979, appendix A.2.5 to A.2.7: the signatures of "sample" and "test".
#[test]
fn rfc6979() {
    let p256 = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721";
    let p384 =
        "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D896D5724E4C70A825F872C9EA60D2EDF5";
    let p521 = "00FAD06DAA62BA3B25D2FB40133DA757205DE67F5BB0018FEE8C86E1B68C7E75CAA896EB32F1F47C70855836A6D16FCC1466F6D8FBEC67DB89EC0C08B0E996B83538";
    for (curve, key, hash, message, r, s) in [
        (
            Curve::P256,
            p256,
            Hash::Sha256,
            "sample",
            "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
            "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
        ),
        (
            Curve::P256,
            p256,
            Hash::Sha512,
            "test",
            "461D93F31B6540894788FD206C07CFA0CC35F46FA3C91816FFF1040AD1581A04",
            "39AF9F15DE0DB8D97E72719C74820D304CE5226E32DEDAE67519E840D1194E55",
        ),
        (
            Curve::P384,
            p384,
            Hash::Sha384,
            "sample",
            "94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C81A648152E44ACF96E36DD1E80FABE46",
            "99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94FA329C145786E679E7B82C71A38628AC8",
        ),
        (
            Curve::P521,
            p521,
            Hash::Sha512,
            "sample",
            "00C328FAFCBD79DD77850370C46325D987CB525569FB63C5D3BC53950E6D4C5F174E25A1EE9017B5D450606ADD152B534931D7D4E8455CC91F9B15BF05EC36E377FA",
            "00617CCE7CF5064806C467F678D3B4080D6F1CC50AF26CA209417308281B68AF282623EAA63E5B5C0723D8B8C37FF0777B1A20F8CCB1DCCC43997F1EE0E44DA4A67A",
        ),
    ] {
        let key = PrivateKey::from_raw(curve, &hex(key)).unwrap();
        let scheme = Ecdsa { nonce: Nonce::Rfc6979, format: Format::Raw, ..Ecdsa::new(hash) };
        let ec = Ec::new(engine());
        let signature = ec.sign(&key, scheme, &[message]).unwrap().remove(0).unwrap();
        assert_eq!(signature, [hex(r), hex(s)].concat(), "{curve} {hash} {message}");
        assert_eq!(ec.verify(key.public_key(), scheme, &[message], &[signature]).unwrap(), [Ok(())]);
    }
}

/// RFC 8032, section 7.1 to 7.3: key, public key, message, signature, variant.
#[test]
fn rfc8032() {
    let foo: &[u8] = b"foo";
    for (key, public, message, signature, variant) in [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
            Variant::Pure,
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
            Variant::Pure,
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            Variant::Pure,
        ),
        (
            "0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6",
            "dfc9425e4f968f7f0c29f0259cf5f9aed6851c2bb4ad8bfb860cfee0ab248292",
            "f726936d19c800494e3fdaff20b276a8",
            "55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a8b36950b95130022907a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d",
            Variant::Context(foo),
        ),
        (
            "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            "616263",
            "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae4131f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406",
            Variant::Prehashed(b""),
        ),
    ] {
        let key = PrivateKey::from_raw(Curve::Ed25519, &hex(key)).unwrap();
        assert_eq!(key.public_key().as_ref(), hex(public));
        let message = hex(message);
        for rules in [Rules::Common, Rules::Strict, Rules::Zip215] {
            let (ec, scheme) = (Ec::new(engine()), Ed25519 { variant, rules });
            assert_eq!(ec.sign(&key, scheme, &[&message]).unwrap(), [Ok(hex(signature))]);
            let verify = |message: &[u8], scheme| {
                ec.verify(key.public_key(), scheme, &[message], &[hex(signature)]).unwrap().remove(0)
            };
            assert_eq!(verify(&message, scheme), Ok(()));
            assert_eq!(verify(b"other", scheme), Err(ItemError::Verification));
            let other = Ed25519 { variant: Variant::Context(b"bar"), rules };
            assert_eq!(verify(&message, other), Err(ItemError::Verification));
        }
    }
}

/// RFC 7748, section 5.2, and section 6.1.
#[test]
fn rfc7748() {
    let ec = Ec::new(engine());
    for (key, u, expected) in [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
        ),
    ] {
        let key = PrivateKey::from_raw(Curve::X25519, &hex(key)).unwrap();
        let secret = ec.derive(&key, &[hex(u)]).unwrap().remove(0).unwrap();
        assert_eq!(secret.to_vec(), hex(expected));
    }
    // A thousand steps, each with the result before as the key.
    let (mut k, mut u) = ([0; 32], [0; 32]);
    (k[0], u[0]) = (9, 9);
    for _ in 0..1000 {
        let key = PrivateKey::from_raw(Curve::X25519, &k).unwrap();
        let next = ec.derive(&key, &[u]).unwrap().remove(0).unwrap();
        u = std::mem::replace(&mut k, next.to_vec().try_into().unwrap());
    }
    assert_eq!(k.to_vec(), hex("684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"));
    // The public half is the multiple of u = 9, by the table of Edwards25519 and by the ladder.
    let key = PrivateKey::from_raw(Curve::X25519, &k).unwrap();
    let public = ec.derive(&key, &[[&[9][..], &[0; 31]].concat()]).unwrap().remove(0).unwrap();
    assert_eq!(key.public_key().as_ref(), &public[..]);
}
