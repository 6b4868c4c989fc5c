//! A single record: each field is a file.

use super::layout::{AnswerField, Field, Layout, Record};
use super::line_parser::parse;
use super::pipeline::{AsTheyAre, Chunk, FileRules, Origin, Piece, Places, Sink, Source};
use super::table::{Answers, Records};
use crate::failure::Failure;
use crate::io::{Input, Output, STANDARD, writes_terminal};
use modmill_rsa::Hash;
use std::io::{self, Read};
use zeroize::Zeroizing;

/// Bytes that are hashed at a time.
const BUFFER_BYTES: usize = 1 << 15;

/// Reads all of an input. A file of `size` bytes is read without growing the memory for it.
fn read_all(mut input: impl Read, size: Option<u64>) -> io::Result<Zeroizing<Vec<u8>>> {
    let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    let mut octets = Zeroizing::new(vec![0; (size + 1).max(1 << 10)]);
    let mut length = 0;
    loop {
        match input.read(&mut octets[length..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) => {
                octets.truncate(length);
                return Ok(octets);
            }
            read => length += read?,
        }
        if length == octets.len() {
            // Grown by hand, so that the outgrown copy is zeroized.
            let mut longer = Zeroizing::new(vec![0; 2 * length]);
            longer[..length].copy_from_slice(&octets);
            octets = longer;
        }
    }
}

/// The most bytes of a file that is kept in memory: a key, a password, a message to encrypt, a signature.
const MOST: u64 = 16 << 20;

/// Reads all of an input, unless it is longer than what is kept in memory.
pub(crate) fn read_small(input: impl Read, size: Option<u64>) -> io::Result<Zeroizing<Vec<u8>>> {
    let bytes = read_all(input.take(MOST + 1), size.map(|size| size.min(MOST)))?;
    match bytes.len() as u64 > MOST {
        true => {
            let text = format!("it is longer than {} MiB", MOST >> 20);
            Err(io::Error::new(io::ErrorKind::FileTooLarge, text))
        }
        false => Ok(bytes),
    }
}

/// Reads a field from a file: its bytes, or their digest, which is computed without keeping the bytes.
pub(super) fn read_field(mut input: impl Read, size: Option<u64>, hash: Option<Hash>) -> io::Result<Field> {
    let Some(hash) = hash else {
        return read_small(input, size).map(Field::new);
    };
    let mut hasher = hash.hasher();
    let mut buffer = Zeroizing::new([0; BUFFER_BYTES]);
    loop {
        match input.read(buffer.as_mut_slice()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) => return Ok(Field::new(Zeroizing::new(hasher.finish().as_ref().to_vec()))),
            read => hasher.update(&buffer[..read?]),
        }
    }
}

/// Reads the files of one record.
pub(super) struct FileSource {
    record: Option<Record>,
    name: String,
}

/// The name of the first file.
pub(super) struct FileOrigin(String);

impl Origin for FileOrigin {
    fn name(&self, _: usize) -> String {
        self.0.clone()
    }
}

impl FileSource {
    pub(super) fn open(layout: Layout, rules: FileRules, places: &Places<'_>) -> Result<Self, Failure> {
        let mut record = Vec::new();
        let mut name = String::new();
        for (index, path) in places.inputs.iter().enumerate() {
            let mut input = Input::open(path)?;
            let (own_name, size) = (input.name.clone(), input.size);
            let failed = |error| Failure::file("read", &own_name, &error);
            let hash = rules.hash.filter(|_| index == 0);
            let field = match places.missing_option.filter(|_| index == 0 && *path == STANDARD) {
                Some(option) => {
                    let start = read_start(&mut input).map_err(failed)?;
                    refuse_lines(layout, &start, option)?;
                    read_field(start.chain(input), size, hash)
                }
                None => read_field(input, size, hash),
            };
            record.push(Some(field.map_err(failed)?));
            if index == 0 {
                name = own_name;
            }
        }
        Ok(Self { record: Some(record), name })
    }
}

/// The first bytes of an input, enough to see whether it is JSON Lines.
fn read_start(input: &mut Input) -> io::Result<Zeroizing<Vec<u8>>> {
    read_all(input.take(1 << 16), None)
}

/// Refuses JSON Lines that would be taken for a single message. `option` names the format.
fn refuse_lines(layout: Layout, start: &[u8], option: &str) -> Result<(), Failure> {
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match parse(layout, line, false).record {
        Ok(_) => Err(Failure::Usage(format!(
            "standard input looks like JSON Lines: say {option} lines, or {option} file if it is one message"
        ))),
        Err(_) => Ok(()),
    }
}

impl Source for FileSource {
    type Origin = FileOrigin;
    const PROGRESS_UNIT: &'static str = "files";
    const RECORDS: &'static str = "files";

    fn size(&self) -> Option<u64> {
        Some(1)
    }

    fn next_chunk(&mut self) -> Result<Option<Chunk<FileOrigin>>, Failure> {
        let Some(record) = self.record.take() else { return Ok(None) };
        let records = Records::from_rows(record.len(), vec![Ok(record)]);
        let pieces = vec![Piece { records, origin: FileOrigin(self.name.clone()) }];
        Ok(Some(Chunk { pieces, progress: 1 }))
    }
}

/// Writes the bytes of one answer; a verdict is not written.
pub(super) struct FileSink {
    /// The output for the bytes, if the answer has any.
    output: Option<Output>,
    is_terminal: bool,
}

impl FileSink {
    pub(super) fn create(layout: Layout, places: &Places<'_>, mode: Option<u32>) -> Result<Self, Failure> {
        let output = match layout.answer {
            AnswerField::Verdict => None,
            AnswerField::Octets(_) | AnswerField::Pair(_) | AnswerField::Sign(_) => {
                places.protected.check(places.output)?;
                Some(Output::create_with(places.output, mode)?)
            }
        };
        Ok(Self { output, is_terminal: writes_terminal(places.output) })
    }
}

impl Sink<FileOrigin> for FileSink {
    // The one error closes the command.
    const HOLDS_ERRORS: bool = true;
    type Formatter = AsTheyAre;

    fn formatter(&self) -> AsTheyAre {
        AsTheyAre
    }

    fn write(&mut self, pieces: Vec<(FileOrigin, Answers)>) -> Result<(), Failure> {
        for octets in pieces.iter().flat_map(|(_, answers)| answers.iter()).flatten() {
            if let Some(mut output) = self.output.take() {
                if self.is_terminal {
                    check_terminal(octets)?;
                }
                output.write_bytes(octets)?;
                output.finish()?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Refuses to write bytes that are no text to a terminal.
pub(crate) fn check_terminal(octets: &[u8]) -> Result<(), Failure> {
    let is_plain = |character: char| !character.is_control() || matches!(character, '\n' | '\r' | '\t');
    match std::str::from_utf8(octets) {
        Ok(text) if text.chars().all(is_plain) => Ok(()),
        _ => Err(Failure::Usage(
            "binary data is not written to a terminal; name a file with --out, or use a pipe".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_octets_are_read_whatever_the_size_was_said_to_be() {
        let contents: Vec<u8> = (0..5000u32).map(|index| index as u8).collect();
        for size in [None, Some(0), Some(4999), Some(5000), Some(5001), Some(1 << 20)] {
            assert_eq!(*read_all(&contents[..], size).unwrap(), contents);
        }
        assert!(read_all(&[][..], None).unwrap().is_empty());
    }

    #[test]
    fn files_that_are_too_long_for_memory_are_refused() {
        for size in [None, Some(0), Some(u64::MAX)] {
            let error = read_field(io::repeat(7), size, None).err().unwrap();
            assert_eq!(error.to_string(), "it is longer than 16 MiB");
            assert_eq!(read_small(io::repeat(7).take(MOST), size).unwrap().len() as u64, MOST);
        }
    }

    #[test]
    fn a_digest_of_a_file_is_that_of_its_octets() {
        let contents = vec![7; 100_000];
        let field = read_field(&contents[..], None, Some(Hash::Sha256)).unwrap();
        assert_eq!(&field.octets[..], Hash::Sha256.digest(&[&contents]).as_ref());
    }

    #[test]
    fn only_text_is_written_to_terminals() {
        assert!(check_terminal("text, also ü\n\ttext".as_bytes()).is_ok());
        assert!(check_terminal(b"\x1b[2J").is_err());
        assert!(check_terminal(b"\xff\x00").is_err());
    }
}
