//! The header of a store: its data key, wrapped by a master key.

use super::{HEADER_KIND, RecordsError};
use crate::master_key::MasterKey;
use crate::store::{Change, Row, StoreError, Write};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use modmill_seal::{KEY, SealError, Sealer, SecretBytes, Stretch};
use serde::{Deserialize, Serialize};

/// The identifier of the header's row.
const ID: &str = "header";
/// The form of headers and documents that this program writes and reads.
const FORMAT: u32 = 1;

/// The header as the store holds it: JSON, not sealed itself.
#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    /// The number of the data key. Each sealed document names it.
    number: u32,
    /// How a passphrase becomes the wrapping key; absent if the master key is one itself.
    stretch: Option<Stretch>,
    /// The data key, sealed by the wrapping key, in Base64.
    wrapped: String,
}

/// An open header.
pub(super) struct Opened {
    pub(super) sealer: Sealer,
    number: u32,
}

/// Whether `row` is the header.
pub(super) fn is_header(row: &Row) -> bool {
    row.kind == HEADER_KIND
}

/// A change of the header in the version `expected`, or the condition that it stays in that version.
pub(super) fn change(expected: Option<u64>, write: Write) -> Change {
    Change { kind: HEADER_KIND.into(), id: ID.into(), expected, write }
}

/// The header with a new data key, the one after `before`, wrapped by `master`.
pub(super) async fn create(
    before: Option<&Opened>,
    master: &MasterKey,
) -> Result<(Vec<u8>, Opened), RecordsError> {
    let number = match before {
        None => 1,
        Some(before) => {
            before.number.checked_add(1).ok_or_else(|| damaged("the data keys have run out of numbers"))?
        }
    };
    let stretch = master.new_stretch()?;
    let data_key = SecretBytes::random(KEY).map_err(SealError::from)?;
    let wrapping = wrapping(master, stretch.as_ref()).await?;
    let wrapped = STANDARD.encode(wrapping.seal(HEADER_KIND, &place(number), data_key.expose())?);
    let header = Header { format: FORMAT, number, stretch, wrapped };
    let body = serde_json::to_vec(&header).map_err(|error| damaged(&error.to_string()))?;
    Ok((body, Opened { sealer: Sealer::numbered(number, &data_key)?, number }))
}

/// Opens the header in `row` with one of `masters`.
pub(super) async fn open(row: &Row, masters: &[MasterKey]) -> Result<Opened, RecordsError> {
    let body = row.body.as_deref().ok_or_else(|| damaged("the header was deleted"))?;
    let header: Header = serde_json::from_slice(body).map_err(|error| damaged(&error.to_string()))?;
    let Header { format, number, stretch, wrapped } = header;
    if format != FORMAT {
        return Err(damaged(&format!("the store has format {format}, and this program knows {FORMAT}")));
    }
    let wrapped = STANDARD.decode(wrapped).map_err(|error| damaged(&error.to_string()))?;
    for master in masters.iter().filter(|master| master.is_passphrase() == stretch.is_some()) {
        let wrapping = wrapping(master, stretch.as_ref()).await?;
        if let Ok(data_key) = wrapping.open(HEADER_KIND, &place(number), &wrapped) {
            let sealer = Sealer::numbered(number, &SecretBytes::new(data_key))?;
            return Ok(Opened { sealer, number });
        }
    }
    Err(SealError::WrongMasterKey.into())
}

/// The key that wraps data keys. Stretching a passphrase takes long and much memory, and happens on a thread
/// apart from the other tasks.
async fn wrapping(master: &MasterKey, stretch: Option<&Stretch>) -> Result<Sealer, RecordsError> {
    let (master, stretch) = (master.clone(), stretch.cloned());
    let task = tokio::task::spawn_blocking(move || master.wrapping_key(stretch.as_ref()));
    let key = task.await.map_err(|_| damaged("the passphrase could not be stretched"))??;
    Ok(Sealer::new(&key)?)
}

/// The context that a wrapped data key is bound to.
fn place(number: u32) -> String {
    format!("{FORMAT}.{number}")
}

pub(super) fn damaged(reason: &str) -> RecordsError {
    StoreError::Damaged(reason.to_owned()).into()
}
