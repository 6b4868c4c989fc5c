use super::*;
use crate::store::Write;
use redb::StorageBackend;
use redb::backends::FileBackend;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicI64, Ordering};

/// A disk with room for a given number of bytes.
#[derive(Debug)]
struct Disk {
    file: FileBackend,
    room: Arc<AtomicI64>,
}

fn full() -> io::Error {
    rustix::io::Errno::NOSPC.into()
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        if len > self.file.len()? && self.room.load(Ordering::SeqCst) <= 0 {
            return Err(full());
        }
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let len = i64::try_from(data.len()).map_err(io::Error::other)?;
        let room = self.room.fetch_sub(len, Ordering::SeqCst);
        if room >= len {
            return self.file.write(offset, data);
        }
        // A write that the disk has no room for is made in part.
        let part = usize::try_from(room.max(0)).map_err(io::Error::other)?;
        self.file.write(offset, &data[..part])?;
        Err(full())
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }
}

fn put(id: &str, expected: Option<u64>, len: usize) -> Change {
    Change { kind: "kind".into(), id: id.into(), expected, write: Write::Put(vec![7; len]) }
}

/// Commits rows until the disk is full, and once more when there is room again.
async fn fill_disk(room_at_first: i64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let room = Arc::new(AtomicI64::new(i64::MAX));
    let open = {
        let room = Arc::clone(&room);
        move || -> Result<Database, redb::Error> {
            let file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
            let disk = Disk { file: FileBackend::new(file)?, room: Arc::clone(&room) };
            Ok(Database::builder().create_with_backend(disk)?)
        }
    };
    let store = EmbeddedStore::checked(Box::new(open), None).unwrap();
    store.commit(vec![put("first", None, 1000)]).await.unwrap();
    room.store(room_at_first, Ordering::SeqCst);
    let mut acknowledged = vec!["first".to_owned()];
    let failed = loop {
        let id = acknowledged.len().to_string();
        match store.commit(vec![put(&id, None, 3000)]).await {
            Ok(_) => acknowledged.push(id),
            Err(error) => break error,
        }
    };
    assert!(matches!(failed, StoreError::Unavailable(_)), "room {room_at_first}: {failed}");
    // Still full: a typed error or an answer, and no other harm.
    match store.changes(0).await {
        Ok((rows, _)) => assert!(rows.len() >= acknowledged.len()),
        Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "room {room_at_first}: {error}"),
    }
    room.store(i64::MAX, Ordering::SeqCst);
    let (rows, last) = store.changes(0).await.unwrap();
    for id in &acknowledged {
        assert!(rows.iter().any(|row| row.id == *id), "room {room_at_first}: {id} is lost");
    }
    assert!(rows.len() <= acknowledged.len() + 1, "at most the commit that failed is there as well");
    assert_eq!(store.commit(vec![put("last", None, 3000)]).await.unwrap(), last + 1);
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_the_store_goes_on() {
    for step in 0..60 {
        fill_disk(step * 1777).await;
    }
}

#[tokio::test]
async fn one_process_at_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let first = EmbeddedStore::open(dir.path()).await.unwrap();
    let error = EmbeddedStore::open(dir.path()).await.err().unwrap().to_string();
    assert!(error.contains(&format!("process {} uses the store", std::process::id())), "{error}");
    drop(first);
    EmbeddedStore::open(dir.path()).await.unwrap();
}

#[tokio::test]
async fn deleted_rows_go_when_the_store_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::open(dir.path()).await.unwrap();
    store.commit(vec![put("a", None, 1), put("b", None, 1)]).await.unwrap();
    store.commit(vec![Change { write: Write::Delete, ..put("a", Some(1), 0) }]).await.unwrap();
    assert_eq!(store.changes(0).await.unwrap().0.len(), 2, "others in the process learn of it");
    drop(store);
    for _ in 0..2 {
        let store = EmbeddedStore::open(dir.path()).await.unwrap();
        let (rows, last) = store.changes(0).await.unwrap();
        assert_eq!((rows.len(), rows[0].id.as_str(), last), (1, "b", 2));
    }
}

#[tokio::test]
async fn the_files_are_private() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a/b");
    let _store = EmbeddedStore::open(&data).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&data), 0o700);
    for file in std::fs::read_dir(&data).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, b"").unwrap();
    let error = EmbeddedStore::open(&file.join("store")).await.err().unwrap();
    assert!(matches!(&error, StoreError::Unavailable(reason) if reason.contains("file/store")), "{error}");
}
