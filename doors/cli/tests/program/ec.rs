//! `modmill ec` as users call it.

use crate::common::{run, stderr, stdout};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder where commands name their files.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("ec-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs `modmill ec` on a standard input; `@name` is a file of this desk.
    fn run_on(&self, command: &str, input: &str) -> Output {
        let words: Vec<String> = std::iter::once("ec".to_owned()).chain(self.words(command)).collect();
        run(&words.iter().map(String::as_str).collect::<Vec<_>>(), input)
    }

    fn words(&self, command: &str) -> Vec<String> {
        let file = |word: &str| word.strip_prefix('@').map_or(word.to_owned(), |name| self.path(name));
        command.split(' ').map(file).collect()
    }

    fn good(&self, command: &str) -> Output {
        let output = self.run_on(command, "");
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        output
    }

    /// The exit status and the message of a command that fails.
    fn bad(&self, command: &str) -> (Option<i32>, String) {
        let output = self.run_on(command, "");
        assert!(!output.status.success(), "{command}");
        (output.status.code(), stderr(&output))
    }

    /// Runs `openssl`, if it is installed.
    fn openssl(&self, command: &str) {
        if let Ok(output) = Command::new("openssl").args(self.words(command)).output() {
            assert!(output.status.success(), "{command}: {}", stderr(&output));
        }
    }
}

const CURVES: [&str; 6] = ["p256", "p384", "p521", "secp256k1", "ed25519", "x25519"];

#[test]
fn files_are_signed_and_verified() {
    let desk = Desk::new("files");
    desk.write("message", "a message");
    desk.write("other", "another message");
    for curve in &CURVES[..5] {
        let keygen = format!("keygen --curve {curve} --out @{curve}.pem --public-out @{curve}.pub");
        desk.good(&keygen);
        assert_eq!(desk.bad(&keygen).0, Some(2));
        let (hash, digest) =
            if *curve == "ed25519" { ("", "") } else { (" --hash sha256", " -digest sha256") };
        desk.good(&format!("sign --key @{curve}.pem{hash} --in @message --out @{curve}.sig"));
        let verify = format!("verify --key @{curve}.pub{hash} --sig @{curve}.sig --in");
        assert_eq!(stdout(&desk.good(&format!("{verify} @message"))), "Verified OK\n");
        let (status, message) = desk.bad(&format!("{verify} @other"));
        assert!(status == Some(1) && message.contains("does not verify"), "{message}");
        desk.openssl(&format!(
            "pkeyutl -verify -pubin -inkey @{curve}.pub -rawin{digest} -in @message -sigfile @{curve}.sig"
        ));
        let text = stdout(&desk.good(&format!("inspect --key @{curve}.pem")));
        assert!(text.starts_with(&format!("private key on {curve}\n")), "{text}");
    }
    // Formats and nonces.
    let sign = "sign --key @p256.pem --hash sha256 --format raw --deterministic --low-s --in @message --out";
    desk.good(&format!("{sign} @first"));
    desk.good(&format!("{sign} @second"));
    assert_eq!((desk.read("first").len(), desk.read("first")), (64, desk.read("second")));
    desk.good("verify --key @p256.pem --hash sha256 --format raw --low-s --in @message --sig @first");
    desk.good("sign --key @ed25519.pem --prehash --context here --in @message --out @ph.sig");
    let verify = "verify --key @ed25519.pub --prehash --in @message --sig @ph.sig";
    desk.good(&format!("{verify} --context here --rules strict"));
    assert_eq!(desk.bad(verify).0, Some(1));
    desk.good("keygen --curve x25519 --out @x25519.pem");
    for (options, part) in [
        ("sign --key @ed25519.pem --hash sha256 --in @message --out @no", "--hash is for ECDSA"),
        ("sign --key @p256.pem --prehash --in @message --out @no", "--prehash is for Ed25519"),
        ("sign --key @p256.pub --in @message --out @no", "a private one is needed"),
        ("sign --key @p256.pem --hash sha1 --in @message --out @no", "sha1 is refused for ECDSA"),
        ("verify --key @p256.pub --in @message", "--sig names the signature"),
        ("verify --key @p256.pub --in @message", "--records lines"),
        ("verify --key @p256.pub --rules strict --in @message --sig @p256.sig", "--rules is for Ed25519"),
        ("sign --key @ed25519.pem --deterministic --in @message --out @no", "--deterministic is for ECDSA"),
        ("sign --key @x25519.pem --in @message --out @no", "x25519, which has no signatures"),
        ("derive --key @ed25519.pem --peer @p256.pub --out @no", "ed25519, which derives no secrets"),
        ("derive --key @ed25519.pem --records lines --out @no", "ed25519, which derives no secrets"),
        ("keygen --curve ed25519 --format sec1 --out @no", "SEC 1 has no keys of ed25519"),
        ("keygen --curve p224", "unknown curve"),
    ] {
        let (status, message) = desk.bad(options);
        assert!(status == Some(2) && message.contains(part), "{options}: {message}");
        assert!(!desk.folder.join("no").exists(), "{options}");
    }
}

/// Only their owner reads private keys and secrets, whatever the mode of a file before was. No output
/// replaces an input.
#[test]
fn secret_files_are_private() {
    let desk = Desk::new("private");
    desk.write("key", "a file that others may read");
    desk.good("keygen --curve p256 --out @key --public-out @public --force");
    let description: Value =
        serde_json::from_str(&stdout(&desk.good("inspect --key @public --json"))).unwrap();
    desk.write("peers.jsonl", format!("{{\"peer\":{}}}\n", description["point"]));
    desk.good("derive --key @key --peer @public --out @secret");
    desk.good("derive --key @key --in @peers.jsonl --out @secrets.jsonl");
    #[cfg(unix)]
    for name in ["key", "secret", "secrets.jsonl"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(desk.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let before = desk.read("key");
    for (command, part) in [
        ("derive --key @key --peer @public --out @key", "is the file that --key reads"),
        ("derive --key @key --peer @public --out @public", "is the file that --peer reads"),
        ("derive --key @key --in @peers.jsonl --out @key", "is the file that --key reads"),
        ("sign --key @key --in @peers.jsonl --records file --out @key", "is the file that --key reads"),
        ("derive --key - --peer -", "--key and --peer cannot both read standard input"),
        ("derive --key @key --peer @public --in @peers.jsonl", "cannot be used with"),
        ("derive --key @key --peer @public --records lines", "cannot be used with"),
        ("derive --key @key --peer @public --json", "cannot be used with"),
    ] {
        let (status, message) = desk.bad(command);
        assert!(status == Some(2) && message.contains(part), "{command}: {message}");
    }
    assert_eq!(desk.read("key"), before);
}

#[test]
fn lines_are_signed_and_verified() {
    let desk = Desk::new("lines");
    for (curve, field, value) in [
        ("p256", "message", "48656c6c6f"),
        ("ed25519", "message", "48656c6c6f"),
        ("p384", "digest", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"),
    ] {
        desk.good(&format!("keygen --curve {curve} --out @{curve}.pem --public-out @{curve}.pub"));
        let hash = if curve == "ed25519" { "" } else { " --hash sha256" };
        let digest = if field == "digest" { " --digest" } else { "" };
        let options = format!("{hash}{digest} --records lines");
        let lines =
            format!("{{\"{field}\":\"{value}\"}}\n{{\"{field}\":\"xyz\"}}\n{{\"{field}\":\"{value}\"}}\n");
        let output = desk.run_on(&format!("sign --key @{curve}.pem{options}"), &lines);
        assert_eq!(output.status.code(), Some(1), "the second line has no message");
        let signed = stdout(&output);
        let lines: Vec<Value> = signed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines[0]["signature"].is_string() && lines[1]["error"].is_string());
        let mut wrong = lines[2].clone();
        wrong["signature"] = "00".into();
        let input = format!("{}\n{wrong}\n", lines[0]);
        let output = desk.run_on(&format!("verify --key @{curve}.pub{options}"), &input);
        let verdicts: Vec<Value> =
            stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((&verdicts[0]["valid"], &verdicts[1]["valid"]), (&true.into(), &false.into()));
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("1 of 2 signatures is wrong"), "{}", stderr(&output));
    }
    // A digest of a wrong length is no wrong signature.
    let signature = "3006020101020101";
    let input = format!("{{\"digest\":\"00\",\"signature\":\"{signature}\"}}\n").repeat(2);
    let output = desk.run_on("verify --key @p384.pub --hash sha256 --digest --records lines", &input);
    let said = stderr(&output);
    assert!(output.status.code() == Some(1) && said.contains("2 of 2 lines could not be verified"), "{said}");
    // Lines that were not announced.
    let output = desk.run_on("sign --key @p256.pem", "{\"message\":\"00\"}\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--records lines"), "{}", stderr(&output));
}

#[test]
fn secrets_are_derived() {
    let desk = Desk::new("derive");
    for curve in CURVES.into_iter().filter(|&curve| curve != "ed25519") {
        for name in ["a", "b"] {
            desk.good(&format!("keygen --curve {curve} --out @{name} --public-out @{name}.pub --force"));
        }
        desk.good("derive --key @a --peer @b.pub --out @ab");
        desk.good("derive --key @b --peer @a.pub --out @ba");
        assert_eq!(desk.read("ab"), desk.read("ba"));
        desk.openssl("pkeyutl -derive -inkey @a -peerkey @b.pub -out @theirs");
        if desk.folder.join("theirs").exists() {
            assert_eq!(desk.read("ab"), desk.read("theirs"));
        }
        let description: Value =
            serde_json::from_str(&stdout(&desk.good("inspect --key @b.pub --json"))).unwrap();
        let lines = format!("{{\"peer\":{}}}\n{{\"peer\":\"00\"}}\n", description["point"]);
        let output = desk.run_on("derive --key @a --records lines", &lines);
        assert_eq!(output.status.code(), Some(1));
        let answers: Vec<Value> =
            stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let secret: String = desk.read("ab").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(answers[0]["secret"], secret.as_str());
        assert!(answers[1]["error"].as_str().unwrap().contains("point"), "{}", answers[1]);
    }
    desk.good("keygen --curve p256 --out @p256");
    let (status, message) = desk.bad("derive --key @p256 --peer @a.pub");
    assert!(status == Some(2) && message.contains("the key is for p256"), "{message}");
}
