//! The comments of a source file, found without parsing the language around them.

use std::path::Path;

/// A way of writing comments and strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Rust, CUDA and SystemVerilog: `//` to the end of the line.
    Curly,
    /// Python: `#` to the end of the line, and strings of three quotes that stand by themselves.
    Python,
}

impl Language {
    pub(super) fn of(path: &str) -> Option<Self> {
        match Path::new(path).extension()?.to_str()? {
            "rs" | "cu" | "cuh" | "sv" => Some(Self::Curly),
            "py" | "pyi" => Some(Self::Python),
            _ => None,
        }
    }
}

/// Comment lines that belong together: they follow each other and begin with one and the same marker.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Index of the first line in the file, from 0.
    pub(super) first_line: usize,
    /// `///`, `//!`, `//`, `#` or three quotes.
    pub(super) marker: &'static str,
    /// Whether no code stands in front of the comment.
    pub(super) stands_alone: bool,
    /// The text behind the marker of each line.
    pub(super) lines: Vec<String>,
}

/// The comments of a file, in order.
pub(super) fn blocks(source: &str, language: Language) -> Vec<Block> {
    let mut scanner = Scanner { rest: source, line: 0, at_start: true, blocks: Vec::new() };
    while !scanner.rest.is_empty() {
        match language {
            Language::Curly => scanner.step_curly(),
            Language::Python => scanner.step_python(),
        }
    }
    scanner.blocks
}

struct Scanner<'s> {
    rest: &'s str,
    line: usize,
    /// Whether only spaces came before on this line.
    at_start: bool,
    blocks: Vec<Block>,
}

impl Scanner<'_> {
    fn step_curly(&mut self) {
        if self.rest.starts_with("//") {
            let markers = ["///", "//!", "//"];
            let marker = markers.into_iter().find(|marker| self.rest.starts_with(marker)).unwrap_or("//");
            self.comment(marker);
        } else if self.rest.starts_with('"') {
            let length = string_length(&self.rest[1..], "\"", true);
            self.skip(1 + length);
        } else if let Some(end) = raw_string_end(self.rest) {
            let begin = self.rest.find('"').map_or(0, |quote| quote + 1);
            let length = string_length(&self.rest[begin..], &end, false);
            self.skip(begin + length);
        } else if let Some(length) = character_length(self.rest) {
            self.skip(length);
        } else {
            self.skip_word();
        }
    }

    fn step_python(&mut self) {
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        if self.rest.starts_with('#') {
            self.comment("#");
        } else if let Some(quote) = quotes.into_iter().find(|quote| self.rest.starts_with(quote)) {
            let length = string_length(&self.rest[quote.len()..], quote, true);
            if self.at_start && quote.len() == 3 {
                let text = self.rest[quote.len()..quote.len() + length].trim_end_matches(quote);
                let lines = text.lines().map(str::to_owned).collect();
                self.blocks.push(Block { first_line: self.line, marker: quote, stands_alone: true, lines });
            }
            self.skip(quote.len() + length);
        } else {
            self.skip_word();
        }
    }

    /// Takes the comment up to the end of the line, into the block before it where it continues that one.
    fn comment(&mut self, marker: &'static str) {
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        let text = self.rest[marker.len()..length].to_owned();
        match self.blocks.last_mut() {
            Some(block)
                if self.at_start
                    && block.stands_alone
                    && block.marker == marker
                    && block.first_line + block.lines.len() == self.line =>
            {
                block.lines.push(text);
            }
            _ => self.blocks.push(Block {
                first_line: self.line,
                marker,
                stands_alone: self.at_start,
                lines: vec![text],
            }),
        }
        self.skip(length);
    }

    /// Skips a name or a number, or one character, so that the `r` at the end of a name begins no raw string.
    fn skip_word(&mut self) {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let word = self.rest.find(|character| !is_word(character)).unwrap_or(self.rest.len());
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        self.skip(word.max(first));
    }

    fn skip(&mut self, length: usize) {
        let (skipped, rest) = self.rest.split_at(length);
        let last_line = skipped.rsplit('\n').next().unwrap_or_default();
        self.at_start = (self.at_start || skipped.contains('\n')) && last_line.trim().is_empty();
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }
}

/// Bytes of `text` up to the end of the string that `end` closes, with `end`.
fn string_length(text: &str, end: &str, has_escapes: bool) -> usize {
    let mut position = 0;
    while position < text.len() {
        if text[position..].starts_with(end) {
            return position + end.len();
        }
        let mut characters = text[position..].chars();
        let escaped = has_escapes && characters.next() == Some('\\');
        let taken = if escaped { 2 } else { 1 };
        position += text[position..].chars().take(taken).map(char::len_utf8).sum::<usize>();
    }
    text.len()
}

/// The end of the raw string that `text` begins with, such as `"##`.
fn raw_string_end(text: &str) -> Option<String> {
    let after = ["r", "br", "cr"].into_iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then(|| format!("\"{}", "#".repeat(hashes)))
}

/// Bytes of the character literal that `text` begins with; `None` where it begins with a lifetime or with no
/// quote.
fn character_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    let first = inside.chars().next()?;
    if first == '\\' {
        return Some(1 + string_length(inside, "'", true));
    }
    inside[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8() + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str, language: Language) -> Vec<(usize, &'static str, Vec<String>)> {
        blocks(source, language)
            .into_iter()
            .map(|block| (block.first_line, block.marker, block.lines))
            .collect()
    }

    #[test]
    fn lines_with_one_marker_are_one_block() {
        let source = "//! A\n//! b\n\n/// C\n// d\nlet x = 1; // e\n// f\n";
        let expected = [
            (0, "//!", vec![" A".to_owned(), " b".to_owned()]),
            (3, "///", vec![" C".to_owned()]),
            (4, "//", vec![" d".to_owned()]),
            (5, "//", vec![" e".to_owned()]),
            (6, "//", vec![" f".to_owned()]),
        ];
        assert_eq!(texts(source, Language::Curly), expected);
    }

    #[test]
    fn strings_and_characters_hold_no_comments() {
        let source = r####"f("a // b \" // c", r#"// " d"#, '"', b'\'', var"// e"); fn g<'a>() {} // f"####;
        assert_eq!(texts(source, Language::Curly), [(0, "//", vec![" f".to_owned()])]);
        let source = "f('# a', \"# b\") # c\nx = '''\n# d\n'''\n";
        assert_eq!(texts(source, Language::Python), [(0, "#", vec![" c".to_owned()])]);
    }

    #[test]
    fn lines_are_counted_through_strings() {
        let source = "let text = \"a\n// b\n\";\n/// C\n";
        assert_eq!(texts(source, Language::Curly), [(3, "///", vec![" C".to_owned()])]);
    }

    #[test]
    fn strings_of_three_quotes_are_comments_where_they_stand_by_themselves() {
        let source = "def f():\n    \"\"\"Adds.\n\n    It's quick.\n    \"\"\"\n    return 'x'\n";
        let lines = ["Adds.", "", "    It's quick.", "    "].map(str::to_owned).to_vec();
        assert_eq!(texts(source, Language::Python), [(1, "\"\"\"", lines)]);
    }
}
