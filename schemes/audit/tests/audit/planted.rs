//! Collections with planted flaws: every finding, and none that is false.

use crate::common::{expected, key, named, planted, told};
use modmill::{Engine, Error as EngineError};
use modmill_audit::{Audit, Collection, Error, Finding, Kind, Progress, Scratch};
use num_bigint::BigUint;
use std::collections::BTreeSet;

fn run(engine: &Engine, keys: &[(String, BigUint)]) -> Vec<Finding> {
    Audit::new(engine, &Progress::new()).run(&Collection::new(named(keys))).unwrap()
}

#[test]
fn every_planted_flaw_is_found() {
    let engine = Engine::builder().threads(2).build().unwrap();
    for (seed, bits, healthy) in [(1, 64, 0), (2, 256, 1), (3, 128, 30)] {
        let keys = planted(&engine, seed, bits, healthy);
        assert_eq!(told(&run(&engine, &keys), &keys), expected(&keys), "seed {seed}");
    }
}

#[test]
fn all_paths_find_the_same() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let keys = planted(&engine, 4, 128, 10);
    let findings = run(&engine, &keys);
    for path in engine.paths() {
        let engine = Engine::builder().path(path).threads(1).build().unwrap();
        assert_eq!(run(&engine, &keys), findings, "{path}");
    }
}

#[test]
fn subsets_of_any_size_find_the_same() {
    let engine = Engine::builder().threads(2).build().unwrap();
    let keys = planted(&engine, 5, 128, 10);
    let findings = run(&engine, &keys);
    let collection = Collection::new(named(&keys));
    let folder = tempfile::tempdir().unwrap();
    for bytes in [1, 5_000, 20_000, 100_000] {
        let progress = Progress::new();
        let audit = Audit::new(&engine, &progress).memory(bytes);
        assert_eq!(audit.run(&collection).unwrap(), findings, "{bytes} bytes");
        let scratch = Scratch::open(folder.path(), false).unwrap();
        let audit = Audit::new(&engine, &progress).memory(bytes).scratch(&scratch);
        assert_eq!(audit.run(&collection).unwrap(), findings, "{bytes} bytes on disk");
    }
}

/// An audit that is stopped anywhere goes on from its files and finds the same.
#[test]
fn interrupted_audits_go_on() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let keys = planted(&engine, 6, 64, 40);
    let collection = Collection::new(named(&keys));
    let findings = run(&engine, &keys);
    let folder = tempfile::tempdir().unwrap();
    let mut interrupted = 0;
    for round in 0..40 {
        let scratch = Scratch::open(folder.path(), true).unwrap();
        let progress = Progress::new();
        let audit = Audit::new(&engine, &progress).memory(10_000).scratch(&scratch);
        let found = std::thread::scope(|scope| {
            scope.spawn(|| {
                while progress.watch().done() < 100 * round {
                    std::thread::yield_now();
                }
                progress.watch().stop();
            });
            let found = audit.run(&collection);
            progress.watch().add(1 << 40);
            found
        });
        match found {
            Err(Error::Engine(EngineError::Interrupted)) => interrupted += 1,
            found => assert_eq!(found.unwrap(), findings),
        }
    }
    assert!(interrupted > 0);
    let results = folder.path().join("modmill-audit");
    let files = |start: &str| {
        let names = std::fs::read_dir(&results).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(start)).count()
    };
    assert!(files("root-") > 5);
    let progress = Progress::new();
    // A program that was killed has left a file that it did not finish.
    std::fs::write(results.join(".modmill-abc123.tmp"), "").unwrap();
    let scratch = Scratch::open(folder.path(), true).unwrap();
    assert_eq!(files(".modmill-"), 0);
    // Another audit does not take the files from this one.
    for resumes in [false, true] {
        assert!(matches!(Scratch::open(folder.path(), resumes), Err(Error::InUse { .. })));
    }
    let audit = Audit::new(&engine, &progress).memory(10_000).scratch(&scratch);
    assert_eq!(audit.run(&collection).unwrap(), findings);
    // A damaged file is an error, and names itself.
    for file in std::fs::read_dir(&results).unwrap() {
        let path = file.unwrap().path();
        if path.ends_with("lock") {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let error = audit.run(&collection).unwrap_err().to_string();
    assert!(error.contains("shared-") && error.contains("checksum"), "{error}");
    scratch.clear().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Of a folder that has other files too, only results are removed.
#[test]
fn files_of_others_stay_in_scratch_folders() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let collection = Collection::new(named(&planted(&engine, 7, 64, 0)));
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("modmill-audit");
    let names = || {
        let entries = std::fs::read_dir(&results).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    let digest = "0123456789abcdef0123456789abcdef";
    let mine = BTreeSet::from([
        "findings.jsonl".to_owned(),
        "root-of-mine".to_owned(),
        format!("shared-{digest}0"),
        ".modmill-mine.tmp".to_owned(),
    ]);
    std::fs::create_dir(&results).unwrap();
    mine.iter().for_each(|name| std::fs::write(results.join(name), "").unwrap());
    std::fs::write(results.join(format!("root-{digest}")), "").unwrap();
    let scratch = Scratch::open(folder.path(), false).unwrap();
    let is_known = |name: &String| mine.contains(name) || name == "lock";
    assert!(names().iter().all(is_known), "{:?}", names());
    let progress = Progress::new();
    Audit::new(&engine, &progress).memory(1).scratch(&scratch).run(&collection).unwrap();
    assert!(!names().iter().all(is_known));
    scratch.clear().unwrap();
    assert_eq!(names(), mine);
}

/// One name twice is one entry, and a long list of partners ends.
#[test]
fn names_and_partners_are_counted() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let modulus = BigUint::from(65_537u32) * 65_539u32;
    let one = |name: &str| (name.to_owned(), key(&modulus));
    let collection = Collection::new([one("a"), one("a")]);
    assert_eq!(Audit::new(&engine, &Progress::new()).run(&collection).unwrap(), []);
    let collection = Collection::new([one("b"), one("a"), one("b")]);
    let findings = Audit::new(&engine, &Progress::new()).run(&collection).unwrap();
    assert_eq!(
        (findings[0].kind, &findings[0].ids[..]),
        (Kind::Duplicate, &["b".to_owned(), "a".to_owned()][..])
    );
    let keys: Vec<(String, BigUint)> = (0..Finding::MAX_PARTNERS + 3)
        .map(|index| {
            (
                index.to_string(),
                BigUint::from(65_537u32) * (BigUint::from(1u8) << 64u8 | BigUint::from(2 * index + 1)),
            )
        })
        .filter(|(_, modulus)| [3u32, 5, 7, 11, 13].iter().all(|prime| modulus % prime != BigUint::ZERO))
        .collect();
    let findings = run(&engine, &keys);
    assert!(findings.iter().all(|finding| finding.partners.len() + finding.more_partners < keys.len()));
    assert!(!Collection::new([]).keys().iter().any(|_| true));
    assert_eq!(run(&engine, &[]), []);
}
