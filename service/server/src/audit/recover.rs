//! The audit log after a sudden end of the program or the machine: finds where it can be continued.

use super::line::Link;
use super::{AuditError, files};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The log, ready to be continued.
pub(super) struct Recovered {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) len: u64,
    pub(super) last: Link,
    /// The notes that the chain is to have about it.
    pub(super) notes: Vec<String>,
}

/// Finds the end of the chain. Bytes behind the last whole line are moved to a file of their own. The lines
/// themselves are not verified: that is the business of `verify`.
pub(super) fn recover(folder: &Path, head: &File) -> Result<Recovered, AuditError> {
    let mut all = files::list(folder)?;
    let (number, path) = all.pop().unwrap_or_else(|| (1, files::name(folder, 1)));
    let file = files::open(&path)?;
    let mut notes = Vec::new();
    let (len, last) = whole_lines(&file, &path)?;
    let total = file.metadata().map_err(AuditError::file(&path))?.len();
    if total > len {
        notes.push(set_aside(folder, &file, &path, number, len)?);
    }
    let last = match last {
        Some(last) => last,
        // The program ended between the beginning of a file and its first line.
        None => match all.pop() {
            Some((_, path)) => whole_lines(&files::open(&path)?, &path)?.1.unwrap_or_default(),
            None => Link::default(),
        },
    };
    let mut text = String::new();
    let mut reader = head;
    // A head that cannot be read says nothing.
    let _ = reader.read_to_string(&mut text);
    if let Some(head) = Link::from_head(&text)
        && head.number > last.number
    {
        let lost = head.number - last.number;
        notes.push(format!(
            "{lost} lines before this one were lost; the last of them had hash {}",
            crate::hex::encode(&head.hash)
        ));
    }
    Ok(Recovered { number, path, file, len, last, notes })
}

/// The length of all whole lines of a file, and the last of them. A line is whole if it ends and can be read.
fn whole_lines(mut file: &File, path: &Path) -> Result<(u64, Option<Link>), AuditError> {
    let mut octets = Vec::new();
    file.read_to_end(&mut octets).map_err(AuditError::file(path))?;
    let mut end = octets.iter().rposition(|&octet| octet == b'\n').map_or(0, |end| end + 1);
    while end > 0 {
        let start = octets[..end - 1].iter().rposition(|&octet| octet == b'\n').map_or(0, |start| start + 1);
        if let Some(link) = Link::read(&octets[start..end - 1]) {
            return Ok((end as u64, Some(link)));
        }
        end = start;
    }
    Ok((0, None))
}

/// Moves what is behind `len` to a file of its own, and says so.
fn set_aside(folder: &Path, file: &File, path: &Path, number: u64, len: u64) -> Result<String, AuditError> {
    let octets = fs::read(path).map_err(AuditError::file(path))?;
    let torn = octets.get(usize::try_from(len).unwrap_or(usize::MAX)..).unwrap_or_default();
    let name = format!("torn-{number:08}-{len}");
    let aside = folder.join(&name);
    fs::write(&aside, torn).map_err(AuditError::file(&aside))?;
    file.set_len(len).map_err(AuditError::file(path))?;
    Ok(format!("{} octets behind the last whole line were moved to {name}", torn.len()))
}
