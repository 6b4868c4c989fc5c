//! Backups go from one sort of store to another.

use crate::postgres::Database;
use crate::{Note, folder, kinds};
use modmill_records::backup::{BackupError, restore, write};
use modmill_records::master_key::MasterKey;
use modmill_records::store::{EmbeddedStore, Store};
use modmill_records::{Changes, Records, RecordsError};
use std::path::Path;
use std::sync::Arc;

async fn unlock(store: &Arc<dyn Store>, master: &MasterKey) -> Records {
    Records::unlock(Arc::clone(store), vec![master.clone()], kinds()).await.unwrap()
}

/// Fills `from`, and restores its backup to `to`, which is empty.
async fn restored(from: Arc<dyn Store>, to: Arc<dyn Store>, folder: &Path) {
    let master = MasterKey::read_or_create(&folder.join("master.key")).unwrap();
    let records = unlock(&from, &master).await;
    for number in 0..100 {
        let note = Note::new(format!("note {number}"), number);
        records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&note), ()))).await.unwrap();
    }
    let delete = || Changes::new().delete::<Note>("note 7");
    records.change(|_| Ok::<_, RecordsError>((delete(), ()))).await.unwrap();
    let path = folder.join("backup");
    assert_eq!(write(&*from, &path).await.unwrap().documents, 99);

    assert_eq!(restore(&*to, &path).await.unwrap().documents, 99);
    let again = unlock(&to, &master).await;
    let notes = again.all::<Note>();
    assert_eq!(notes.len(), 99);
    assert!(notes.iter().all(|note| note.is_whole() && note.id == format!("note {}", note.number)));
    assert!(again.get::<Note>("note 7").is_none());
    // It goes on from there, and nothing is restored over it.
    let note = Note::new("note 7", 8);
    again.change(|_| Ok::<_, RecordsError>((Changes::new().put(&note), ()))).await.unwrap();
    assert!(matches!(restore(&*to, &path).await, Err(BackupError::NotEmpty)));
    assert_eq!(unlock(&to, &master).await.all::<Note>().len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn from_a_file_to_postgresql() {
    let Some(database) = Database::create().await else { return };
    let folder = folder();
    let file = EmbeddedStore::open(&folder.path().join("store")).await.unwrap();
    restored(Arc::new(file), Arc::new(database.store().await), folder.path()).await;
    database.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn from_postgresql_to_a_file() {
    let Some(database) = Database::create().await else { return };
    let folder = folder();
    let file = EmbeddedStore::open(&folder.path().join("store")).await.unwrap();
    restored(Arc::new(database.store().await), Arc::new(file), folder.path()).await;
    database.drop().await;
}
