//! A folder of files, one item each.

use super::{CHUNK_BYTES, CHUNK_ITEMS, Item, Suffix, Summary, Work, read, write};
use crate::failure::Failure;
use crate::stream::Bar;
use std::path::Path;

/// Names of the plain files in a folder, sorted.
fn names(folder: &str) -> Result<Vec<String>, Failure> {
    let failed = |error: &std::io::Error| Failure::file("read", folder, error);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        if entry.path().is_file() {
            let name = entry.file_name().into_string();
            names.push(name.map_err(|name| Failure::Usage(format!("{name:?} is not a name in UTF-8")))?);
        }
    }
    names.sort();
    Ok(names)
}

pub(super) fn run(work: &Work<'_>) -> Result<Summary, Failure> {
    let mut names = names(work.sources[0])?;
    match work.suffix {
        Suffix::Removed(suffix) => names.retain(|name| name.len() > suffix.len() && name.ends_with(suffix)),
        // Where files and what belongs to them share a folder, the latter are no items.
        Suffix::Added(suffix) => {
            let real = |folder: &str| Path::new(folder).canonicalize().ok();
            let partner = work.sources.get(1).copied().unwrap_or(work.sink);
            if real(partner).is_some() && real(partner) == real(work.sources[0]) {
                names.retain(|name| !name.ends_with(suffix));
            }
        }
    }
    if work.output.is_some() {
        if work.sink == "-" {
            return Err(Failure::Usage("--out names the folder for the answers".to_owned()));
        }
        std::fs::create_dir_all(work.sink).map_err(|error| Failure::file("make", work.sink, &error))?;
    }
    let bar = Bar::new(Some(names.len() as u64), work.quiet, "files");
    let mut summary = Summary::default();
    let mut names = names.into_iter().peekable();
    while names.peek().is_some() {
        let (mut chunk, mut items, mut bytes) = (Vec::new(), Vec::new(), 0);
        while items.len() < CHUNK_ITEMS && bytes < CHUNK_BYTES {
            let Some(name) = names.next() else { break };
            let item = item(work, &name);
            bytes += item.iter().flatten().map(|part| part.len()).sum::<usize>();
            items.push(item);
            chunk.push(name);
        }
        for (name, answer) in chunk.iter().zip(&work.answer(items)?) {
            summary.count(answer, || name.clone());
            if let Err(reason) = answer {
                // There is no place for it among the answers.
                bar.aside(|| eprintln!("modmill: {name}: {reason}"));
            }
            if let (Some(_), Ok(output)) = (work.output, answer) {
                let path = Path::new(work.sink).join(output_name(work.suffix, name));
                write(&path.to_string_lossy(), output)?;
            }
        }
        bar.advance(chunk.len() as u64);
    }
    bar.finish();
    Ok(summary)
}

/// The inputs of an item: the file itself, and files of that name with the suffix in other folders.
fn item(work: &Work<'_>, name: &str) -> Result<Item, String> {
    let path = |(index, folder): (usize, &&str)| {
        let name = if index == 0 { name.to_owned() } else { output_name(work.suffix, name) };
        Path::new(folder).join(name).to_string_lossy().into_owned()
    };
    work.sources
        .iter()
        .enumerate()
        .map(path)
        .map(|path| read(&path).map_err(|failure| failure.message().unwrap_or_default().to_owned()))
        .collect()
}

fn output_name(suffix: Suffix, name: &str) -> String {
    match suffix {
        Suffix::Added(suffix) => format!("{name}{suffix}"),
        Suffix::Removed(suffix) => name.strip_suffix(suffix).unwrap_or(name).to_owned(),
    }
}
