//! Files as they are written, and everything that may have happened to them.

use super::*;
use std::io::{self, Read, Write};
use std::path::Path;

fn header(kind: Kind) -> Header {
    let parameters = vec![("dimension".to_owned(), 512), ("count".to_owned(), u64::MAX)];
    Header { kind, scheme: "example".to_owned(), fingerprint: [0xab; 32], parameters }
}

fn sample() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), &header(Kind::PublicKey)).unwrap();
    writer.bytes("modulus", &[1, 2, 3, 4, 5]).unwrap();
    writer.bytes("empty", &[]).unwrap();
    let write = |output: &mut dyn Write| (0..10u8).try_for_each(|byte| output.write_all(&[byte; 10]));
    writer.section("numbers", 100, write).unwrap();
    writer.finish().unwrap()
}

fn open(file: &[u8]) -> Result<Reader<&[u8]>, FileError> {
    Reader::new(file, file.len() as u64)
}

/// Reads all sections.
fn read(file: &[u8]) -> Result<Vec<(String, Vec<u8>)>, FileError> {
    let mut reader = open(file)?;
    let mut sections = Vec::new();
    while let Some(section) = reader.next_section()? {
        let name = section.name.clone();
        sections.push((name, reader.rest()?.to_vec()));
    }
    reader.finish()?;
    Ok(sections)
}

#[test]
fn what_is_written_is_read() {
    let sections = read(&sample()).unwrap();
    let names: Vec<_> = sections.iter().map(|(name, bytes)| (name.as_str(), bytes.len())).collect();
    assert_eq!(names, [("modulus", 5), ("empty", 0), ("numbers", 100)]);
    assert_eq!(sections[0].1, [1, 2, 3, 4, 5]);
    let file = sample();
    let reader = open(&file).unwrap();
    assert_eq!(reader.header(), &header(Kind::PublicKey));
    assert_eq!((reader.header().parameter("dimension").unwrap(), reader.length()), (512, file.len() as u64));
    reader.finish().unwrap();
    // In pieces, and with the rest of a section left unread.
    let mut reader = open(&file).unwrap();
    assert_eq!(reader.expect("modulus").unwrap(), 5);
    let mut bytes = [0; 2];
    reader.read(&mut bytes).unwrap();
    reader.expect_length("empty", 0).unwrap();
    reader.expect_length("numbers", 100).unwrap();
    reader.read(&mut [0; 99]).unwrap();
    assert!(reader.read(&mut [0; 2]).is_err());
    reader.finish().unwrap();
}

#[test]
fn every_truncation_is_noticed() {
    let file = sample();
    for length in 0..file.len() {
        let error = read(&file[..length]).unwrap_err();
        let is_expected = match length {
            0..8 => matches!(error, FileError::Foreign),
            _ => matches!(error, FileError::Truncated { .. } | FileError::Length { .. }),
        };
        assert!(is_expected, "{length}: {error}");
        // A file that becomes shorter while it is read.
        let late = Reader::new(&file[..length], file.len() as u64).and_then(Reader::finish).unwrap_err();
        assert!(matches!(late, FileError::Truncated { .. }), "{length}: {late}");
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    let file = sample();
    for place in 0..file.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = file.clone();
            changed[place] ^= change;
            let error = read(&changed).expect_err("a changed byte");
            match place {
                0..8 => assert!(matches!(error, FileError::Foreign), "{place}: {error}"),
                8..12 => assert!(matches!(error, FileError::Version(_)), "{place}: {error}"),
                _ => {}
            }
        }
    }
    let mut changed = file.clone();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    assert!(matches!(read(&changed).unwrap_err(), FileError::Checksum));
    let mut longer = file;
    longer.extend([0; 3]);
    assert!(matches!(read(&longer).unwrap_err(), FileError::Trailing(3)));
}

#[test]
fn lengths_that_lie_allocate_nothing() {
    let mut file = Writer::new(Vec::new(), &header(Kind::Ciphertexts)).unwrap().finish().unwrap();
    file.truncate(file.len() - 33);
    let offset = file.len() as u64 + 1 + 3 + 8;
    for length in [u64::MAX, 1 << 62, 1 << 40, 101] {
        let mut hostile = file.clone();
        hostile.push(3);
        hostile.extend(b"abc");
        hostile.extend(length.to_le_bytes());
        hostile.extend([0; 133]);
        let error = read(&hostile).unwrap_err();
        let expected = (offset, length, 100);
        assert!(
            matches!(&error, FileError::Length { offset, length, left, .. } if (*offset, *length, *left) == expected),
            "{error}"
        );
    }
}

#[test]
fn foreign_files_and_others_are_named() {
    for file in [&b""[..], b"-----BEGIN PUBLIC KEY-----", &[0; 1000]] {
        assert!(matches!(read(file).unwrap_err(), FileError::Foreign));
    }
    let file = sample();
    let header = open(&file).unwrap().header().clone();
    let reason = |result: Result<(), FileError>| result.unwrap_err().to_string();
    assert_eq!(reason(header.expect_kind(Kind::SecretKey)), "it holds a public key instead of a secret key");
    assert!(header.expect_kind(Kind::PublicKey).is_ok() && header.expect_scheme("example").is_ok());
    assert!(reason(header.expect_scheme("other")).contains("\"example\", and \"other\" is needed"));
    assert_eq!(header.parameter("width").unwrap_err().to_string(), "the parameter `width` is missing");
    let mut version = file.clone();
    version[8] = 2;
    assert_eq!(
        read(&version).unwrap_err().to_string(),
        "it has version 2 of the format, and only version 1 is known"
    );
    let mut reader = open(&file).unwrap();
    let error = reader.expect("root").unwrap_err();
    assert!(
        error.to_string().contains("the section `root` is needed, and `modulus` stands there"),
        "{error}"
    );
    assert!(reason(reader.expect_length("empty", 1)).contains("has 0 bytes, and 1 are needed"));
    reader.expect("numbers").unwrap();
    assert!(reader.expect("more").unwrap_err().to_string().contains("the end stands there"));
}

#[test]
fn what_the_format_cannot_say_is_not_written() {
    let mut writer = Writer::new(Vec::new(), &header(Kind::Ciphertexts)).unwrap();
    for name in ["", "two words", "ä", &"n".repeat(256)] {
        assert!(matches!(writer.bytes(name, &[]), Err(FileError::Unwritable("a name"))), "{name}");
    }
    let short = writer.section("short", 2, |output| output.write_all(&[1]));
    assert!(matches!(short, Err(FileError::SectionLength { expected: 2, found: 1, .. })));
    let many = Header { parameters: vec![("p".to_owned(), 0); 1 << 16], ..header(Kind::PublicKey) };
    assert!(Writer::new(Vec::new(), &many).is_err());
}

/// Writes a file by [`Writer::create`].
fn write(path: &Path, kind: Kind) -> Result<(), FileError> {
    let mut writer = Writer::create(path, &header(kind))?;
    writer.bytes("numbers", &[1; 100])?;
    writer.publish()
}

#[test]
fn files_appear_when_they_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, "old").unwrap();
    let mut writer = Writer::create(&path, &header(Kind::PublicKey)).unwrap();
    writer.bytes("numbers", &[1; 100]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    drop(writer);
    let entries = || std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!((std::fs::read(&path).unwrap().as_slice(), entries()), (&b"old"[..], 1));
    write(&path, Kind::PublicKey).unwrap();
    assert_eq!(entries(), 1);
    let mut reader = Reader::open(&path).unwrap();
    reader.expect_length("numbers", 100).unwrap();
    reader.finish().unwrap();
    assert!(write(folder.path(), Kind::PublicKey).is_err(), "a folder");
    assert!(write(&folder.path().join("none/key"), Kind::PublicKey).is_err(), "no such folder");
    assert!(matches!(Reader::open(folder.path()).err().unwrap(), FileError::Io(_)));
    assert!(matches!(Reader::open(&folder.path().join("none")).err().unwrap(), FileError::Io(_)));
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_a_secret_key() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let path = folder.path().join("secret");
    // A file that everyone may read is replaced by one that they may not.
    std::fs::write(&path, "old").unwrap();
    write(&path, Kind::SecretKey).unwrap();
    assert_eq!(mode(&path), 0o600);
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    write(&link, Kind::SecretKey).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(mode(&path), 0o600);
    // Other kinds have the mode of any new file.
    let [public, plain] = ["public", "plain"].map(|name| folder.path().join(name));
    write(&public, Kind::PublicKey).unwrap();
    std::fs::write(&plain, "").unwrap();
    assert_eq!(mode(&public), mode(&plain));
}

/// Files that begin rightly and go on by chance, some of them with a right checksum, are read or refused.
#[test]
fn any_file_is_answered() {
    use sha2::{Digest, Sha256};
    let file = sample();
    let mut random = fastrand::Rng::with_seed(1);
    let mut random = |bound: usize| random.usize(..bound);
    let mut whole = 0;
    for _ in 0..20_000 {
        let mut changed = file[..file.len() - CHECKSUM].to_vec();
        for _ in 0..random(4) {
            let place = 12 + random(changed.len() - 12);
            changed[place] = random(256) as u8;
        }
        changed.truncate(changed.len() - random(3));
        let checksum = Sha256::digest(&changed);
        changed.extend(checksum);
        whole += usize::from(read(&changed).is_ok());
    }
    assert!((1_000..19_000).contains(&whole), "{whole}");
}

/// An input that fails is an error, and not the end of the file.
#[test]
fn failures_of_the_system_are_handed_on() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken disk"))
        }
    }
    assert_eq!(Reader::new(Failing, 100).err().unwrap().to_string(), "broken disk");
}
