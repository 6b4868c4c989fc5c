//! The sources of a matrix's rows: memory, a file, or a seed.

use super::moduli::ResidueModuli;
use crate::error::Error;
use std::any::Any;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A matrix of public integers in residues, by rows. Residue i of element (row, column) is word
/// `(row k + i) columns + column`: within a row, all residues of one modulus lie side by side.
pub trait MatrixSource: Send + Sync {
    /// The moduli.
    fn moduli(&self) -> &ResidueModuli;

    /// The number of rows.
    fn rows(&self) -> usize;

    /// The number of columns.
    fn columns(&self) -> usize;

    /// Writes the residues of some rows to `words`, which has exactly as many words.
    fn read(&self, rows: Range<usize>, words: &mut [u32]) -> Result<(), Error>;

    /// All words, if they are in memory.
    fn in_memory(&self) -> Option<&[u32]> {
        None
    }

    /// The seed, if the matrix is that of [`super::SeededRows`]: devices expand it by themselves.
    fn seed(&self) -> Option<&[u8; 32]> {
        None
    }

    /// Itself, if a backend has a way of its own with it: matrices in pinned memory.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// The words of a row.
    fn row_words(&self) -> usize {
        self.columns() * self.moduli().len()
    }
}

/// The greatest number of rows and of columns. A sum of `MOST` residues, or of `MOST` halves of products,
/// fits 64 bits: `2^31 2^32 < 2^64`.
const MOST: usize = 1 << 31;

/// Checks the shape of a matrix, and that its words can be counted.
pub fn check_shape(moduli: &ResidueModuli, rows: usize, columns: usize) -> Result<usize, Error> {
    for (what, value) in [("the number of rows", rows), ("the number of columns", columns)] {
        if value == 0 || value > MOST {
            return Err(Error::OutOfRange { what, value, least: 1, most: MOST });
        }
    }
    let words = rows.checked_mul(columns).and_then(|words| words.checked_mul(moduli.len()));
    words.filter(|&words| words <= isize::MAX as usize / 4).ok_or(Error::no_memory(usize::MAX))
}

/// Checks a range of rows and the length of their words, and returns the place of the first word.
pub fn rows_length(source: &dyn MatrixSource, rows: &Range<usize>, words: usize) -> Result<usize, Error> {
    if rows.start > rows.end || rows.end > source.rows() {
        let (value, most) = (rows.end, source.rows());
        return Err(Error::OutOfRange { what: "the last row", value, least: rows.start, most });
    }
    let expected = rows.len() * source.row_words();
    match words == expected {
        true => Ok(rows.start * source.row_words()),
        false => Err(Error::LengthMismatch { what: "the words of the rows", expected, found: words }),
    }
}

/// A matrix in memory.
#[derive(Debug)]
pub struct MemoryRows {
    moduli: ResidueModuli,
    rows: usize,
    columns: usize,
    words: Vec<u32>,
}

impl MemoryRows {
    /// A matrix from its words, in the order of [`MatrixSource`]. It is an error if they are not as many as
    /// that, or not below their moduli.
    pub fn new(moduli: &ResidueModuli, rows: usize, columns: usize, words: Vec<u32>) -> Result<Self, Error> {
        let expected = check_shape(moduli, rows, columns)?;
        if words.len() != expected {
            return Err(Error::LengthMismatch { what: "the residues", expected, found: words.len() });
        }
        moduli.check_planes(columns, &words)?;
        Ok(Self { moduli: moduli.clone(), rows, columns, words })
    }

    /// A copy in memory of another matrix.
    pub fn copy_of(source: &dyn MatrixSource) -> Result<Self, Error> {
        Self::filled(source, |words| source.read(0..source.rows(), words))
    }

    /// A copy in memory of another matrix, whose words `read` writes.
    pub fn filled(
        source: &dyn MatrixSource,
        read: impl FnOnce(&mut [u32]) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let count = check_shape(source.moduli(), source.rows(), source.columns())?;
        let mut words = super::vectors::zero_words(count)?;
        read(&mut words)?;
        Ok(Self { moduli: source.moduli().clone(), rows: source.rows(), columns: source.columns(), words })
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

impl MatrixSource for MemoryRows {
    fn moduli(&self) -> &ResidueModuli {
        &self.moduli
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn read(&self, rows: Range<usize>, words: &mut [u32]) -> Result<(), Error> {
        let start = rows_length(self, &rows, words.len())?;
        words.copy_from_slice(&self.words[start..][..words.len()]);
        Ok(())
    }

    fn in_memory(&self) -> Option<&[u32]> {
        Some(&self.words)
    }
}

/// A matrix in a file: its words in the order of [`MatrixSource`], little-endian, and nothing else. Residues
/// that are not below their moduli are an error when they are read.
#[derive(Debug)]
pub struct FileRows {
    moduli: ResidueModuli,
    rows: usize,
    columns: usize,
    path: PathBuf,
}

impl FileRows {
    /// The matrix in the file at `path`, which must have exactly the bytes of the matrix.
    pub fn open(
        moduli: &ResidueModuli,
        rows: usize,
        columns: usize,
        path: impl AsRef<Path>,
    ) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let expected = 4 * check_shape(moduli, rows, columns)?;
        let found = File::open(&path).and_then(|file| file.metadata()).map(|data| data.len());
        let found = found.map_err(|error| read_error(&path, &error.to_string()))?;
        if found != expected as u64 {
            let reason = format!("it has {found} bytes where {expected} were expected");
            return Err(read_error(&path, &reason));
        }
        Ok(Self { moduli: moduli.clone(), rows, columns, path })
    }
}

fn read_error(path: &Path, reason: &str) -> Error {
    Error::Read { what: path.display().to_string(), reason: reason.to_owned() }
}

impl MatrixSource for FileRows {
    fn moduli(&self) -> &ResidueModuli {
        &self.moduli
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn read(&self, rows: Range<usize>, words: &mut [u32]) -> Result<(), Error> {
        /// Bytes that are read at a time.
        const PIECE: usize = 1 << 20;
        let start = rows_length(self, &rows, words.len())?;
        let mut bytes = vec![0; PIECE.min(4 * words.len())];
        let mut read = || -> std::io::Result<()> {
            // A handle of its own, so that several threads read at the same time.
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(4 * start as u64))?;
            for piece in words.chunks_mut(PIECE / 4) {
                let bytes = &mut bytes[..4 * piece.len()];
                file.read_exact(bytes)?;
                for (word, bytes) in piece.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *word = u32::from_le_bytes(*bytes);
                }
            }
            Ok(())
        };
        read().map_err(|error| read_error(&self.path, &error.to_string()))?;
        self.moduli.check_planes(self.columns, words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_shapes_are_refused() {
        let moduli = ResidueModuli::new(&[5, 7]).unwrap();
        for (rows, columns) in [(0, 1), (1, 0), (usize::MAX, 1), (1, usize::MAX), (1 << 31, 1 << 31)] {
            assert!(MemoryRows::new(&moduli, rows, columns, vec![0; 2]).is_err(), "{rows} x {columns}");
        }
        assert!(MemoryRows::new(&moduli, 1, 1, vec![0; 3]).is_err());
        assert_eq!(
            MemoryRows::new(&moduli, 1, 1, vec![4, 7]).map(|_| ()),
            Err(Error::NotReduced { index: 1, modulus: 7 })
        );
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "ranges that are refused")]
    fn rows_outside_of_the_matrix_are_refused() {
        let moduli = ResidueModuli::new(&[5, 7]).unwrap();
        let matrix = MemoryRows::new(&moduli, 2, 1, vec![0, 1, 2, 3]).unwrap();
        let mut words = [0; 2];
        matrix.read(1..2, &mut words).unwrap();
        assert_eq!(words, [2, 3]);
        assert!(matrix.read(2..3, &mut words).is_err());
        assert!(matrix.read(0..2, &mut words).is_err());
        assert!(matrix.read(2..1, &mut []).is_err());
    }

    #[test]
    fn files_are_checked() {
        let moduli = ResidueModuli::new(&[5, 7]).unwrap();
        let path = std::env::temp_dir().join(format!("modmill-matrix-{}", std::process::id()));
        let write = |words: &[u32]| {
            std::fs::write(&path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
                .unwrap();
        };
        write(&[1, 2, 3, 4]);
        assert!(matches!(FileRows::open(&moduli, 3, 1, &path), Err(Error::Read { .. })));
        let matrix = FileRows::open(&moduli, 2, 1, &path).unwrap();
        assert_eq!(MemoryRows::copy_of(&matrix).unwrap().words(), [1, 2, 3, 4]);
        write(&[1, 2, 5, 4]);
        let matrix = FileRows::open(&moduli, 2, 1, &path).unwrap();
        assert_eq!(MemoryRows::copy_of(&matrix).map(|_| ()), Err(Error::NotReduced { index: 2, modulus: 5 }));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(FileRows::open(&moduli, 2, 1, &path), Err(Error::Read { .. })));
    }
}
