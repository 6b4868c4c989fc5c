//! Tasks of developers: `cargo xtask --help`.

mod bundle;
mod chips;
mod circles;
mod release;

use clap::Parser;
use std::process::ExitCode;

/// Tasks of modmill's developers.
#[derive(Parser)]
enum Task {
    Bundle(bundle::Arguments),
    Chips(chips::Arguments),
    Circles(circles::Arguments),
    Release(release::Arguments),
}

fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::Bundle(arguments) => bundle::run(&arguments),
        Task::Chips(arguments) => chips::run(&arguments),
        Task::Circles(arguments) => circles::run(&arguments),
        Task::Release(arguments) => release::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
