//! The keys of a segment with their names.

use super::Segment;
use super::index::Index;
use crate::Error;
use crate::collection::{Collection, Key};
use crate::files::{self, Folder, Strings, write_limbs};
use modmill::number;
use modmill_container::{FileError, Header, Kind, Reader};
use sha2::{Digest, Sha256};
use std::fs::File;

const SCHEME: &str = "audit-keys";

/// The part of the names of a segment's files that stands for what it adds to a corpus of `segments`.
pub(super) fn tag(fresh: &Collection, new: &[usize], more: &Index, segments: usize) -> String {
    let mut digest = Sha256::new();
    digest.update((segments as u64).to_le_bytes());
    for &key in new {
        fresh.keys()[key].modulus().iter().for_each(|limb| digest.update(limb.to_le_bytes()));
        fresh.ids(key).for_each(|id| digest.update(id));
    }
    more.aliases.iter().for_each(|alias| digest.update(&alias.name));
    files::name(&digest.finalize().into())
}

/// Writes keys: for each a record of a length, the numbers of limbs of its modulus and its exponent, their
/// limbs, and its names.
pub(super) fn write(folder: &Folder, name: &str, fresh: &Collection, new: &[usize]) -> Result<(), Error> {
    let header = Header {
        kind: Kind::PublicKey,
        scheme: SCHEME.to_owned(),
        fingerprint: [0; 32],
        parameters: Vec::new(),
    };
    let record = |key: usize| {
        let (numbers, mut record) = (&fresh.keys()[key], Vec::new());
        for limbs in [numbers.modulus(), numbers.exponent()] {
            record.extend((limbs.len() as u32).to_le_bytes());
            // Memory takes whatever is written.
            let _ = write_limbs(&mut record, limbs);
        }
        fresh.ids(key).for_each(|id| Strings::push(&mut record, id));
        record
    };
    let length: u64 = new.iter().map(|&key| 4 + record(key).len() as u64).sum();
    folder.write(name, &header, |writer| {
        writer.section("keys", length, |output| {
            new.iter().try_for_each(|&key| {
                let record = record(key);
                output.write_all(&(record.len() as u32).to_le_bytes())?;
                output.write_all(&record)
            })
        })
    })
}

/// Reads the keys of a segment, in order, each with its place and its names.
pub(super) fn read(
    folder: &Folder,
    segment: &Segment,
    mut take: impl FnMut(u64, Key, Vec<String>),
) -> Result<(), Error> {
    let path = folder.path().join(&segment.keys);
    let read = |reader: &mut Reader<File>| {
        let wrong = || FileError::Content {
            section: "keys".to_owned(),
            reason: "has no keys of this form".to_owned(),
        };
        let mut left = reader.expect("keys")?;
        for place in 0..segment.count {
            let mut length = [0; 4];
            reader.read(&mut length)?;
            let length = u64::from(u32::from_le_bytes(length));
            left = left.checked_sub(4 + length).ok_or_else(wrong)?;
            let mut record = vec![0; length as usize];
            reader.read(&mut record)?;
            let (key, names) = parse(&record).ok_or_else(wrong)?;
            take(place, key, names);
        }
        if left > 0 { Err(wrong()) } else { Ok(()) }
    };
    folder.read(&segment.keys, SCHEME, read).map_err(|fault| Error::file(&path, fault))
}

fn parse(record: &[u8]) -> Option<(Key, Vec<String>)> {
    let mut strings = Strings(record);
    let mut bytes = || {
        let limbs = strings.limbs()?;
        Some(number::to_short_be_bytes(&limbs))
    };
    let key = Key::new(&bytes()?, &bytes()?).ok()?;
    let mut names = Vec::new();
    while !strings.is_empty() {
        names.push(strings.string()?);
    }
    Some((key, names))
}
