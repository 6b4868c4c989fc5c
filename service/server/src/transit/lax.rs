//! Values of requests as Vault takes them: numbers and flags may also be text.

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Text, borrowed from the request where it has no escapes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Cow::Owned(number.to_string()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Cow::Owned(number.to_string()))
            }
        }
        deserializer.deserialize_any(Reader).map(Self)
    }
}

/// A whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Int(pub(super) i64);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        text.as_str()
            .parse()
            .map(Self)
            .map_err(|_| D::Error::custom(format!("{:?} is not a whole number", text.as_str())))
    }
}

/// True or false.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flag(pub(super) bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = bool;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true or false")
            }
            fn visit_bool<E>(self, flag: bool) -> Result<bool, E> {
                Ok(flag)
            }
            fn visit_u64<E>(self, number: u64) -> Result<bool, E> {
                Ok(number != 0)
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<bool, E> {
                match text {
                    "true" | "1" => Ok(true),
                    "false" | "0" | "" => Ok(false),
                    _ => Err(E::custom(format!("{text:?} is not true or false"))),
                }
            }
        }
        deserializer.deserialize_any(Reader).map(Self)
    }
}

/// At most [`Items::LIMIT`] items. Reading stops at the limit, so that a small request cannot ask for much
/// memory.
#[derive(Debug)]
pub(super) struct Items<T>(pub(super) Vec<T>);

impl<T> Items<T> {
    /// The items of a batch that are taken in one request.
    pub(super) const LIMIT: usize = 65_536;
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of items")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut items = Vec::new();
                while items.len() < Items::<T>::LIMIT {
                    match list.next_element()? {
                        Some(item) => items.push(item),
                        None => return Ok(items),
                    }
                }
                match list.next_element::<IgnoredAny>()? {
                    None => Ok(items),
                    Some(_) => {
                        Err(A::Error::custom(format!("more than {} items in batch_input", Items::<T>::LIMIT)))
                    }
                }
            }
        }
        deserializer.deserialize_seq(Reader(PhantomData)).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_flags_may_be_text() {
        assert_eq!(
            serde_json::from_str::<Vec<Int>>(r#"[3, "4", -1]"#).expect("numbers"),
            [Int(3), Int(4), Int(-1)]
        );
        assert!(serde_json::from_str::<Int>(r#""x""#).is_err());
        assert!(serde_json::from_str::<Int>("1.5").is_err());
        let flags = serde_json::from_str::<Vec<Flag>>(r#"[true, "false", 1, "1"]"#).expect("flags");
        assert_eq!(flags, [Flag(true), Flag(false), Flag(true), Flag(true)]);
        assert!(serde_json::from_str::<Flag>(r#""yes""#).is_err());
    }

    #[test]
    fn text_is_borrowed_unless_it_has_escapes() {
        let texts: Vec<Text<'_>> = serde_json::from_str(r#"["plain", "a\nb"]"#).expect("texts");
        assert!(matches!(texts[0].0, Cow::Borrowed("plain")));
        assert_eq!(texts[1].as_str(), "a\nb");
    }

    #[test]
    fn a_list_ends_at_the_limit() {
        let list = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        assert!(serde_json::from_str::<Items<Int>>(&list(Items::<Int>::LIMIT)).is_ok());
        let error = serde_json::from_str::<Items<Int>>(&list(Items::<Int>::LIMIT + 1)).expect_err("too many");
        assert!(error.to_string().contains("more than 65536 items"), "{error}");
    }
}
