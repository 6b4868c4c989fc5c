//! Long answers in pages.

use super::{KmsError, fields};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

/// The page of an answer that is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Paging {
    limit: Option<i64>,
    marker: Option<String>,
}

/// A request for a list of what belongs to a key, or to all keys if none is named.
#[derive(Deserialize)]
pub(super) struct ListRequest {
    #[serde(rename = "KeyId")]
    pub(super) key_id: Option<String>,
    #[serde(flatten)]
    pub(super) paging: Paging,
}

/// A page, and the marker of the next one.
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    pub(super) next: Option<String>,
}

impl Paging {
    /// A page of `items`, which stand in the order of `id`. A page has `default` items unless the request
    /// says how many, and never more than `most`.
    pub(super) fn page<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        id: impl Fn(&T) -> &str,
        default: i64,
        most: i64,
    ) -> Result<Page<T>, KmsError> {
        let limit = self.limit.map_or(Ok(default), |limit| fields::number(limit, "limit", 1..=most))?;
        let limit = usize::try_from(limit).unwrap_or(1);
        let after = self.marker.as_deref().map(marker_id).transpose()?;
        let rest = items.into_iter().filter(|item| after.as_deref().is_none_or(|after| id(item) > after));
        let mut items: Vec<T> = rest.take(limit + 1).collect();
        let truncated = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| truncated).map(|last| URL_SAFE_NO_PAD.encode(id(last)));
        Ok(Page { items, next })
    }
}

/// The identifier that a marker stands for.
fn marker_id(marker: &str) -> Result<String, KmsError> {
    let id = URL_SAFE_NO_PAD.decode(marker).ok().and_then(|id| String::from_utf8(id).ok());
    id.ok_or_else(|| KmsError::new("InvalidMarkerException", "Invalid marker."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_everything_once() {
        let items: Vec<String> = (0..25).map(|item| format!("{item:02}")).collect();
        let mut seen = Vec::new();
        let mut marker = None;
        loop {
            let paging = Paging { limit: Some(10), marker };
            let page = paging.page(items.clone(), |item| item, 50, 100).unwrap();
            assert!(page.items.len() <= 10);
            seen.extend(page.items);
            marker = page.next;
            if marker.is_none() {
                break;
            }
        }
        assert_eq!(seen, items);
        let exact = Paging { limit: Some(25), marker: None }.page(items, |item| item, 50, 100).unwrap();
        assert!(exact.next.is_none());
    }

    #[test]
    fn wrong_pages_are_refused() {
        let page = |limit, marker: Option<&str>| {
            let paging = Paging { limit, marker: marker.map(str::to_owned) };
            paging.page(["a"], |item| item, 50, 100).map(|page| page.items.len()).map_err(|error| error.name)
        };
        assert_eq!(page(Some(0), None), Err("ValidationException"));
        assert_eq!(page(Some(101), None), Err("ValidationException"));
        assert_eq!(page(None, Some("*")), Err("InvalidMarkerException"));
        assert_eq!(page(None, None), Ok(1));
    }
}
