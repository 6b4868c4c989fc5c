//! Tables and texts for people, in the columns of the terminal.

mod results;

pub use results::results;
pub(crate) use results::{has_kernels, peers, ratio};

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use std::fmt::Write;

/// The most columns of a text. A text that does not go to a terminal has as many.
pub const WIDTH: usize = 100;

/// The columns of the terminal that standard output is; `None` if it is none.
pub(crate) fn terminal() -> Option<usize> {
    Table::new().width().map(usize::from)
}

/// An empty table in the style of all tables here: two spaces between columns, and a line under the
/// header. On a terminal that is too narrow, cells are wrapped.
pub fn plain<T: Into<Cell>>(header: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new();
    let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    table.load_style(style).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(header.into_iter().map(Into::into).collect::<Vec<Cell>>());
    let last = table.column_count().saturating_sub(1);
    table.column_iter_mut().enumerate().for_each(|(index, column)| {
        column.set_padding((0, u16::from(index < last)));
    });
    table
}

/// A table as text. A narrow terminal wraps cells between words; a word stays whole.
#[must_use]
pub fn text(mut table: Table) -> String {
    let word = |text: String| text.split_whitespace().map(|word| word.chars().count()).max();
    for index in 0..table.column_count() {
        let cells = table.column_cells_with_header_iter(index).flatten();
        let longest = cells.filter_map(|cell| word(cell.content())).max().unwrap_or(0);
        if let Some(column) = table.column_mut(index) {
            let width = u16::try_from(longest).unwrap_or(u16::MAX).saturating_add(column.padding_width());
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        }
    }
    format!("{}\n", table.trim_fmt())
}

/// A cell that holds a number, aligned to the right.
pub fn right(text: impl ToString) -> Cell {
    Cell::new(text.to_string()).set_alignment(CellAlignment::Right)
}

/// A rate or a time as text: at least three digits, with commas between thousands.
#[must_use]
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value >= 100.0 {
        let digits = format!("{value:.0}");
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        return text;
    }
    let decimals = match value {
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        v if v >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// `label` in a column of `indent` characters, and `text` beside it, broken between words. A word that is
/// longer than a line stays whole.
#[must_use]
pub fn beside(label: &str, indent: usize, text: &str) -> String {
    beside_within(label, indent, text, terminal().map_or(WIDTH, |columns| columns.min(WIDTH)))
}

fn beside_within(label: &str, indent: usize, text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or("", String::as_str);
        if !line.is_empty() && indent + line.chars().count() + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let label = if index == 0 { label } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<indent$}{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        for (value, text) in [
            (1_234_567.8, "1,234,568"),
            (123.4, "123"),
            (12.34, "12.3"),
            (1.234, "1.23"),
            (0.1234, "0.123"),
            (0.01234, "0.0123"),
            (1000.0, "1,000"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(beside_within("name", 6, "two words", 100), "name  two words\n");
        let text = beside_within("name", 6, &"12345678 ".repeat(20), 100);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.len() <= 100), "{text}");
        assert!(lines[1].starts_with("      12345678"), "{text}");
        assert_eq!(beside_within("", 0, &"x".repeat(120), 80), format!("{}\n", "x".repeat(120)));
    }
    #[test]
    fn cells_are_wrapped_between_words() {
        let mut table = plain(["op", "path", "seconds", "why"]);
        table.add_row(["mul_mod", "portable/row", "0.25", "it is the shortest of all"]);
        for width in [20, 40, 45, 60] {
            table.set_width(width);
            let text = text(table.clone());
            let words =
                ["mul_mod", "portable/row", "0.25", "seconds", "it", "is", "the", "shortest", "of", "all"];
            assert!(words.iter().all(|word| text.split_whitespace().any(|other| other == *word)), "{text}");
        }
    }
}
