//! Paragraphs of comments wrapped to the width of the code.

use super::WIDTH;
use super::comments::{Block, Language, blocks};
use std::ops::Range;

/// A paragraph that is wrapped anew.
pub(super) struct Change {
    /// The indices of its lines in the file.
    pub(super) lines: Range<usize>,
    /// The lines that replace them.
    wrapped: Vec<String>,
}

/// The source with every paragraph of its comments wrapped that has a line too wide.
pub(super) fn wrap(source: &str, language: Language) -> String {
    let mut lines: Vec<Vec<String>> = source.lines().map(|line| vec![line.to_owned()]).collect();
    for change in changes(source, language) {
        lines[change.lines.clone()].fill(Vec::new());
        lines[change.lines.start] = change.wrapped;
    }
    let mut text = lines.concat().join("\n");
    if source.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The paragraphs with a line that is too wide and need not be so. Code, tables, headings, links' targets,
/// drawings and comments behind code are left as they are.
pub(super) fn changes(source: &str, language: Language) -> Vec<Change> {
    let lines: Vec<&str> = source.lines().collect();
    let is_alone = |block: &Block| block.stands_alone && block.marker.starts_with("//");
    blocks(source, language)
        .iter()
        .filter(|block| is_alone(block))
        .flat_map(|block| changes_in(block, &lines))
        .collect()
}

fn changes_in(block: &Block, lines: &[&str]) -> Vec<Change> {
    let whole = &lines[block.first_line..block.first_line + block.lines.len()];
    let begin = whole[0].find(block.marker).map_or(0, |indentation| indentation + block.marker.len());
    let prefix = &whole[0][..begin];
    let texts: Option<Vec<&str>> = whole.iter().map(|line| line.strip_prefix(prefix)).collect();
    let mut changes = Vec::new();
    for paragraph in paragraphs(&texts.unwrap_or_default()) {
        let before = &whole[paragraph.clone()];
        let width = WIDTH.saturating_sub(prefix.chars().count());
        let texts: Vec<&str> = before.iter().map(|line| &line[begin..]).collect();
        let is_wide = texts.iter().any(|text| text.chars().count() > width);
        let wrapped = fill(&texts, width).filter(|wrapped| is_wide && *wrapped != texts);
        changes.extend(wrapped.map(|wrapped| Change {
            lines: block.first_line + paragraph.start..block.first_line + paragraph.end,
            wrapped: wrapped.iter().map(|text| format!("{prefix}{text}")).collect(),
        }));
    }
    changes
}

/// The paragraphs of a comment: sentences and the items of lists.
fn paragraphs(texts: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut in_fence = false;
    let mut start = 0;
    while start < texts.len() {
        let first = texts[start];
        in_fence ^= first.trim_start().starts_with("```");
        if in_fence || !begins_paragraph(first) {
            start += 1;
            continue;
        }
        let continues =
            |text: &&&str| begins_paragraph(text) && !is_item(text) && indentation(text) == hang(first);
        let end = start + 1 + texts[start + 1..].iter().take_while(continues).count();
        found.push(start..end);
        start = end;
    }
    found
}

fn indentation(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Columns in front of the second line of a paragraph.
fn hang(first: &str) -> usize {
    indentation(first) + if is_item(first) { 2 } else { 0 }
}

fn is_item(text: &str) -> bool {
    text.trim_start().starts_with("* ") || text.trim_start().starts_with("- ")
}

/// Whether a line is prose: a sentence or an item of a list.
fn begins_paragraph(text: &str) -> bool {
    let content = text.trim();
    let is_markup = ["#", "|", ">", "```", "<", "==="].iter().any(|mark| content.starts_with(mark));
    let is_target = content.starts_with('[') && content.contains("]: ");
    let is_code = indentation(text) > 4;
    let is_drawn = content.contains("  ");
    !content.is_empty() && !is_markup && !is_target && !is_code && !is_drawn && !is_marker(content)
}

/// Whether a text would begin a numbered item or another structure if it stood at the beginning of a line.
fn is_marker(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let number = first.trim_end_matches(['.', ')']);
    let is_number = number.len() < first.len() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number || ["+", "=", "#", "|", ">"].contains(&first)
}

/// A paragraph in lines of at most `width` columns where its words allow it; `None` where its code spans are
/// odd.
fn fill(paragraph: &[&str], width: usize) -> Option<Vec<String>> {
    let text = paragraph.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let hang = " ".repeat(hang(paragraph[0]));
    let mut lines: Vec<String> = Vec::new();
    let mut line = " ".repeat(indentation(paragraph[0]));
    let mut is_empty = true;
    for word in unbroken_words(&text)? {
        let fits = line.chars().count() + 1 + word.chars().count() <= width;
        if is_empty {
            line.push_str(&word);
        } else if fits {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(std::mem::replace(&mut line, format!("{hang}{word}")));
        }
        is_empty = false;
    }
    lines.push(line);
    Some(lines)
}

fn cannot_begin_a_line(word: &str) -> bool {
    is_marker(word) || ["*", "-"].contains(&word) || word.starts_with("```")
}

/// The words of a text that lines may be broken between. Text between backticks is one word, and so is a word
/// with the next one if that one cannot begin a line; `None` where a backtick has no partner.
fn unbroken_words(text: &str) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut in_code = false;
    for character in text.chars() {
        in_code ^= character == '`';
        match words.last_mut() {
            Some(word) if in_code || character != ' ' => word.push(character),
            _ => words.push(String::new()),
        }
    }
    let mut unbroken: Vec<String> = Vec::new();
    for word in words.into_iter().filter(|word| !word.is_empty()) {
        match unbroken.last_mut() {
            Some(last) if cannot_begin_a_line(&word) => {
                last.push(' ');
                last.push_str(&word);
            }
            _ => unbroken.push(word),
        }
    }
    (!in_code).then_some(unbroken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(source: &str) -> String {
        wrap(source, Language::Curly)
    }

    #[test]
    fn wide_paragraphs_are_wrapped_and_others_are_left() {
        let words = "word ".repeat(25);
        let source = format!(
            "    /// {words}end\n    /// of it.\n    ///\n    /// Short\n    /// lines.\n    fn f();\n"
        );
        let text = wrapped(&source);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.split_whitespace().filter(|word| *word == "word").count(), 25);
        assert!(text.contains("end of it.\n    ///\n    /// Short\n    /// lines.\n    fn f();\n"), "{text}");
        assert_eq!(wrapped(&text), text);
    }

    #[test]
    fn items_hang() {
        let source = format!("/// * {}\n///   end\n/// * next\n", "word ".repeat(25).trim());
        let lines: Vec<String> = wrapped(&source).lines().map(str::to_owned).collect();
        assert!(lines[1].starts_with("///   word"), "{lines:?}");
        assert!(lines[1].ends_with(" end"), "{lines:?}");
        assert_eq!(lines[2], "/// * next");
    }

    #[test]
    fn code_tables_headings_targets_and_drawings_are_left() {
        let wide = "x ".repeat(60);
        for line in ["# ", "| ", "[a]: ", "a  b", "1. ", "> "] {
            let source = format!("/// {line}{wide}\n");
            assert_eq!(wrapped(&source), source);
        }
        let source = format!("/// ```\n/// {wide}\n/// ```\nlet x = \"/// {wide}\"; // {wide}\n");
        assert_eq!(wrapped(&source), source);
    }

    #[test]
    fn code_spans_stay_whole_and_no_line_begins_like_an_item() {
        let source = format!("/// {}`a b c d e f` - 2 + 3\n", "word ".repeat(20));
        let text = wrapped(&source);
        assert!(text.contains("`a b c d e f` - 2 + 3"), "{text}");
        let source = format!("/// {}OpenSSL 3.\n", "word ".repeat(20));
        assert!(wrapped(&source).ends_with("word\n/// OpenSSL 3.\n"));
    }

    #[test]
    fn a_word_too_long_has_a_line_to_itself() {
        let source = format!("/// See\n/// https://{}\n", "a".repeat(120));
        assert_eq!(wrapped(&source), source);
    }
}
