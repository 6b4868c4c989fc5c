//! The commands of the README, run as they stand there, one after the other, in a folder that is empty at first.

use crate::common::{modmill, scratch, stderr, stdout};
use std::path::Path;
use std::process::Command;

/// Commands that are not run here: their beginnings, and why.
const ELSEWHERE: [(&str, &str); 7] = [
    ("modmill serve", "runs until it is stopped; tests/clients of the service runs the README's lines"),
    ("modmill load", "needs a service"),
    ("modmill tune", "needs a GPU"),
    ("modmill warm", "needs a GPU"),
    ("modmill selftest", "takes minutes in a debug build"),
    ("modmill fhe demo", "takes a minute in a debug build; its test has a smaller setting"),
    ("cargo ", "builds everything"),
];

/// Options that make a command short.
const SHORTER: [(&str, &str); 1] = [("modmill bench", " --seconds 0.01")];

/// A command, and the output that stands below it, if the README shows any.
struct Shown {
    command: String,
    output: Option<String>,
}

/// The commands in blocks for a shell, and in the last column of tables.
fn commands(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut block = None;
    for line in text.lines() {
        match (block, line.strip_prefix("```")) {
            (None, Some(language)) => block = Some(language),
            (Some(_), Some(_)) => block = None,
            (Some("sh"), None) => found.push(Shown { command: line.to_owned(), output: None }),
            (Some("console"), None) => match line.strip_prefix("$ ") {
                Some(command) => {
                    found.push(Shown { command: command.to_owned(), output: Some(String::new()) })
                }
                None => {
                    let output = found.last_mut().and_then(|shown| shown.output.as_mut()).unwrap();
                    *output += &format!("{line}\n");
                }
            },
            (Some(_), None) => {}
            (None, None) => found.extend(in_table(line)),
        }
    }
    found
}

/// The command in the last cell of a row.
fn in_table(line: &str) -> Option<Shown> {
    // A bar within a cell is written with a backslash.
    let row = line.replace("\\|", "\u{0}");
    let cell = row.trim().strip_suffix('|')?.rsplit('|').next()?;
    let command = cell.trim().strip_prefix('`')?.split('`').next()?.replace('\u{0}', "|");
    let is_command = command.starts_with("modmill ") || command.contains("| modmill ");
    is_command.then_some(Shown { command, output: None })
}

/// Runs a command in a shell that finds the program under test first.
fn run_in_shell(folder: &Path, command: &str) -> std::process::Output {
    let program = modmill(&[]);
    let tools = Path::new(program.get_program()).parent().unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap()
}

#[test]
fn commands_of_the_readme_run_as_they_stand() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let folder = scratch("readme");
    std::fs::create_dir_all(&folder).unwrap();
    let shown = commands(&text);
    let mut count = 0;
    for Shown { command, output } in &shown {
        // A comparison with a Python library that the tests do not install.
        let is_elsewhere = ELSEWHERE.iter().any(|(start, _)| command.starts_with(start));
        if is_elsewhere || ["gmpy2", "by-modmill"].iter().any(|part| command.contains(part)) {
            continue;
        }
        let options =
            SHORTER.iter().find(|(start, _)| command.starts_with(start)).map_or("", |(_, options)| options);
        let done = run_in_shell(&folder, &format!("{command}{options}"));
        assert!(done.status.success(), "{command}: {}", stderr(&done));
        if let Some(output) = output.as_ref().filter(|output| !output.is_empty()) {
            assert_eq!(stdout(&done), *output, "{command}");
        }
        count += 1;
    }
    assert!(count >= 15, "{count} commands");
    for (start, why) in ELSEWHERE.iter().filter(|(start, _)| start.starts_with("modmill")) {
        assert!(
            shown.iter().any(|shown| shown.command.starts_with(start)),
            "{start} is not in the README: {why}"
        );
    }
}
