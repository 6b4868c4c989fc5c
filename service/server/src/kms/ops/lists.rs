//! Answers that come in pages.

use serde::Serialize;
use serde_json::json;

/// A page of an answer: the items under their name, whether there are more, and the marker of the next page.
pub(super) fn list_answer<T: Serialize>(
    name: &str,
    items: Vec<T>,
    next: Option<String>,
) -> serde_json::Value {
    let mut answer = json!({name: items, "Truncated": next.is_some()});
    if let Some(next) = next {
        answer["NextMarker"] = next.into();
    }
    answer
}
