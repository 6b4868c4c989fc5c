//! Files that are not as they were written.

use crate::{Note, folder, kinds};
use modmill_records::backup::{self, BackupError};
use modmill_records::master_key::MasterKey;
use modmill_records::store::{EmbeddedStore, MemoryStore, Store, StoreError};
use modmill_records::{Changes, Records, RecordsError};
use modmill_testing::rng::Rng;
use std::path::Path;
use std::sync::Arc;

const NOTES: u64 = 30;

/// Writes notes to a store in `dir`, one commit each.
async fn fill(dir: &Path, master: &MasterKey) {
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(dir).await.unwrap());
    let records = Records::unlock(store, vec![master.clone()], kinds()).await.unwrap();
    for number in 0..NOTES {
        let note = Note::new(number.to_string(), number);
        records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&note), ()))).await.unwrap();
    }
}

/// How many whole notes the store in `dir` has.
async fn count(dir: &Path, master: &MasterKey) -> Result<usize, RecordsError> {
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::open(dir).await?);
    let records = Records::unlock(store, vec![master.clone()], kinds()).await?;
    Ok(records.all::<Note>().iter().filter(|note| note.is_whole()).count())
}

/// A changed file is refused, or the change was in a part that is not used.
#[tokio::test]
async fn a_changed_store_is_refused() {
    let dir = folder();
    let master = MasterKey::random().unwrap();
    fill(dir.path(), &master).await;
    let path = dir.path().join("store.redb");
    let good = std::fs::read(&path).unwrap();
    assert_eq!(count(dir.path(), &master).await.unwrap() as u64, NOTES);
    // Bytes that are zero are mostly not used.
    let used: Vec<usize> = (0..good.len()).filter(|at| good[*at] != 0).collect();
    let mut random = Rng::new(3);
    let mut refused = 0;
    for round in 0..300 {
        let mut bad = good.clone();
        match round % 3 {
            // The first bytes say where everything is.
            0 => bad[random.below(320)] ^= 1 << random.below(8),
            1 => bad[*random.pick(&used)] ^= 1 << random.below(8),
            _ => bad.truncate(1 + random.below(good.len() - 1)),
        }
        std::fs::write(&path, &bad).unwrap();
        match count(dir.path(), &master).await {
            Ok(found) => assert_eq!(found as u64, NOTES, "round {round}: documents vanished without a word"),
            Err(_) => refused += 1,
        }
    }
    println!("{refused} of 300 changed files were refused");
    assert!(refused > 100);
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused() {
    for contents in [&b"not a database"[..], b""] {
        let dir = folder();
        let path = dir.path().join("store.redb");
        std::fs::write(&path, contents).unwrap();
        let error = EmbeddedStore::open(dir.path()).await.err().unwrap();
        assert!(matches!(error, StoreError::Damaged(_)), "{error}");
        assert_eq!(contents.is_empty(), error.to_string().contains("it was cut short"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), contents, "it is left as it is");
    }
}

#[tokio::test]
async fn a_store_that_was_not_made_whole_is_made_again() {
    let dir = folder();
    std::fs::write(dir.path().join("store.redb.new"), b"a part").unwrap();
    fill(dir.path(), &MasterKey::random().unwrap()).await;
    assert!(!dir.path().join("store.redb.new").exists());
}

#[tokio::test]
async fn a_changed_backup_is_refused() {
    let dir = folder();
    let master = MasterKey::random().unwrap();
    fill(dir.path(), &master).await;
    let path = dir.path().join("backup");
    let store = EmbeddedStore::open(dir.path()).await.unwrap();
    let summary = backup::write(&store, &path).await.unwrap();
    assert_eq!(summary.documents as u64, NOTES);
    assert_eq!(backup::restore(&MemoryStore::default(), &path).await.unwrap(), summary);
    assert!(
        matches!(backup::write(&store, &path).await, Err(BackupError::File { .. })),
        "nothing is overwritten"
    );
    assert!(matches!(backup::restore(&store, &path).await, Err(BackupError::NotEmpty)));

    let good = std::fs::read(&path).unwrap();
    let mut random = Rng::new(4);
    for round in 0..300 {
        let mut bad = good.clone();
        match round % 3 {
            0 => bad[random.below(40)] ^= 1 << random.below(8),
            1 => bad[random.below(good.len())] ^= 1 << random.below(8),
            _ => bad.truncate(random.below(good.len())),
        }
        std::fs::write(&path, &bad).unwrap();
        let empty = MemoryStore::default();
        assert!(backup::restore(&empty, &path).await.is_err(), "round {round}");
        assert_eq!(empty.changes(0).await.unwrap(), (vec![], 0));
    }
}
