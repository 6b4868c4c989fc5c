//! Collections on disk: keys that come one after the other have the findings of keys that come together.

use crate::common::{expected, named, planted, told};
use modmill::Engine;
use modmill_audit::{Audit, Collection, Corpus, Progress};
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
            // A check that adds nothing tells the same, and changes nothing.
            let (_, checked) = corpus.audit(&audit, named(part), false).unwrap();
            let (_, findings) = corpus.audit(&audit, named(part), true).unwrap();
            assert_eq!(findings, checked);
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
        let (_, findings) = corpus.audit(&audit, named(&keys), false).unwrap();
        assert_eq!(told(&findings, &keys), last);
    }
}
