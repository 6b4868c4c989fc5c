//! The values of a column, of any of Arrow's types for octets and text.

use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray,
};
use arrow_schema::DataType;

/// The values of a column.
pub(super) enum Values<'a> {
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    FixedSizeBinary(&'a FixedSizeBinaryArray),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
}

/// One value.
pub(super) enum Cell<'a> {
    /// The octets; of a number, the most significant comes first.
    Octets(&'a [u8]),
    /// Hexadecimal digits.
    Text(&'a str),
}

impl<'a> Values<'a> {
    /// Whether columns of a type have values.
    pub(super) fn takes(kind: &DataType) -> bool {
        matches!(
            kind,
            DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
                | DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
        )
    }

    /// The values of a column; `None` if it has another type.
    pub(super) fn new(column: &'a ArrayRef) -> Option<Self> {
        let any = column.as_any();
        match column.data_type() {
            DataType::Binary => any.downcast_ref().map(Self::Binary),
            DataType::LargeBinary => any.downcast_ref().map(Self::LargeBinary),
            DataType::BinaryView => any.downcast_ref().map(Self::BinaryView),
            DataType::FixedSizeBinary(_) => any.downcast_ref().map(Self::FixedSizeBinary),
            DataType::Utf8 => any.downcast_ref().map(Self::Text),
            DataType::LargeUtf8 => any.downcast_ref().map(Self::LargeText),
            DataType::Utf8View => any.downcast_ref().map(Self::TextView),
            _ => None,
        }
    }

    fn array(&self) -> &dyn Array {
        match self {
            Self::Binary(array) => array,
            Self::LargeBinary(array) => array,
            Self::BinaryView(array) => array,
            Self::FixedSizeBinary(array) => array,
            Self::Text(array) => array,
            Self::LargeText(array) => array,
            Self::TextView(array) => array,
        }
    }

    /// The value of a row; `None` if it is missing.
    pub(super) fn get(&self, row: usize) -> Option<Cell<'_>> {
        if self.array().is_null(row) {
            return None;
        }
        Some(match self {
            Self::Binary(array) => Cell::Octets(array.value(row)),
            Self::LargeBinary(array) => Cell::Octets(array.value(row)),
            Self::BinaryView(array) => Cell::Octets(array.value(row)),
            Self::FixedSizeBinary(array) => Cell::Octets(array.value(row)),
            Self::Text(array) => Cell::Text(array.value(row)),
            Self::LargeText(array) => Cell::Text(array.value(row)),
            Self::TextView(array) => Cell::Text(array.value(row)),
        })
    }

    /// The octets that all values take at most.
    pub(super) fn octets(&self) -> usize {
        let length = |row| match self.get(row) {
            None => 0,
            Some(Cell::Octets(octets)) => octets.len(),
            Some(Cell::Text(text)) => text.len().div_ceil(2),
        };
        (0..self.array().len()).map(length).sum()
    }
}
