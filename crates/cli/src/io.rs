//! Files and standard streams, with errors that name them.

use crate::failure::Failure;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

/// Where lines come from.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) reader: Box<dyn BufRead>,
    /// Length in bytes, where it is known.
    pub(crate) size: Option<u64>,
}

impl Input {
    /// A file, or standard input for `-`.
    pub(crate) fn open(path: &str) -> Result<Self, Failure> {
        if path == "-" {
            let reader = Box::new(BufReader::with_capacity(1 << 16, std::io::stdin()));
            return Ok(Self { name: "standard input".to_owned(), reader, size: None });
        }
        let failed = |error| Failure::file("read", path, &error);
        let file = File::open(path).map_err(failed)?;
        let size = file.metadata().map_err(failed)?;
        let size = size.is_file().then_some(size.len());
        Ok(Self { name: path.to_owned(), reader: Box::new(BufReader::with_capacity(1 << 16, file)), size })
    }
}

/// Where answers go.
pub(crate) struct Output {
    name: String,
    writer: Box<dyn Write>,
}

impl Output {
    /// A new file, or standard output for `-`.
    pub(crate) fn create(path: &str) -> Result<Self, Failure> {
        if path == "-" {
            return Ok(Self::stdout());
        }
        let file = File::create(path).map_err(|error| Failure::file("write", path, &error))?;
        Ok(Self { name: path.to_owned(), writer: Box::new(BufWriter::with_capacity(1 << 16, file)) })
    }

    pub(crate) fn stdout() -> Self {
        let writer = Box::new(BufWriter::with_capacity(1 << 16, std::io::stdout()));
        Self { name: "standard output".to_owned(), writer }
    }

    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.writer.write_all(text.as_bytes()).map_err(|error| Failure::write(&self.name, &error))
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| Failure::write(&self.name, &error))
    }
}

/// Writes a whole text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = Output::stdout();
    output.write(text)?;
    output.flush()
}

/// Refuses to write over the file that is being read.
pub(crate) fn check_distinct(input: &str, output: &str) -> Result<(), Failure> {
    let real = |path: &str| Path::new(path).canonicalize().ok().filter(|path| path.is_file());
    match (real(input), real(output)) {
        (Some(from), Some(to)) if input != "-" && output != "-" && from == to => {
            Err(Failure::Usage(format!("{output} is the input too; name another output file")))
        }
        _ => Ok(()),
    }
}
