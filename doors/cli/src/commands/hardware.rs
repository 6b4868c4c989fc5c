//! `modmill hardware`: models of hardware multipliers.

mod explore;
mod modular;
mod numbers;
mod simulate;
mod tables;
mod waveform;

use crate::failure::Failure;

const LONG_ABOUT: &str = "\
Simulates hardware multipliers for long integers cycle by cycle: the 768-Kbit multiplier of the
thesis on FHE accelerators (chapter 5), an improved one with the same two radix-16 units, and the
modular multiplier of chapter 7. The models count cycles; area and time are estimates. The
project's RTL (study/rtl/) is compared with these models.";

const EXAMPLES: &str = "\
Examples:
  modmill hardware simulate --bits 768K
  modmill hardware simulate --bits 768K --improved --products 3 --svg schedule.svg
  modmill hardware simulate --a @a.hex --b @b.hex --improved --json
  modmill hardware modular --a 1234 --b 5678 --mod fffffffb
  modmill hardware explore --bits 768K --svg designs.svg
  modmill hardware waveform --stage F2 --svg waveform.svg
  modmill hardware tables --folder study/rtl/tables";

/// Simulates hardware multipliers cycle by cycle
#[derive(Debug, clap::Subcommand)]
#[command(long_about = LONG_ABOUT, after_long_help = EXAMPLES)]
pub(crate) enum Hardware {
    Simulate(simulate::Simulate),
    Modular(modular::Modular),
    Explore(explore::Explore),
    Waveform(waveform::Waveform),
    Tables(tables::Tables),
}

impl Hardware {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Simulate(command) => command.run(),
            Self::Modular(command) => command.run(),
            Self::Explore(command) => command.run(),
            Self::Waveform(command) => command.run(),
            Self::Tables(command) => command.run(),
        }
    }
}

/// A model refuses wrong inputs. It refuses its own schedule only if the model itself is wrong, which is a
/// failed check.
impl From<modmill_hardware::Error> for Failure {
    fn from(error: modmill_hardware::Error) -> Self {
        use modmill_hardware::Error;
        match error {
            Error::PortConflict { .. }
            | Error::ReadTooEarly(_)
            | Error::Overwritten(_)
            | Error::ReadAndWritten(_) => Self::Items(error.to_string()),
            other => Self::Usage(other.to_string()),
        }
    }
}
