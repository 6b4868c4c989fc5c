//! Memories of several banks, each with one port that reads and one that writes, or with a single port for
//! both.
//!
//! The machines write every word once and read it once. A memory therefore knows whether a word is waiting to
//! be read, and refuses every access that a schedule must not make: a second use of a port in one cycle, a
//! read of a word that is still on its way, a write over a word that nobody has read, and a read and a write
//! of one row in the same cycle.

use crate::error::{Access, Error, Port};

/// A memory of several banks.
#[derive(Debug, Clone)]
pub struct Memory {
    name: &'static str,
    rows: usize,
    /// Whether a bank has a single port for reads and writes.
    single_port: bool,
    words: Vec<u64>,
    unread: Vec<bool>,
    /// The cycle and the row of the last use of each bank's read port.
    last_read: Vec<Option<(u64, usize)>>,
    /// The cycle and the row of the last use of each bank's write port.
    last_write: Vec<Option<(u64, usize)>>,
}

impl Memory {
    /// A memory of zeros. `name` stands in errors.
    #[must_use]
    pub fn new(name: &'static str, banks: usize, rows: usize) -> Self {
        Self {
            name,
            rows,
            single_port: false,
            words: vec![0; banks * rows],
            unread: vec![false; banks * rows],
            last_read: vec![None; banks],
            last_write: vec![None; banks],
        }
    }

    /// This memory with a single port for each bank: it is read or written in a cycle, not both.
    #[must_use]
    pub fn with_single_port(self) -> Self {
        Self { single_port: true, ..self }
    }

    /// All words: that of a bank and a row has the index `bank * rows + row`.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The row that a port of a bank was used for in `cycle`, if that was its last use.
    #[must_use]
    pub fn used(&self, cycle: u64, bank: usize, port: Port) -> Option<usize> {
        let last = match port {
            Port::Read => self.last_read[bank],
            Port::Write => self.last_write[bank],
        };
        last.filter(|&(last, _)| last == cycle).map(|(_, row)| row)
    }

    fn access(&self, cycle: u64, bank: usize, row: usize) -> Access {
        Access { memory: self.name, bank, row, cycle }
    }

    fn take_read_port(&mut self, cycle: u64, bank: usize, row: usize) -> Result<usize, Error> {
        let access = self.access(cycle, bank, row);
        if self.last_read[bank].is_some_and(|(last, _)| last == cycle) {
            return Err(Error::PortConflict { access, port: Port::Read });
        }
        self.last_read[bank] = Some((cycle, row));
        let index = bank * self.rows + row;
        match self.unread[index] {
            true => Ok(index),
            false => Err(Error::ReadTooEarly(access)),
        }
    }

    /// Reads a word in `cycle`. The word counts as read: the next access must be a write.
    ///
    /// # Errors
    ///
    /// [`Error::PortConflict`] and [`Error::ReadTooEarly`].
    pub fn read(&mut self, cycle: u64, bank: usize, row: usize) -> Result<u64, Error> {
        let index = self.take_read_port(cycle, bank, row)?;
        self.unread[index] = false;
        Ok(self.words[index])
    }

    /// Reads a word in `cycle` that is to be read again later.
    ///
    /// # Errors
    ///
    /// [`Error::PortConflict`] and [`Error::ReadTooEarly`].
    pub fn read_kept(&mut self, cycle: u64, bank: usize, row: usize) -> Result<u64, Error> {
        let index = self.take_read_port(cycle, bank, row)?;
        Ok(self.words[index])
    }

    /// Writes a word in `cycle`, after all reads of that cycle.
    ///
    /// # Errors
    ///
    /// [`Error::PortConflict`], [`Error::Overwritten`] and [`Error::ReadAndWritten`].
    pub fn write(&mut self, cycle: u64, bank: usize, row: usize, word: u64) -> Result<(), Error> {
        let access = self.access(cycle, bank, row);
        let last = self.last_write[bank].replace((cycle, row));
        if last.is_some_and(|(last, _)| last == cycle) {
            return Err(Error::PortConflict { access, port: Port::Write });
        }
        let read = self.last_read[bank].filter(|&(last, _)| last == cycle);
        if self.single_port && read.is_some() {
            return Err(Error::PortConflict { access, port: Port::Write });
        }
        if read == Some((cycle, row)) {
            return Err(Error::ReadAndWritten(access));
        }
        let index = bank * self.rows + row;
        if std::mem::replace(&mut self.unread[index], true) {
            return Err(Error::Overwritten(access));
        }
        self.words[index] = word;
        Ok(())
    }

    /// Declares that no word is waiting to be read, so that all may be written anew.
    pub(crate) fn release(&mut self) {
        self.unread.fill(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_that_a_schedule_must_not_make_are_errors() {
        let access = |cycle, row| Access { memory: "A", bank: 1, row, cycle };
        let mut memory = Memory::new("A", 2, 4);
        assert_eq!(memory.read(0, 1, 3), Err(Error::ReadTooEarly(access(0, 3))));
        assert_eq!(memory.write(1, 1, 3, 7), Ok(()));
        assert_eq!(
            memory.write(1, 1, 2, 7),
            Err(Error::PortConflict { access: access(1, 2), port: Port::Write })
        );
        assert_eq!(memory.write(2, 1, 3, 8), Err(Error::Overwritten(access(2, 3))));
        assert_eq!(memory.read(3, 1, 3), Ok(7));
        assert_eq!(memory.read(3, 1, 0), Err(Error::PortConflict { access: access(3, 0), port: Port::Read }));
        assert_eq!(memory.write(3, 1, 3, 9), Err(Error::ReadAndWritten(access(3, 3))));
        assert_eq!(memory.write(4, 1, 3, 9), Ok(()));
        assert_eq!([memory.read_kept(5, 1, 3), memory.read(6, 1, 3)], [Ok(9), Ok(9)]);
        assert_eq!(memory.read(7, 1, 3), Err(Error::ReadTooEarly(access(7, 3))));
        // Another row may be read in the cycle of a write, unless the bank has a single port.
        for (mut memory, expected) in [
            (Memory::new("A", 2, 4), Ok(())),
            (
                Memory::new("A", 2, 4).with_single_port(),
                Err(Error::PortConflict { access: access(2, 0), port: Port::Write }),
            ),
        ] {
            memory.write(1, 1, 3, 5).unwrap();
            memory.read(2, 1, 3).unwrap();
            assert_eq!(memory.write(2, 1, 0, 6), expected);
        }
        let text = Error::ReadTooEarly(access(7, 3)).to_string();
        assert_eq!(text, "cycle 7: memory A, bank 1, row 3: the word is read before it is written");
    }
}
