//! `modmill completions`: scripts that let a shell complete command lines.

use crate::failure::Failure;
use crate::io;
use clap::CommandFactory;
use clap_complete::Shell;

const EXAMPLES: &str = "\
Examples:
  modmill completions bash > ~/.local/share/bash-completion/completions/modmill
  modmill completions zsh > ~/.zfunc/_modmill
  modmill completions fish > ~/.config/fish/completions/modmill.fish";

/// Prints a script that lets a shell complete command lines
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell that the script is for
    #[arg(value_enum, ignore_case = true)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "modmill", &mut text);
        io::print(&String::from_utf8_lossy(&text))
    }
}
