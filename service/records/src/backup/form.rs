//! The bytes of a backup.

use super::BackupError;
use sha2::{Digest, Sha256};

/// The first bytes of every backup.
pub(super) const MAGIC: &[u8; 16] = b"modmill backup\r\n";
/// The form that is written.
const VERSION: u32 = 1;
/// Bytes of the checksum.
const SUM: usize = 32;

/// Kind, identifier and sealed body of a document.
pub(super) type Row = (String, String, Vec<u8>);

/// The bytes of a backup of `rows`, whose last commit is `last`.
pub(super) fn encode(last: u64, rows: &[Row]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_be_bytes());
    bytes.extend(last.to_be_bytes());
    bytes.extend((rows.len() as u64).to_be_bytes());
    for (kind, id, body) in rows {
        for part in [kind.as_bytes(), id.as_bytes(), body] {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part);
        }
    }
    let sum = Sha256::digest(&bytes);
    bytes.extend(sum);
    bytes
}

/// The number of the last commit and the rows that `bytes` hold.
pub(super) fn decode(bytes: &[u8]) -> Result<(u64, Vec<Row>), BackupError> {
    let short = || BackupError::Damaged("it is cut short");
    let rest = bytes.strip_prefix(MAGIC).ok_or(BackupError::NotABackup)?;
    let (version, _) = rest.split_first_chunk().ok_or_else(short)?;
    let version = u32::from_be_bytes(*version);
    if version != VERSION {
        return Err(BackupError::Version(version));
    }
    let (content, sum) = bytes.split_last_chunk::<SUM>().ok_or_else(short)?;
    if Sha256::digest(content)[..] != sum[..] {
        return Err(BackupError::Damaged("its checksum is wrong"));
    }
    let mut rest = content.get(MAGIC.len() + 4..).ok_or_else(short)?;
    let (last, count) = (number(&mut rest)?, number(&mut rest)?);
    let mut rows = Vec::new();
    for _ in 0..count {
        let text = |part: &[u8]| {
            String::from_utf8(part.to_vec()).map_err(|_| BackupError::Damaged("a name is not text"))
        };
        rows.push((text(part(&mut rest)?)?, text(part(&mut rest)?)?, part(&mut rest)?.to_vec()));
    }
    match rest {
        [] => Ok((last, rows)),
        _ => Err(BackupError::Damaged("it has more than its rows")),
    }
}

fn number(rest: &mut &[u8]) -> Result<u64, BackupError> {
    let (number, after) = rest.split_first_chunk().ok_or(BackupError::Damaged("it is cut short"))?;
    *rest = after;
    Ok(u64::from_be_bytes(*number))
}

fn part<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], BackupError> {
    let len = number(rest)?;
    let cut = usize::try_from(len).ok().and_then(|len| rest.split_at_checked(len));
    let (part, after) = cut.ok_or(BackupError::Damaged("it is cut short"))?;
    *rest = after;
    Ok(part)
}
