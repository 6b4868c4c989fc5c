//! The keys of files and folders.

use crate::failure::Failure;
use crate::io::{Input, Protected, STANDARD};
use crate::records::{AnswerField, Format, Layout, Notation, OtherFields, Places, collect};
use modmill::Engine;
use modmill_audit::{Entry, Format as KeyFormat, Key};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Bytes of a file that show its format.
const START: u64 = 1 << 16;

/// Memory for records on their way.
const MEMORY: u64 = 1 << 28;

/// The value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputFormat {
    Auto,
    /// Keys in a form of their own.
    Keys(KeyFormat),
    /// Records with a column of moduli.
    Records(Format),
}

impl InputFormat {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "auto" => Self::Auto,
            "pem" => Self::Keys(KeyFormat::Pem),
            "der" => Self::Keys(KeyFormat::Der),
            "ssh" => Self::Keys(KeyFormat::Ssh),
            "jwk" => Self::Keys(KeyFormat::Jwk),
            "hex" => Self::Records(Format::Hex),
            "csv" => Self::Records(Format::Csv),
            "lines" => Self::Records(Format::Lines),
            "parquet" => Self::Records(Format::Parquet),
            "arrow" => Self::Records(Format::Arrow),
            _ => return Err("known: auto, pem, der, ssh, jwk, hex, csv, lines, parquet, arrow".to_owned()),
        })
    }

    /// The format of a file by its name and its first bytes.
    fn of(path: &str, start: &[u8]) -> Option<Self> {
        let is_csv =
            Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        if is_csv {
            return Some(Self::Records(Format::Csv));
        }
        if let Some(format) = Format::by_name(path) {
            return Some(Self::Records(format));
        }
        if let Some(format) = KeyFormat::detect(start) {
            return Some(Self::Keys(format));
        }
        let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
        let digits = line.strip_prefix(b"0x").unwrap_or(line);
        match line {
            [b'{', ..] => Some(Self::Records(Format::Lines)),
            // No file is a list of no keys.
            _ if digits.iter().all(u8::is_ascii_hexdigit) => Some(Self::Records(Format::Hex)),
            _ => None,
        }
    }
}

/// How inputs are read.
pub(super) struct Inputs<'a> {
    pub(super) format: InputFormat,
    /// The column of moduli.
    pub(super) column: &'static str,
    /// The column of names.
    pub(super) id: &'static str,
    pub(super) max_line: u64,
    pub(super) quiet: bool,
    pub(super) engine: &'a Engine,
}

/// Keys with their names, and why other entries have none.
pub(super) type Keys = (Vec<(String, Key)>, Vec<String>);

impl Inputs<'_> {
    /// The keys of all inputs. An input that is not there is a failure; anything else is an error of its own
    /// entry.
    pub(super) fn read(&self, inputs: &[String]) -> Result<Keys, Failure> {
        let (mut keys, mut errors) = (Vec::new(), Vec::new());
        for input in inputs {
            let mut files = Vec::new();
            if input != STANDARD && Path::new(input).is_dir() {
                list(Path::new(input), &mut files)?;
            } else {
                files.push(PathBuf::from(input));
            }
            for file in files {
                self.read_file(&file.to_string_lossy(), &mut keys, &mut errors)?;
            }
        }
        Ok((keys, errors))
    }

    fn read_file(
        &self,
        path: &str,
        keys: &mut Vec<(String, Key)>,
        errors: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let mut add = |(id, key): Entry| match key {
            Ok(key) => keys.push((id, key)),
            Err(error) => errors.push(format!("{id}: {error}")),
        };
        let format = match self.format {
            InputFormat::Auto if path == STANDARD => {
                let reason = "standard input has no name that shows its format; name it with --format";
                return Err(Failure::Usage(reason.to_owned()));
            }
            InputFormat::Auto => {
                let mut start = Zeroizing::new(Vec::with_capacity(START as usize));
                let input = Input::open(path)?;
                input
                    .take(START)
                    .read_to_end(&mut start)
                    .map_err(|error| Failure::file("read", path, &error))?;
                InputFormat::of(path, &start)
            }
            format => Some(format),
        };
        match format {
            Some(InputFormat::Keys(format)) => {
                let mut input = Input::open(path)?;
                let mut bytes = Zeroizing::new(Vec::with_capacity(input.size.unwrap_or(0) as usize + 1));
                input.read_to_end(&mut bytes).map_err(|error| Failure::file("read", path, &error))?;
                format.read(path, &bytes).into_iter().for_each(add);
            }
            Some(InputFormat::Records(format)) => {
                let taken = self.read_records(path, format, |id, number| {
                    add((id, number.and_then(|number| Key::new(&number, &[]))));
                });
                // The file may be of another kind, or damaged in the middle.
                if let Err(Failure::Usage(reason) | Failure::Items(reason)) = taken {
                    errors.push(reason);
                }
            }
            Some(InputFormat::Auto) | None => {
                errors.push(format!("{path}: no format of keys is recognised; --format names it"));
            }
        }
        Ok(())
    }

    fn read_records(
        &self,
        path: &str,
        format: Format,
        mut take: impl FnMut(String, Result<Vec<u8>, modmill_audit::EntryError>) + Send,
    ) -> Result<(), Failure> {
        let layout = Layout {
            required: std::slice::from_ref(Box::leak(Box::new(self.column))),
            optional: &[],
            notation: Notation::Number,
            others: OtherFields::KeepOne(self.id),
            answer: AnswerField::Octets("number"),
        };
        let places = Places {
            format,
            output_format: format,
            missing_option: None,
            inputs: vec![path],
            output: STANDARD,
            protected: Protected::default(),
            max_line: self.max_line,
            memory: MEMORY,
            quiet: self.quiet,
        };
        collect(layout, &places, self.engine, |record| {
            let place = record.place.rsplit(' ').next().unwrap_or_default();
            let id = record.beside.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("{path}:{place}"));
            take(id, record.number.map_err(modmill_audit::EntryError::Format));
        })
    }
}

/// The files of a folder and of those in it, by name.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error| Failure::file("read", &folder.display().to_string(), &error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    paths.sort();
    for path in paths {
        // A link to a folder may lead back.
        if path.is_dir() && !path.is_symlink() {
            list(&path, files)?;
        } else if path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
