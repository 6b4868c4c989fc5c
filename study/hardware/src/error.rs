//! The errors of a machine or of its inputs.

/// A port of a memory bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// The port that reads.
    Read,
    /// The port that writes.
    Write,
}

impl std::fmt::Display for Port {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// A word of a memory, and the cycle in which something went wrong there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The name of the memory.
    pub memory: &'static str,
    /// The bank.
    pub bank: usize,
    /// The row in the bank.
    pub row: usize,
    /// The cycle.
    pub cycle: u64,
}

impl std::fmt::Display for Access {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "cycle {}: memory {}, bank {}, row {}",
            self.cycle, self.memory, self.bank, self.row
        )
    }
}

/// An error of a model.
///
/// A schedule that breaks the rules of its memories is an error. No model serves such an access.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A port of a bank was used a second time in one cycle.
    #[error("{access}: the {port} port is used twice in this cycle")]
    PortConflict {
        /// The second access.
        access: Access,
        /// The port.
        port: Port,
    },
    /// A word was read that no write has reached since it was last read.
    #[error("{0}: the word is read before it is written")]
    ReadTooEarly(Access),
    /// A word was written although the word before it had not been read.
    #[error("{0}: the word is overwritten before it is read")]
    Overwritten(Access),
    /// A row of a bank was read and written in one cycle.
    #[error("{0}: the row is read and written in one cycle")]
    ReadAndWritten(Access),
    /// A design's parameters do not fit together.
    #[error("{0}")]
    Design(String),
    /// An operand is too long for the machine.
    #[error("operand {operand} has {bits} bits, and the machine takes {limit}")]
    OperandTooLong {
        /// The name of the operand.
        operand: &'static str,
        /// The length of the operand in bits.
        bits: usize,
        /// The longest operand in bits.
        limit: usize,
    },
    /// A modulus is even, or too small.
    #[error("the modulus must be odd and at least 3")]
    Modulus,
    /// An operand of a modular multiplication is not below the modulus.
    #[error("operand {0} is not below the modulus")]
    NotReduced(&'static str),
}
