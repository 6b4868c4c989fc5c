//! Keys and certificates.

use crate::common::{Modmill, Reference, Setup};

#[test]
fn generated_keys_are_valid() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(Modmill, "genrsa -out new.pem 2048");
    setup.ok(Reference, "pkey -in new.pem -check -noout");
    setup.ok(Modmill, "pkey -in new.pem -check -noout");
    setup.ok(Modmill, "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out small.pem");
    setup.ok(Reference, "pkey -in small.pem -check -noout");
    setup.ok(Modmill, "pkey -in key.pem -pubout -out ours.pem");
    assert_eq!(setup.read("ours.pem"), setup.read("public.pem"));
    setup.ok(Modmill, "pkey -in key.pem -out again.pem");
    assert_eq!(
        setup.read("again.pem"),
        setup.read("key.pem"),
        "a key that passed through the provider is the same"
    );
}

#[test]
fn openssl_generates_what_the_engine_does_not() {
    let Some(setup) = Setup::new() else { return };
    for (command, exponent, operations) in [
        ("genrsa -3 -out new.pem 2048", "3 (0x3)", 3),
        ("genpkey -algorithm RSA -pkeyopt rsa_keygen_pubexp:17 -out new.pem", "17 (0x11)", 3),
        ("genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1025 -out new.pem", "65537", 3),
        ("genrsa -primes 3 -out new.pem 2048", "65537", 0),
        ("genrsa -primes 4 -out new.pem 4096", "65537", 0),
    ] {
        setup.ok(Modmill, command);
        let text = String::from_utf8(setup.ok(Modmill, "rsa -in new.pem -noout -text")).expect("text");
        assert!(text.contains(&format!("publicExponent: {exponent}")), "{command}: {text}");
        assert_eq!(text.contains("prime3:"), command.contains("-primes"), "{command}");
        setup.ok(Modmill, "pkey -in new.pem -pubout -out new.pub");
        setup.statistics();
        for by in [Modmill, Reference] {
            setup.ok(by, "pkey -in new.pem -check -noout");
            setup.ok(by, "dgst -sha256 -sign new.pem -out signature message");
            setup.ok(by, "pkeyutl -encrypt -pubin -inkey new.pub -in message -out cipher");
            for other in [Modmill, Reference] {
                setup.ok(other, "dgst -sha256 -verify new.pub -signature signature message");
            }
            setup.ok(Modmill, "pkeyutl -decrypt -inkey new.pem -in cipher -out clear");
            assert_eq!(setup.read("clear"), setup.read("message"), "{command}");
        }
        // One signature and two messages.
        assert_eq!(setup.statistics().0, operations, "{command}");
    }
}

#[test]
fn keys_with_three_primes_have_every_padding() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(Modmill, "genrsa -primes 3 -out key.pem 2048");
    setup.ok(Modmill, "pkey -in key.pem -pubout -out public.pem");
    for options in ["", "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:20 -sigopt rsa_mgf1_md:sha1"] {
        setup.ok(Modmill, &format!("dgst -sha384 {options} -sign key.pem -out signature message"));
        setup.ok(
            Reference,
            &format!("dgst -sha384 {options} -verify public.pem -signature signature message"),
        );
    }
    let oaep = "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1 -pkeyopt rsa_oaep_label:6162";
    for padding in ["", oaep] {
        setup.ok(
            Reference,
            &format!("pkeyutl -encrypt -pubin -inkey public.pem {padding} -in message -out cipher"),
        );
        setup.ok(Modmill, &format!("pkeyutl -decrypt -inkey key.pem {padding} -in cipher -out clear"));
        assert_eq!(setup.read("clear"), setup.read("message"), "{padding}");
    }
    setup.fails(
        Modmill,
        "pkeyutl -decrypt -inkey key.pem -pkeyopt rsa_padding_mode:oaep -in cipher -out clear",
    );
    setup.write("all", &[0xff; 256]);
    let said = setup
        .fails(Modmill, "pkeyutl -decrypt -inkey key.pem -pkeyopt rsa_padding_mode:none -in all -out clear");
    assert!(said.contains("the input is not below the modulus"), "{said}");
    assert_eq!(setup.statistics().0, 0, "OpenSSL computed");
}

#[test]
fn certificates_are_made_and_verified() {
    let Some(setup) = Setup::new() else { return };
    let pss = "-sha256 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32";
    // Without a file, `x509` of OpenSSL 4.0 takes the first lines of the configuration for extensions.
    setup.write("leaf.ext", b"extensions = leaf\n[leaf]\nbasicConstraints = CA:FALSE\n");
    for options in ["-sha256", "-sha512", "-sha1", pss] {
        setup.ok(
            Modmill,
            &format!(
                "req -new -x509 -key key.pem {options} -subj /CN=root -addext basicConstraints=critical,CA:TRUE -days 2 -out root.pem"
            ),
        );
        for by in [Modmill, Reference] {
            setup.ok(by, "verify -auth_level 0 -CAfile root.pem root.pem");
        }
        setup.ok(Modmill, "req -new -key key.pem -subj /CN=leaf -out leaf.csr");
        setup.ok(Reference, "req -in leaf.csr -verify -noout");
        setup.ok(
            Modmill,
            "x509 -req -in leaf.csr -CA root.pem -CAkey key.pem -set_serial 7 -days 1 -extfile leaf.ext -out leaf.pem",
        );
        setup.ok(Reference, "verify -auth_level 0 -CAfile root.pem leaf.pem");
    }
    setup.ok(Modmill, "x509 -in leaf.pem -noout -text");
}

#[test]
fn messages_of_cms_pass_between_both() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(Modmill, "req -new -x509 -key key.pem -subj /CN=signer -days 2 -out signer.pem");
    for (one, other) in [(Modmill, Reference), (Reference, Modmill)] {
        for options in ["", "-keyopt rsa_padding_mode:pss"] {
            let sign =
                "cms -sign -binary -nodetach -outform DER -in message -signer signer.pem -inkey key.pem";
            setup.ok(one, &format!("{sign} {options} -out signed"));
            setup.ok(
                other,
                "cms -verify -binary -inform DER -in signed -CAfile signer.pem -purpose any -out clear",
            );
            assert_eq!(setup.read("clear"), setup.read("message"));
        }
        for options in ["", "-keyopt rsa_padding_mode:oaep"] {
            let encrypt =
                "cms -encrypt -binary -outform DER -in message -aes256 -recip signer.pem -out sealed";
            setup.ok(one, &format!("{encrypt} {options}"));
            setup.ok(
                other,
                "cms -decrypt -binary -inform DER -in sealed -inkey key.pem -recip signer.pem -out clear",
            );
            assert_eq!(setup.read("clear"), setup.read("message"));
        }
    }
}
