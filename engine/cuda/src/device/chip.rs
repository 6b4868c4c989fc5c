//! GPUs whose limits are known here: the emulated device takes the limits of any of them, and kernels are
//! compiled for them without such a card.

use super::limits::Limits;
use std::fmt;
use std::str::FromStr;

/// A GPU with known limits, one for each compute capability that the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Chip {
    /// NVIDIA T4, compute capability 7.5.
    T4,
    /// NVIDIA A100, 8.0.
    A100,
    /// NVIDIA A10, 8.6.
    A10,
    /// NVIDIA GeForce RTX 4090, 8.9.
    Rtx4090,
    /// NVIDIA H200, 9.0.
    H200,
    /// NVIDIA B200, 10.0.
    B200,
    /// NVIDIA GeForce RTX 5090, 12.0.
    Rtx5090,
}

impl Chip {
    /// Every chip, by compute capability.
    pub const ALL: [Self; 7] =
        [Self::T4, Self::A100, Self::A10, Self::Rtx4090, Self::H200, Self::B200, Self::Rtx5090];

    /// The name that the driver gives the device.
    #[must_use]
    pub fn device_name(self) -> &'static str {
        match self {
            Self::T4 => "Tesla T4",
            Self::A100 => "NVIDIA A100-SXM4-80GB",
            Self::A10 => "NVIDIA A10",
            Self::Rtx4090 => "NVIDIA GeForce RTX 4090",
            Self::H200 => "NVIDIA H200",
            Self::B200 => "NVIDIA B200",
            Self::Rtx5090 => "NVIDIA GeForce RTX 5090",
        }
    }

    /// The limits, from the CUDA C++ Programming Guide's table of compute capabilities and the data sheets.
    #[must_use]
    pub fn limits(self) -> Limits {
        // Capability, multiprocessors, clock in MHz, threads and blocks of a multiprocessor, KiB of shared
        // memory of a block and of a multiprocessor, single- per double-precision throughput.
        let (capability, multiprocessors, clock_mhz, threads, blocks, block_kib, kib, single_per_double) =
            match self {
                Self::T4 => ((7, 5), 40, 1590, 1024, 16, 64, 64, 32),
                Self::A100 => ((8, 0), 108, 1410, 2048, 32, 163, 164, 2),
                Self::A10 => ((8, 6), 72, 1695, 1536, 16, 99, 100, 64),
                Self::Rtx4090 => ((8, 9), 128, 2520, 1536, 24, 99, 100, 64),
                Self::H200 => ((9, 0), 132, 1980, 2048, 32, 227, 228, 2),
                Self::B200 => ((10, 0), 148, 1965, 2048, 32, 227, 228, 2),
                Self::Rtx5090 => ((12, 0), 170, 2407, 1536, 24, 99, 100, 64),
            };
        Limits {
            capability,
            multiprocessors,
            clock_mhz,
            threads_per_multiprocessor: threads,
            blocks_per_multiprocessor: blocks,
            // All generations from Turing on have as many registers.
            registers_per_multiprocessor: 65536,
            shared_per_block: block_kib << 10,
            shared_per_multiprocessor: kib << 10,
            shared_reserved: if capability.0 >= 8 { 1024 } else { 0 },
            single_per_double,
        }
    }

    /// The chip's short name, which [`Chip::from_str`] reads.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::T4 => "t4",
            Self::A100 => "a100",
            Self::A10 => "a10",
            Self::Rtx4090 => "rtx4090",
            Self::H200 => "h200",
            Self::B200 => "b200",
            Self::Rtx5090 => "rtx5090",
        }
    }
}

impl fmt::Display for Chip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Chip {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        let is_it = |chip: &Self| chip.name().eq_ignore_ascii_case(text);
        Self::ALL.into_iter().find(is_it).ok_or_else(|| format!("{text:?} is not a chip; known: {}", known()))
    }
}
