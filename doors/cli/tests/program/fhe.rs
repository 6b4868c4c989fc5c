//! `modmill fhe` as users call it.

use crate::common::{run, stderr, stdout};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

/// A setting for quick trials, with which recryption works.
const QUICK: &str = "n=32,t=128,sec=8";

/// A folder in which commands name their files.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    /// A folder with a pair of keys, `public` and `secret`.
    fn new(name: &str, setting: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fhe-{name}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let desk = Self { folder };
        desk.good(&format!("keygen --setting {setting} --public @public --secret @secret"));
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs `modmill fhe`; `@name` is a file of this desk, and `_` in an expression a space.
    fn run(&self, command: &str) -> Output {
        let word = |word: &str| match word.split_once('@') {
            Some((before, name)) => format!("{before}{}", self.path(name).to_str().unwrap()),
            None => word.replace('_', " "),
        };
        let words: Vec<String> =
            std::iter::once("fhe".to_owned()).chain(command.split(' ').map(word)).collect();
        run(&words.iter().map(String::as_str).collect::<Vec<_>>(), "")
    }

    fn good(&self, command: &str) -> String {
        let output = self.run(command);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        stdout(&output)
    }

    fn bad(&self, command: &str, status: i32, reason: &str) {
        let output = self.run(command);
        assert_eq!(output.status.code(), Some(status), "{command}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{command}: {}; expected {reason}", stderr(&output));
    }
}

/// Keys, encryption, a circuit, recryption, decryption.
fn whole_chain(desk: &Desk) {
    desk.good("encrypt --key @public --bits 10110 --out @a");
    desk.good("encrypt --key @public --value 0x1b --width 5 --out @b");
    assert_eq!(desk.good("decrypt --key @secret --in @a"), "10110\n");
    assert_eq!(desk.good("decrypt --key @secret --in @b --as number"), "27\n");
    let report = desk.good("eval --key @public --expr a_&_(b_^_1) --in a=@a --in b=@b --out @c");
    assert!(report.contains("5 bits, least budget") && report.contains("5 AND"), "{report}");
    assert_eq!(desk.good("decrypt --key @secret --in @c"), "10010\n");
    desk.good("recrypt --key @public --in @c --out @d");
    assert_eq!(desk.good("decrypt --key @secret --in @d"), "10010\n");
    desk.good("eval --quiet --key @public --expr a_<_b_?_b_-_a_:_a_-_b --in a=@a --in b=@b --out @c");
    let answer: Value = serde_json::from_str(&desk.good("decrypt --key @secret --in @c --json")).unwrap();
    assert_eq!(
        (&answer["bits"], &answer["number"], &answer["width"]),
        (&"00101".into(), &"5".into(), &5.into())
    );
    let info: Value = serde_json::from_str(&desk.good("info @c --json")).unwrap();
    assert_eq!((&info["kind"], &info["parameters"]["count"]), (&"ciphertexts".into(), &5.into()));
    let (exact, estimate) = (&answer["least_budget_bits"], &info["least_budget_bits"]);
    assert!(exact.as_f64().unwrap() >= estimate.as_f64().unwrap(), "{exact} {estimate}");
}

#[test]
fn the_whole_chain_at_a_quick_setting() {
    whole_chain(&Desk::new("quick", QUICK));
}

#[test]
#[ignore = "slow: .ci/run has it"]
fn the_whole_chain_at_toy() {
    whole_chain(&Desk::new("toy", "toy"));
}

#[test]
fn deep_circuits_are_recrypted() {
    let desk = Desk::new("deep", QUICK);
    desk.good("encrypt --key @public --bits 11 --out @a");
    let report = desk.good("eval --key @public --expr a*a*(a^1)*a --in a=@a --out @c");
    assert!(!report.contains("; 0 recryptions"), "{report}");
    assert_eq!(desk.good("decrypt --key @secret --in @c --as number"), "54\n");
}

#[test]
fn files_describe_themselves() {
    let desk = Desk::new("info", QUICK);
    desk.good("encrypt --key @public --bits 101 --out @bits");
    for (name, kind) in [("public", "a public key"), ("secret", "a secret key"), ("bits", "ciphertexts")] {
        let text = desk.good(&format!("info @{name}"));
        assert!(
            text.contains(kind) && text.contains("dimension 32") && text.contains("gentry-halevi"),
            "{text}"
        );
        assert!(text.contains("not for protection"), "{text}");
        assert_eq!(text.contains("least budget"), name == "bits", "{text}");
    }
    let keys = ["public", "secret", "bits"].map(|name| {
        let info: Value = serde_json::from_str(&desk.good(&format!("info @{name} --json"))).unwrap();
        info["fingerprint"].as_str().unwrap().to_owned()
    });
    assert!(keys[0].len() == 64 && keys.iter().all(|key| key == &keys[0]));
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_the_secret_key() {
    use std::os::unix::fs::PermissionsExt;
    let desk = Desk::new("mode", QUICK);
    let mode = std::fs::metadata(desk.path("secret")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn keys_are_not_overwritten_by_mistake() {
    let desk = Desk::new("force", QUICK);
    let keygen = format!("keygen --setting {QUICK} --public @public --secret @other");
    desk.bad(&keygen, 2, "exists and may hold a key; --force overwrites it");
    let output = desk.good(&format!("{keygen} --force"));
    assert!(
        output.contains("the published parameters of Gentry and Halevi's\nscheme are broken"),
        "{output}"
    );
    desk.bad(&format!("keygen --setting {QUICK} --public @same --secret @same"), 2, "name the same file");
    desk.bad("keygen --setting tiny --public @p --secret @s", 2, "known: toy, small, medium, large");
    desk.bad("keygen --setting n=100 --public @p --secret @s", 2, "not a power of two");
    desk.bad("keygen --setting toy --scheme rsa --public @p --secret @s", 2, "invalid value 'rsa'");
    desk.bad("keygen --setting toy --public - --secret @s", 2, "name a file");
}

#[test]
fn wrong_files_are_named() {
    let desk = Desk::new("wrong", QUICK);
    desk.good("encrypt --key @public --bits 101 --out @bits");
    desk.good(&format!("keygen --setting {QUICK} --public @public2 --secret @secret2"));
    desk.good("keygen --setting n=64,t=128,sec=8 --public @public3 --secret @secret3");
    let another = "belongs to another public key";
    for other in ["2", "3"] {
        desk.bad(&format!("decrypt --key @secret{other} --in @bits"), 2, another);
        desk.bad(&format!("recrypt --key @public{other} --in @bits --out @out"), 2, another);
        desk.bad(&format!("eval --key @public{other} --expr a --in a=@bits --out @out"), 2, another);
    }
    desk.bad("decrypt --key @public --in @bits", 2, "it holds a public key instead of a secret key");
    desk.bad("decrypt --key @secret --in @public", 2, "it holds a public key instead of ciphertexts");
    desk.bad("encrypt --key @secret --bits 1 --out @out", 2, "it holds a secret key instead of a public key");
    desk.bad("info @none", 2, "cannot read");
    std::fs::write(desk.path("text"), "no key at all").unwrap();
    desk.bad("info @text", 2, "its first bytes are not those of one");
    let file = std::fs::read(desk.path("bits")).unwrap();
    std::fs::write(desk.path("short"), &file[..file.len() - 40]).unwrap();
    desk.bad("decrypt --key @secret --in @short", 2, "the section `numbers` at byte");
    desk.bad("info @short", 2, "the file has");
    let mut changed = file;
    let place = changed.len() - 50;
    changed[place] ^= 1;
    std::fs::write(desk.path("changed"), changed).unwrap();
    desk.bad("decrypt --key @secret --in @changed", 2, "its checksum is wrong");
    assert!(!desk.path("out").exists());
}

#[test]
fn too_much_noise_is_refused_before_anything_is_computed() {
    // 64 bits of coefficients leave no room for recryption.
    let desk = Desk::new("noise", "n=32,t=64,sec=72");
    desk.good("encrypt --key @public --bits 1011 --out @a");
    desk.bad("eval --key @public --expr a*a*a --in a=@a --out @out", 1, "too much noise at level");
    desk.bad("recrypt --key @public --in @a --out @out", 1, "bits of budget");
    assert!(!desk.path("out").exists());
}

#[test]
fn wrong_command_lines_are_explained() {
    let desk = Desk::new("usage", QUICK);
    desk.good("encrypt --key @public --bits 101 --out @a");
    desk.bad("encrypt --key @public --bits 102 --out @b", 2, "character 3 is '2'; only 0 and 1 are bits");
    desk.bad("encrypt --key @public --value 8 --width 3 --out @b", 2, "--value 8 has more than 3 bits");
    desk.bad("encrypt --key @public --value 8 --out @b", 2, "--width");
    desk.bad("encrypt --key @public --bits 1 --value 8 --width 4 --out @b", 2, "cannot be used with");
    desk.bad("encrypt --key @public --out @b", 2, "required");
    desk.bad("encrypt --key @public --bits 1 --out @public", 2, "is the file that --key reads");
    let eval = "eval --key @public --in a=@a --out @b --expr";
    desk.bad(&format!("{eval} a_&_(a_^_)"), 2, "a & (a ^ )\n           ^");
    desk.bad(&format!("{eval} a_+_c"), 2, "there is no input `c`; inputs: a");
    desk.bad(&format!("{eval} a --in d=@a"), 2, "the expression does not read `d`");
    desk.bad(&format!("{eval} a --in a=@a"), 2, "the input `a` is given twice");
    desk.bad("eval --key @public --expr a --in a --out @b", 2, "give a name and a file, such as a=FILE");
    desk.bad("eval --key @public --expr a --in a=@a --out @a", 2, "is the file that --in reads");
}

#[test]
fn the_demo_shows_each_level() {
    let desk = Desk { folder: PathBuf::from(env!("CARGO_TARGET_TMPDIR")) };
    let text = desk.good(&format!("demo --setting {QUICK}"));
    for part in [
        "eprint 2011/567",
        "The owner makes keys in",
        "Answer: 1, so b is richer than a",
        "Answer: 22 of 31",
        "Answer: 1, so two thirds are in favour",
        "least budget in bits",
        "What was secret from whom",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let has_meter = |line: &&str| line.contains(" of ") && line.contains('[') && line.ends_with(']');
    assert!(text.lines().filter(has_meter).count() > 10, "{text}");
    let recrypted = text.lines().filter(|line| line.ends_with(']')).any(|line| {
        line.split_whitespace().nth(4).is_some_and(|count| count.parse::<u32>().is_ok_and(|count| count > 0))
    });
    assert!(recrypted, "{text}");
}

#[test]
fn the_warning_is_in_every_help_of_keys() {
    let desk = Desk { folder: PathBuf::new() };
    for command in ["--help", "keygen --help", "demo --help", "encrypt --help"] {
        assert!(desk.good(command).contains("eprint 2011/567"), "{command}");
    }
}
