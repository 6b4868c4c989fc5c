//! Tasks of developers: `cargo xtask --help`.

mod bundle;
mod chips;
mod circles;
mod release;
mod words;

use clap::Parser;
use std::process::ExitCode;

/// Tasks of modmill's developers.
#[derive(Parser)]
enum Task {
    Bundle(bundle::Arguments),
    Chips(chips::Arguments),
    Circles(circles::Arguments),
    Release(release::Arguments),
    Words(words::Arguments),
}

fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::Bundle(arguments) => bundle::run(&arguments),
        Task::Chips(arguments) => chips::run(&arguments),
        Task::Circles(arguments) => circles::run(&arguments),
        Task::Release(arguments) => release::run(&arguments),
        Task::Words(arguments) => words::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
