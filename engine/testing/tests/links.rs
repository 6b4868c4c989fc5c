//! Relative links of all Markdown files lead to files that exist and, after a `#`, to headings that exist.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The Markdown files that git tracks, or none where the sources are not a checkout.
fn documents() -> Vec<PathBuf> {
    let listed = Command::new("git").current_dir(ROOT).args(["ls-files", "-z", "--", "*.md"]).output();
    let listed =
        listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    listed.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

/// The lines of a text that are not in a block of code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        (!code && !fence).then_some((index + 1, line))
    })
}

/// A line without its `code`, whose brackets are no links.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// The targets of `[text](target)` and `![text](target)`.
fn targets(line: &str) -> Vec<String> {
    let line = without_code(line);
    let ends = line.match_indices("](").map(|(start, _)| &line[start + 2..]);
    ends.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The anchor that GitHub gives to a heading, before it numbers repeated ones.
fn anchor(heading: &str) -> String {
    // Of a link in a heading its text counts.
    let mut parts = heading.trim().split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    let kept = text.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// The anchors of all headings of a text.
fn anchors(text: &str) -> HashSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).filter_map(|(_, line)| {
        line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
    });
    headings
        .map(|heading| {
            let name = anchor(heading);
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            if *count == 1 { name } else { format!("{name}-{}", *count - 1) }
        })
        .collect()
}

/// A path without `.` and `..`, from the root of the repository.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{} leads out of the repository", path.display()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The fault of a link in `document`, if it has one.
fn fault(document: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) =
        target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading)));
    let path = match file {
        "" => document.to_owned(),
        file => plain(&document.parent().unwrap_or(Path::new("")).join(file)),
    };
    let place = Path::new(ROOT).join(&path);
    if !place.exists() {
        return Some(format!("{} does not exist", path.display()));
    }
    let heading = heading?;
    let text = std::fs::read_to_string(&place).unwrap_or_default();
    (!anchors(&text).contains(heading)).then(|| format!("{} has no heading #{heading}", path.display()))
}

#[test]
fn relative_links_lead_somewhere() {
    let documents = documents();
    if documents.is_empty() {
        println!("LEFT OUT: this is no checkout; links are not followed");
        return;
    }
    let mut faults = Vec::new();
    for document in &documents {
        let text = std::fs::read_to_string(Path::new(ROOT).join(document)).expect("a document is text");
        for (number, line) in prose(&text) {
            let found = targets(line).into_iter().filter_map(|target| fault(document, &target));
            faults.extend(found.map(|fault| format!("{}:{number}: {fault}", document.display())));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A page that nobody finds is of no use.
#[test]
fn the_index_names_every_page() {
    let index = std::fs::read_to_string(format!("{ROOT}/docs/README.md")).expect("the index is there");
    let missing: Vec<PathBuf> = documents()
        .into_iter()
        .filter_map(|document| document.strip_prefix("docs").map(Path::to_owned).ok())
        .filter(|page| page != Path::new("README.md") && !index.contains(&format!("]({})", page.display())))
        .collect();
    assert!(missing.is_empty(), "docs/README.md does not name {missing:?}");
}

#[test]
fn anchors_are_those_of_github() {
    let text =
        "# A page\n## `serve`, and _more_\n### See [this](there.md) one\n## A page\n```\n# no heading\n```\n";
    let expected = ["a-page", "serve-and-_more_", "see-this-one", "a-page-1"];
    assert_eq!(anchors(text), expected.map(str::to_owned).into());
}
