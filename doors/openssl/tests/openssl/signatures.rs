//! Signatures: every padding and digest, made by one provider and checked by the other.

use crate::common::{Modmill, Reference, Setup};

const DIGESTS: [&str; 11] = [
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512-224",
    "sha512-256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
];

const PSS: [&str; 5] = [
    "-sigopt rsa_padding_mode:pss",
    "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest",
    "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:max",
    "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:0",
    "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:11 -sigopt rsa_mgf1_md:sha384",
];

#[test]
fn pkcs1_signatures_are_the_same_as_openssls() {
    let Some(setup) = Setup::new() else { return };
    for digest in DIGESTS.iter().chain(&["md5"]) {
        setup.ok(Modmill, &format!("dgst -{digest} -sign key.pem -out ours message"));
        setup.ok(Reference, &format!("dgst -{digest} -sign key.pem -out theirs message"));
        assert_eq!(setup.read("ours"), setup.read("theirs"), "{digest}");
        setup.ok(Modmill, &format!("dgst -{digest} -verify public.pem -signature theirs message"));
    }
    assert_eq!(setup.statistics().0, DIGESTS.len() + 1, "modmill computed the signatures");
}

#[test]
fn pss_signatures_pass_between_both() {
    let Some(setup) = Setup::new() else { return };
    for digest in ["sha1", "sha256", "sha512", "sha3-256"] {
        for options in PSS {
            for (signer, verifier) in [(Modmill, Reference), (Reference, Modmill)] {
                setup.ok(signer, &format!("dgst -{digest} {options} -sign key.pem -out signature message"));
                let verify =
                    format!("dgst -{digest} {options} -verify public.pem -signature signature message");
                setup.ok(verifier, &verify);
            }
        }
    }
}

#[test]
fn x931_signatures_are_the_same_as_openssls() {
    let Some(setup) = Setup::new() else { return };
    let options = "-sigopt rsa_padding_mode:x931";
    for digest in ["sha1", "sha256", "sha384", "sha512"] {
        // Half of all powers are replaced by their differences from the modulus.
        for message in 0..8 {
            setup.write("message", &[message]);
            setup.ok(Modmill, &format!("dgst -{digest} {options} -sign key.pem -out ours message"));
            setup.ok(Reference, &format!("dgst -{digest} {options} -sign key.pem -out theirs message"));
            assert_eq!(setup.read("ours"), setup.read("theirs"), "{digest}");
            let verify = format!("dgst -{digest} {options} -verify public.pem -signature theirs message");
            setup.ok(Modmill, &verify);
            setup.write("message", b"another");
            setup.fails(Modmill, &verify);
        }
    }
    assert_eq!(setup.statistics().0, 32, "modmill computed the signatures");
    for digest in ["sha224", "sha512-256", "sha3-256", "md5"] {
        setup.fails(Modmill, &format!("dgst -{digest} {options} -sign key.pem -out ours message"));
    }
    setup.write("digest", &[7; 32]);
    let options = "-pkeyopt digest:sha256 -pkeyopt rsa_padding_mode:x931";
    setup.ok(Modmill, &format!("pkeyutl -sign -inkey key.pem -in digest {options} -out ours"));
    setup.ok(Modmill, &format!("pkeyutl -verifyrecover -inkey key.pem -in ours {options} -out recovered"));
    assert_eq!(setup.read("recovered"), [7; 32]);
    let options = options.replace("sha256", "sha512");
    setup.fails(Modmill, &format!("pkeyutl -verifyrecover -inkey key.pem -in ours {options} -out recovered"));
}

/// An `OCTET STRING` is signed, and a `DigestInfo` is accepted too. OpenSSL signs the bytes of both, which
/// releases without MDC2 do as well.
#[test]
fn digests_of_mdc2_are_signed_and_recovered() {
    let Some(setup) = Setup::new() else { return };
    let digest = b"0123456789ABCDEF";
    setup.write("digest", digest);
    setup.write("octets", &[b"\x04\x10", &digest[..]].concat());
    setup.write(
        "info.cnf",
        b"asn1=SEQUENCE:info\n[info]\nhash=SEQUENCE:hash\ndigest=OCTETSTRING:0123456789ABCDEF\n\
          [hash]\nname=OID:mdc2\nparameters=NULL\n",
    );
    setup.ok(Reference, "asn1parse -genconf info.cnf -noout -out info");
    let options = "-pkeyopt digest:mdc2";
    setup.ok(Modmill, &format!("pkeyutl -sign -inkey key.pem -in digest {options} -out ours"));
    assert_eq!(setup.statistics().0, 1, "modmill computed the signature");
    for contents in ["octets", "info"] {
        let signature = format!("{contents}.signature");
        setup.ok(Reference, &format!("pkeyutl -sign -inkey key.pem -in {contents} -out {signature}"));
        let verify = format!("pkeyutl -verify -inkey key.pem -in digest -sigfile {signature}");
        setup.ok(Modmill, &format!("{verify} {options}"));
        setup.fails(Modmill, &format!("{verify} -pkeyopt digest:md5"));
        let recover = format!("pkeyutl -verifyrecover -inkey key.pem -in {signature} -out recovered");
        setup.ok(Modmill, &format!("{recover} {options}"));
        assert_eq!(setup.read("recovered"), digest);
    }
    assert_eq!(setup.read("ours"), setup.read("octets.signature"));
    let verify = format!("pkeyutl -verify -inkey key.pem -in wrong -sigfile ours {options}");
    for wrong in [&b"0000000000000000"[..], b"0123456789ABCDE", b""] {
        setup.write("wrong", wrong);
        setup.fails(Modmill, &verify);
    }
    // A digest that is a byte shorter, and its length.
    setup.write("short", &[b"\x04\x0f", &digest[..15]].concat());
    setup.ok(Reference, "pkeyutl -sign -inkey key.pem -in short -out short.signature");
    let recover = format!("pkeyutl -verifyrecover -inkey key.pem -in short.signature -out other {options}");
    setup.fails(Modmill, &recover);
    setup.fails(
        Modmill,
        &format!(
            "pkeyutl -sign -inkey key.pem -in digest {options} -out other \
        -pkeyopt rsa_padding_mode:pss"
        ),
    );
}

/// OpenSSL takes the names of paddings that signatures do not have, and signs with the padding that there is.
#[test]
fn names_of_other_paddings_change_nothing() {
    let Some(setup) = Setup::new() else { return };
    for option in ["pad-mode", "rsa_padding_mode"] {
        let sign = format!("dgst -sha256 -sigopt {option}:oaep -sign key.pem");
        setup.ok(Modmill, &format!("{sign} -out ours message"));
        setup.ok(Reference, &format!("{sign} -out theirs message"));
        assert_eq!(setup.read("ours"), setup.read("theirs"), "{option}");
    }
}

#[test]
fn wrong_signatures_are_refused() {
    let Some(setup) = Setup::new() else { return };
    for options in ["", PSS[1]] {
        setup.ok(Reference, &format!("dgst -sha256 {options} -sign key.pem -out right message"));
        let right = setup.read("right");
        let mut wrong = vec![vec![0; right.len()], vec![0xff; right.len()], Vec::new(), right[1..].to_vec()];
        for place in [0, 1, right.len() / 2, right.len() - 1] {
            let mut changed = right.clone();
            changed[place] ^= 1;
            wrong.push(changed);
        }
        for signature in wrong {
            setup.write("wrong", &signature);
            setup.fails(
                Modmill,
                &format!("dgst -sha256 {options} -verify public.pem -signature wrong message"),
            );
        }
        setup.fails(Modmill, &format!("dgst -sha512 {options} -verify public.pem -signature right message"));
    }
}

#[test]
fn octets_without_a_digest_are_signed_and_recovered() {
    let Some(setup) = Setup::new() else { return };
    setup.write("digest", &[7; 36]);
    setup.ok(Modmill, "pkeyutl -sign -inkey key.pem -in digest -out ours");
    setup.ok(Reference, "pkeyutl -sign -inkey key.pem -in digest -out theirs");
    assert_eq!(setup.read("ours"), setup.read("theirs"));
    setup.ok(Modmill, "pkeyutl -verify -pubin -inkey public.pem -in digest -sigfile theirs");
    setup.ok(Modmill, "pkeyutl -verifyrecover -pubin -inkey public.pem -in theirs -out recovered");
    assert_eq!(setup.read("recovered"), [7; 36]);
    setup.write("other", &[8; 36]);
    setup.fails(Modmill, "pkeyutl -verify -pubin -inkey public.pem -in other -sigfile theirs");
}

#[test]
fn keys_of_other_lengths_sign() {
    let Some(setup) = Setup::new() else { return };
    for bits in [1024, 1030, 3072, 4096] {
        setup.ok(Reference, &format!("genrsa -out other.pem {bits}"));
        setup.ok(Modmill, "dgst -sha256 -sign other.pem -out ours message");
        setup.ok(Reference, "dgst -sha256 -sign other.pem -out theirs message");
        assert_eq!(setup.read("ours"), setup.read("theirs"), "{bits} bits");
    }
    assert_eq!(setup.statistics().0, 4);
    // Three primes: OpenSSL computes with such a key itself.
    setup.ok(Reference, "genrsa -primes 3 -out three.pem 2048");
    setup.ok(Modmill, "dgst -sha256 -sign three.pem -out ours message");
    setup.ok(Reference, "dgst -sha256 -sign three.pem -out theirs message");
    assert_eq!(setup.read("ours"), setup.read("theirs"));
    assert_eq!(setup.statistics().0, 0);
}
