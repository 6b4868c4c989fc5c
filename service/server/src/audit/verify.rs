//! Verifying the audit log.

use super::line::{Broken, Link};
use super::{AuditError, files};
use crate::hex;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time for which a line without an end is watched.
const PATIENCE: Duration = Duration::from_millis(500);

/// Something that is wrong with the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: PathBuf,
    /// The line in the file, from 1.
    pub line: u64,
    /// The fault, in words.
    pub problem: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.problem)
    }
}

/// The result of reading a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Lines that were read.
    pub lines: u64,
    /// The number of the last line.
    pub last: u64,
    /// The hash of the last line, in hexadecimal.
    pub head: String,
    /// The faults, in order. Empty if every line continues the chain.
    pub findings: Vec<Finding>,
}

/// Verifies the log in `folder`. After a line that does not continue the chain, it goes on from that line, so
/// that every place is named. A service may be writing the log: it has a moment to complete its last line.
pub fn verify(folder: &Path) -> Result<Report, AuditError> {
    // The head is read first: lines that are written meanwhile are behind it.
    let head_path = folder.join(files::HEAD);
    let head = fs::read_to_string(&head_path).ok();
    let mut walk =
        Walk { last: Link::default(), lines: 0, findings: Vec::new(), head: None, has_head: false };
    walk.head = head.as_deref().and_then(Link::from_head);
    let mut expected = 1;
    let all = files::list(folder)?;
    for (number, path) in &all {
        if *number != expected {
            walk.find(path, 1, format!("file {expected} is missing before this one"));
        }
        expected = number + 1;
        walk.file(path, Some(path) == all.last().map(|(_, path)| path))?;
    }
    match walk.head {
        None => walk.find(
            &head_path,
            1,
            "it is missing, or was changed: whether lines are missing at the end cannot be said".into(),
        ),
        Some(head) if head.number > walk.last.number => {
            let missing = head.number - walk.last.number;
            walk.find(
                &head_path,
                1,
                format!("{missing} lines are missing at the end: the last one had number {}", head.number),
            );
        }
        Some(head) if !walk.has_head => {
            walk.find(&head_path, 1, format!("line {} has another hash than the head says", head.number));
        }
        Some(_) => {}
    }
    let Walk { last, lines, findings, .. } = walk;
    Ok(Report { lines, last: last.number, head: hex::encode(&last.hash), findings })
}

/// Waits for the rest of a line whose end a service may be about to write. Lines are written whole, so that
/// this takes no time unless the service has ended in the middle of one.
fn complete(reader: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    while !line.ends_with(b"\n") && Instant::now() < end {
        std::thread::sleep(PATIENCE / 50);
        reader.read_until(b'\n', line)?;
    }
    Ok(())
}

struct Walk {
    last: Link,
    lines: u64,
    findings: Vec<Finding>,
    head: Option<Link>,
    /// Whether the line that the head names was seen.
    has_head: bool,
}

impl Walk {
    fn file(&mut self, path: &Path, is_last: bool) -> Result<(), AuditError> {
        let mut reader = BufReader::new(File::open(path).map_err(AuditError::file(path))?);
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(AuditError::file(path))? == 0 {
                break;
            }
            if is_last {
                complete(&mut reader, &mut line).map_err(AuditError::file(path))?;
            }
            match line.strip_suffix(b"\n") {
                Some(whole) => self.line(path, number, whole),
                None if is_last => {
                    let problem = format!("{} octets stand behind the last whole line", line.len());
                    self.find(path, number, problem);
                }
                None => self.find(path, number, "the line is cut off".into()),
            }
        }
        Ok(())
    }

    fn line(&mut self, path: &Path, number: u64, line: &[u8]) {
        self.lines += 1;
        let problem = match self.last.follow(line) {
            Ok(next) => {
                self.reached(next);
                return;
            }
            Err(Broken::Unreadable) => "this is no line of an audit log".to_owned(),
            Err(Broken::Number { expected, found }) if found > expected => {
                format!("lines {expected} to {} are missing before line {found}", found - 1)
            }
            Err(Broken::Number { expected, found }) => {
                format!("line {found} stands where line {expected} is expected: it was moved or repeated")
            }
            Err(Broken::Hash) => "the line was changed".to_owned(),
        };
        self.find(path, number, problem);
        if let Some(read) = Link::read(line)
            && read.number > self.last.number
        {
            self.reached(read);
        }
    }

    fn reached(&mut self, link: Link) {
        self.last = link;
        self.has_head |= self.head == Some(link);
    }

    fn find(&mut self, path: &Path, line: u64, problem: String) {
        self.findings.push(Finding { path: path.to_owned(), line, problem });
    }
}
