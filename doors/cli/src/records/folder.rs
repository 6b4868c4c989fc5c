//! A folder of files: each file is a record, or one field of it.

use super::file::read_field;
use super::layout::{AnswerField, Field, FileNames, Layout, Record};
use super::pace::Pace;
use super::pipeline::{AsTheyAre, Chunk, FileRules, Origin, Piece, Places, Sink, Source};
use super::table::{Answers, Records};
use crate::failure::Failure;
use crate::io::{Input, Output, Protected, STANDARD};
use modmill::Engine;
use modmill_rsa::Hash;
use rayon::prelude::*;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl FileNames {
    /// The name of the file that answers a file, or that holds a further field of its record.
    fn partner(self, name: &OsStr) -> OsString {
        match self {
            Self::Add(extension) => {
                let mut partner = name.to_owned();
                partner.push(".");
                partner.push(extension);
                partner
            }
            Self::Remove(_) => Path::new(name).file_stem().unwrap_or(name).to_owned(),
        }
    }

    /// Whether an entry of a folder is a record. `shares_folder` says that the partners are in the same
    /// folder.
    fn is_record(self, name: &OsStr, shares_folder: bool) -> bool {
        let has = |extension: &str| Path::new(name).extension() == Some(OsStr::new(extension));
        match self {
            Self::Add(extension) => !(shares_folder && has(extension)),
            Self::Remove(extension) => has(extension),
        }
    }
}

/// An entry of a folder.
struct Entry {
    name: OsString,
    /// The length of a file, or why the entry cannot be read.
    length: Result<u64, String>,
}

/// Reads the files of a folder in the order of their names.
pub(super) struct FolderSource<'a> {
    engine: &'a Engine,
    folders: Vec<PathBuf>,
    rules: FileRules,
    entries: std::vec::IntoIter<Entry>,
    count: u64,
    pace: Arc<Pace>,
}

/// The names of the files of a chunk.
pub(super) struct FolderOrigin(Vec<OsString>);

impl Origin for FolderOrigin {
    fn name(&self, record: usize) -> String {
        self.0[record].display().to_string()
    }
}

impl<'a> FolderSource<'a> {
    pub(super) fn open(
        rules: FileRules,
        places: &Places<'_>,
        engine: &'a Engine,
        pace: Arc<Pace>,
    ) -> Result<Self, Failure> {
        let folder = places.input();
        let failed = |error: std::io::Error| Failure::file("read", folder, &error);
        let partner = places.inputs.get(1).copied().unwrap_or(places.output);
        let partner = Path::new(partner).canonicalize().ok();
        let shares_folder = partner.is_some() && partner == Path::new(folder).canonicalize().ok();
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            // A folder of answers inside the folder of records is no record.
            let is_folder = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
            let is_partner = is_folder && partner.is_some() && entry.path().canonicalize().ok() == partner;
            if rules.names.is_record(&name, shares_folder) && !is_partner {
                entries.push(Entry { name, length: file_length(&entry.path()) });
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self {
            engine,
            folders: places.inputs.iter().map(PathBuf::from).collect(),
            rules,
            count: entries.len() as u64,
            entries: entries.into_iter(),
            pace,
        })
    }

    fn read(&self, entry: &Entry) -> Result<Record, String> {
        entry.length.clone()?;
        let read = |(index, folder): (usize, &PathBuf)| {
            let path = match index {
                0 => folder.join(&entry.name),
                _ => folder.join(self.rules.names.partner(&entry.name)),
            };
            read_file(&path, self.rules.hash.filter(|_| index == 0)).map(Some)
        };
        self.folders.iter().enumerate().map(read).collect()
    }
}

/// The length of a file, symbolic links followed. Anything else is an error: it must not be passed over in
/// silence.
fn file_length(path: &Path) -> Result<u64, String> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(metadata.len()),
        Ok(metadata) => Err(format!("{}, not a file; only files are read", kind(metadata.file_type()))),
        Err(error) if path.is_symlink() => Err(format!("a symbolic link that leads nowhere: {error}")),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        return "a folder";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if file_type.is_fifo() {
            return "a named pipe";
        }
        if file_type.is_socket() {
            return "a socket";
        }
    }
    "a device"
}

fn read_file(path: &Path, hash: Option<Hash>) -> Result<Field, String> {
    let input = Input::open_file(path);
    let input = input.map_err(|failure| failure.message().unwrap_or_default().to_owned())?;
    let size = input.size;
    read_field(input, size, hash).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

impl Source for FolderSource<'_> {
    type Origin = FolderOrigin;
    const PROGRESS_UNIT: &'static str = "files";
    const RECORDS: &'static str = "files";

    fn size(&self) -> Option<u64> {
        Some(self.count)
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk<FolderOrigin>>, Failure> {
        let mut entries = Vec::new();
        let mut bytes = 0usize;
        while !self.pace.is_full(entries.len(), bytes) {
            let Some(entry) = self.entries.next() else { break };
            // A digest takes next to no memory, however long the file is.
            let length = entry.length.as_ref().ok().filter(|_| self.rules.hash.is_none());
            bytes = bytes
                .saturating_add(length.map_or(0, |&length| usize::try_from(length).unwrap_or(usize::MAX)));
            entries.push(entry);
        }
        if entries.is_empty() {
            return Ok(None);
        }
        let records = self.engine.install(|| entries.par_iter().map(|entry| self.read(entry)).collect());
        let progress = entries.len() as u64;
        let records = Records::from_rows(self.folders.len(), records);
        let origin = FolderOrigin(entries.into_iter().map(|entry| entry.name).collect());
        Ok(Some(Chunk { pieces: vec![Piece { records, origin }], progress }))
    }
}

/// Writes a file for each answer; verdicts are not written.
pub(super) struct FolderSink<'a> {
    engine: &'a Engine,
    names: FileNames,
    /// The folder of answers, if they have bytes.
    folder: Option<PathBuf>,
    /// The mode of its files, on Unix, if it is not that of other new files.
    mode: Option<u32>,
    protected: Protected,
}

impl<'a> FolderSink<'a> {
    pub(super) fn create(
        layout: Layout,
        rules: FileRules,
        places: &Places<'_>,
        mode: Option<u32>,
        engine: &'a Engine,
    ) -> Result<Self, Failure> {
        let folder = match layout.answer {
            AnswerField::Verdict => None,
            _ if places.output == STANDARD => {
                return Err(Failure::Usage("--out names the folder for the answers".to_owned()));
            }
            AnswerField::Octets(_) | AnswerField::Pair(_) | AnswerField::Sign(_) => {
                let folder = places.output;
                fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
                Some(PathBuf::from(folder))
            }
        };
        let protected = places.protected.clone();
        Ok(Self { engine, names: rules.names, folder, mode, protected })
    }

    fn write_one(&self, folder: &Path, name: &OsStr, octets: &[u8]) -> Result<(), Failure> {
        let path = folder.join(self.names.partner(name));
        self.protected.check_path(&path)?;
        let mut output = Output::create_file(&path, self.mode)?;
        output.write_bytes(octets)?;
        output.finish()
    }
}

impl Sink<FolderOrigin> for FolderSink<'_> {
    const HOLDS_ERRORS: bool = false;
    type Formatter = AsTheyAre;

    fn formatter(&self) -> AsTheyAre {
        AsTheyAre
    }

    fn write(&mut self, pieces: Vec<(FolderOrigin, Answers)>) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let named = pieces.iter().flat_map(|(origin, answers)| origin.0.iter().zip(answers.iter()));
        let files: Vec<(&OsString, &[u8])> =
            named.filter_map(|(name, answer)| Some((name, answer.ok()?))).collect();
        let write = |(name, octets): &(&OsString, &[u8])| self.write_one(folder, name, octets);
        self.engine.install(|| files.par_iter().try_for_each(write))
    }

    fn finish(self) -> Result<(), Failure> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_belong_together() {
        let (sign, decrypt) = (FileNames::Add("sig"), FileNames::Remove("enc"));
        assert_eq!(sign.partner(OsStr::new("a.txt")), "a.txt.sig");
        assert_eq!(decrypt.partner(OsStr::new("a.txt.enc")), "a.txt");
        assert!(sign.is_record(OsStr::new("a.sig"), false) && !sign.is_record(OsStr::new("a.sig"), true));
        assert!(decrypt.is_record(OsStr::new("a.enc"), false) && !decrypt.is_record(OsStr::new("a"), false));
        // A file whose name is nothing but the extension is no ciphertext of a file.
        assert!(!decrypt.is_record(OsStr::new(".enc"), false));
    }
}
