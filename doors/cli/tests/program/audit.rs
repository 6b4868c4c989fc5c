//! `modmill audit`.

use crate::common::{modmill, run, scratch, stderr, stdout};
use arrow_array::{ArrayRef, BinaryArray, LargeBinaryArray, RecordBatch, StringArray};
use modmill_rsa::{PrivateKey, PrivateParts, PublicKey, Sizes};
use num_bigint::BigUint;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Primes of `bits` bits.
fn primes(bits: usize, count: usize) -> Vec<BigUint> {
    let engine = modmill::Engine::builder().threads(1).build().unwrap();
    let mut primes = Vec::new();
    while primes.len() < count {
        let found = modmill_primes::find_many(&engine, bits, count, |_| true).unwrap();
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
    let p = primes(512, 8);
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
    // A finding about the old key is told until the new one is in the corpus.
    for (adds, count) in [(&[][..], 2), (&["--add"], 2), (&["--add"], 1)] {
        let (status, found) = add("second.jsonl", "modulus", "fingerprint", adds);
        assert_eq!((status, found.len()), (Some(3), count));
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

/// A line of `authorized_keys`.
fn openssh(modulus: &BigUint) -> String {
    use base64ct::{Base64, Encoding};
    let string = |bytes: &[u8]| [&(bytes.len() as u32).to_be_bytes(), bytes].concat();
    let number = [&[0], &modulus.to_bytes_be()[..]].concat();
    let key = [string(b"ssh-rsa"), string(&[1, 0, 1]), string(&number)].concat();
    format!("ssh-rsa {}", Base64::encode_string(&key))
}

/// A private key in PEM.
fn private(p: &BigUint, q: &BigUint) -> String {
    let bytes = BigUint::to_bytes_be;
    let exponent = BigUint::from(65_537u32);
    let inverse = exponent.modinv(&((p - 1u8) * (q - 1u8))).unwrap();
    let parts = PrivateParts {
        modulus: &bytes(&(p * q)),
        public_exponent: &bytes(&exponent),
        private_exponent: &bytes(&inverse),
        prime1: &bytes(p),
        prime2: &bytes(q),
        ..PrivateParts::default()
    };
    PrivateKey::new(&parts, Sizes::AllowSmall).unwrap().to_pem().unwrap().to_string()
}

/// A key in every format, all of which share a prime.
#[test]
fn every_format_is_audited() {
    let p = primes(512, 20);
    let folder = folder("audit-formats");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let mut moduli = p[1..].iter().map(|other| &p[0] * other);
    let mut names = Vec::new();
    let mut file = |name: &str, id: &str, content: &dyn Fn(&BigUint) -> Vec<u8>| {
        fs::write(at(name), content(&moduli.next().unwrap())).unwrap();
        names.push(id.replacen('@', &at(name), 1));
    };
    let public =
        |modulus: &BigUint| PublicKey::new(&modulus.to_bytes_be(), &[1, 0, 1], Sizes::AllowSmall).unwrap();
    let rows = |modulus: &BigUint, is_text: bool| {
        let (bytes, text) = (modulus.to_bytes_be(), format!("{modulus:X}"));
        let moduli: ArrayRef = match is_text {
            true => Arc::new(StringArray::from(vec![Some(&text[..]), None])),
            false => Arc::new(LargeBinaryArray::from_opt_vec(vec![Some(&bytes), None])),
        };
        let names: ArrayRef = Arc::new(StringArray::from(vec!["row", "null"]));
        let others: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"other", b""]));
        RecordBatch::try_from_iter([("other", others), ("id", names), ("n", moduli)]).unwrap()
    };
    file("public.pem", "@", &|n| public(n).to_pem().unwrap().into());
    file("pkcs1", "@", &|n| format!("\u{feff}{}", public(n).to_pkcs1_pem().unwrap()).into());
    file("public.der", "@", &|n| public(n).to_der().unwrap().to_vec());
    file("pkcs1.der", "@", &|n| public(n).to_pkcs1_der().unwrap().to_vec());
    file("id_rsa.pub", "@:1 me@host", &|n| format!("{} me@host\n", openssh(n)).into());
    file("known_hosts", "@:2 a,10.0.0.1", &|n| format!("# hosts\na,10.0.0.1 {}", openssh(n)).into());
    file("key.jwk", "@", &|n| public(n).to_jwk().unwrap().into());
    file("set.json", "@#1", &|n| format!("{{\"keys\":[{}]}}", public(n).to_jwk().unwrap()).into());
    file("moduli", "@:1", &|n| format!("0x{n:X}\r\n").into());
    file("keys.csv", "first, \"one\"", &|n| format!("n,id\n\"{n:x}\" , \"first, \"\"one\"\"\"\n").into());
    file("keys.jsonl", "line", &|n| format!("{{\"n\":\"{n:x}\",\"id\":\"line\",\"d\":[1]}}").into());
    file("keys.parquet", "row", &|n| {
        let rows = rows(n, false);
        let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.into_inner().unwrap()
    });
    file("keys.arrow", "row", &|n| {
        let rows = rows(n, true);
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
        writer.write(&rows).unwrap();
        writer.into_inner().unwrap()
    });
    // Certificates and requests, if there is a program that makes them.
    let openssl = |key: &str, arguments: &str| {
        fs::write(at("private"), key).unwrap();
        let mut command = Command::new("openssl");
        let command = command.args(arguments.split(' ')).stderr(Stdio::null()).current_dir(&folder);
        command.status().is_ok_and(|status| status.success())
    };
    for (index, (name, arguments)) in [
        ("certificate", "req -x509 -new -key private -subj /CN=x -out certificate"),
        ("certificate.der", "req -x509 -new -key private -subj /CN=x -outform DER -out certificate.der"),
        ("request", "req -new -key private -subj /CN=x -out request"),
    ]
    .into_iter()
    .enumerate()
    {
        match openssl(&private(&p[0], &p[19 - index]), arguments) {
            true => names.push(at(name)),
            false => println!("left out, no openssl: {name}"),
        }
    }
    fs::remove_file(at("private")).unwrap();
    let (status, found) = audit(&["--in", folder.to_str().unwrap()]);
    assert_eq!(status, Some(3));
    let (errors, findings): (Vec<_>, Vec<_>) = found.iter().partition(|line| line["kind"].is_null());
    // Rows without a modulus.
    let errors: Vec<&str> = errors.iter().map(|line| line["error"].as_str().unwrap()).collect();
    assert!(errors.len() == 2 && errors.iter().all(|error| error.contains("null")), "{errors:?}");
    assert_eq!(findings.len(), names.len(), "{found:?}");
    let mut told: Vec<&str> = findings.iter().flat_map(|finding| texts(finding, "ids")).collect();
    told.sort_unstable();
    names.sort_unstable();
    assert_eq!(told, names);
    for finding in findings {
        assert_eq!(finding["kind"], "shared_prime");
        assert_eq!(texts(finding, "partners").len(), names.len() - 1, "{finding}");
        assert!(texts(finding, "factors").contains(&format!("{:x}", p[0]).as_str()));
    }
}

/// Private keys instead of every format: an error each, and nothing of them in what is written.
#[test]
fn nothing_of_private_keys_is_written() {
    let p = primes(512, 3);
    let folder = folder("audit-private");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let good = at("good");
    fs::write(&good, format!("{:x}\n", &p[0] * &p[1])).unwrap();
    let key = PrivateKey::read(private(&p[0], &p[2]).as_bytes(), None, Sizes::AllowSmall).unwrap();
    let (pem, jwk) = (key.to_pem().unwrap(), key.to_jwk().unwrap());
    let hexadecimal = |number: &BigUint| format!("{number:x}");
    let secrets: Vec<String> = pem
        .lines()
        .filter(|line| !line.starts_with('-') && line.len() > 40)
        .flat_map(|line| [&line[..20], &line[line.len() / 2..]])
        .chain(jwk.split('"').filter(|text| text.len() > 40))
        .map(str::to_owned)
        .chain([hexadecimal(&p[2])])
        .collect();
    let formats = ["auto", "pem", "der", "ssh", "jwk", "hex", "csv", "lines", "parquet", "arrow"];
    // A list of primes, without a line of names.
    let list = format!("1,{}\n", hexadecimal(&p[2]));
    for (name, content) in [("key.pem", &pem[..]), ("key.jwk", &jwk), ("key.csv", &list)] {
        fs::write(at(name), content).unwrap();
        for format in formats {
            let output = run(&["audit", "--in", &at(name), "--format", format], "");
            assert_eq!(output.status.code(), Some(1), "{name} as {format}: {}", stderr(&output));
            let said = stdout(&output) + &stderr(&output);
            let told = secrets.iter().find(|secret| said.contains(secret.as_str()));
            assert_eq!(told, None, "{name} as {format}: {said}");
        }
        // Other files are audited.
        let (status, found) = audit(&["--in", &good, &at(name)]);
        assert_eq!((status, found.len()), (Some(1), 1), "{name}");
    }
    let der = key.to_der().unwrap();
    fs::write(at("key.der"), &*der).unwrap();
    let (status, found) = audit(&["--in", &at("key.der")]);
    assert_eq!(status, Some(1));
    assert!(found[0]["error"].as_str().unwrap().contains("private key"), "{found:?}");
}

/// Starts the program and kills it as soon as `is_moment` says so. Says whether that was before its end.
fn killed_at(arguments: &[&str], mut is_moment: impl FnMut() -> bool) -> bool {
    let mut child = modmill(arguments).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() && !is_moment() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let runs = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    child.wait().unwrap();
    runs
}

/// The names of the files of a folder; none if there is no folder.
fn names(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Lines of numbers of 256 bits that share primes of 64 bits.
fn related_moduli() -> Vec<String> {
    let p = primes(64, 40);
    (0..300usize)
        .map(|index| {
            let factor = |step: usize| &p[(index * step + index / 40) % 40];
            let number = factor(1) * factor(7) * factor(11) * ((factor(13) + index) | BigUint::from(1u8));
            format!("{number:x}\n")
        })
        .collect()
}

/// An audit that is killed at any moment goes on where it was, and finds the same bytes.
#[test]
fn audits_that_are_killed_go_on() {
    let folder = folder("audit-killed");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (input, out, scratch) = (at("moduli"), at("out.jsonl"), at("scratch"));
    fs::write(&input, related_moduli().concat()).unwrap();
    let all = ["audit", "--in", &input, "--threads", "1", "--out", &out];
    assert_eq!(run(&all, "").status.code(), Some(3));
    let expected = fs::read(&out).unwrap();
    let limited = [&all[..], &["--memory", "50K", "--scratch", &scratch, "--resume"]].concat();
    let results = at("scratch/modmill-audit");
    let is_result = |name: &String| name.starts_with("root-") || name.starts_with("shared-");
    let count = || names(&results).iter().filter(|name| is_result(name)).count();
    let (mut hits, mut most) = (0, 0);
    for round in 0..10 {
        let _ = fs::remove_file(&out);
        // Each round leaves some more results for the next one, or none at its end.
        let (before, mut steps) = (count(), 0);
        let runs = killed_at(&limited, || {
            steps += usize::from(count() > before);
            steps > round % 4
        });
        // There are all findings or none.
        match fs::read(&out) {
            Ok(found) => assert_eq!(found, expected),
            Err(_) => assert!(runs),
        }
        hits += usize::from(runs && count() > 0);
        most = most.max(count());
    }
    assert!(hits > 0 && most > 1, "{hits} audits were killed, with at most {most} results");
    assert_eq!(run(&limited, "").status.code(), Some(3));
    assert_eq!(fs::read(&out).unwrap(), expected);
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
}

/// A corpus has the keys of an audit or none of them, and the keys only when the findings are written.
#[test]
fn corpora_of_audits_that_are_killed_lose_no_findings() {
    let folder = folder("audit-corpus-killed");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let moduli = related_moduli();
    let (old, new) = moduli.split_at(100);
    let (first, second, out, corpus) = (at("old"), at("new"), at("out.jsonl"), at("corpus"));
    fs::write(&first, old.concat()).unwrap();
    fs::write(&second, new.concat()).unwrap();
    let adds = |input: &str, out: &str| {
        let arguments =
            ["audit", "--in", input, "--threads", "1", "--corpus", &corpus, "--add", "--out", out];
        arguments.map(str::to_owned)
    };
    let status = |arguments: &[String]| {
        run(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), "").status.code()
    };
    assert_eq!(status(&adds(&first, &out)), Some(3));
    let files: Vec<(PathBuf, Vec<u8>)> = names(&corpus)
        .iter()
        .map(|name| (folder.join("corpus").join(name), fs::read(folder.join("corpus").join(name)).unwrap()))
        .collect();
    let is_old = || files.iter().all(|(path, bytes)| fs::read(path).unwrap() == *bytes);
    let reset = || {
        fs::remove_dir_all(&corpus).unwrap();
        fs::create_dir(&corpus).unwrap();
        files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        let _ = fs::remove_file(&out);
    };
    reset();
    let adding = adds(&second, &out);
    assert_eq!(status(&adding), Some(3));
    assert!(!is_old());
    let (expected, complete) = (fs::read_to_string(&out).unwrap(), names(&corpus).len());
    let about = |text: &str, input: &str| {
        let prefix = format!("[\"{input}:");
        text.lines().filter(|line| line.contains(&format!("\"ids\":{prefix}"))).map(str::to_owned).collect()
    };
    let (of_old, of_new): (Vec<String>, Vec<String>) = (about(&expected, &first), about(&expected, &second));
    assert!(of_old.len() > 50 && of_old.len() + of_new.len() == expected.lines().count());
    // A second addition of these keys tells what they share of them alone.
    assert_eq!(status(&adding), Some(3));
    let repeated = fs::read_to_string(&out).unwrap();
    assert_eq!((about(&repeated, &first), about(&repeated, &second)), (Vec::new(), of_new));

    // A folder is no file that can be written: the keys are not added, and nothing is lost.
    reset();
    assert_eq!(status(&adds(&second, folder.to_str().unwrap())), Some(2));
    assert!(is_old());
    let before = names(&corpus).len();
    let arguments: Vec<&str> = adding.iter().map(String::as_str).collect();
    let (mut hits, mut moment) = (0, 12_345u32);
    for round in 0..9 {
        reset();
        moment = moment.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let mut left = moment >> 16 & 0x7f;
        let runs = killed_at(&arguments, || match round % 3 {
            0 => Path::new(&out).exists(),
            1 => names(&corpus).len() > before,
            _ => {
                left = left.saturating_sub(1);
                left == 0
            }
        });
        hits += usize::from(runs);
        match fs::read_to_string(&out) {
            Ok(found) => assert_eq!(found, expected),
            Err(_) => {
                assert!(runs && is_old(), "round {round}");
                assert_eq!(status(&adding), Some(3));
                assert_eq!(fs::read_to_string(&out).unwrap(), expected);
            }
        }
        // Nothing is left of the audit that was killed.
        assert_eq!(status(&adding), Some(3));
        assert_eq!(names(&corpus).len(), complete);
    }
    assert!(hits > 0);
}

/// Findings may be written to the folder of results, where they stay.
#[test]
fn findings_beside_results_stay() {
    let folder = folder("audit-beside");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (input, out, scratch) = (at("moduli"), at("modmill-audit/findings.jsonl"), at(""));
    fs::write(&input, format!("{:x}\n{:x}\n", 65_537u64 * 65_539, 65_537u64 * 65_543)).unwrap();
    let arguments = ["audit", "--in", &input, "--scratch", &scratch, "--out", &out];
    for _ in 0..2 {
        assert_eq!(run(&arguments, "").status.code(), Some(3));
        assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 2);
        assert_eq!(names(&at("modmill-audit")), BTreeSet::from(["findings.jsonl".to_owned()]));
    }
}
