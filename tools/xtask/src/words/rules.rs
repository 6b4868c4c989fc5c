//! The rules that comments keep.

use super::comments::Block;

/// Words that begin a clause. A summary line that begins with one is a clause without a head, or reads like
/// one.
const CLAUSES: [&str; 6] = ["What", "Where", "Who", "Which", "Those", "When"];

/// Phrases that no comment uses, each with the advice that is given.
const PHRASES: [(&str, &str); 3] = [
    ("so many", "\"so many\"; say how many"),
    ("in the place of", "\"in the place of\"; write \"instead of\""),
    ("one's own", "\"one's own\"; say whose"),
];

/// The functions of RFC 8017 whose names stand for octets. A comment about I2OSP or OS2IP may use that word.
const OCTET_FUNCTIONS: [&str; 2] = ["I2OSP", "OS2IP"];

/// The rules that a comment breaks: the index of the line and the reason.
pub(super) fn broken(block: &Block) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    found.extend(summary(block).map(|reason| (0, reason)));
    let may_say_octet = OCTET_FUNCTIONS.iter().any(|name| block.lines.iter().any(|line| line.contains(name)));
    let mut in_example = false;
    for (index, line) in block.lines.iter().enumerate() {
        let line = line.trim();
        in_example ^= line.starts_with("```");
        if in_example {
            continue;
        }
        let next = block.lines.get(index + 1).map_or("", |next| next.trim());
        // A phrase that is broken over two lines counts for the first one.
        let both = format!("{line} {next}").to_lowercase();
        for (phrase, advice) in PHRASES {
            if both.match_indices(phrase).any(|(start, _)| start < line.len()) {
                found.push((index, advice.to_owned()));
            }
        }
        let prose = without_code(line).to_lowercase();
        if !may_say_octet && words(&prose).any(|word| word == "octet" || word == "octets") {
            found.push((index, "\"octets\"; write \"bytes\"".to_owned()));
        }
        if prose.contains("likewise.") {
            found.push((index, "\"likewise\" as a sentence; say what holds".to_owned()));
        }
    }
    found
}

/// The reason why a summary line has to be written anew.
fn summary(block: &Block) -> Option<String> {
    let first = block.lines.first().filter(|_| block.stands_alone)?.trim();
    let word = words(first).next().filter(|word| first.starts_with(word))?;
    if CLAUSES.contains(&word) {
        return Some(format!("a summary line begins with \"{word}\"; name the thing"));
    }
    let is_same = first.strip_prefix("The same").is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    is_same.then(|| "a summary line begins with \"The same\"; say what it is".to_owned())
}

/// The words of a text. An underscore belongs to a word, so that names of code are words of their own.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(lines: &[&str]) -> Block {
        let lines = lines.iter().map(|line| format!(" {line}")).collect();
        Block { first_line: 0, marker: "///", stands_alone: true, lines }
    }

    fn places(lines: &[&str]) -> Vec<usize> {
        broken(&block(lines)).into_iter().map(|(index, _)| index).collect()
    }

    #[test]
    fn a_summary_line_names_the_thing() {
        for line in
            ["What is left.", "Where it is", "Those that fail.", "The same, reversed.", "When it ends."]
        {
            assert_eq!(places(&[line]), [0], "{line}");
        }
        for line in
            ["Whether it is open.", "How often.", "The sameness.", "Whatever is left.", "`What` it is."]
        {
            assert!(places(&[line]).is_empty(), "{line}");
        }
        assert!(places(&["The items.", "What is left over is added."]).is_empty());
    }

    #[test]
    fn a_comment_behind_code_has_no_summary_line() {
        assert!(broken(&Block { stands_alone: false, ..block(&["What is left."]) }).is_empty());
    }

    #[test]
    fn phrases_are_found_across_lines() {
        assert_eq!(places(&["One thread for so", "many items."]), [0]);
        assert_eq!(places(&["Reads a byte.", "Used in the place of a word."]), [1]);
        assert_eq!(places(&["On one's own."]), [0]);
        assert_eq!(places(&["The width. The height, likewise."]), [0]);
        assert!(places(&["The height likewise grows."]).is_empty());
    }

    #[test]
    fn octets_are_for_the_functions_that_a_standard_names_so() {
        assert_eq!(places(&["The octets of a number."]), [0]);
        assert!(places(&["I2OSP of RFC 8017:", "the octets of a number."]).is_empty());
        assert!(places(&["Calls `from_octets` and octets_of."]).is_empty());
        assert_eq!(places(&["Example:", "```", "let octets = f();", "```", "The octets."]), [4]);
    }
}
