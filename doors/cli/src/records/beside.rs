//! The fields of lines, as JSON text, or the columns of rows that stand beside answers. Each becomes the
//! other where the input and the output have different formats.

use super::block_parser::Kept;
use super::lines::LineOrigin;
use super::pipeline::Origin;

#[cfg(feature = "files")]
pub(super) use columns::{FieldSource, check_text};

/// Records with named fields, of which some stand beside the answers.
pub(super) trait Beside: Origin {
    /// The fields as JSON text, for `records` records.
    fn into_text(self, records: usize) -> Kept;

    /// The fields as columns, for `records` records.
    #[cfg(feature = "files")]
    fn into_columns(self, layout: &super::layout::Layout, records: usize) -> Vec<arrow_array::ArrayRef>;
}

impl Beside for LineOrigin {
    fn into_text(self, _: usize) -> Kept {
        self.kept
    }

    #[cfg(feature = "files")]
    fn into_columns(self, layout: &super::layout::Layout, records: usize) -> Vec<arrow_array::ArrayRef> {
        columns::of_text(layout, &self.kept, records)
    }
}

#[cfg(feature = "files")]
mod columns {
    use super::super::layout::{Layout, Notation};
    use super::super::line_parser::to_json;
    use super::super::lines::LineSource;
    use super::super::pipeline::Source;
    use super::super::row_values::{Cell, Values};
    use super::super::rows::RowOrigin;
    use super::{Beside, Kept};
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float32Type, Float64Type};
    use arrow_array::{Array, ArrayRef, StringArray, downcast_integer_array};
    use arrow_schema::{DataType, Field as Column};
    use std::sync::Arc;

    /// The column of a table for the fields of lines, which may be others in every line.
    const FIELDS: &str = "fields";

    /// A source of records with named fields.
    pub(in super::super) trait FieldSource: Source<Origin: Beside> {
        /// The columns that stand beside answers in a table.
        fn kept_columns(&self) -> Vec<Arc<Column>>;
    }

    impl FieldSource for LineSource<'_> {
        fn kept_columns(&self) -> Vec<Arc<Column>> {
            let column = || Arc::new(Column::new(FIELDS, DataType::Utf8, true));
            self.keeps_any().then(column).into_iter().collect()
        }
    }

    /// The column of fields: an object in JSON for each record.
    pub(super) fn of_text(layout: &Layout, kept: &Kept, records: usize) -> Vec<ArrayRef> {
        // A comma stands before each field.
        let object = |record: usize| match kept.get(record) {
            [_, fields @ ..] => Some(format!("{{{}}}", String::from_utf8_lossy(fields))),
            [] => None,
        };
        let column = || Arc::new((0..records).map(object).collect::<StringArray>()) as ArrayRef;
        layout.keeps_any().then(column).into_iter().collect()
    }

    /// Refuses columns that JSON text has no place for.
    pub(in super::super) fn check_text(columns: &[Arc<Column>]) -> Result<(), String> {
        let has_text = |kind: &DataType| {
            let is_plain =
                matches!(kind, DataType::Null | DataType::Boolean | DataType::Float32 | DataType::Float64);
            is_plain || kind.is_integer() || Values::takes(kind)
        };
        match columns.iter().find(|column| !has_text(column.data_type())) {
            None => Ok(()),
            Some(column) => Err(format!(
                "the column {:?} is {} and has no form in JSON Lines; write *.parquet or *.arrow",
                column.name(),
                column.data_type()
            )),
        }
    }

    impl Beside for RowOrigin {
        fn into_text(self, records: usize) -> Kept {
            let columns: Vec<_> =
                self.kept.iter().map(|(column, values)| (to_json(column.name()), texts(values))).collect();
            Kept::from_records((0..records).map(|record| {
                let field = |(name, texts): &(String, Vec<String>)| format!(",{name}:{}", texts[record]);
                columns.iter().map(field).collect()
            }))
        }

        fn into_columns(self, _: &Layout, _: usize) -> Vec<ArrayRef> {
            self.kept.into_iter().map(|(_, values)| values).collect()
        }
    }

    /// The values of a column in JSON. Bytes are hexadecimal text.
    fn texts(column: &ArrayRef) -> Vec<String> {
        let rows = |text: &dyn Fn(usize) -> Option<String>| {
            let row = |row| text(row).filter(|_| !column.is_null(row)).unwrap_or_else(|| "null".to_owned());
            (0..column.len()).map(row).collect()
        };
        let finite = |number: f64, text: String| number.is_finite().then_some(text);
        if let Some(values) = Values::new(column) {
            return rows(&|row| {
                Some(match values.get(row)? {
                    Cell::Text(text) => to_json(text),
                    Cell::Octets(octets) => {
                        let mut text = Vec::new();
                        Notation::Octets.append(&mut text, octets);
                        format!("\"{}\"", String::from_utf8_lossy(&text))
                    }
                })
            });
        }
        downcast_integer_array!(
            column => rows(&|row| Some(column.value(row).to_string())),
            DataType::Boolean => rows(&|row| Some(column.as_boolean().value(row).to_string())),
            DataType::Float32 => rows(&|row| {
                let number = column.as_primitive::<Float32Type>().value(row);
                finite(number.into(), number.to_string())
            }),
            DataType::Float64 => rows(&|row| {
                let number = column.as_primitive::<Float64Type>().value(row);
                finite(number, number.to_string())
            }),
            _ => rows(&|_| None)
        )
    }
}
