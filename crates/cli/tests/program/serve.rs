//! The signing service as its operator starts and ends it.

use crate::common::{modmill, run, stderr, stdout};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A service that is killed with the test.
struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(data: &Path) -> Self {
        let mut command = modmill(&["serve", "--no-tls", "--listen", "127.0.0.1:0", "--data"]);
        let mut child = command.arg(data).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
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
    let verified = run(&["serve", "audit", "verify", "--data", text], "");
    assert!(verified.status.success() && stdout(&verified).starts_with("1 lines"), "{}", stdout(&verified));
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
