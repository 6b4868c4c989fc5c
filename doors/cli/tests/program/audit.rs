//! `modmill audit`.

use crate::common::{modmill, run, scratch, stderr, stdout};
use modmill_rsa::{PrivateKey, PublicKey, Sizes};
use num_bigint::BigUint;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Eight primes of 512 bits.
fn primes() -> Vec<BigUint> {
    let engine = modmill::Engine::builder().threads(1).build().unwrap();
    let mut primes = Vec::new();
    while primes.len() < 8 {
        let found = modmill_primes::find_many(&engine, 512, 8, |_| true).unwrap();
        primes.extend(found.iter().map(|prime| BigUint::from_slice(&words(prime))));
    }
    primes
}

fn words(limbs: &[u64]) -> Vec<u32> {
    limbs.iter().flat_map(|limb| [*limb as u32, (limb >> 32) as u32]).collect()
}

fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn pem(modulus: &BigUint) -> String {
    PublicKey::new(&modulus.to_bytes_be(), &[1, 0, 1], Sizes::AllowSmall).unwrap().to_pem().unwrap()
}

/// The status and the objects of an audit.
fn audit(arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = run(&[&["audit"], arguments].concat(), "");
    let objects = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code(), objects)
}

fn texts<'a>(value: &'a Value, field: &str) -> Vec<&'a str> {
    value[field].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn folders_of_keys_are_audited_and_recovered() {
    let p = primes();
    let folder = folder("audit-folder");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    fs::create_dir(folder.join("deep")).unwrap();
    let (shared, other) = (&p[0] * &p[1], &p[0] * &p[2]);
    fs::write(at("a.pem"), pem(&shared)).unwrap();
    fs::write(at("deep/b.jsonl"), format!("{{\"n\":\"{other:x}\",\"id\":\"b\"}}\n{{\"n\":\"x\"}}\n"))
        .unwrap();
    fs::write(at("c.csv"), format!("id,n\nhealthy,{:x}\ntwice,{other:x}\n", &p[3] * &p[4])).unwrap();
    fs::write(at("d.txt"), format!("{:x}\n0\n1\n", &p[5] * &p[6])).unwrap();
    let secret = PrivateKey::generate(&modmill::Engine::new().unwrap(), 1024, Sizes::AllowSmall).unwrap();
    let secret = secret.to_pem().unwrap();
    fs::write(at("e.pem"), &*secret).unwrap();
    fs::write(at("f"), "nothing that is a key").unwrap();
    let keys = at("recovered");
    let (status, found) = audit(&["--in", folder.to_str().unwrap(), "--recover", &keys]);
    assert_eq!(status, Some(3));
    let errors: Vec<&str> = found.iter().filter_map(|line| line["error"].as_str()).collect();
    assert_eq!(errors.len(), 5, "{errors:?}");
    let has = |reason: &str| errors.iter().any(|error| error.contains(reason));
    for reason in [
        "d.txt:2: the modulus is 0",
        "d.txt:3: the modulus is 1",
        "b.jsonl:2: line 2: n: 'x'",
        "e.pem: this is a private key",
        "f: no format",
    ] {
        assert!(has(reason), "{reason}: {errors:?}");
    }
    let findings: Vec<&Value> = found.iter().filter(|line| line["error"].is_null()).collect();
    let kinds: Vec<&str> = findings.iter().map(|finding| finding["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["shared_prime", "duplicate", "shared_prime"]);
    assert_eq!(
        (texts(findings[0], "ids"), texts(findings[0], "partners")),
        (vec![at("a.pem").as_str()], vec!["twice", "b"])
    );
    let factors: Vec<BigUint> = texts(findings[0], "factors")
        .iter()
        .map(|text| BigUint::parse_bytes(text.as_bytes(), 16).unwrap())
        .collect();
    let mut expected = vec![p[0].clone(), p[1].clone()];
    expected.sort();
    assert_eq!(factors, expected);
    // The private keys of both, and nothing of the one that was among the inputs.
    let body = secret.lines().nth(1).unwrap();
    let mut recovered = Vec::new();
    for file in fs::read_dir(Path::new(&keys)).unwrap() {
        let text = fs::read(file.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&text).contains(body));
        let key = PrivateKey::read(&text, None, Sizes::AllowSmall).unwrap();
        recovered.push(BigUint::from_bytes_be(key.public_key().modulus_bytes()));
    }
    recovered.sort();
    let mut both = vec![shared, other];
    both.sort();
    assert_eq!(recovered, both);
    assert!(!found.iter().any(|line| line.to_string().contains(body)));
}

#[test]
fn exit_statuses_say_what_was_found() {
    let folder = folder("audit-status");
    let file = |name: &str, text: &str| {
        let path = folder.join(name).to_str().unwrap().to_owned();
        fs::write(&path, text).unwrap();
        path
    };
    // Products of primes above 2^16.
    let good = file("good", &format!("{:x}\n{:x}\n", 65_537u64 * 65_539, 65_543u64 * 65_551));
    let bad = file("bad", &format!("{:x}\n0\n", 65_537u64 * 65_539));
    let outlier = file("outlier", &format!("{}\n{:x}\n", "f".repeat(250_000), 65_537u64 * 65_539));
    let empty = file("empty", "");
    assert_eq!(audit(&["--in", &good]), (Some(0), vec![]));
    assert_eq!(audit(&["--in", &empty]), (Some(0), vec![]));
    let (status, found) = audit(&["--in", &bad]);
    assert_eq!((status, found.len()), (Some(1), 1));
    let (status, found) = audit(&["--in", &outlier]);
    assert_eq!((status, found.len()), (Some(1), 1));
    assert!(found[0]["error"].as_str().unwrap().contains("1000000 bits; at most 65536"), "{found:?}");
    assert_eq!(audit(&["--in", &good, &bad]).0, Some(3));
    for refused in [
        &["audit"][..],
        &["audit", "--in", "/nonexistent"],
        &["audit", "--in", &good, "--add"],
        &["audit", "--in", &good, "--resume"],
        &["audit", "--in", &good, "--format", "word"],
        &["audit", "--in", &good, "--out", &good],
        &["audit", "--in", "-"],
        &["audit", "--in", &good, "--corpus", "/nonexistent"],
    ] {
        assert_eq!(run(refused, "").status.code(), Some(2), "{refused:?}");
    }
    let output = run(&["audit", "--in", "-", "--format", "hex"], "f\n23\n");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("2 keys, 2 with findings: 2 small_factor"), "{}", stderr(&output));
}

#[test]
fn columns_are_named_and_corpora_grow() {
    let folder = folder("audit-corpus");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (first, second) = (65_537u64 * 65_539, 65_537u64 * 65_543);
    fs::write(at("first.csv"), format!("7,{first:x}\n")).unwrap();
    fs::write(at("second.jsonl"), format!("{{\"modulus\":\"{second:x}\",\"fingerprint\":8}}\n")).unwrap();
    let (corpus, scratch) = (at("corpus"), at("scratch"));
    let more = ["--corpus", &corpus, "--memory", "1K", "--scratch", &scratch, "--resume"];
    let add = |file: &str, column: &str, id: &str, add: &[&str]| {
        let path = at(file);
        audit(&[&["--in", &path, "--column", column, "--id", id], &more[..], add].concat())
    };
    assert_eq!(add("first.csv", "2", "1", &["--add"]), (Some(0), vec![]));
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    for adds in [&[][..], &["--add"], &["--add"]] {
        let (status, found) = add("second.jsonl", "modulus", "fingerprint", adds);
        assert_eq!((status, found.len()), (Some(3), if adds.is_empty() { 2 } else { found.len() }));
        assert_eq!((texts(&found[0], "ids"), texts(&found[0], "partners")), (vec!["8"], vec!["7"]));
    }
    // A corpus that is damaged, or of another version.
    let list = at("corpus/manifest.json");
    let text = fs::read_to_string(&list).unwrap();
    fs::write(&list, text.replace("\"version\": 1", "\"version\": 9")).unwrap();
    let output =
        modmill(&["audit", "--in", &at("first.csv"), "--column", "2", "--corpus", &corpus]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("version 9"), "{}", stderr(&output));
    fs::write(&list, text).unwrap();
    let root = fs::read_dir(&corpus).unwrap().map(|entry| entry.unwrap().path());
    let root = root.into_iter().find(|path| path.to_string_lossy().contains("root-")).unwrap();
    let bytes = fs::read(&root).unwrap();
    fs::write(&root, &bytes[..bytes.len() - 5]).unwrap();
    // Keys that the corpus has need no root; a new one does.
    fs::write(at("third"), format!("{:x}\n", 65_551u64 * 65_557)).unwrap();
    let output = modmill(&["audit", "--in", &at("third"), "--corpus", &corpus]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("root-") && stderr(&output).contains("3 left"), "{}", stderr(&output));
}
