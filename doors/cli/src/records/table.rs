//! Records and answers in memory: bytes one after the other, without an allocation for each record.

#[cfg(test)]
use super::layout::Layout;
use super::layout::{Notation, Record};
use super::secret::SecretOctets;
use crate::hexadecimal;
use modmill::number::{bit_length, write_be_bytes};
use std::borrow::Cow;

/// Why a record cannot be read or answered.
pub(crate) type Reason = Cow<'static, str>;

/// The value of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Value<'a> {
    /// The bytes; of a number, the most significant comes first.
    pub(crate) octets: &'a [u8],
    /// The bits that the value was written with, leading zeros included: more than `8 (octets.len() - 1)` and
    /// at most `8 octets.len()`. Constant-time operations may show this length and nothing else.
    pub(crate) bits: usize,
}

/// The place of a value among the bytes of its records.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    bits: usize,
}

/// Some records in order. A record has all its required fields, or it has none and there is a reason.
pub(crate) struct Records {
    /// The fields of a record; the first is required.
    fields: usize,
    /// The values of all records. This memory never grows, so that no copy stays behind.
    octets: SecretOctets,
    /// `fields` spans for each record.
    spans: Vec<Option<Span>>,
    /// Records without fields, in order.
    errors: Vec<(usize, Reason)>,
}

impl Records {
    /// No records yet, with room for `octets` bytes of values in `records` records.
    pub(super) fn with_room(fields: usize, octets: usize, records: usize) -> Self {
        Self {
            fields,
            octets: SecretOctets::with_capacity(octets),
            spans: Vec::with_capacity(fields * records),
            errors: Vec::new(),
        }
    }

    /// `count` records that could not be read, all for the same reason.
    pub(super) fn unreadable(fields: usize, count: usize, reason: &'static str) -> Self {
        let mut records = Self::with_room(fields, 0, count);
        (0..count).for_each(|_| records.push_error(Cow::Borrowed(reason)));
        records
    }

    /// Records that were read one by one.
    pub(super) fn from_rows(fields: usize, rows: Vec<Result<Record, String>>) -> Self {
        let values = rows.iter().flatten().flatten().flatten();
        let octets = values.map(|field| field.octets.len()).sum();
        let mut records = Self::with_room(fields, octets, rows.len());
        rows.into_iter().for_each(|row| records.push_row(row));
        records
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len() / self.fields
    }

    /// Whether a record has its fields.
    pub(crate) fn is_readable(&self, record: usize) -> bool {
        self.spans[record * self.fields].is_some()
    }

    /// The field at a position of the layout, if the record has it.
    pub(crate) fn value(&self, record: usize, position: usize) -> Option<Value<'_>> {
        let Span { start, bits } = self.spans[record * self.fields + position]?;
        Some(Value { octets: &self.octets[start..][..bits.div_ceil(8)], bits })
    }

    /// The reasons of unreadable records, in order.
    pub(crate) fn errors(&self) -> &[(usize, Reason)] {
        &self.errors
    }

    /// The bytes of the values of all records.
    #[cfg(test)]
    pub(super) fn room(&self) -> (usize, usize) {
        (self.octets.len(), self.octets.capacity())
    }

    /// Records whose fields are written in hexadecimal.
    #[cfg(test)]
    pub(crate) fn from_text(layout: &Layout, rows: &[Vec<Option<String>>]) -> Self {
        let octets = rows.iter().flatten().flatten().map(|text| text.len()).sum();
        let mut records = Self::with_room(layout.names().len(), octets, rows.len());
        for row in rows {
            let start = records.octets_len();
            records.begin();
            let mut fields =
                row.iter().enumerate().filter_map(|(position, text)| Some((position, text.as_ref()?)));
            if !fields.all(|(position, text)| records.set_text(position, layout.notation, text.as_bytes())) {
                records.drop_last(start);
                records.push_error("no number".into());
            }
        }
        records
    }

    /// Appends a record without fields. The caller sets them, or drops the record.
    pub(super) fn begin(&mut self) {
        self.spans.resize(self.spans.len() + self.fields, None);
    }

    /// Whether the last record has a field.
    pub(super) fn has(&self, position: usize) -> bool {
        self.spans[self.spans.len() - self.fields + position].is_some()
    }

    fn set(&mut self, position: usize, span: Span) {
        let last = self.spans.len() - self.fields;
        self.spans[last + position] = Some(span);
    }

    /// Gives the last record a field that is written in hexadecimal. Returns whether it is.
    pub(super) fn set_text(&mut self, position: usize, notation: Notation, text: &[u8]) -> bool {
        let digits = match notation {
            Notation::Number => text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text),
            Notation::Octets => text,
        };
        let is_well_formed = match notation {
            Notation::Number => !digits.is_empty(),
            Notation::Octets => digits.len().is_multiple_of(2),
        };
        let start = self.octets.len();
        let length = digits.len().div_ceil(2);
        if !is_well_formed || self.octets.room() < length {
            return false;
        }
        self.octets.resize(start + length, 0);
        self.set(position, Span { start, bits: 4 * digits.len() });
        hexadecimal::decode(digits, &mut self.octets[start..])
    }

    /// Gives the last record a field of `bits` bits. The room was made for it.
    pub(super) fn set_octets(&mut self, position: usize, octets: &[u8], bits: usize) {
        debug_assert!(self.octets.room() >= octets.len());
        let start = self.octets.len();
        self.octets.extend_from_slice(octets);
        self.set(position, Span { start, bits });
    }

    /// Drops the last record, whose first byte was at `start`.
    pub(super) fn drop_last(&mut self, start: usize) {
        self.octets.truncate(start);
        self.spans.truncate(self.spans.len() - self.fields);
    }

    /// The number of bytes of all values so far.
    pub(super) fn octets_len(&self) -> usize {
        self.octets.len()
    }

    pub(super) fn push_error(&mut self, reason: Reason) {
        self.errors.push((self.len(), reason));
        self.begin();
    }

    pub(super) fn push_row(&mut self, row: Result<Record, String>) {
        match row {
            Err(reason) => self.push_error(reason.into()),
            Ok(row) => {
                self.begin();
                for (position, field) in row.iter().enumerate() {
                    if let Some(field) = field {
                        self.set_octets(position, &field.octets, field.bits);
                    }
                }
            }
        }
    }
}

/// The answers to some records in order. A verdict has no bytes.
pub(crate) struct Answers {
    octets: SecretOctets,
    ends: Vec<usize>,
    /// Records without an answer, in order.
    errors: Vec<(usize, Reason)>,
}

impl Answers {
    /// No answers yet, with room for `octets` bytes in `records` answers.
    pub(crate) fn with_room(octets: usize, records: usize) -> Self {
        Self {
            octets: SecretOctets::with_capacity(octets),
            ends: Vec::with_capacity(records),
            errors: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, octets: &[u8]) {
        debug_assert!(self.octets.room() >= octets.len());
        self.octets.extend_from_slice(octets);
        self.ends.push(self.octets.len());
    }

    /// Appends a number without leading zeros; zero has one byte. `limbs` has the least significant limb
    /// first.
    pub(crate) fn push_number(&mut self, limbs: &[u64]) {
        self.append_number(limbs, octets_of(limbs));
        self.ends.push(self.octets.len());
    }

    /// Appends two numbers as one answer, with as many bytes for each as the longer one needs.
    pub(crate) fn push_pair(&mut self, first: &[u64], second: &[u64]) {
        let length = octets_of(first).max(octets_of(second));
        [first, second].into_iter().for_each(|limbs| self.append_number(limbs, length));
        self.ends.push(self.octets.len());
    }

    fn append_number(&mut self, limbs: &[u64], length: usize) {
        let start = self.octets.len();
        debug_assert!(self.octets.room() >= length);
        self.octets.resize(start + length, 0);
        write_be_bytes(limbs, &mut self.octets[start..]);
    }

    pub(crate) fn push_error(&mut self, reason: Reason) {
        self.errors.push((self.ends.len(), reason));
        self.ends.push(self.octets.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn errors(&self) -> &[(usize, Reason)] {
        &self.errors
    }

    pub(super) fn errors_mut(&mut self) -> &mut [(usize, Reason)] {
        &mut self.errors
    }

    /// The bytes of all answers.
    pub(super) fn octets_len(&self) -> usize {
        self.octets.len()
    }

    /// The answers, or why there are none.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<&[u8], &str>> {
        let mut errors = self.errors.iter().peekable();
        let mut start = 0;
        self.ends.iter().enumerate().map(move |(record, &end)| {
            let octets = &self.octets[start..end];
            start = end;
            match errors.next_if(|(index, _)| *index == record) {
                Some((_, reason)) => Err(&**reason),
                None => Ok(octets),
            }
        })
    }
}

/// The bytes of a number, at least one.
fn octets_of(limbs: &[u64]) -> usize {
    bit_length(limbs).div_ceil(8).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::layout::Field;
    use super::*;
    use zeroize::Zeroizing;

    #[test]
    fn records_keep_their_values_and_reasons() {
        let mut records = Records::with_room(2, 8, 3);
        records.begin();
        assert!(records.set_text(1, Notation::Number, b"0x00f"));
        assert!(records.set_text(0, Notation::Octets, b"ABcd"));
        assert!(records.has(0) && records.has(1));
        records.push_error("bad".into());
        let start = records.octets_len();
        records.begin();
        assert!(!records.set_text(0, Notation::Number, b"g1"));
        records.drop_last(start);
        for text in [&b""[..], b"0x"] {
            records.begin();
            assert!(!records.set_text(0, Notation::Number, text));
            records.drop_last(start);
        }
        records.push_row(Ok(vec![Some(Field { octets: Zeroizing::new(vec![7]), bits: 3 }), None]));
        assert_eq!(records.len(), 3);
        assert_eq!(records.value(0, 0), Some(Value { octets: &[0xab, 0xcd], bits: 16 }));
        assert_eq!(records.value(0, 1), Some(Value { octets: &[0, 15], bits: 12 }));
        assert_eq!(records.value(2, 0), Some(Value { octets: &[7], bits: 3 }));
        assert_eq!((records.value(1, 0), records.value(2, 1)), (None, None));
        assert!(records.is_readable(0) && !records.is_readable(1) && records.is_readable(2));
        assert_eq!(records.room(), (5, 8));
        assert_eq!(records.errors(), [(1, Reason::from("bad"))]);
    }

    #[test]
    fn answers_come_back_in_order() {
        let mut answers = Answers::with_room(64, 6);
        answers.push(b"one");
        answers.push_error("no".into());
        answers.push_number(&[0, 0]);
        answers.push_number(&[0x100, 0]);
        answers.push_number(&[1, 0x0203]);
        answers.push_error("never".into());
        answers.push_pair(&[0x100], &[7, 0]);
        let found: Vec<_> = answers.iter().collect();
        let long = [2, 3, 0, 0, 0, 0, 0, 0, 0, 1];
        let pair = Ok(&[1, 0, 0, 7][..]);
        assert_eq!(found, [Ok(&b"one"[..]), Err("no"), Ok(&[0]), Ok(&[1, 0]), Ok(&long), Err("never"), pair]);
        assert_eq!((answers.len(), answers.octets_len()), (7, 20));
    }
}
