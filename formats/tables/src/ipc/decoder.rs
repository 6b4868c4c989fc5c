//! Messages to record batches.

use super::layout::Layout;
use super::{Limits, Message};
use crate::{TableError, guarded};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Endianness, MessageHeader, convert::fb_to_schema};
use arrow_schema::{DataType, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

/// Decodes the messages of one stream or file.
#[derive(Debug)]
pub struct Decoder {
    limits: Limits,
    schema: Option<SchemaRef>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The positions of the columns that are read; all if there is none.
    columns: Option<Vec<usize>>,
}

impl Decoder {
    /// A decoder that waits for a schema.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { limits, schema: None, dictionaries: HashMap::new(), columns: None }
    }

    /// The schema, once its message was decoded.
    #[must_use]
    pub fn schema(&self) -> Option<&SchemaRef> {
        self.schema.as_ref()
    }

    /// Reads only the columns at these positions of the schema.
    pub fn read_columns(&mut self, columns: Vec<usize>) {
        self.columns = Some(columns);
    }

    /// Decodes a message: `None` if it is a schema or a dictionary, which the decoder keeps.
    ///
    /// # Errors
    ///
    /// The message is wrong or takes more than the limits allow.
    pub fn decode(&mut self, message: &Message) -> Result<Option<RecordBatch>, TableError> {
        match message.root()?.header_type() {
            MessageHeader::RecordBatch => self.batch(message).map(Some),
            MessageHeader::DictionaryBatch => self.dictionary(message).map(|()| None),
            _ => self.schema_message(message).map(|()| None),
        }
    }

    fn schema_message(&mut self, message: &Message) -> Result<(), TableError> {
        if self.schema.is_some() {
            return Err(TableError::malformed("an Arrow stream has a second schema"));
        }
        let root = message.root()?;
        let schema =
            root.header_as_schema().ok_or_else(|| TableError::malformed("the first message is no schema"))?;
        self.set_schema(schema)
    }

    pub(super) fn set_schema(&mut self, schema: arrow_ipc::Schema<'_>) -> Result<(), TableError> {
        if schema.endianness() != Endianness::Little {
            return Err(TableError::Refused("big-endian Arrow is not taken".to_owned()));
        }
        if schema.fields().is_none() {
            return Err(TableError::malformed("a schema has no fields"));
        }
        let unknown = |_| TableError::malformed("the schema has a type that does not exist");
        let schema = guarded(|| Ok(fb_to_schema(schema))).map_err(unknown)?;
        schema.fields().iter().try_for_each(|field| check_type(field.data_type()))?;
        self.schema = Some(Arc::new(schema));
        Ok(())
    }

    fn known_schema(&self) -> Result<&SchemaRef, TableError> {
        self.schema
            .as_ref()
            .ok_or_else(|| TableError::malformed("an Arrow stream does not begin with a schema"))
    }

    fn dictionary(&mut self, message: &Message) -> Result<(), TableError> {
        let schema = Arc::clone(self.known_schema()?);
        let root = message.root()?;
        let wrong = || TableError::malformed("a dictionary has no data, or no column");
        let dictionary = root.header_as_dictionary_batch().ok_or_else(wrong)?;
        let batch = dictionary.data().ok_or_else(wrong)?;
        #[allow(deprecated)] // no other function finds the column of a dictionary
        let fields = schema.fields_with_dict_id(dictionary.id());
        let Some(DataType::Dictionary(_, values)) = fields.first().map(|field| field.data_type()) else {
            return Err(wrong());
        };
        let before: u64 =
            self.dictionaries.values().map(|values| values.get_array_memory_size() as u64).sum();
        let more = Layout::new(&batch, &message.body, root.version(), self.limits)?
            .check(std::iter::once(&**values), None)?;
        if before.saturating_add(more) > self.limits.dictionaries {
            return Err(TableError::TooLong(format!(
                "the dictionaries of a table take more than {} bytes",
                self.limits.dictionaries
            )));
        }
        let dictionaries = &mut self.dictionaries;
        guarded(|| Ok(read_dictionary(&message.body, dictionary, &schema, dictionaries, &root.version())?))
    }

    /// The bytes that the batch of a message will take, once it was found to be well-formed.
    pub(super) fn bytes(&self, message: &Message) -> Result<u64, TableError> {
        let root = message.root()?;
        let batch = root
            .header_as_record_batch()
            .ok_or_else(|| TableError::malformed("a message is no record batch"))?;
        let kinds = self.known_schema()?.fields().iter().map(|field| field.data_type());
        Layout::new(&batch, &message.body, root.version(), self.limits)?.check(kinds, self.columns.as_deref())
    }

    /// The batch of a message.
    pub(super) fn batch(&self, message: &Message) -> Result<RecordBatch, TableError> {
        self.bytes(message)?;
        let root = message.root()?;
        let batch = root
            .header_as_record_batch()
            .ok_or_else(|| TableError::malformed("a message is no record batch"))?;
        let schema = Arc::clone(self.known_schema()?);
        let columns = self.columns.as_deref();
        guarded(|| {
            Ok(read_record_batch(&message.body, batch, schema, &self.dictionaries, columns, &root.version())?)
        })
    }
}

/// Refuses sizes that no type has.
fn check_type(kind: &DataType) -> Result<(), TableError> {
    let field = |field: &arrow_schema::FieldRef| check_type(field.data_type());
    match kind {
        DataType::FixedSizeBinary(size) if *size <= 0 => {
            Err(TableError::malformed(format!("a column has values of {size} bytes")))
        }
        DataType::FixedSizeList(_, size) if *size < 0 => {
            Err(TableError::malformed(format!("a column has lists of {size} values")))
        }
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => field(child),
        DataType::Struct(fields) => fields.iter().try_for_each(field),
        DataType::Union(fields, _) => fields.iter().try_for_each(|(_, child)| field(child)),
        DataType::RunEndEncoded(ends, values) => field(ends).and_then(|()| field(values)),
        DataType::Dictionary(_, values) => check_type(values),
        _ => Ok(()),
    }
}
