//! Parameters that make no sense are errors with a reason, and never a crash.

use crate::common::{Modmill, Reference, Setup};

#[test]
fn wrong_options_are_refused() {
    let Some(setup) = Setup::new() else { return };
    let sign = |options: &str| format!("dgst -sha256 {options} -sign key.pem -out signature message");
    for options in [
        "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:-5",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:223",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:1000000",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:nonsense",
        "-sigopt rsa_padding_mode:nonsense",
        "-sigopt rsa_padding_mode:4",
    ] {
        setup.fails(Modmill, &sign(options));
    }
    setup.write("long", &[1; 246]);
    setup.fails(Modmill, "pkeyutl -encrypt -pubin -inkey public.pem -in long -out cipher");
    setup.write("short", &[1; 31]);
    setup.fails(Modmill, "pkeyutl -sign -inkey key.pem -pkeyopt digest:sha256 -in short -out signature");
    setup.write("all", &[0xff; 256]);
    let none = "-pkeyopt rsa_padding_mode:none";
    setup.fails(Modmill, &format!("pkeyutl -decrypt -inkey key.pem {none} -in all -out clear"));
    setup.fails(
        Modmill,
        &format!("pkeyutl -decrypt -inkey key.pem {none} -in long -out clear -rev -nonsense"),
    );
    setup.fails(Modmill, "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:100 -out new.pem");
    setup.fails(Modmill, "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:65536 -out new.pem");
    setup.fails(Modmill, "genpkey -algorithm RSA -pkeyopt rsa_keygen_primes:9 -out new.pem");
    setup.fails(Modmill, "genpkey -algorithm RSA -pkeyopt rsa_keygen_pubexp:4 -out new.pem");
}

#[test]
fn options_that_openssl_refuses_are_refused() {
    let Some(setup) = Setup::new() else { return };
    setup.write("number", &[0x5a; 256]);
    setup.write("digest", &[7; 32]);
    let none = "-pkeyopt rsa_padding_mode:none";
    let salt = "-sigopt rsa_pss_saltlen:20 -sigopt rsa_padding_mode:pss";
    for command in [
        format!("pkeyutl -sign -inkey key.pem {none} -pkeyopt digest:sha256 -in number -out signature"),
        format!("pkeyutl -sign -inkey key.pem -pkeyopt digest:sha256 {none} -in number -out signature"),
        "pkeyutl -sign -inkey key.pem -pkeyopt rsa_mgf1_md:sha1 -in digest -out signature".into(),
        "dgst -shake128 -sign key.pem -out signature message".into(),
        format!("dgst -sha256 {salt} -sign key.pem -out signature message"),
    ] {
        setup.fails(Reference, &command);
        let said = setup.fails(Modmill, &command);
        assert!(said.contains("modmill"), "{command}: {said}");
    }
}

#[test]
fn a_key_with_a_wrong_factor_does_not_sign_by_modmill() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(Reference, "pkey -in key.pem -outform DER -out key.der -traditional");
    let mut key = setup.read("key.der");
    // The numbers follow each other: a changed byte near the end belongs to the coefficient.
    let place = key.len() - 40;
    key[place] ^= 1;
    setup.write("wrong.der", &key);
    let said = setup.run(Modmill, "dgst -sha256 -sign wrong.der -keyform DER -out signature message");
    assert_eq!(setup.statistics().0, 0, "{said:?}");
}

#[test]
fn errors_say_what_is_wrong() {
    let Some(setup) = Setup::new() else { return };
    let said = setup.fails(Modmill, "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:128 -out new.pem");
    assert!(said.contains("key size too small") && said.contains("a key of 128 bits"), "{said}");
    let mask = "pkeyutl -sign -inkey key.pem -pkeyopt rsa_mgf1_md:sha1 -in message -out signature";
    assert!(setup.fails(Modmill, mask).contains("invalid mgf1 md"));
    // A request that is passed on to OpenSSL is refused in OpenSSL's words.
    let said = setup.fails(Modmill, "genpkey -algorithm RSA -pkeyopt rsa_keygen_pubexp:4 -out new.pem");
    assert!(said.contains("default provider generates no such key") && said.contains("rsa"), "{said}");
}
