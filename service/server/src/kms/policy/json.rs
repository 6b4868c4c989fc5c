//! JSON in which no object has a member twice.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// A value whose objects have each of their members once.
pub(super) struct Once(pub(super) Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
                Ok(flag.into())
            }
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(number.into())
            }
            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(number.into())
            }
            fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
                Ok(number.into())
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(text.into())
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(Once(value)) = list.next_element()? {
                    values.push(value);
                }
                Ok(values.into())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
                let mut object = Map::new();
                while let Some(name) = members.next_key::<String>()? {
                    if object.contains_key(&name) {
                        return Err(A::Error::custom(format!("the element {name:?} comes twice")));
                    }
                    let Once(value) = members.next_value()?;
                    object.insert(name, value);
                }
                Ok(object.into())
            }
        }
        deserializer.deserialize_any(Reader).map(Self)
    }
}
