//! The formats that records are kept in.

use std::path::Path;

/// A format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON Lines: one object a line.
    Lines,
    /// Hexadecimal numbers: one a line.
    Hex,
    /// Fields between commas: one record a line, after a line with the names of the fields.
    #[cfg(feature = "audit")]
    Csv,
    /// The rows of a Parquet file.
    Parquet,
    /// The rows of an Arrow file or stream.
    Arrow,
    /// The files of a folder, one record each.
    Folder,
    /// One record in one file.
    File,
}

/// The value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatChoice {
    /// By the kind and the extension of the input
    Auto,
    /// JSON Lines
    Lines,
    /// Hexadecimal numbers, one a line
    #[value(skip)]
    Hex,
    /// Parquet
    Parquet,
    /// Arrow IPC, a file or a stream
    Arrow,
    /// A folder of files
    Folder,
    /// A single file
    File,
}

impl FormatChoice {
    /// The formats of an input and of its answers. `default` is the format of a file whose extension says
    /// nothing.
    pub(crate) fn of_both(self, input: &str, output: &str, default: Format) -> (Format, Format) {
        let format = self.of(input, default);
        (format, if self == Self::Auto { format.of_output(output) } else { format })
    }

    /// The format of an input. `default` is the format of a file whose extension says nothing.
    pub(crate) fn of(self, input: &str, default: Format) -> Format {
        match self {
            Self::Auto => Format::by_name(input).unwrap_or(default),
            Self::Lines => Format::Lines,
            Self::Hex => Format::Hex,
            Self::Parquet => Format::Parquet,
            Self::Arrow => Format::Arrow,
            Self::Folder => Format::Folder,
            Self::File => Format::File,
        }
    }
}

impl Format {
    /// The format that a path stands for: a folder, or a file with a telling extension.
    pub(crate) fn by_name(path: &str) -> Option<Self> {
        let extension = Path::new(path).extension().map(|extension| extension.to_ascii_lowercase());
        match extension.as_ref().and_then(|extension| extension.to_str()) {
            _ if Path::new(path).is_dir() => Some(Self::Folder),
            Some("jsonl" | "ndjson") => Some(Self::Lines),
            Some("parquet") => Some(Self::Parquet),
            Some("arrow" | "arrows" | "ipc" | "feather") => Some(Self::Arrow),
            _ => None,
        }
    }

    /// The format of the answers to an input of this format: that of `path` where the input has fields and
    /// the extension of `path` names a format that has them, and otherwise the same.
    pub(crate) fn of_output(self, path: &str) -> Self {
        let by_name = Self::by_name(path).filter(|format| format.has_fields());
        by_name.filter(|_| self.has_fields()).unwrap_or(self)
    }

    /// Whether records have named fields, and answers have room for errors and verdicts.
    pub(crate) fn has_fields(self) -> bool {
        matches!(self, Self::Lines | Self::Parquet | Self::Arrow)
    }
}
