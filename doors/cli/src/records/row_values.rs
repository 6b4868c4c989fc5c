//! The values of a column, of any of Arrow's types for bytes and text.

use arrow_array::cast::AsArray;
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
    /// Rows that name values of a dictionary.
    Dictionary {
        rows: &'a dyn Array,
        /// For each row, the place of its value.
        places: Vec<usize>,
        values: Box<Self>,
    },
}

/// One value.
pub(super) enum Cell<'a> {
    /// The bytes; of a number, the most significant comes first.
    Octets(&'a [u8]),
    /// Hexadecimal digits.
    Text(&'a str),
}

impl<'a> Values<'a> {
    /// Whether columns of a type have values.
    pub(super) fn takes(kind: &DataType) -> bool {
        match kind {
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_)
            | DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View => true,
            DataType::Dictionary(_, values) => Self::takes(values),
            _ => false,
        }
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
            DataType::Dictionary(_, _) => {
                let rows = column.as_any_dictionary_opt()?;
                // A dictionary without values has only missing rows.
                let places = if rows.values().is_empty() { Vec::new() } else { rows.normalized_keys() };
                let values = Box::new(Self::new(rows.values())?);
                Some(Self::Dictionary { rows: column, places, values })
            }
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
            Self::Dictionary { rows, .. } => *rows,
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
            Self::Dictionary { places, values, .. } => values.get(*places.get(row)?)?,
        })
    }

    /// The bytes that the value of a row takes at most.
    pub(super) fn octets(&self, row: usize) -> usize {
        match self.get(row) {
            None => 0,
            Some(Cell::Octets(octets)) => octets.len(),
            Some(Cell::Text(text)) => text.len().div_ceil(2),
        }
    }
}
