//! Pictures as SVG: what the parts of a machine did, the ports of a bank around the border of two stages, and
//! designs compared.

mod canvas;
mod pareto;
mod schedule;
mod waveform;

pub use pareto::pareto;
pub use schedule::schedule;
pub use waveform::waveform;
