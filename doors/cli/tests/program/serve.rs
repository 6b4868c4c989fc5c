//! The signing service as its operator starts and ends it.

use crate::common::{modmill, run, stderr, stdout};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A service that is killed with the test.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(data: &Path) -> Self {
        Self::with(modmill(&[]), data, Stdio::piped())
    }

    /// Starts a service by `command`, which is the program or starts it. Its log goes to `log`.
    fn with(mut command: Command, data: &Path, log: Stdio) -> Self {
        command.args(["serve", "--no-tls", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").expect(&line).to_owned();
        Self { child, address }
    }

    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn create(data: &str, name: &str) -> serde_json::Value {
    let output = run(&["serve", "credentials", "create", "--data", data, "--name", name, "--json"], "");
    assert!(output.status.success(), "{}", stderr(&output));
    let created: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    for field in ["access_key_id", "secret_access_key", "token"] {
        assert!(created[field].as_str().is_some_and(|text| text.len() >= 20), "{field}: {created}");
    }
    created
}

#[test]
fn a_service_starts_takes_commands_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let text = data.to_str().unwrap();
    create(text, "before");
    let mut service = Service::start(&data);
    create(text, "during");
    let ready = service.get("/ready");
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
    assert!(service.get("/metrics").contains("modmill_build_info"));
    let list = stdout(&run(&["serve", "credentials", "list", "--data", text], ""));
    assert!(list.contains("before") && list.contains("during"), "{list}");
    let process = service.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    assert!(service.child.wait().unwrap().success());
    // The command before the service and its opening of the log, the start, and the command meanwhile.
    let verify = || run(&["serve", "audit", "verify", "--data", text], "");
    assert!(verify().status.success() && stdout(&verify()).starts_with("4 lines"), "{}", stdout(&verify()));
    let log = data.join("audit/audit-00000001.jsonl");
    let mut lines = std::fs::read(&log).unwrap();
    lines.extend([0; 100]);
    std::fs::write(&log, lines).unwrap();
    assert_eq!(verify().status.code(), Some(1));
    assert!(
        stdout(&verify()).contains("100 octets stand behind the last whole line"),
        "{}",
        stdout(&verify())
    );
}

#[test]
fn a_restored_backup_is_in_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    create(&path("old"), "alice");
    for command in [["backup", "--data", &path("old"), "--to"], ["restore", "--data", &path("new"), "--from"]]
    {
        let output = run(&[&["serve"], &command[..], &[&path("file")]].concat(), "");
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let log = std::fs::read_to_string(folder.path().join("new/audit/audit-00000001.jsonl")).unwrap();
    assert!(log.contains("a backup of 1 documents was restored"), "{log}");
    let log = std::fs::read_to_string(folder.path().join("old/audit/audit-00000001.jsonl")).unwrap();
    assert!(log.contains("\"operation\":\"backup\""), "{log}");
}

#[test]
fn a_credential_may_have_no_rights() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let create = |allow: &str| {
        run(&["serve", "credentials", "create", "--data", data, "--name", "a", "--allow", allow], "")
    };
    for none in ["none", ""] {
        assert!(create(none).status.success(), "{none:?}: {}", stderr(&create(none)));
    }
    let list = stdout(&run(&["serve", "credentials", "list", "--json", "--data", data], ""));
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert!(list.as_array().unwrap().iter().all(|each| each["rights"] == serde_json::json!([])), "{list}");
    for wrong in ["none,kms", "kms,,bulk", "KMS"] {
        assert_eq!(create(wrong).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_folder_that_others_can_write_to_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, warned) in [(0o777, true), (0o770, true), (0o755, false)] {
        let data = folder.path().join(format!("{mode:o}"));
        std::fs::create_dir(&data).unwrap();
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(mode)).unwrap();
        let mut service = Service::start(&data);
        service.child.kill().unwrap();
        let mut text = String::new();
        service.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text.contains("can write to this folder"), warned, "{mode:o}: {text}");
    }
}

#[test]
fn a_configuration_is_printed_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("serve.toml");
    let printed = stdout(&run(&["serve", "--print-config"], ""));
    std::fs::write(&file, &printed).unwrap();
    let check = ["serve", "--check", "--config", file.to_str().unwrap()];
    assert!(run(&check, "").status.success());
    std::fs::write(&file, "listne = 1\n").unwrap();
    let output = run(&check, "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("line 1: there is no option listne"), "{}", stderr(&output));
    let output = run(&["serve", "--check", "--no-tls", "--listen", "0.0.0.0:1"], "");
    assert!(stderr(&output).contains("without TLS"), "{}", stderr(&output));
}

#[test]
fn a_log_that_cannot_be_written_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut service = Service::with(modmill(&[]), &folder.path().join("data"), full.into());
    let ready = service.get("/ready");
    assert!(ready.starts_with("HTTP/1.1 200"), "{ready}");
    // The new master key was a warning.
    assert!(ready.contains("lines could not be written"), "{ready}");
    let metrics = service.get("/metrics");
    let lost = metrics.lines().find_map(|line| line.strip_prefix("modmill_log_lines_lost_total "));
    assert!(lost.is_some_and(|lost| lost.parse::<u64>().unwrap() > 0), "{lost:?}");
    let process = service.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    assert!(service.child.wait().unwrap().success());
}

#[test]
fn connections_are_as_many_as_files_may_be_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 400; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_modmill")]);
    command.env("MODMILL_BACKEND", "cpu");
    let mut service = Service::with(command, &folder.path().join("data"), Stdio::piped());
    let process = service.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &process]).status().unwrap().success());
    let mut log = String::new();
    service.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("at most 272 connections are taken instead of 20000"), "{log}");
}

#[test]
fn a_stopped_service_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let service = Service::start(&data);
    let process = service.child.id().to_string();
    assert!(Command::new("kill").args(["-STOP", &process]).status().unwrap().success());
    let output = run(&["serve", "credentials", "list", "--data", data.to_str().unwrap()], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("has not answered for 10s: it is stopped"), "{}", stderr(&output));
}

#[test]
fn region_and_account_are_options() {
    let check = |options: &[&str]| run(&[&["serve", "--check"], options].concat(), "");
    assert!(check(&["--region", "eu-west-1", "--account", "123456789012"]).status.success());
    assert!(stderr(&check(&["--region", "eu west"])).contains("region: a region has"));
    assert!(stderr(&check(&["--account", "12"])).contains("account: an account has twelve digits"));
}
