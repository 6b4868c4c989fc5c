//! The words of comments: rules that every comment keeps, and the width that comments are wrapped to.

mod comments;
mod rules;
mod wrap;

use comments::Language;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Columns of a line of code, and of a comment.
const WIDTH: usize = 110;

/// Check the words of all comments: summary lines say what a thing is, and phrases that readers stumble over
/// are not used.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Report lines of paragraphs wider than 110 columns, too.
    #[arg(long)]
    width: bool,
    /// Wrap the paragraphs of comments that have a line wider than 110 columns, and check nothing.
    #[arg(long)]
    wrap: bool,
}

/// Prints each finding as `path:line: reason: text`. Any finding is an error.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let workspace =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).ok_or("xtask has no workspace")?;
    let mut findings = 0;
    for path in tracked_files(workspace)? {
        let Some(language) = Language::of(&path) else { continue };
        let file = workspace.join(&path);
        let source = fs::read_to_string(&file).map_err(|error| format!("cannot read {path}: {error}"))?;
        if arguments.wrap {
            let wrapped = wrap::wrap(&source, language);
            if wrapped != source {
                fs::write(&file, wrapped).map_err(|error| format!("cannot write {path}: {error}"))?;
                println!("{path}");
            }
            continue;
        }
        for finding in findings_in(&source, language, arguments.width) {
            println!("{path}:{finding}");
            findings += 1;
        }
    }
    match findings {
        0 => Ok(()),
        1 => Err("one comment breaks a rule".to_owned()),
        _ => Err(format!("{findings} comments break a rule")),
    }
}

/// The paths of all files that Git tracks and that are still there, relative to the workspace.
fn tracked_files(workspace: &Path) -> Result<Vec<String>, String> {
    let listed = Command::new("git").current_dir(workspace).args(["ls-files", "-z"]).output();
    let output = listed.map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8(output.stdout).map_err(|_| "a tracked path is not UTF-8")?;
    let is_file = |name: &&str| workspace.join(name).is_file();
    Ok(names.split_terminator('\0').filter(is_file).map(str::to_owned).collect())
}

/// Everything wrong with the comments of a file, as `line: reason: text`.
fn findings_in(source: &str, language: Language, with_width: bool) -> Vec<String> {
    let lines: Vec<&str> = source.lines().collect();
    let mut findings = Vec::new();
    for block in comments::blocks(source, language) {
        for (offset, reason) in rules::broken(&block) {
            findings.push(format!(
                "{}: {reason}: {}",
                block.first_line + offset + 1,
                block.lines[offset].trim()
            ));
        }
    }
    let wide = |number: &usize| lines[*number].chars().count() > WIDTH;
    let paragraphs = if with_width { wrap::changes(source, language) } else { Vec::new() };
    for number in paragraphs.into_iter().flat_map(|change| change.lines).filter(wide) {
        findings.push(format!("{}: wider than {WIDTH} columns: {}", number + 1, lines[number].trim()));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comments_of_this_tree_keep_the_rules() {
        // A package without a repository has no list of its files.
        if tracked_files(Path::new(env!("CARGO_MANIFEST_DIR"))).is_ok() {
            run(&Arguments { width: true, wrap: false }).unwrap();
        }
    }

    #[test]
    fn findings_name_the_line_and_the_reason() {
        let source =
            "fn f() {}\n\n/// Adds.\n///\n/// It adds in the\n/// place of subtracting.\nfn g() {}\n";
        let findings = findings_in(source, Language::Curly, true);
        assert_eq!(findings, ["5: \"in the place of\"; write \"instead of\": It adds in the"]);
    }

    #[test]
    fn wide_lines_are_found_only_when_asked_for() {
        let source = format!("/// {}\nfn f() {{}}\n", "word ".repeat(30));
        assert!(findings_in(&source, Language::Curly, false).is_empty());
        assert_eq!(findings_in(&source, Language::Curly, true).len(), 1);
        let wrapped = wrap::wrap(&source, Language::Curly);
        assert!(findings_in(&wrapped, Language::Curly, true).is_empty());
    }
}
