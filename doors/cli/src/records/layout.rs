//! The fields of records and of their answers.

use crate::hexadecimal;
use zeroize::Zeroizing;

/// The value of one field.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// The bytes; of a number, the most significant comes first.
    pub(crate) octets: Zeroizing<Vec<u8>>,
    /// The bits that the value was written with, leading zeros included. Constant-time operations may show
    /// this length and nothing else.
    pub(crate) bits: usize,
}

impl Field {
    pub(crate) fn new(octets: Zeroizing<Vec<u8>>) -> Self {
        let bits = 8 * octets.len();
        Self { octets, bits }
    }
}

/// The fields of one record in the order of its [`Layout`]; optional fields may be missing.
pub(super) type Record = Vec<Option<Field>>;

/// How fields and answers are written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Hexadecimal digits, any number of them, `0x` allowed. Answers have no leading zeros.
    Number,
    /// Pairs of hexadecimal digits.
    Octets,
}

impl Notation {
    /// Reads a text.
    pub(super) fn parse(self, text: &str) -> Result<Field, String> {
        match self {
            Self::Number => hexadecimal::number(text).map(|(octets, bits)| Field { octets, bits }),
            Self::Octets => hexadecimal::octets(text).map(Field::new),
        }
    }

    /// Appends an answer as text.
    pub(super) fn append(self, text: &mut Vec<u8>, octets: &[u8]) {
        match self {
            Self::Number => hexadecimal::append_number(text, octets),
            Self::Octets => hexadecimal::append_octets(text, octets),
        }
    }
}

/// How an operation treats the fields that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherFields {
    /// They are ignored.
    Ignore,
    /// They are errors, because a misspelt optional field would change the answer.
    Refuse,
    /// They stand beside the answer.
    Keep,
    /// They stand beside the answer, and so do the fields that the operation reads.
    KeepAll,
    /// The one of this name stands beside the answer; others are ignored.
    #[cfg(feature = "audit")]
    KeepOne(&'static str),
}

/// The field that holds an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerField {
    /// The bytes of the answer, in a field of this name.
    Octets(&'static str),
    /// Two numbers, in fields of these names. The bytes of both are equally many, one after the other.
    Pair([&'static str; 2]),
    /// A signed byte, in a field of this name.
    Sign(&'static str),
    /// Whether the record is valid, in the field `valid`. Files have no place for it.
    Verdict,
}

impl AnswerField {
    /// The names of the fields.
    pub(super) fn names(&self) -> &[&'static str] {
        match self {
            Self::Octets(name) | Self::Sign(name) => std::slice::from_ref(name),
            Self::Pair(names) => names,
            Self::Verdict => &["valid"],
        }
    }
}

/// The signed byte that an answer consists of.
pub(super) fn sign(octets: &[u8]) -> i8 {
    octets.first().map_or(0, |&octet| octet.cast_signed())
}

/// The field that holds an error.
pub(super) const ERROR: &str = "error";

/// The fields of a record and of its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// The fields that every record must have.
    pub(crate) required: &'static [&'static str],
    /// The fields that a record may have. They follow the required ones.
    pub(crate) optional: &'static [&'static str],
    pub(crate) notation: Notation,
    pub(crate) others: OtherFields,
    pub(crate) answer: AnswerField,
}

impl Layout {
    /// The names of all fields in order.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &'static str> + use<> {
        let (required, optional) = (self.required, self.optional);
        (0..required.len() + optional.len()).map(move |index| match index.checked_sub(required.len()) {
            None => required[index],
            Some(index) => optional[index],
        })
    }

    /// The position of a field in a record.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names().position(|known| known == name)
    }

    /// Whether fields of the input stand beside answers.
    pub(super) fn keeps_any(&self) -> bool {
        !matches!(self.others, OtherFields::Ignore | OtherFields::Refuse)
    }

    /// Whether a field of the input stands beside the answer.
    pub(super) fn keeps(&self, name: &str) -> bool {
        let is_answer = self.answer.names().contains(&name) || name == ERROR;
        match self.others {
            OtherFields::Ignore | OtherFields::Refuse => false,
            OtherFields::Keep => !is_answer && self.position(name).is_none(),
            OtherFields::KeepAll => !is_answer,
            #[cfg(feature = "audit")]
            OtherFields::KeepOne(one) => name == one && self.position(name).is_none(),
        }
    }

    /// Refuses a record without one of its required fields.
    ///
    /// `has` says whether the record has the field at a position. `kind` is the word for a field.
    pub(super) fn check_required(&self, has: impl Fn(usize) -> bool, kind: &str) -> Result<(), String> {
        let missing = self.required.iter().enumerate().find(|(position, _)| !has(*position));
        missing.map_or(Ok(()), |(_, name)| Err(format!("the {kind} {name:?} is missing")))
    }
}

/// How the names of files in a folder of records and in a folder of answers belong together.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileNames {
    /// `NAME` is answered by `NAME.extension`.
    Add(&'static str),
    /// `NAME.extension` is answered by `NAME`. Other files are no records.
    Remove(&'static str),
}

/// Layouts for the tests of the parsers.
#[cfg(test)]
pub(super) mod samples {
    use super::{AnswerField, Layout, Notation, OtherFields};

    pub(crate) const POWER: Layout = Layout {
        required: &["base", "exp", "mod"],
        optional: &[],
        notation: Notation::Number,
        others: OtherFields::Ignore,
        answer: AnswerField::Octets("result"),
    };
    pub(crate) const PRODUCT: Layout =
        Layout { required: &["a", "b"], optional: &["mod"], others: OtherFields::Refuse, ..POWER };
    pub(crate) const SIGN: Layout = Layout {
        required: &["message"],
        optional: &[],
        notation: Notation::Octets,
        others: OtherFields::KeepAll,
        answer: AnswerField::Octets("signature"),
    };
}
