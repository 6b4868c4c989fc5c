//! The digests of moduli, by which those that the corpus has are found, and what later segments say about
//! keys of earlier ones.

use super::{Number, Segment};
use crate::Error;
use crate::files::{Folder, Strings};
use modmill_container::{FileError, Header, Kind};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

const SCHEME: &str = "audit-index";

/// A further name of a key.
#[derive(Debug, Clone)]
pub(super) struct Alias {
    pub(super) number: Number,
    pub(super) name: String,
}

/// The index of a segment that is written, or of all segments.
#[derive(Default)]
pub(super) struct Index {
    /// Sorted digests, each with the number of its key.
    digests: Vec<(u64, Number)>,
    /// Keys that share a factor with another one.
    pub(super) weak: BTreeSet<Number>,
    pub(super) aliases: Vec<Alias>,
}

/// The first bytes of the SHA-256 of a modulus. Other moduli may have the same.
pub(super) fn hash(modulus: &[u64]) -> u64 {
    let mut digest = Sha256::new();
    modulus.iter().for_each(|limb| digest.update(limb.to_le_bytes()));
    u64::from_be_bytes(digest.finalize()[..8].try_into().unwrap_or_default())
}

impl Index {
    /// The statements of a new segment about keys of any segment.
    pub(super) fn new(weak: BTreeSet<Number>, aliases: Vec<Alias>) -> Self {
        Self { digests: Vec::new(), weak, aliases }
    }

    /// Reads the indices of segments, each with the number of its first key.
    pub(super) fn read<'a>(
        folder: &Folder,
        segments: impl Iterator<Item = (Number, &'a Segment)>,
    ) -> Result<Self, Error> {
        let mut index = Self::default();
        for (first, segment) in segments {
            let path = folder.path().join(&segment.index);
            folder
                .read(&segment.index, SCHEME, |reader| {
                    let wrong = |section: &str| {
                        let reason = "is cut short or names keys that there are not".to_owned();
                        FileError::Content { section: section.to_owned(), reason }
                    };
                    reader.expect_length("digests", 8 * segment.count)?;
                    let digests = reader.rest()?;
                    let digests = digests.as_chunks().0.iter().copied().map(u64::from_le_bytes);
                    index.digests.extend(digests.zip(first..));
                    reader.expect("weak")?;
                    let known = first + segment.count;
                    let weak = reader.rest()?;
                    for number in weak.as_chunks().0.iter().copied().map(u64::from_le_bytes) {
                        if number >= known {
                            return Err(wrong("weak"));
                        }
                        index.weak.insert(number);
                    }
                    reader.expect("names")?;
                    let names = reader.rest()?;
                    let mut strings = Strings(&names);
                    while !strings.is_empty() {
                        let number = strings
                            .number()
                            .filter(|&number| number < known)
                            .ok_or_else(|| wrong("names"))?;
                        let name = strings.string().ok_or_else(|| wrong("names"))?;
                        index.aliases.push(Alias { number, name });
                    }
                    Ok(())
                })
                .map_err(|fault| Error::file(&path, fault))?;
        }
        index.digests.sort_unstable();
        Ok(index)
    }

    /// The keys whose moduli may have this digest.
    pub(super) fn find(&self, digest: u64) -> impl Iterator<Item = Number> + use<'_> {
        let start = self.digests.partition_point(|(other, _)| *other < digest);
        self.digests[start..].iter().take_while(move |(other, _)| *other == digest).map(|(_, number)| *number)
    }

    /// Writes the index of a segment with these moduli.
    pub(super) fn write<'a>(
        &self,
        folder: &Folder,
        name: &str,
        moduli: impl Iterator<Item = &'a [u64]>,
    ) -> Result<(), Error> {
        let digests: Vec<u8> = moduli.flat_map(|modulus| hash(modulus).to_le_bytes()).collect();
        let weak: Vec<u8> = self.weak.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut names = Vec::new();
        for alias in &self.aliases {
            names.extend(alias.number.to_le_bytes());
            Strings::push(&mut names, &alias.name);
        }
        let header = Header {
            kind: Kind::PublicKey,
            scheme: SCHEME.to_owned(),
            fingerprint: [0; 32],
            parameters: Vec::new(),
        };
        folder.write(name, &header, |writer| {
            writer.bytes("digests", &digests)?;
            writer.bytes("weak", &weak)?;
            writer.bytes("names", &names)
        })
    }
}
