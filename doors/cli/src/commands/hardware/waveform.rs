//! `modmill hardware waveform`.

use super::numbers::parse_bits;
use crate::failure::Failure;
use crate::io::Output;
use modmill_hardware::{Design, Kind, draw};

/// Draws the ports of a bank where one stage follows another
#[derive(Debug, clap::Args)]
pub(crate) struct Waveform {
    /// Stage whose first steps are drawn: F1 to F4 or I1 to I4
    #[arg(long, value_name = "NAME", default_value = "F2")]
    stage: String,
    /// Longest factor of the multiplier: 3K, 48K or 768K
    #[arg(long, value_name = "BITS", default_value = "768K", value_parser = parse_bits)]
    bits: usize,
    /// The thesis's multiplier instead of the improved one
    #[arg(long)]
    thesis: bool,
    /// File of the picture; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    svg: String,
}

impl Waveform {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let kind = if self.thesis { Kind::Thesis } else { Kind::Improved };
        let picture = draw::waveform(Design::for_bits(kind, self.bits)?, &self.stage)?;
        let mut output = Output::create(&self.svg)?;
        output.write(&picture)?;
        output.finish()
    }
}
