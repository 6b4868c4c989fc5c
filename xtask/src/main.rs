//! Tasks of developers: `cargo xtask --help`.

mod bundle;
mod chips;

use clap::Parser;
use std::process::ExitCode;

/// Tasks of modmill's developers.
#[derive(Parser)]
enum Task {
    Bundle(bundle::Arguments),
    Chips(chips::Arguments),
}

fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::Bundle(arguments) => bundle::run(&arguments),
        Task::Chips(arguments) => chips::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
