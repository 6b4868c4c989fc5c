//! The commands of README.md and docs/use/program.md, run as they stand there, one after the other, in a
//! folder that is empty at first.

use crate::common::{modmill, scratch, stderr, stdout};
use std::path::Path;
use std::process::Command;

/// Commands that are not run here: how they begin, and why.
const ELSEWHERE: [(&str, &str); 10] = [
    ("modmill serve", "runs until it is stopped; tests/clients of the service runs the lines of serve.md"),
    ("modmill load", "needs a service"),
    ("modmill tune", "needs a GPU"),
    ("modmill warm", "needs a GPU"),
    ("modmill selftest", "takes minutes in a debug build"),
    ("modmill openssl", "needs the provider; its own tests run the commands of docs/use/openssl.md"),
    ("modmill fhe", "takes a minute in a debug build; its own tests have smaller settings"),
    ("python3 tools/lab/powm_gmpy2.py", "needs gmpy2, as the lines after it do"),
    ("time ", "needs the files of the line before"),
    ("cmp by-gmpy2.jsonl", "needs the files of the lines before"),
];

/// Options that make a command short.
const SHORTER: [(&str, &str); 1] = [("modmill bench", " --seconds 0.01")];

/// A command, and the output that stands below it, if the document shows any.
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
                None => continue_with(found.last_mut().unwrap(), line),
            },
            (Some(_), None) => {}
            (None, None) => found.extend(in_table(line)),
        }
    }
    found
}

/// Adds a line of a block to what stands above it: the rest of a command, or its output.
fn continue_with(shown: &mut Shown, line: &str) {
    match (shown.command.strip_suffix('\\'), &mut shown.output) {
        (Some(start), _) => shown.command = format!("{start}{line}"),
        (None, Some(output)) => *output += &format!("{line}\n"),
        (None, None) => panic!("{line} is no command and no output"),
    }
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

/// Runs the commands of a document, in order, and compares their outputs with those shown.
fn run_document(name: &str) -> Vec<Shown> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let text = std::fs::read_to_string(format!("{root}/{name}")).unwrap();
    let folder = scratch(&name.replace('/', "-"));
    std::fs::create_dir_all(&folder).unwrap();
    let (elsewhere, here): (Vec<Shown>, Vec<Shown>) = commands(&text)
        .into_iter()
        .partition(|shown| ELSEWHERE.iter().any(|(start, _)| shown.command.starts_with(start)));
    assert!(here.len() >= 14, "{name} has {} commands", here.len());
    for Shown { command, output } in here {
        let shorter = SHORTER.iter().find(|(start, _)| command.starts_with(start));
        let done = run_in_shell(&folder, &format!("{command}{}", shorter.map_or("", |(_, options)| options)));
        assert!(done.status.success(), "{name}: {command}: {}", stderr(&done));
        let (output, printed) = (output.unwrap_or_default(), stdout(&done));
        assert!(
            output.is_empty() || output.lines().count() == printed.lines().count(),
            "{command}: {printed}"
        );
        // Numbers that differ from run to run are cut short by an ellipsis.
        for (shown, printed) in output.lines().zip(printed.lines()).filter(|(shown, _)| !shown.contains('…'))
        {
            assert_eq!(shown, printed, "{name}: {command}");
        }
    }
    elsewhere
}

/// Checks that a document leaves out commands of these beginnings, and no others.
fn assert_left_out(elsewhere: &[Shown], starts: &[&str]) {
    for (start, why) in ELSEWHERE {
        assert_eq!(
            elsewhere.iter().any(|shown| shown.command.starts_with(start)),
            starts.contains(&start),
            "{start}: {why}"
        );
    }
}

#[test]
fn commands_of_the_readme_run_as_they_stand() {
    let elsewhere = run_document("README.md");
    let starts = [
        "modmill serve",
        "modmill load",
        "modmill tune",
        "modmill warm",
        "modmill selftest",
        "modmill openssl",
        "modmill fhe",
    ];
    assert_left_out(&elsewhere, &starts);
}

#[test]
fn commands_of_the_manual_run_as_they_stand() {
    let elsewhere = run_document("docs/use/program.md");
    let starts = ["modmill fhe", "python3 tools/lab/powm_gmpy2.py", "time ", "cmp by-gmpy2.jsonl"];
    assert_left_out(&elsewhere, &starts);
}
