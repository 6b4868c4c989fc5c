//! Files and standard streams, with errors that name them.

use crate::failure::Failure;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The name that stands for standard input or standard output on the command line.
pub(crate) const STANDARD: &str = "-";

/// The value of an option that names an input: every name of standard input becomes `-`.
#[allow(clippy::unnecessary_wraps)] // the parser of an option returns a result
pub(crate) fn input_name(text: &str) -> Result<String, String> {
    let is_standard = matches!(text, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0");
    Ok(if is_standard { STANDARD } else { text }.to_owned())
}

/// The value of an option that names an output: every name of standard output becomes `-`.
#[allow(clippy::unnecessary_wraps)] // as above
pub(crate) fn output_name(text: &str) -> Result<String, String> {
    let is_standard = matches!(text, "/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1");
    Ok(if is_standard { STANDARD } else { text }.to_owned())
}

/// A file or standard input, opened for reading.
pub(crate) struct Input {
    pub(crate) name: String,
    reader: Box<dyn Read + Send>,
    /// The length in bytes of a regular file; other inputs have no known length.
    pub(crate) size: Option<u64>,
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub(crate) fn open(path: &str) -> Result<Self, Failure> {
        if path == STANDARD { Ok(Self::standard()) } else { Self::open_file(Path::new(path)) }
    }

    pub(crate) fn open_file(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let failed = |error| Failure::file("read", &name, &error);
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Failure::Usage(format!("cannot read {name}: it is a folder; name a file")));
        }
        Ok(Self { name, reader: Box::new(file), size: length(&metadata) })
    }

    fn standard() -> Self {
        let name = "standard input".to_owned();
        match standard_stream(&io::stdin()) {
            // The file itself: what is read does not pass through the buffer of the standard library.
            Some(file) => {
                let size = file.metadata().ok().as_ref().and_then(length);
                Self { name, reader: Box::new(file), size }
            }
            None => Self { name, reader: Box::new(io::stdin()), size: None },
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

fn length(metadata: &Metadata) -> Option<u64> {
    metadata.is_file().then_some(metadata.len())
}

#[cfg(unix)]
fn standard_stream(stream: &impl std::os::fd::AsFd) -> Option<File> {
    stream.as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn standard_stream<T>(_: &T) -> Option<File> {
    None
}

/// A file or standard output, opened for writing.
///
/// A new file is written beside its final place and takes its name in [`Output::finish`]: until then a file
/// that had the name stays as it was, and an output that is dropped unfinished leaves nothing behind.
pub(crate) struct Output {
    name: String,
    target: Target,
}

enum Target {
    /// Standard output, a device or a named pipe.
    Stream(Box<dyn Write + Send>),
    /// A file in a folder that takes no new files: emptied by the first write.
    InPlace {
        file: File,
        is_emptied: bool,
    },
    Replacement(Replacement),
}

impl Output {
    /// Opens a file, or standard output for `-`.
    pub(crate) fn create(path: &str) -> Result<Self, Failure> {
        Self::create_with(path, None)
    }

    /// Opens a file as [`Output::create_file`] does, or standard output for `-`.
    pub(crate) fn create_with(path: &str, mode: Option<u32>) -> Result<Self, Failure> {
        match path {
            STANDARD => Ok(Self::stdout()),
            _ => Self::create_file(Path::new(path), mode),
        }
    }

    /// Opens a file, on Unix with the given mode or else the mode of the file that has the name.
    pub(crate) fn create_file(path: &Path, mode: Option<u32>) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let target = Target::open(path, mode).map_err(|error| Failure::file("write", &name, &error))?;
        Ok(Self { name, target })
    }

    pub(crate) fn stdout() -> Self {
        Self { name: "standard output".to_owned(), target: Target::Stream(Box::new(io::stdout())) }
    }

    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.write_bytes(text.as_bytes())
    }

    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.write_all(bytes).and_then(|()| Write::flush(self)).map_err(|error| self.failure(&error))
    }

    /// Gives the finished file its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let result = match self.target {
            Target::Stream(mut stream) => stream.flush(),
            Target::InPlace { file, mut is_emptied } => empty_once(&file, &mut is_emptied),
            Target::Replacement(replacement) => replacement.publish(),
        };
        result.map_err(|error| Failure::write(&self.name, &error))
    }

    fn failure(&self, error: &io::Error) -> Failure {
        Failure::write(&self.name, error)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stream(stream) => stream.write(bytes),
            Target::InPlace { file, is_emptied } => {
                empty_once(file, is_emptied)?;
                file.write(bytes)
            }
            Target::Replacement(replacement) => replacement.file.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stream(stream) => stream.flush(),
            Target::InPlace { file, .. } => file.flush(),
            Target::Replacement(replacement) => replacement.file.as_file_mut().flush(),
        }
    }
}

fn empty_once(file: &File, is_emptied: &mut bool) -> io::Result<()> {
    if !*is_emptied {
        file.set_len(0)?;
        *is_emptied = true;
    }
    Ok(())
}

impl Target {
    fn open(path: &Path, mode: Option<u32>) -> io::Result<Self> {
        let present = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::Replacement(Replacement::new(path, mode)?));
            }
            metadata => metadata?,
        };
        if present.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file"));
        }
        // A file that may not be written may not be replaced either.
        let file = OpenOptions::new().write(true).open(path)?;
        // An open file that goes by a name of the system's is written where it stands, as a shell does.
        let is_open_elsewhere = ["/dev/fd", "/proc"].iter().any(|folder| path.starts_with(folder))
            || path == Path::new("/dev/stderr");
        if !present.is_file() || is_open_elsewhere {
            return Ok(Self::Stream(Box::new(file)));
        }
        // The file that a symbolic link leads to is replaced, and the link stays.
        match Replacement::new(&path.canonicalize()?, mode.or_else(|| mode_of(&present))) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Ok(Self::InPlace { file, is_emptied: false })
            }
            replacement => Ok(Self::Replacement(replacement?)),
        }
    }
}

/// A file under a temporary name, next to the file that it will replace.
struct Replacement {
    file: NamedTempFile,
    path: PathBuf,
}

impl Replacement {
    fn new(path: &Path, mode: Option<u32>) -> io::Result<Self> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Short, so that any name that fits the file system has a temporary name that fits.
        let mut builder = tempfile::Builder::new();
        builder.prefix(".modmill-").suffix(".tmp");
        let file = builder.make_in(folder, |temporary| create_new(temporary, mode))?;
        Ok(Self { file, path: path.to_owned() })
    }

    fn publish(self) -> io::Result<()> {
        self.file.persist(self.path)?;
        Ok(())
    }
}

#[cfg(unix)]
fn create_new(path: &Path, mode: Option<u32>) -> io::Result<File> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(mode.unwrap_or(0o666)).open(path)?;
    if let Some(mode) = mode {
        // The umask does not apply to a mode that was asked for.
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    Ok(file)
}

#[cfg(not(unix))]
fn create_new(path: &Path, _: Option<u32>) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> Option<u32> {
    None
}

/// Writes a whole text to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    Output::stdout().write(text)
}

/// Whether `-` as an input would be read from a terminal.
pub(crate) fn reads_terminal(input: &str) -> bool {
    input == STANDARD && io::stdin().is_terminal()
}

/// Whether an output would be written to a terminal: `-`, or a terminal's own name.
pub(crate) fn writes_terminal(output: &str) -> bool {
    if output == STANDARD {
        return io::stdout().is_terminal();
    }
    let is_device = fs::metadata(output).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    // Opening a named pipe would wait for its reader.
    is_device
        && output.starts_with("/dev/")
        && OpenOptions::new().write(true).open(output).is_ok_and(|file| file.is_terminal())
}

/// Tells a regular file from all others, whatever name it goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileIdentity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

impl FileIdentity {
    /// The identity of a file, or of the file that standard input comes from for `-`.
    pub(crate) fn of_input(path: &str) -> Option<Self> {
        if path == STANDARD { Self::of_stream(&io::stdin()) } else { Self::of_path(Path::new(path)) }
    }

    /// The identity of a file, or of the file that standard output goes to for `-`.
    pub(crate) fn of_output(path: &str) -> Option<Self> {
        if path == STANDARD { Self::of_stream(&io::stdout()) } else { Self::of_path(Path::new(path)) }
    }

    #[cfg(unix)]
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().and_then(|metadata| Self::new(&metadata))
    }

    #[cfg(unix)]
    fn of_stream(stream: &impl std::os::fd::AsFd) -> Option<Self> {
        standard_stream(stream)?.metadata().ok().and_then(|metadata| Self::new(&metadata))
    }

    #[cfg(unix)]
    fn new(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| Self((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        path.canonicalize().ok().filter(|path| path.is_file()).map(Self)
    }

    #[cfg(not(unix))]
    fn of_stream<T>(_: &T) -> Option<Self> {
        None
    }
}

/// Files that a command reads and that it must therefore not write.
#[derive(Debug, Clone, Default)]
pub(crate) struct Protected(Vec<(String, FileIdentity)>);

impl Protected {
    /// Protects the files behind options: pairs of an option and the path that it names.
    pub(crate) fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let identified =
            |(option, path): (&str, &str)| Some((option.to_owned(), FileIdentity::of_input(path)?));
        Self(files.into_iter().filter_map(identified).collect())
    }

    /// Refuses an output that is one of the protected files, by whatever name.
    pub(crate) fn check(&self, output: &str) -> Result<(), Failure> {
        self.check_identity(output, FileIdentity::of_output(output))
    }

    pub(crate) fn check_path(&self, output: &Path) -> Result<(), Failure> {
        self.check_identity(&output.display().to_string(), FileIdentity::of_path(output))
    }

    fn check_identity(&self, output: &str, identity: Option<FileIdentity>) -> Result<(), Failure> {
        match self.0.iter().find(|(_, protected)| Some(protected) == identity.as_ref()) {
            None => Ok(()),
            Some((option, _)) => {
                let output = if output == STANDARD { "standard output" } else { output };
                Err(Failure::Usage(format!(
                    "{output} is the file that {option} reads; name another output file with --out"
                )))
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("modmill-io-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_changes_only_when_its_replacement_is_finished() {
        let folder = folder("replace");
        let path = folder.join("file");
        fs::write(&path, "old").unwrap();
        let mut output = Output::create_file(&path, None).unwrap();
        output.write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        drop(output);
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), entries(&folder)), ("old", 1));
        let mut output = Output::create_file(&path, None).unwrap();
        output.write("new").unwrap();
        output.finish().unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), entries(&folder)), ("new", 1));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn names_of_every_length_are_written() {
        let folder = folder("long");
        let path = folder.join("n".repeat(255));
        let mut output = Output::create_file(&path, None).unwrap();
        output.write("new").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(Output::create_file(&folder.join("n".repeat(256)), None).is_err());
        assert_eq!(entries(&folder), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn links_and_modes_outlive_a_replacement() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("links");
        let (path, link) = (folder.join("file"), folder.join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut output = Output::create_file(&link, None).unwrap();
        output.write("new").unwrap();
        output.finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn files_are_known_by_every_name() {
        let folder = folder("names");
        let (path, hard, soft) = (folder.join("file"), folder.join("hard"), folder.join("soft"));
        fs::write(&path, "data").unwrap();
        fs::hard_link(&path, &hard).unwrap();
        std::os::unix::fs::symlink(&path, &soft).unwrap();
        let protected = Protected::new([("--in", path.to_str().unwrap())]);
        for name in [&path, &hard, &soft] {
            assert!(protected.check(name.to_str().unwrap()).is_err());
        }
        assert!(protected.check(folder.join("other").to_str().unwrap()).is_ok());
        fs::remove_dir_all(folder).unwrap();
    }
}
