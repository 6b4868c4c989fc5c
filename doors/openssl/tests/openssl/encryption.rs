//! Encryption: what one provider encrypts the other decrypts.

use crate::common::{Modmill, Reference, Setup};

const PADDINGS: [&str; 4] = [
    "-pkeyopt rsa_padding_mode:pkcs1",
    "-pkeyopt rsa_padding_mode:oaep",
    "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256",
    "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha512 -pkeyopt rsa_mgf1_md:sha1 -pkeyopt rsa_oaep_label:616263",
];

#[test]
fn messages_pass_between_both() {
    let Some(setup) = Setup::new() else { return };
    for padding in PADDINGS {
        for (one, other) in [(Modmill, Reference), (Reference, Modmill)] {
            setup.ok(
                one,
                &format!("pkeyutl -encrypt -pubin -inkey public.pem {padding} -in message -out cipher"),
            );
            setup.ok(other, &format!("pkeyutl -decrypt -inkey key.pem {padding} -in cipher -out clear"));
            assert_eq!(setup.read("clear"), setup.read("message"), "{padding}");
        }
    }
    assert_eq!(setup.statistics().0, PADDINGS.len(), "modmill decrypted");
}

#[test]
fn numbers_without_padding_are_those_of_openssl() {
    let Some(setup) = Setup::new() else { return };
    let mut number = [0x5a; 256];
    number[0] = 0;
    setup.write("number", &number);
    let none = "-pkeyopt rsa_padding_mode:none";
    setup.ok(Modmill, &format!("pkeyutl -encrypt -pubin -inkey public.pem {none} -in number -out ours"));
    setup.ok(Reference, &format!("pkeyutl -encrypt -pubin -inkey public.pem {none} -in number -out theirs"));
    assert_eq!(setup.read("ours"), setup.read("theirs"));
    setup.ok(Modmill, &format!("pkeyutl -decrypt -inkey key.pem {none} -in theirs -out back"));
    assert_eq!(setup.read("back"), number);
}

#[test]
fn a_program_may_ask_whether_the_padding_is_right() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(Reference, "pkeyutl -encrypt -pubin -inkey public.pem -in message -out cipher");
    let mut wrong = setup.read("cipher");
    wrong[255] ^= 1;
    setup.write("wrong", &wrong);
    let decrypt = |switch: u8, file: &str| {
        format!("pkeyutl -decrypt -inkey key.pem -pkeyopt implicit-rejection:{switch} -in {file} -out clear")
    };
    for switch in [0, 1] {
        setup.ok(Modmill, &decrypt(switch, "cipher"));
        assert_eq!(setup.read("clear"), setup.read("message"), "{switch}");
    }
    setup.ok(Modmill, &decrypt(1, "wrong"));
    let said = setup.fails(Modmill, &decrypt(0, "wrong"));
    assert!(said.contains("the ciphertext does not decrypt"), "{said}");
}

#[test]
fn a_wrong_padding_of_pkcs1_is_no_error_and_one_of_oaep_is() {
    let Some(setup) = Setup::new() else { return };
    setup.ok(
        Reference,
        &format!("pkeyutl -encrypt -pubin -inkey public.pem {} -in message -out cipher", PADDINGS[1]),
    );
    setup.fails(Modmill, &format!("pkeyutl -decrypt -inkey key.pem {} -in cipher -out a", PADDINGS[2]));
    setup.ok(Modmill, &format!("pkeyutl -decrypt -inkey key.pem {} -in cipher -out a", PADDINGS[0]));
    setup.ok(Modmill, &format!("pkeyutl -decrypt -inkey key.pem {} -in cipher -out b", PADDINGS[0]));
    assert_eq!(setup.read("a"), setup.read("b"), "the substitute belongs to the key and the ciphertext");
    assert_ne!(setup.read("a"), setup.read("message"));
}
