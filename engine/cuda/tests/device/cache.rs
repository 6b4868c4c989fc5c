//! The cache of compiled programs: what it keeps, and when it is not trusted.
#![cfg(unix)]

use modmill_cuda::cache::Cache;
use modmill_cuda::compiler::Digest;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use tempfile::TempDir;

fn key(number: u8) -> Digest {
    Digest::of(&[&[number]])
}

/// A cache in a new folder, with something under key 1.
fn filled() -> (TempDir, Cache, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("some/cache");
    let cache = Cache::at(folder.clone());
    cache.put(&key(1), b"the first");
    let entry = folder.join(key(1).to_string());
    (parent, cache, entry)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_is_put_is_got_by_everyone_after() {
    let (_parent, cache, entry) = filled();
    let folder = entry.parent().unwrap().to_owned();
    assert_eq!(cache.get(&key(1)).as_deref(), Some(&b"the first"[..]));
    assert_eq!(cache.get(&key(2)), None);
    cache.put(&key(1), b"");
    assert_eq!(Cache::at(folder.clone()).get(&key(1)).as_deref(), Some(&b""[..]));
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&entry).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing temporary is left");
    assert_eq!(cache.warnings(), Vec::<String>::new());
}

#[test]
fn a_damaged_entry_is_a_miss_and_is_replaced() {
    let (_parent, cache, entry) = filled();
    let good = fs::read(&entry).unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..good.len()).map(|length| good[..length].to_vec()).collect();
    damaged.extend((0..good.len()).map(|byte| {
        let mut bytes = good.clone();
        bytes[byte] ^= 1;
        bytes
    }));
    damaged.push([&good[..], b"more"].concat());
    for bytes in damaged {
        fs::write(&entry, &bytes).unwrap();
        assert_eq!(cache.get(&key(1)), None, "{bytes:?}");
    }
    cache.put(&key(1), b"again");
    assert_eq!(cache.get(&key(1)).as_deref(), Some(&b"again"[..]));
    // An entry under another's name is damaged too.
    fs::copy(&entry, entry.with_file_name(key(2).to_string())).unwrap();
    assert_eq!(cache.get(&key(2)), None);
}

#[test]
fn what_others_may_write_to_is_not_used() {
    for mode in [0o770, 0o707, 0o1777] {
        let (_parent, _, entry) = filled();
        let folder = entry.parent().unwrap();
        set_mode(folder, mode);
        let cache = Cache::at(folder.to_owned());
        assert_eq!(cache.get(&key(1)), None);
        cache.put(&key(2), b"the second");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        assert!(cache.warnings()[0].contains("others may write"), "{:?}", cache.warnings());
    }
    let (_parent, cache, entry) = filled();
    set_mode(&entry, 0o620);
    assert_eq!(cache.get(&key(1)), None);
    assert_eq!(cache.get(&key(1)), None);
    assert_eq!(cache.warnings().len(), 1, "each warning once: {:?}", cache.warnings());
    cache.put(&key(1), b"ours");
    assert_eq!(cache.get(&key(1)).as_deref(), Some(&b"ours"[..]));
}

#[test]
fn what_belongs_to_others_is_not_used() {
    let (_parent, cache, entry) = filled();
    if std::os::unix::fs::chown(&entry, Some(12345), None).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    assert_eq!(cache.get(&key(1)), None);
    let folder = entry.parent().unwrap();
    std::os::unix::fs::chown(folder, Some(12345), None).unwrap();
    let cache = Cache::at(folder.to_owned());
    assert!(cache.warnings()[0].contains("another user"), "{:?}", cache.warnings());
}

#[test]
fn a_folder_that_cannot_be_written_is_a_warning() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let cache = Cache::at(folder);
        cache.put(&key(1), b"lost");
        assert_eq!((cache.get(&key(1)), cache.warnings().len()), (None, 1));
    }
    // A folder that goes away, or that turns out not to take files.
    let (_parent, cache, entry) = filled();
    fs::remove_dir_all(entry.parent().unwrap()).unwrap();
    cache.put(&key(1), b"lost");
    assert_eq!((cache.get(&key(1)), cache.warnings().len()), (None, 1));
    let (_parent, cache, entry) = filled();
    set_mode(entry.parent().unwrap(), 0o500);
    cache.put(&key(2), b"the second");
    assert_eq!(cache.get(&key(1)).as_deref(), Some(&b"the first"[..]), "reading goes on");
    assert!(cache.get(&key(2)).is_some() || !cache.warnings().is_empty(), "root may write anywhere");
}

#[test]
fn no_cache_keeps_nothing_and_says_nothing() {
    let cache = Cache::off();
    cache.put(&key(1), b"lost");
    assert_eq!((cache.get(&key(1)), cache.warnings()), (None, Vec::new()));
}

/// Writes and reads the same keys again and again; an answer is whole or none.
fn hammer(folder: &Path) {
    let cache = Cache::at(folder.to_owned());
    for round in 0..200u8 {
        let number = round % 4;
        let content = vec![number; 10_000];
        cache.put(&key(number), &content);
        assert_eq!(cache.get(&key(number)), Some(content));
    }
    assert_eq!(cache.warnings(), Vec::<String>::new());
}

#[test]
fn many_at_once_see_whole_entries() {
    const FOLDER: &str = "MODMILL_TEST_CACHE_AT_ONCE";
    if let Some(folder) = std::env::var_os(FOLDER) {
        return hammer(Path::new(&folder)); // one of the processes below
    }
    let folder = tempfile::tempdir().unwrap();
    let processes: Vec<_> = (0..2)
        .map(|_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "cache::many_at_once_see_whole_entries"]).env(FOLDER, folder.path());
            command.spawn().unwrap()
        })
        .collect();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| hammer(folder.path()));
        }
    });
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
}
