//! Collections on disk: keys that come one after the other have the findings of keys that come together.

use crate::common::{Named, expected, named, planted, told};
use modmill::Engine;
use modmill_audit::{Audit, Collection, Corpus, Error, Progress};
use std::collections::BTreeSet;

#[test]
fn keys_that_come_in_parts_have_all_findings() {
    let engine = Engine::builder().threads(2).build().unwrap();
    for (seed, parts) in [(31, 2), (32, 5), (33, 12)] {
        let keys = planted(&engine, seed, 64, 5);
        let folder = tempfile::tempdir().unwrap();
        let mut all = BTreeSet::new();
        let mut come = 0;
        for part in keys.chunks(keys.len().div_ceil(parts)) {
            let mut corpus = Corpus::open(folder.path(), true).unwrap();
            let progress = Progress::new();
            let audit = Audit::new(&engine, &progress);
            // An addition that is dropped changes nothing.
            let (_, checked, _) = corpus.audit(&audit, named(part)).unwrap();
            let (_, findings, addition) = corpus.audit(&audit, named(part)).unwrap();
            assert_eq!(findings, checked);
            addition.unwrap().add().unwrap();
            come += part.len();
            let known = &keys[..come];
            let told = told(&findings, known);
            let expected = expected(known);
            // All that is said is so, and all that is so about the new keys is said.
            assert!(told.is_subset(&expected), "{:?}", told.difference(&expected).collect::<Vec<_>>());
            let about = |name: &String| part.iter().any(|(new, _)| new == name);
            let missing: Vec<_> = expected
                .iter()
                .filter(|(name, ..)| about(name) && !told.iter().any(|found| found.0 == *name))
                .collect();
            assert!(missing.is_empty(), "{missing:?}");
            all.extend(told.into_iter().map(|(name, kind, _)| (name, kind)));
        }
        // A key that shared one prime first may share all of them later.
        let last = expected(&keys);
        assert!(last.iter().all(|(name, kind, _)| all.contains(&(name.clone(), *kind))));
        let mut corpus = Corpus::open(folder.path(), false).unwrap();
        let distinct = Collection::new(named(&keys)).keys().len();
        assert_eq!(corpus.len(), distinct as u64);
        // All keys again: nothing is new, and everything is told again, about every name.
        let progress = Progress::new();
        let audit = Audit::new(&engine, &progress);
        let (_, findings, addition) = corpus.audit(&audit, named(&keys)).unwrap();
        assert!(addition.is_none());
        assert_eq!(told(&findings, &keys), last);
    }
}

/// A program that is killed while it adds keys has added none, and the next one removes what it left.
#[test]
fn files_of_audits_that_were_killed_are_removed() {
    let engine = Engine::builder().threads(1).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<BTreeSet<_>>()
    };
    // Killed before there was a list of files.
    std::fs::write(folder.path().join("lock"), "").unwrap();
    std::fs::write(folder.path().join(".modmill-abc123.tmp"), "{").unwrap();
    assert!(Corpus::open(folder.path(), true).unwrap().is_empty());
    assert_eq!(names(), ["lock", "manifest.json"].map(str::to_owned).into());
    let keys = planted(&engine, 34, 64, 0);
    let add = |keys: &[Named]| {
        let progress = Progress::new();
        let mut corpus = Corpus::open(folder.path(), true).unwrap();
        let (_, findings, addition) = corpus.audit(&Audit::new(&engine, &progress), named(keys)).unwrap();
        addition.unwrap().add().unwrap();
        findings
    };
    let (first, second) = keys.split_at(20);
    add(first);
    // Killed before the list of files was replaced.
    let (list, before) = (std::fs::read(folder.path().join("manifest.json")).unwrap(), names());
    let findings = add(second);
    assert!(names().len() > before.len());
    std::fs::write(folder.path().join("manifest.json"), list).unwrap();
    // Files that only begin like those of a corpus.
    let tag = "0123456789abcdef0123456789abcdef";
    let mine = [
        "root-of-mine".to_owned(),
        format!("keys-{tag}-mine"),
        format!("index-{}", tag.to_uppercase()),
        format!("root-{tag}"),
        format!("root-{tag}-01"),
        ".modmill-mine.tmp".to_owned(),
    ];
    let rest = [format!("keys-{tag}"), format!("index-{tag}"), format!("root-{tag}-0")];
    mine.iter().chain(&rest).for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
    let corpus = Corpus::open(folder.path(), true).unwrap();
    assert_eq!(names(), before.into_iter().chain(mine).collect());
    // One program at a time adds keys.
    for adds in [false, true] {
        assert!(matches!(Corpus::open(folder.path(), adds), Err(Error::InUse { .. })));
    }
    drop(corpus);
    assert_eq!(add(second), findings);
    // A folder of other files is no corpus.
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("mine"), "").unwrap();
    assert!(Corpus::open(other.path(), true).is_err());
    assert!(Corpus::open(other.path(), false).is_err());
}
