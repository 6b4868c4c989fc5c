//! `modmill rsa` as users call it.

use crate::common::{run, stderr, stdout};
use num_bigint::BigUint;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

/// A folder with a key, where commands name their files.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("rsa-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let desk = Self { folder };
        desk.good("keygen --bits 1024 --allow-small --out @key.pem --public-out @public.pem");
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), contents).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// Runs `modmill rsa`; `@name` is a file of this desk.
    fn run(&self, command: &str) -> Output {
        self.run_on(command, "")
    }

    /// Runs `modmill rsa` on a standard input.
    fn run_on(&self, command: &str, input: &str) -> Output {
        let file = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.path(name).to_str().unwrap().to_owned(),
            None => word.to_owned(),
        };
        let words: Vec<String> =
            std::iter::once("rsa".to_owned()).chain(command.split(' ').map(file)).collect();
        run(&words.iter().map(String::as_str).collect::<Vec<_>>(), input)
    }

    fn good(&self, command: &str) -> Output {
        let output = self.run(command);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        output
    }

    fn bad(&self, command: &str, status: i32, reason: &str) -> Output {
        let output = self.run(command);
        assert_eq!(output.status.code(), Some(status), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{command}: {}; expected {reason}", stderr(&output));
        output
    }
}

const SIGN: &str = "sign --allow-small --key @key.pem --padding pss --hash sha256";
const VERIFY: &str = "verify --allow-small --key @public.pem --padding pss --hash sha256";

#[test]
fn files_are_signed_and_verified() {
    let desk = Desk::new("files");
    desk.write("message", "a message");
    for scheme in
        ["PKCS1v15 --hash SHA-256", "PSS --hash sha384", "pss --hash sha3-256 --salt 7 --mgf-hash sha256"]
    {
        let options = format!("--allow-small --padding {scheme} --in @message");
        desk.good(&format!("sign --key @key.pem {options} --out @signature"));
        assert_eq!(desk.read("signature").len(), 128);
        desk.good(&format!("verify --key @public.pem {options} --sig @signature"));
        desk.good(&format!("verify --key @key.pem {options} --sig @signature"));
        let mut wrong = desk.read("signature");
        wrong[100] ^= 1;
        desk.write("wrong", wrong);
        desk.bad(&format!("verify --key @public.pem {options} --sig @wrong"), 1, "does not verify");
        let other = options.replace("@message", "@key.pem");
        desk.bad(&format!("verify --key @public.pem {other} --sig @signature"), 1, "does not verify");
    }
    // The SHA-256 digest of the message by another program: a signature of the one is a signature of the
    // other.
    desk.write("digest", hex("f53c09ca39717a45c62d9aca8f8113eddbfd5f81dcab0b33b1c1834075225e68"));
    desk.good(&format!("{SIGN} --digest --in @digest --out @signature"));
    desk.good(&format!("{VERIFY} --digest --in @digest --sig @signature"));
    desk.good(&format!("{VERIFY} --in @message --sig @signature"));
    desk.bad(&format!("{SIGN} --digest --in @message --out @signature"), 1, "9 bytes instead of 32");
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn folders_and_lines_are_signed_at_once() {
    let desk = Desk::new("batches");
    for item in 0..20 {
        desk.write(&format!("letters/{item}.txt"), format!("letter {item}"));
    }
    let said = desk.good(&format!("{SIGN} --in @letters --out @signed --json"));
    let summary: Value = serde_json::from_str(&stdout(&said)).unwrap();
    assert_eq!((&summary["items"], &summary["failed"]), (&20.into(), &0.into()));
    desk.good(&format!("{VERIFY} --in @letters --sig @signed"));
    // Signatures beside the files, twice: they are not signed themselves.
    for _ in 0..2 {
        desk.good(&format!("{SIGN} --in @letters --out @letters"));
    }
    desk.good(&format!("{VERIFY} --in @letters --sig @letters"));
    assert_eq!(std::fs::read_dir(desk.path("letters")).unwrap().count(), 40);
    (0..20).for_each(|item| std::fs::remove_file(desk.path(&format!("letters/{item}.txt.sig"))).unwrap());
    desk.write("letters/3.txt", "another letter");
    desk.bad(&format!("{VERIFY} --in @letters --sig @signed"), 1, "1 of 20 signatures is wrong");

    let lines: Vec<String> = (0..30).map(|item| format!("{{\"message\":\"{item:04x}\"}}\n")).collect();
    desk.write("messages.jsonl", lines.concat() + "{\"message\":\"0\"}\nnothing\n{\"text\":\"00\"}\n");
    desk.bad(&format!("{SIGN} --in @messages.jsonl --out @signatures.jsonl"), 1, "3 of 33 lines");
    let answers: Vec<Value> =
        desk.text("signatures.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 33);
    for (item, reason) in [(30, "odd number"), (31, "not a JSON object"), (32, "\"message\" is missing")] {
        let error = answers[item]["error"].as_str().unwrap();
        assert!(error.contains(reason) && error.starts_with(&format!("line {}", item + 1)), "{error}");
    }
    let signed = |item: usize, message: usize| {
        let signature = answers[item]["signature"].as_str().unwrap();
        format!("{{\"message\":\"{message:04x}\",\"signature\":\"{signature}\"}}\n")
    };
    let good: String = (0..30).map(|item| signed(item, item)).collect();
    desk.write("signed.jsonl", &good);
    let said = desk.good(&format!("{VERIFY} --in @signed.jsonl"));
    assert_eq!(stdout(&said), "{\"valid\":true}\n".repeat(30));
    desk.write("signed.jsonl", good + &signed(1, 2));
    let said = desk.bad(
        &format!("{VERIFY} --in @signed.jsonl"),
        1,
        "1 of 31 signatures is wrong; the first: line 31",
    );
    assert!(stdout(&said).contains("\"valid\":false"));
}

#[test]
fn files_and_lines_that_cannot_be_read_cost_no_other_its_answer() {
    let desk = Desk::new("unreadable");
    for item in 0..4 {
        desk.write(&format!("letters/{item}"), format!("letter {item}"));
    }
    desk.good(&format!("{SIGN} --in @letters --out @signed"));
    std::fs::remove_file(desk.path("signed/0.sig")).unwrap();
    desk.write("signed/2.sig", "no signature");
    let summary = "1 of 4 signatures is wrong, and 1 of 4 files could not be verified";
    let said = desk.bad(&format!("{VERIFY} --in @letters --sig @signed"), 1, summary);
    assert!(stderr(&said).contains("modmill: 0: cannot read"), "{}", stderr(&said));
    assert!(stderr(&said).contains("modmill: 2: the signature does not verify"), "{}", stderr(&said));

    // Lines are numbered as editors do it. Each has an answer at its place, also one that is empty or no
    // text.
    let lines = b"{\"message\":\"00\"}\n\n{\"message\":\"\xff\"}\n{\"message\":\"0g\"}\n{\"message\":\"01\"}\n{\"mess";
    desk.write("messages.JSONL", lines);
    let said = desk.bad(&format!("{SIGN} --in @messages.JSONL"), 1, "4 of 6 lines");
    let answers = stdout(&said);
    let answers: Vec<&str> = answers.lines().collect();
    assert!(answers[0].contains("signature") && answers[4].contains("signature"), "{answers:?}");
    for (answer, start) in [
        (1, "line 2: an empty line"),
        (2, "line 3: bad JSON"),
        (3, "line 4: message: "),
        (5, "line 6: the input ends"),
    ] {
        assert!(answers[answer].starts_with(&format!("{{\"error\":\"{start}")), "{answers:?}");
    }
    // A file whose name is nothing but the ending is no ciphertext of a file.
    desk.write("encrypted/.enc", "nothing");
    desk.good("decrypt --allow-small --key @key.pem --padding oaep --in @encrypted --out @decrypted");
}

#[test]
fn outputs_that_would_be_lost_are_refused() {
    let desk = Desk::new("outputs");
    desk.write("letters/1", "letter");
    desk.write("empty", "\n");
    desk.write("signed.jsonl", "");
    desk.bad(&format!("{SIGN} --in @letters"), 2, "--out names the folder");
    desk.bad(&format!("{VERIFY} --in @signed.jsonl --json"), 2, "cannot both go to standard output");
    desk.bad(&format!("{VERIFY} --in @signed.jsonl --sig @letters"), 2, "a field of the input");
    let keygen = "keygen --bits 1024 --allow-small";
    desk.bad(&format!("{keygen} --out @x --public-out @x"), 2, "the same file");
    desk.bad(&format!("{keygen} --out @x --public-out @letters/../x"), 2, "the same file");
    desk.bad(&format!("{keygen} --out @x --public-out - --json"), 2, "cannot both go to standard output");
    desk.bad(&format!("{keygen} --out @x --password-file @empty"), 2, "the password is empty");
    desk.bad(&format!("{keygen} --out @x --format jwk --der"), 2, "no DER");
    assert!(!desk.path("x").exists());
}

#[test]
fn keys_are_not_overwritten() {
    let desk = Desk::new("overwriting");
    let (key, public) = (desk.read("key.pem"), desk.read("public.pem"));
    let keygen = "keygen --bits 1024 --allow-small";
    desk.bad(&format!("{keygen} --out @key.pem"), 2, "--force overwrites it");
    desk.bad(&format!("{keygen} --out @new.pem --public-out @public.pem"), 2, "--force overwrites it");
    desk.write("message", "a message");
    desk.write("digest", [7; 32]);
    let reason = "is the file that --key reads";
    desk.bad(&format!("{SIGN} --in @message --out @key.pem"), 2, reason);
    std::fs::hard_link(desk.path("key.pem"), desk.path("link.pem")).unwrap();
    desk.bad(&format!("{SIGN} --in @message --out @link.pem"), 2, reason);
    desk.bad(&format!("{SIGN} --digest --in @digest --out @digest"), 2, "is the file that --in reads");
    // A file of a folder that would be written over the key.
    std::fs::hard_link(desk.path("key.pem"), desk.path("message.sig")).unwrap();
    desk.write("one/message", "a message");
    desk.bad(&format!("{SIGN} --in @one --out @."), 2, reason);
    assert_eq!((desk.read("key.pem"), desk.read("public.pem")), (key.clone(), public));
    assert!(!desk.path("new.pem").exists());
    desk.good(&format!("{keygen} --out @key.pem --force"));
    assert_ne!(desk.read("key.pem"), key);
}

#[test]
fn lines_from_sign_are_lines_for_verify() {
    let desk = Desk::new("feedback");
    let lines = "{\"id\":1,\"message\":\"00ff\"}\n{\"message\":\"\",\"note\":[\"x\", 2]}\n";
    let signed = desk.run_on(&format!("{SIGN} --format lines"), lines);
    assert!(signed.status.success(), "{}", stderr(&signed));
    let signed = stdout(&signed);
    let fields: Vec<Value> = signed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&fields[0]["id"], &fields[0]["message"]), (&1.into(), &"00ff".into()));
    assert!(signed.contains("\"note\":[\"x\", 2]"), "{signed}");
    let verified = desk.run_on(&format!("{VERIFY} --format lines"), &signed);
    assert!(verified.status.success(), "{}", stderr(&verified));
    assert_eq!(stdout(&verified), "{\"valid\":true,\"id\":1}\n{\"valid\":true,\"note\":[\"x\", 2]}\n");
    // Without a word about the format, lines are not taken for one message.
    let said = desk.run_on(SIGN, lines);
    assert_eq!(said.status.code(), Some(2));
    assert!(stderr(&said).contains("--format lines"), "{}", stderr(&said));
    // Objects that are no such lines are messages like any other.
    for message in ["{\"text\":\"00\"}\n", "a message", ""] {
        assert!(desk.run_on(&format!("{SIGN} --out @signature"), message).status.success());
        let said = desk.run_on(&format!("{VERIFY} --sig @signature"), message);
        assert_eq!((said.status.code(), stdout(&said).as_str()), (Some(0), "Verified OK\n"));
    }
    assert!(desk.run_on(&format!("{SIGN} --format file --out @signature"), lines).status.success());
    // Messages do not stand beside their ciphertexts.
    let encrypt = "encrypt --allow-small --key @key.pem --padding oaep --format lines";
    let said = stdout(&desk.run_on(encrypt, lines));
    assert!(!said.contains("message") && said.contains("\"id\":1"), "{said}");
    // Repeated fields are refused.
    let said = desk.run_on(&format!("{SIGN} --format lines"), "{\"message\":\"00\",\"message\":\"01\"}\n");
    assert_eq!(said.status.code(), Some(1));
    assert!(stdout(&said).contains("duplicate field `message`"), "{}", stdout(&said));
}

#[test]
fn verdicts_are_told_and_nothing_is_no_verdict() {
    let desk = Desk::new("verdicts");
    for item in 0..3 {
        desk.write(&format!("letters/{item}"), format!("letter {item}"));
    }
    desk.good(&format!("{SIGN} --in @letters --out @letters/signed"));
    let said = desk.good(&format!("{VERIFY} --in @letters --sig @letters/signed"));
    assert_eq!(stdout(&said), "Verified OK: 3 files\n");
    assert_eq!(stdout(&desk.good(&format!("{VERIFY} --in @letters --sig @letters/signed --quiet"))), "");
    let said =
        desk.bad(&format!("{VERIFY} --in @letters/1 --sig @letters/signed/2.sig"), 1, "does not verify");
    assert_eq!((stderr(&said).lines().count(), stdout(&said).as_str()), (1, ""), "one message");
    desk.bad(&format!("{VERIFY} --in @letters --sig @letters/signed --out @x"), 2, "leave it out");
    std::fs::create_dir(desk.path("empty")).unwrap();
    desk.write("empty.jsonl", "\n\n");
    desk.bad(&format!("{VERIFY} --in @empty --sig @letters"), 1, "nothing to verify");
    desk.bad(&format!("{VERIFY} --in @empty.jsonl"), 1, "nothing to verify");
    desk.bad(&format!("{SIGN} --in - --out @x --key -"), 2, "cannot be used multiple times");
    let sign = "sign --allow-small --key - --padding pss --hash sha256";
    desk.bad(&format!("{sign} --in - --out @x"), 2, "--key and --in cannot both read standard input");
    if cfg!(target_os = "linux") {
        let by_name = sign.replace("--key -", "--key /dev/stdin");
        assert_ne!(by_name, sign);
        desk.bad(&format!("{by_name} --in - --out @x"), 2, "--key and --in cannot both read standard input");
    }
    desk.bad(&format!("{VERIFY} --in - --sig -"), 2, "--in and --sig cannot both read standard input");
    assert!(!desk.path("x").exists());
}

#[cfg(unix)]
#[test]
fn folders_pass_over_nothing_in_silence() {
    let desk = Desk::new("folders");
    desk.write("letters/file", "a letter");
    desk.write("letters/folder/file", "a letter in a folder");
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, desk.path(name)).unwrap();
    link("file", "letters/link");
    link("nothing", "letters/broken");
    let pipe = std::process::Command::new("mkfifo").arg(desk.path("letters/pipe")).status();
    let failed = 2 + usize::from(pipe.is_ok_and(|status| status.success()));
    let total = failed + 2;
    let said =
        desk.bad(&format!("{SIGN} --in @letters --out @signed"), 1, &format!("{failed} of {total} files"));
    for reason in ["folder: a folder, not a file", "broken: a symbolic link that leads nowhere"] {
        assert!(stderr(&said).contains(&format!("modmill: {reason}")), "{}", stderr(&said));
    }
    // A link to a file is a file.
    assert!(desk.path("signed/link.sig").exists() && desk.path("signed/file.sig").exists());
    desk.bad(&format!("{VERIFY} --in @letters --sig @signed"), 1, &format!("{failed} of {total} files"));
}

/// The DER encoding of a PKCS #1 public key with the exponent 65537.
fn public_key(modulus: &BigUint) -> Vec<u8> {
    // A leading zero byte says that the number is not negative.
    let sign = vec![0; usize::from(modulus.bits().is_multiple_of(8))];
    let bytes = [sign, modulus.to_bytes_be()].concat();
    let with_length = |tag: u8, contents: &[u8]| {
        let length = u16::try_from(contents.len()).unwrap().to_be_bytes();
        [&[tag, 0x82, length[0], length[1]], contents].concat()
    };
    with_length(0x30, &[with_length(2, &bytes), vec![2, 3, 1, 0, 1]].concat())
}

#[test]
fn flawed_keys_are_not_called_well_formed() {
    let desk = Desk::new("flaws");
    let said = desk.good("inspect --allow-small --key @public.pem");
    assert!(stdout(&said).starts_with("public RSA key of 1024 bits, well-formed\n"), "{}", stdout(&said));
    let said = desk.good("inspect --allow-small --key @key.pem --check");
    assert!(stdout(&said).starts_with("private RSA key of 1024 bits, well-formed, factors prime\n"));
    let said = desk.good("inspect --allow-small --key @public.pem --json");
    let said: Value = serde_json::from_str(&stdout(&said)).unwrap();
    let modulus = BigUint::parse_bytes(said["modulus"].as_str().unwrap().as_bytes(), 16).unwrap();
    assert_eq!((&said["well_formed"], &said["flaw"]), (&true.into(), &Value::Null));
    for (modulus, flaw) in [
        (BigUint::from(3u8).pow(1300), "divisible by 3"),
        (modulus.pow(2), "a perfect power with exponent 2"),
    ] {
        desk.write("flawed.der", public_key(&modulus));
        let said = desk.bad("inspect --allow-small --key @flawed.der --json", 1, flaw);
        let said: Value = serde_json::from_str(&stdout(&said)).unwrap();
        assert_eq!(said["well_formed"], false);
        assert!(said["flaw"].as_str().unwrap().contains(flaw), "{said}");
        let said = desk.bad("inspect --allow-small --key @flawed.der", 1, flaw);
        assert!(stdout(&said).contains(" bits, flawed\n"), "{}", stdout(&said));
    }
    // A factor above the bound of trial division is not looked for.
    desk.write("other.der", public_key(&(BigUint::from(65_537u32) * &modulus * &modulus)));
    desk.good("inspect --allow-small --key @other.der");
    desk.bad("inspect --allow-small --key @public.pem --check", 2, "this key is public");
}

#[test]
fn options_without_effect_are_refused() {
    let desk = Desk::new("effects");
    desk.write("message", "a message");
    let sign = "sign --allow-small --key @key.pem --padding pkcs1v15 --hash sha256 --in @message --out @x";
    let encrypt = "encrypt --allow-small --key @key.pem --padding pkcs1v15 --in @message --out @x";
    for (command, option) in [
        (sign, "--salt 20"),
        (sign, "--salt digest"),
        (sign, "--mgf-hash sha256"),
        (encrypt, "--hash sha256"),
        (encrypt, "--mgf-hash sha1"),
        (encrypt, "--label x"),
        (encrypt, "--label-hex 00"),
    ] {
        let name = option.split(' ').next().unwrap();
        desk.bad(&format!("{command} {option}"), 2, &format!("{name} has an effect only with"));
    }
    assert!(!desk.path("x").exists());
}

#[test]
fn salts_of_any_length_verify_unless_one_is_named() {
    let desk = Desk::new("salts");
    desk.write("message", "a message");
    for salt in ["max", "0", "20", "digest"] {
        desk.good(&format!("{SIGN} --in @message --salt {salt} --out @signature"));
        desk.good(&format!("{VERIFY} --in @message --sig @signature"));
        desk.good(&format!("{VERIFY} --in @message --sig @signature --salt {salt}"));
        desk.bad(&format!("{VERIFY} --in @message --sig @signature --salt 7"), 1, "does not verify");
    }
}

#[test]
fn labels_and_names_are_read_in_several_ways() {
    let desk = Desk::new("labels");
    desk.write("message", "a secret");
    let oaep = |command: &str| format!("{command} --allow-small --key @key.pem --padding oaep --hash SHA1");
    let encrypt = format!("{} --in @message --out @ciphertext", oaep("encrypt"));
    let decrypt = format!("{} --in @ciphertext --out @plain", oaep("decrypt"));
    desk.good(&format!("{encrypt} --label name"));
    desk.good(&format!("{decrypt} --label-hex 6E616d65"));
    assert_eq!(desk.text("plain"), "a secret");
    desk.good(&format!("{encrypt} --label-hex 00ff"));
    desk.good(&format!("{decrypt} --label-hex 00ff"));
    desk.bad(&decrypt, 1, "does not decrypt");
    desk.bad(&format!("{decrypt} --label-hex 0"), 2, "odd number");
    desk.bad(&format!("{decrypt} --label-hex 00 --label x"), 2, "cannot be used with");
    desk.good(
        "sign --allow-small --key @key.pem --padding pss --hash SHA3-256 --in @message --out @signature",
    );
}

#[test]
fn messages_are_encrypted_and_decrypted() {
    let desk = Desk::new("encryption");
    desk.write("message", "a secret");
    for scheme in ["oaep --hash sha1", "oaep", "oaep --hash sha1 --label name", "pkcs1v15"] {
        let options = format!("--allow-small --padding {scheme}");
        if scheme == "oaep" {
            desk.bad(
                &format!("encrypt --key @public.pem {options} --hash sha512 --in @message"),
                1,
                "too short",
            );
        }
        desk.good(&format!("encrypt --key @public.pem {options} --in @message --out @ciphertext"));
        desk.good(&format!("decrypt --key @key.pem {options} --in @ciphertext --out @plain --blinding"));
        assert_eq!(desk.text("plain"), "a secret");
    }
    let options = "--allow-small --padding oaep";
    desk.bad(&format!("decrypt --key @key.pem {options} --in @ciphertext"), 1, "does not decrypt");
    desk.bad(&format!("decrypt --key @public.pem {options} --in @ciphertext"), 2, "a private one is needed");
    for item in 0..5 {
        desk.write(&format!("plain-folder/{item}"), format!("secret {item}"));
    }
    desk.good(&format!("encrypt --key @public.pem {options} --in @plain-folder --out @encrypted"));
    desk.good(&format!("decrypt --key @key.pem {options} --in @encrypted --out @decrypted"));
    assert_eq!(desk.text("decrypted/3"), "secret 3");
    desk.write("lines.jsonl", "{\"message\":\"00ff\"}\n");
    desk.good(&format!("encrypt --key @public.pem {options} --in @lines.jsonl --out @encrypted.jsonl"));
    let said = desk.good(&format!("decrypt --key @key.pem {options} --in @encrypted.jsonl"));
    assert_eq!(stdout(&said), "{\"message\":\"00ff\"}\n");
}

#[test]
fn several_keys_are_numbered_files_of_a_folder() {
    let desk = Desk::new("several_keys");
    let keygen = "keygen --bits 1024 --allow-small --count 3";
    desk.bad(keygen, 2, "several keys need a folder");
    desk.good(&format!("{keygen} --out @private --public-out @public"));
    let mut seen = std::collections::BTreeSet::new();
    for number in 1..=3 {
        let read = |options: &str| {
            let output = desk.good(&format!("inspect --allow-small --json {options}"));
            serde_json::from_str::<Value>(&stdout(&output)).unwrap()["sha256"].to_string()
        };
        let private = read(&format!("--check --key @private/{number}.pem"));
        assert_eq!(private, read(&format!("--key @public/{number}.pem")));
        seen.insert(private);
    }
    assert_eq!(seen.len(), 3);
    assert!(!desk.path("private/4.pem").exists());
    desk.bad(&format!("{keygen} --out @private"), 2, "exists and may hold a key");
}

#[test]
fn keys_are_written_read_and_described() {
    let desk = Desk::new("keys");
    desk.write("password", "secret\n");
    desk.write("other", "Secret\n");
    for (name, options) in [
        ("a.pem", "--format pkcs8"),
        ("a.der", "--format pkcs8 --der"),
        ("b.pem", "--format pkcs1"),
        ("b.der", "--format pkcs1 --der"),
        ("c.json", "--format jwk"),
        ("d.pem", "--password-file @password"),
    ] {
        desk.good(&format!(
            "keygen --bits 1024 --allow-small --force {options} --out @{name} --public-out @public"
        ));
        let options = format!("--allow-small --password-file @password --key @{name}");
        let private = desk.good(&format!("inspect {options} --json --check"));
        let public = desk.good("inspect --allow-small --key @public --json");
        let read = |output: &Output| serde_json::from_str::<Value>(&stdout(output)).unwrap();
        let (private, public) = (read(&private), read(&public));
        assert_eq!((&private["kind"], &public["kind"]), (&"private".into(), &"public".into()));
        assert_eq!((&private["sha256"], &private["bits"]), (&public["sha256"], &1024.into()));
        assert_eq!((&private["exponent"], &private["primes_checked"]), (&"010001".into(), &true.into()));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(desk.path("a.pem")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    desk.bad("inspect --allow-small --key @d.pem", 2, "--password-file");
    desk.bad("inspect --allow-small --key @d.pem --password-file @other", 2, "does not decrypt");
    desk.bad("inspect --key @key.pem", 2, "--allow-small");
    desk.bad("inspect --key @password", 2, "not a key that can be read");
    desk.bad("inspect --key @nothing", 2, "cannot read");
    #[cfg(unix)]
    {
        let too_long = "cannot read /dev/zero: it is longer than 16 MiB";
        desk.bad("inspect --key /dev/zero", 2, too_long);
        desk.bad("inspect --key @d.pem --password-file /dev/zero", 2, too_long);
    }
    desk.bad("keygen --bits 1024 --out @x", 2, "too short");
    desk.bad("keygen --bits 2049 --out @x", 2, "odd");
    desk.bad("keygen --format jwk --password-file @password --out @x", 2, "PKCS #8");
    desk.bad(&format!("{SIGN} --hash md5 --in @password"), 2, "cannot be used multiple times");
    desk.bad("sign --key @key.pem --padding pss --hash md5", 2, "unknown hash");
    desk.bad(
        "sign --allow-small --key @key.pem --padding pss --hash sha1 --in @password",
        2,
        "not defined with sha1",
    );
    desk.bad("verify --allow-small --key @public.pem --padding pss --hash sha256 --in @password", 2, "--sig");
}
