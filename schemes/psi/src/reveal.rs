//! The two answers that a receiver can ask for.

/// The answer that the receiver gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reveal {
    /// The common ones of its items.
    #[default]
    Items,
    /// How many of its items are common. The sender sends the tags in ascending order.
    Size,
}
