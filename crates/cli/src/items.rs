//! Items of octet strings, one after the other or many at a time: a file, a folder of files, JSON Lines,
//! or Parquet.

#[cfg(feature = "parquet")]
mod columns;
mod folder;
mod lines;

use crate::failure::Failure;
use crate::io::check_distinct;
use std::io::{Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// The inputs of one item, in the order of [`Work::inputs`].
pub(crate) type Item = Vec<Zeroizing<Vec<u8>>>;

/// The output of an item, or why there is none.
pub(crate) type Answer = Result<Zeroizing<Vec<u8>>, String>;

/// What is done with items.
pub(crate) struct Work<'a> {
    /// Fields of a line and columns of a table.
    pub(crate) inputs: &'a [&'static str],
    /// Where the inputs are, beside the names of their fields.
    pub(crate) sources: &'a [&'a str],
    /// Field or column of the output; none for a verdict, which is written as `valid`.
    pub(crate) output: Option<&'static str>,
    /// Where outputs go.
    pub(crate) sink: &'a str,
    /// What files of outputs end in; files of inputs end in it if they are made back into others.
    pub(crate) suffix: Suffix,
    pub(crate) quiet: bool,
    pub(crate) compute: &'a Compute<'a>,
}

/// Answers some items in order.
pub(crate) type Compute<'a> = dyn Fn(&[Item]) -> Result<Vec<Answer>, Failure> + 'a;

/// How names of files in folders belong together.
#[derive(Clone, Copy)]
pub(crate) enum Suffix {
    /// `name` gives `name.suffix`.
    Added(&'static str),
    /// `name.suffix` gives `name`.
    Removed(&'static str),
}

/// How many items there were, and how many of them have no answer.
#[derive(Debug, Default, serde::Serialize)]
pub(crate) struct Summary {
    pub(crate) items: u64,
    pub(crate) failed: u64,
    /// The first that has none, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_failure: Option<String>,
}

impl Summary {
    fn count(&mut self, answer: &Answer, place: impl FnOnce() -> String) {
        self.items += 1;
        if let Err(reason) = answer {
            self.failed += 1;
            self.first_failure.get_or_insert_with(|| format!("{}: {reason}", place()));
        }
    }

    /// An error if anything failed.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        match self.first_failure {
            None => Ok(()),
            Some(first) if self.items == 1 => Err(Failure::Items(first)),
            Some(first) => Err(Failure::Items(format!(
                "{} of {} items could not be answered; the first: {first}",
                self.failed, self.items
            ))),
        }
    }
}

/// Items computed together, and bytes of inputs held at a time.
const CHUNK_ITEMS: usize = 4096;
const CHUNK_BYTES: usize = 64 << 20;

/// How items are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    File,
    Folder,
    Lines,
    Parquet,
}

impl Form {
    /// What a source is, by its name unless it is a folder.
    pub(crate) fn of(source: &str) -> Self {
        let extension = Path::new(source).extension().map(|end| end.to_ascii_lowercase());
        match extension.as_ref().and_then(|end| end.to_str()) {
            _ if Path::new(source).is_dir() => Self::Folder,
            Some("jsonl" | "ndjson") => Self::Lines,
            Some("parquet") => Self::Parquet,
            _ => Self::File,
        }
    }

    /// Whether an item has named fields, so that all its inputs are in one place, and a verdict has one too.
    pub(crate) fn has_fields(self) -> bool {
        matches!(self, Self::Lines | Self::Parquet)
    }
}

impl Work<'_> {
    /// Answers whatever there is.
    pub(crate) fn run(&self) -> Result<Summary, Failure> {
        let source = self.sources[0];
        check_distinct(source, self.sink)?;
        match Form::of(source) {
            Form::File => self.run_file(),
            Form::Folder => folder::run(self),
            Form::Lines => lines::run(self),
            #[cfg(feature = "parquet")]
            Form::Parquet => columns::run(self),
            #[cfg(not(feature = "parquet"))]
            Form::Parquet => Err(Failure::Usage(format!(
                "{source}: build modmill-cli with --features parquet to read Parquet"
            ))),
        }
    }

    /// Whether anything is written to the sink: a verdict on a file or a folder is not.
    pub(crate) fn fills_sink(&self) -> bool {
        self.output.is_some() || Form::of(self.sources[0]).has_fields()
    }

    /// Answers the items that could be read; the others keep their errors.
    fn answer(&self, items: Vec<Result<Item, String>>) -> Result<Vec<Answer>, Failure> {
        let mut good = Vec::new();
        let places: Vec<Result<(), String>> =
            items.into_iter().map(|item| item.map(|item| good.push(item))).collect();
        let mut answers = (self.compute)(&good)?.into_iter();
        let missing = || Err("no answer".to_owned());
        let answers =
            places.into_iter().map(|place| place.and_then(|()| answers.next().unwrap_or_else(missing)));
        Ok(answers.collect())
    }

    /// A single item: every input is a file.
    fn run_file(&self) -> Result<Summary, Failure> {
        let item = self.sources.iter().map(|source| read(source)).collect::<Result<Item, _>>()?;
        let answers = (self.compute)(&[item])?;
        let mut summary = Summary::default();
        for answer in &answers {
            summary.count(answer, || self.sources[0].to_owned());
            if let (Some(_), Ok(output)) = (self.output, answer) {
                write(self.sink, output)?;
            }
        }
        Ok(summary)
    }
}

/// A whole file, or standard input for `-`.
pub(crate) fn read(path: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut bytes = Zeroizing::new(Vec::new());
    let result = match path {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(drop),
        _ => std::fs::read(path).map(|contents| *bytes = contents),
    };
    result.map_err(|error| Failure::file("read", path, &error))?;
    Ok(bytes)
}

/// A whole file, or standard output for `-`.
pub(crate) fn write(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    let result = match path {
        "-" => std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()),
        _ => std::fs::write(path, bytes),
    };
    result.map_err(|error| Failure::write(path, &error))
}
