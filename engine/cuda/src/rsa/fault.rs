//! Faults on purpose: bits of intermediate numbers on the device, flipped between kernels.
#![allow(unsafe_code)] // launches a kernel

use crate::call::word;
use crate::compiler::Program;
use crate::device::{Buffer, Device, Kernel, Shape, Stream, kernel_structs};
use crate::error::Result;

/// The numbers between blocks and answers, stage by stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The inputs as numbers.
    Numbers,
    /// The inputs as residues modulo the primes take them.
    Bases,
    /// The residues of the inputs.
    Residues,
    /// Constants of the primes.
    Constants,
    /// Residues of the primes, and of constants that follow from them.
    Moduli,
    /// The residues of the powers.
    Powers,
    /// The powers modulo p and q.
    Halves,
    /// The answers that would be released.
    Answers,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 8] = [
        Self::Numbers,
        Self::Bases,
        Self::Residues,
        Self::Constants,
        Self::Moduli,
        Self::Powers,
        Self::Halves,
        Self::Answers,
    ];
}

/// One bit flipped in each of a stage's equal parts, as many as there are items.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// The stage whose numbers are changed.
    pub stage: Stage,
    /// The seed that chooses the bits.
    pub seed: u32,
}

kernel_structs! {
    /// `FlipCall` of `fault.cuh`.
    struct FlipCall: 24 bytes {
        words at 0: u64,
        length at 8: u32,
        parts at 12: u32,
        seed at 16: u32,
    }
}

/// A fault and the kernel that makes it.
pub(super) struct Injector {
    fault: Fault,
    kernel: Kernel,
}

const BLOCK: u32 = 32;

impl Injector {
    pub(super) fn new(device: &Device, fault: Fault) -> Result<Self> {
        let defines = [("BLOCK", BLOCK), ("RESIDENT", 1)];
        let program = Program::new("faults", &["device", "fault"], &defines);
        Ok(Self { fault, kernel: device.compile(&program)?.kernel("flip")? })
    }

    /// Flips bits of the words at the start of a buffer, if it is this stage's turn.
    pub(super) fn pass(
        &self,
        stream: &Stream,
        stage: Stage,
        buffer: &Buffer,
        words: usize,
        parts: u32,
    ) -> Result<()> {
        if stage != self.fault.stage {
            return Ok(());
        }
        let length = word(words.min(buffer.bytes() / 4))?;
        let call = FlipCall { words: buffer.address(), length, parts, seed: self.fault.seed };
        let shape = Shape { grid: parts.div_ceil(BLOCK), block: BLOCK, shared_bytes: 0 };
        // SAFETY: the kernel takes this structure, and changes words within `length`.
        unsafe { stream.launch(&self.kernel, shape, &call, &[buffer]) }
    }
}
