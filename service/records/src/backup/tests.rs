use super::*;
use crate::store::{EmbeddedStore, MemoryStore};
use std::os::unix::fs::PermissionsExt;

fn change(kind: &str, id: &str, expected: Option<u64>, write: Write) -> Change {
    Change { kind: kind.into(), id: id.into(), expected, write }
}

#[tokio::test]
async fn a_backup_goes_from_one_store_to_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("backup");
    let store = MemoryStore::default();
    store.commit(vec![change(HEADER_KIND, "header", None, Write::Put(b"h".to_vec()))]).await.unwrap();
    let rows = [("a", "", &b""[..]), ("a", "\u{e9}", b"\0\xff"), ("b", "x", &[9; 5000])];
    for (kind, id, body) in rows {
        store.commit(vec![change(kind, id, None, Write::Put(body.to_vec()))]).await.unwrap();
    }
    store.commit(vec![change("b", "x", Some(4), Write::Delete)]).await.unwrap();
    let summary = write(&store, &path).await.unwrap();
    assert_eq!(summary, Summary { last: 5, documents: 2 });
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    let other = EmbeddedStore::open(&dir.path().join("other")).await.unwrap();
    assert_eq!(restore(&other, &path).await.unwrap(), summary);
    let bodies = |rows: Vec<crate::store::Row>| {
        let mut bodies: Vec<_> =
            rows.into_iter().filter_map(|row| Some((row.kind, row.id, row.body?))).collect();
        bodies.sort();
        bodies
    };
    let (found, last) = other.changes(0).await.unwrap();
    assert_eq!(last, 1, "all rows come in one commit");
    assert_eq!(bodies(found), bodies(store.changes(0).await.unwrap().0));
    assert!(matches!(restore(&other, &path).await, Err(BackupError::NotEmpty)));
}

#[tokio::test]
async fn other_files_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("backup");
    assert!(matches!(restore(&MemoryStore::default(), &path).await, Err(BackupError::File { .. })));
    std::fs::write(&path, b"something else").unwrap();
    assert!(matches!(restore(&MemoryStore::default(), &path).await, Err(BackupError::NotABackup)));
    std::fs::write(&path, [&form::MAGIC[..], &[0, 0, 0, 9]].concat()).unwrap();
    assert!(matches!(restore(&MemoryStore::default(), &path).await, Err(BackupError::Version(9))));
    let nowhere = dir.path().join("absent/backup");
    assert!(matches!(write(&MemoryStore::default(), &nowhere).await, Err(BackupError::File { .. })));
}

#[test]
fn rows_that_the_checksum_covers_are_still_checked() {
    use sha2::{Digest, Sha256};
    let summed = |content: &[u8]| [content, &Sha256::digest(content)].concat();
    let good = form::encode(1, &[("k".into(), "i".into(), vec![1])]);
    let content = &good[..good.len() - 32];
    assert!(form::decode(&summed(content)).is_ok());
    let count = |count: u64| [&content[..28], &count.to_be_bytes(), &content[36..]].concat();
    let not_text = [&content[..44], &[0xff], &content[45..]].concat();
    let long = [&content[..36], &u64::MAX.to_be_bytes(), &content[44..]].concat();
    for wrong in [
        &content[..30],
        &content[..content.len() - 1],
        &count(0),
        &count(2),
        &count(u64::MAX),
        &not_text,
        &long,
    ] {
        assert!(matches!(form::decode(&summed(wrong)), Err(BackupError::Damaged(_))), "{wrong:?}");
    }
}
