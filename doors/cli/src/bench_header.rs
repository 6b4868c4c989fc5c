//! The first record of a benchmark's file: the machine, the build and the command.

use crate::build;
use modmill_measure::machine::{self, Machine};
use modmill_measure::{Peers, record::Header};
use std::time::Duration;

/// The header of a measurement that took `time` for each point, with random inputs from `seed`.
pub(crate) fn bench_header(time: Duration, seed: u64, peers: Option<&Peers>) -> Header {
    let hardware = Machine::detect();
    let mut command: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = command.first_mut() {
        *program = "modmill".to_owned();
    }
    Header {
        kind: "header",
        machine: format!("{} {}, {} cores", hardware.os, hardware.architecture, hardware.cores),
        hardware,
        build: build::THIS,
        date: machine::now(),
        command: command.join(" "),
        seconds: time.as_secs_f64(),
        seed,
        peers: peers.map(Peers::about).unwrap_or_default(),
    }
}
