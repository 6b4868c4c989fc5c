//! `modmill man`: manual pages, made from the help of the commands.

use crate::build::VERSION;
use crate::failure::Failure;
use crate::io::{self, Output};
use clap::{Command, CommandFactory};
use clap_mangen::roff::{Roff, roman};
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  modmill man | man -l -                    the page of the program
  modmill man rsa sign | man -l -           the page of a command
  modmill man --out ~/.local/share/man/man1   all pages, for man modmill-rsa-sign";

/// Prints a manual page, or writes those of all commands
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Man {
    /// Command that the page is about, such as rsa sign [default: the program]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Vec<String>,
    /// Write the pages of the program and of all commands to this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<String>,
}

impl Man {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut program = crate::Cli::command().disable_help_subcommand(true);
        program.build();
        match &self.out {
            Some(folder) => {
                std::fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
                write_all(&program, Path::new(folder))
            }
            None => io::print(&page(find(&program, &self.command)?)?),
        }
    }
}

/// The command that `words` name below `command`.
fn find<'a>(command: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    let Some((word, rest)) = words.split_first() else { return Ok(command) };
    match command.find_subcommand(word) {
        Some(command) => find(command, rest),
        None => Err(Failure::Usage(format!("{} has no command {word:?}", name(command)))),
    }
}

/// The name of a page: `modmill-rsa-sign` for `modmill rsa sign`.
fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Writes the pages of a command and of all below it.
fn write_all(command: &Command, folder: &Path) -> Result<(), Failure> {
    let mut output = Output::create_file(&folder.join(format!("{}.1", name(command))), None)?;
    output.write(&page(command)?)?;
    output.finish()?;
    command.get_subcommands().try_for_each(|command| write_all(command, folder))
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut octets = Vec::new();
    render(command, &mut octets).map_err(|error| Failure::file("write", name(command), &error))?;
    Ok(String::from_utf8_lossy(&octets).into_owned())
}

fn render(command: &Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let man = clap_mangen::Man::new(command.clone()).source(format!("modmill {VERSION}")).manual("modmill");
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    let mut roff = Roff::default();
    roff.control("SH", ["DESCRIPTION"]);
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    paragraphs(&mut roff, &about.unwrap_or_default());
    roff.to_writer(page)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    let mut roff = Roff::default();
    sections(&mut roff, &command.get_after_long_help().map(ToString::to_string).unwrap_or_default());
    roff.to_writer(page)
}

/// The parts of a text, with blank lines between them. The first line of a part is its title if it ends with
/// a colon.
fn sections(roff: &mut Roff, text: &str) {
    for part in text.split("\n\n") {
        match part.split_once(":\n").filter(|(title, _)| !title.contains('\n')) {
            Some((title, lines)) => {
                roff.control("SH", [title.to_uppercase().as_str()]);
                paragraphs(roff, lines);
            }
            None => paragraphs(roff, part),
        }
    }
}

/// Text as paragraphs. Lines that begin with a blank stay as they are.
fn paragraphs(roff: &mut Roff, text: &str) {
    let is_as_it_is = |line: &&str| line.starts_with(' ');
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.peek() {
        if is_as_it_is(line) {
            roff.control("nf", []);
            while let Some(line) = lines.next_if(is_as_it_is) {
                roff.text([roman(line)]);
            }
            roff.control("fi", []);
            continue;
        }
        match line.trim().is_empty() {
            true => roff.control("PP", []),
            false => roff.text([roman(*line)]),
        };
        lines.next();
    }
}
