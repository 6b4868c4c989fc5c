//! A line for each principal, served in turns.

use std::collections::VecDeque;

/// The waiting items of one principal, in the order in which they came.
pub struct Line<T> {
    /// The principal.
    pub principal: String,
    /// The items that wait.
    pub items: VecDeque<T>,
}

/// The lines of all principals.
pub struct Turns<T> {
    /// The first line is served next.
    lines: VecDeque<Line<T>>,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self { lines: VecDeque::new() }
    }
}

impl<T> Turns<T> {
    /// The principals that wait.
    #[must_use]
    pub fn principals(&self) -> usize {
        self.lines.len()
    }

    /// The line of `principal`. A new one is the last.
    pub fn line(&mut self, principal: &str) -> &mut VecDeque<T> {
        let place = self.lines.iter().position(|line| line.principal == principal).unwrap_or_else(|| {
            self.lines.push_back(Line { principal: principal.to_owned(), items: VecDeque::new() });
            self.lines.len() - 1
        });
        &mut self.lines[place].items
    }

    /// Everything that waits, line by line.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.lines.iter().flat_map(|line| &line.items)
    }

    /// Takes the line whose turn it is.
    pub fn next_line(&mut self) -> Option<Line<T>> {
        self.lines.pop_front()
    }

    /// Puts a line behind the others, if something is left in it.
    pub fn put_back(&mut self, line: Line<T>) {
        if !line.items.is_empty() {
            self.lines.push_back(line);
        }
    }

    /// The first item of the line whose turn it is.
    pub fn next_item(&mut self) -> Option<T> {
        while let Some(mut line) = self.next_line() {
            let item = line.items.pop_front();
            self.put_back(line);
            if item.is_some() {
                return item;
            }
        }
        None
    }
}
