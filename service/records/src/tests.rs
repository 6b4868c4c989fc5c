use super::*;
use crate::store::{Change, MemoryStore};
use modmill_seal::SecretBytes;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use zeroize::Zeroizing;

#[derive(Serialize, Deserialize)]
struct Note {
    id: String,
}

impl Document for Note {
    const KIND: &'static str = "note";

    fn id(&self) -> &str {
        &self.id
    }
}

fn kinds() -> Kinds {
    Kinds::default().with::<Note>()
}

fn passphrase(text: &str) -> MasterKey {
    MasterKey::passphrase(SecretBytes::new(Zeroizing::new(text.as_bytes().to_vec()))).unwrap().cheap()
}

async fn put(records: &Records, id: &str) {
    let note = Note { id: id.to_owned() };
    records.change(|_| Ok::<_, RecordsError>((Changes::new().put(&note), ()))).await.unwrap();
}

async fn unlock(store: &Arc<dyn Store>, masters: Vec<MasterKey>) -> Result<Records, RecordsError> {
    Records::unlock(Arc::clone(store), masters, kinds()).await
}

fn is_wrong_key<T>(result: Result<T, RecordsError>) -> bool {
    matches!(result, Err(RecordsError::Seal(SealError::WrongMasterKey)))
}

#[tokio::test]
async fn a_store_opens_with_its_own_master_key_only() {
    for (right, wrong) in [
        (MasterKey::random().unwrap(), MasterKey::random().unwrap()),
        (passphrase("the right passphrase"), passphrase("the wrong passphrase")),
        (passphrase("the right passphrase"), MasterKey::random().unwrap()),
        (MasterKey::random().unwrap(), passphrase("the wrong passphrase")),
    ] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        assert!(is_new(&*store).await.unwrap());
        put(&unlock(&store, vec![right.clone()]).await.unwrap(), "a").await;
        assert!(!is_new(&*store).await.unwrap());
        assert!(is_wrong_key(unlock(&store, vec![wrong.clone()]).await));
        assert!(is_wrong_key(unlock(&store, vec![]).await));
        let records = unlock(&store, vec![wrong, right]).await.unwrap();
        assert!(records.get::<Note>("a").is_some());
    }
}

#[tokio::test]
async fn a_store_goes_from_a_key_to_a_passphrase_and_back() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let (key, phrase) = (MasterKey::random().unwrap(), passphrase("a long passphrase"));
    put(&unlock(&store, vec![key.clone()]).await.unwrap(), "a").await;
    let numbers = async || {
        let rows = store.changes(0).await.unwrap().0;
        rows.iter()
            .filter(|row| !header::is_header(row))
            .map(|row| row.body.as_ref().unwrap()[4])
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers().await, [1]);
    assert_eq!(reseal(&store, std::slice::from_ref(&key), &phrase).await.unwrap(), 1);
    assert_eq!(numbers().await, [2], "a sealed document names its data key");
    assert!(is_wrong_key(unlock(&store, vec![key.clone()]).await));
    assert!(unlock(&store, vec![phrase.clone()]).await.unwrap().get::<Note>("a").is_some());
    let records = unlock(&store, vec![phrase]).await.unwrap();
    assert_eq!(records.reseal(&key).await.unwrap(), 1);
    put(&records, "b").await;
    assert_eq!(numbers().await, [3, 3]);
    assert_eq!(unlock(&store, vec![key]).await.unwrap().all::<Note>().len(), 2);
}

#[tokio::test]
async fn documents_without_a_header_are_not_taken_for_an_empty_store() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let row = Change { kind: "note".into(), id: "a".into(), expected: None, write: Write::Put(vec![0; 40]) };
    store.commit(vec![row]).await.unwrap();
    let result = unlock(&store, vec![MasterKey::random().unwrap()]).await;
    assert!(matches!(result, Err(RecordsError::Store(StoreError::Damaged(_)))));
}

#[tokio::test]
async fn a_changed_header_is_refused() {
    let master = passphrase("a long passphrase");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    unlock(&store, vec![master.clone()]).await.unwrap();
    let row = store.changes(0).await.unwrap().0.remove(0);
    let text = String::from_utf8(row.body.unwrap()).unwrap();
    let mut changed = vec![
        String::new(),
        "{}".into(),
        text.replace("\"format\":1", "\"format\":2"),
        text.replace("\"number\":1", "\"number\":2"),
        text.replace("\"passes\":1", "\"passes\":2"),
        text.replace("\"memory_kib\":64", "\"memory_kib\":4000000000"),
        text.replace("\"wrapped\":\"A", "\"wrapped\":\"?"),
        text[..text.len() - 1].to_owned(),
    ];
    changed.extend((0..text.len()).map(|at| text[..at].to_owned()));
    for body in changed {
        assert_ne!(body, text);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        store.commit(vec![header::change(None, Write::Put(body.clone().into_bytes()))]).await.unwrap();
        assert!(unlock(&store, vec![master.clone()]).await.is_err(), "{body}");
    }
}

/// A caller that stops to wait for its change does not keep the others from seeing it.
#[tokio::test]
async fn a_change_that_nobody_waits_for_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(crate::store::EmbeddedStore::open(dir.path()).await.unwrap());
    let records = unlock(&store, vec![MasterKey::random().unwrap()]).await.unwrap();
    let before = store.changes(0).await.unwrap().1;
    tokio::select! {
        biased;
        () = put(&records, "a") => panic!("the commit waits for the disk"),
        () = std::future::ready(()) => {}
    }
    while store.changes(0).await.unwrap().1 == before {
        tokio::task::yield_now().await;
    }
    assert!(records.get::<Note>("a").is_none());
    let seen = async {
        while records.get::<Note>("a").is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = seen => {}
        () = records.follow() => {}
        () = tokio::time::sleep(Duration::from_secs(60)) => panic!("the change was not seen"),
    }
}
