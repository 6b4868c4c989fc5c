use super::line::Link;
use super::*;
use crate::credentials::Principal;
use std::fs;

fn origin(key: &str) -> Origin {
    let principal = Principal { name: "alice".into(), access_key_id: "AKIA".into(), rights: [].into() };
    Origin {
        principal: Arc::new(principal),
        door: "kms",
        operation: "Sign",
        key_id: key.into(),
        request_id: "request".into(),
        deadline: Instant::now(),
    }
}

fn open(folder: &Path, file_bytes: u64) -> Audit {
    let settings = AuditSettings { sync: Sync::None, file_bytes };
    Audit::open(folder, &settings, Clock::default()).unwrap()
}

fn write(audit: &Audit, key: &str) {
    let origin = origin(key);
    let entry = |subject| Entry { origin: &origin, subject, error: None };
    audit.write(&[entry(Subject::Digest(&[7; 32])), entry(Subject::Hashed([9; 32]))]).unwrap();
}

/// A log of one start and `2 batches` operations, in one file.
fn log_of(batches: usize) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let audit = open(folder.path(), 1 << 20);
    (0..batches).for_each(|batch| write(&audit, &format!("key {batch}")));
    let file = files::name(folder.path(), 1);
    (folder, file)
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap().lines().map(|line| format!("{line}\n")).collect()
}

fn problems(folder: &Path) -> Vec<(u64, String)> {
    verify(folder).unwrap().findings.into_iter().map(|finding| (finding.line, finding.problem)).collect()
}

#[test]
fn a_log_says_who_did_what_and_verifies() {
    let (folder, file) = log_of(2);
    let report = verify(folder.path()).unwrap();
    assert_eq!((report.lines, report.last, &report.findings[..]), (5, 5, &[][..]));
    let line: serde_json::Value = serde_json::from_str(&lines(&file)[1]).unwrap();
    for (field, value) in [
        ("principal", "alice"),
        ("access_key", "AKIA"),
        ("door", "kms"),
        ("operation", "Sign"),
        ("key", "key 0"),
        ("request", "request"),
        ("digest", &"07".repeat(32)),
        ("outcome", "ok"),
    ] {
        assert_eq!(line[field], value, "{field}");
    }
    let audit = open(folder.path(), 1 << 20);
    assert_eq!(audit.head().0, 6, "the start of the service is noted");
    assert!(matches!(
        Audit::open(folder.path(), &AuditSettings::default(), Clock::default()),
        Err(AuditError::InUse(_))
    ));
    let origin = origin("key");
    let subject = Subject::Digests { digests: &[1; 64], count: 2 };
    audit.write(&[Entry { origin: &origin, subject, error: Some("why".into()) }]).unwrap();
    let line: serde_json::Value = serde_json::from_str(&lines(&file)[6]).unwrap();
    assert_eq!((&line["count"], &line["outcome"]), (&2.into(), &"why".into()));
    assert_eq!(audit.head(), (7, verify(folder.path()).unwrap().head));
    let particulars = serde_json::json!({ "grant": "g" });
    let subject = Subject::Change { received: Some([3; 32]), particulars: &particulars };
    audit.write(&[Entry { origin: &origin, subject, error: None }]).unwrap();
    let line: serde_json::Value = serde_json::from_str(&lines(&file)[7]).unwrap();
    assert_eq!((&line["change"], &line["input_sha256"]), (&particulars, &"03".repeat(32).into()));
}

#[test]
fn every_kind_of_tampering_is_found() {
    type Tamper = fn(&mut Vec<String>);
    let cases: [(Tamper, u64, &str); 7] = [
        (|lines| drop(lines.remove(2)), 3, "lines 3 to 3 are missing"),
        (|lines| drop(lines.remove(0)), 1, "lines 1 to 1 are missing"),
        (|lines| lines[2] = lines[2].replace("alice", "carol"), 3, "the line was changed"),
        (|lines| lines.swap(2, 3), 3, "lines 3 to 3 are missing"),
        (|lines| lines.insert(3, lines[1].clone()), 4, "line 2 stands where line 4 is expected"),
        (|lines| lines[2] = "{}\n".into(), 3, "no line of an audit log"),
        (|lines| lines.truncate(4), 1, "1 lines are missing at the end"),
    ];
    for (tamper, line, problem) in cases {
        let (folder, file) = log_of(2);
        let mut lines = lines(&file);
        tamper(&mut lines);
        fs::write(&file, lines.concat()).unwrap();
        let found = problems(folder.path());
        assert!(found.iter().any(|(at, text)| *at == line && text.contains(problem)), "{problem}: {found:?}");
    }
    let (folder, file) = log_of(2);
    fs::remove_file(folder.path().join(files::HEAD)).unwrap();
    assert!(problems(folder.path())[0].1.contains("it is missing"));
    // A new chain that is right in itself has not the hash that the head says.
    let (other, _) = log_of(2);
    fs::copy(other.path().join(files::HEAD), folder.path().join(files::HEAD)).unwrap();
    let mut all = lines(&file);
    all[1] = all[1].replace("alice", "carol");
    fs::write(&file, all.concat()).unwrap();
    assert!(!problems(folder.path()).is_empty());
}

#[test]
fn files_are_closed_when_they_are_long_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let audit = open(folder.path(), 2000);
    (0..20).for_each(|_| write(&audit, "key"));
    drop(audit);
    let all = files::list(folder.path()).unwrap();
    assert!(all.len() > 3, "{all:?}");
    assert_eq!(problems(folder.path()), []);
    fs::remove_file(&all[1].1).unwrap();
    let found = problems(folder.path());
    assert!(found.iter().any(|(_, text)| text.contains("file 2 is missing")), "{found:?}");
}

#[test]
fn a_line_that_was_not_written_whole_is_set_aside() {
    for cut in [1, 50, 200] {
        let (folder, file) = log_of(2);
        let octets = fs::read(&file).unwrap();
        fs::write(&file, &octets[..octets.len() - cut]).unwrap();
        // The program ended in the middle of the write, so that the head is the one before.
        let last = Link::read(lines(&file)[2].trim_end().as_bytes()).unwrap();
        fs::write(folder.path().join(files::HEAD), last.to_head()).unwrap();
        let audit = open(folder.path(), 1 << 20);
        write(&audit, "after");
        assert_eq!(problems(folder.path()), [], "cut {cut}");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("behind the last whole line were moved to torn-00000001-"), "{text}");
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            3,
            "the log, the head, and what was set aside"
        );
    }
}

#[test]
fn octets_behind_the_last_line_are_found() {
    for tail in [&[0; 5000][..], b"{\"n\":6", b" "] {
        let (folder, file) = log_of(2);
        let mut octets = fs::read(&file).unwrap();
        octets.extend_from_slice(tail);
        fs::write(&file, &octets).unwrap();
        let found = problems(folder.path());
        let problem = format!("{} octets stand behind the last whole line", tail.len());
        assert_eq!(found, [(6, problem)]);
    }
}

#[test]
fn a_line_that_is_being_written_is_waited_for() {
    let (folder, file) = log_of(2);
    let octets = fs::read(&file).unwrap();
    let (first, rest) = octets.split_at(octets.len() - 30);
    fs::write(&file, first).unwrap();
    std::thread::scope(|scope| {
        let verified = scope.spawn(|| problems(folder.path()));
        std::thread::sleep(Duration::from_millis(50));
        let mut log = fs::OpenOptions::new().append(true).open(&file).unwrap();
        io::Write::write_all(&mut log, rest).unwrap();
        assert_eq!(verified.join().unwrap(), []);
    });
}

#[test]
fn lines_that_were_lost_are_noted() {
    let (folder, file) = log_of(3);
    let all = lines(&file);
    fs::write(&file, all[..4].concat()).unwrap();
    drop(open(folder.path(), 1 << 20));
    assert!(fs::read_to_string(&file).unwrap().contains("3 lines before this one were lost"));
    assert_eq!(problems(folder.path()), []);
}

#[test]
fn a_log_that_cannot_be_written_refuses_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let audit = Arc::new(open(folder.path(), 1 << 20));
    write(&audit, "before");
    audit.fail(true);
    let origin = origin("key");
    let entry = Entry { origin: &origin, subject: Subject::Digest(&[7; 32]), error: None };
    assert!(audit.write(&[entry]).is_err());
    assert!(!audit.is_writable());
    let first = *audit.tried.lock();
    while *audit.tried.lock() == first || audit.is_trying.load(Ordering::Acquire) {
        assert!(!audit.is_writable(), "it is tried again, and fails");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Whoever asks does not wait for the disk: the log is held here, and its thread waits for it.
    let mut log = audit.log();
    log.fails = false;
    let before = *audit.tried.lock();
    while *audit.tried.lock() == before {
        assert!(!audit.is_writable());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(audit.is_trying.load(Ordering::Acquire) && !audit.is_writable());
    drop(log);
    while !audit.is_writable() {
        std::thread::sleep(Duration::from_millis(10));
    }
    write(&audit, "after");
    assert_eq!(problems(folder.path()), []);
    let text = fs::read_to_string(files::name(folder.path(), 1)).unwrap();
    assert!(text.contains("could not be written for a time"));
}

/// Set in the process that is killed: the folder of its log.
const CHILD: &str = "MODMILL_TEST_AUDIT_FOLDER";

#[test]
fn a_process_that_is_killed_leaves_a_log_that_goes_on() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let audit = open(Path::new(&folder), 20_000);
        loop {
            write(&audit, "key");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let name = "audit::tests::a_process_that_is_killed_leaves_a_log_that_goes_on";
    let mut lines = 0;
    for round in 0..10 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let mut child = child.args(["--exact", name]).env(CHILD, folder.path()).spawn().unwrap();
        // The process has begun to write, however long its start took.
        while verify(folder.path()).map_or(0, |report| report.lines) <= lines {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(7 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        drop(open(folder.path(), 20_000));
        let report = verify(folder.path()).unwrap();
        assert_eq!(report.findings, [], "round {round}");
        assert!(report.lines > lines, "round {round}: lines were lost");
        lines = report.lines;
    }
    assert!(lines >= 10, "{lines}");
}
