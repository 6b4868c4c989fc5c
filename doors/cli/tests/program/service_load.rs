//! `modmill load` as users call it, without a server: what it refuses.

use crate::common::{run, scratch, stderr};
use std::net::TcpListener;

fn refused(arguments: &[&str]) -> String {
    let output = run(&[&["load"], arguments].concat(), "");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    stderr(&output)
}

#[test]
fn other_machines_are_not_loaded_by_accident() {
    // An address for documentation, which nobody has. It is refused before it is asked.
    assert!(refused(&["--endpoint", "http://192.0.2.1:80"]).contains("--remote"));
}

#[test]
fn wrong_settings_are_refused() {
    let local = ["--endpoint", "http://127.0.0.1:1"];
    let with = |more: &[&str]| refused(&[&local, more].concat());
    assert!(refused(&["--endpoint", "127.0.0.1:80"]).contains("http://"));
    assert!(with(&["--rate", "0"]).contains("not a rate"));
    assert!(with(&["--bits", "2049"]).contains("2048, 3072 or 4096"));
    assert!(with(&["--mix", "sing"]).contains("sign, verify, encrypt or decrypt"));
    assert!(with(&["--idle", "5"]).contains("--pid"));
    assert!(with(&["--soak", "1", "--pid", "1"]).contains("--rate"));
    assert!(with(&["--pid", "4294967295"]).contains("process 4294967295"));
    assert!(with(&["--credentials", "/nowhere/at/all"]).contains("/nowhere/at/all"));
}

#[test]
fn a_credentials_file_is_not_quoted() {
    let file = scratch("credentials.json");
    std::fs::write(&file, "{\"secret_access_key\": hush}").unwrap();
    let message = refused(&["--endpoint", "http://127.0.0.1:1", "--credentials", file.to_str().unwrap()]);
    assert!(message.contains("not the JSON of credentials") && !message.contains("hush"), "{message}");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = scratch("fine.json");
    std::fs::write(&file, "{\"access_key_id\":\"A\",\"secret_access_key\":\"s\",\"token\":\"t\"}").unwrap();
    let endpoint = format!("http://127.0.0.1:{port}");
    let file = file.to_str().unwrap();
    for interface in ["kms", "transit", "bulk"] {
        let message = refused(&["--endpoint", &endpoint, "--interface", interface, "--credentials", file]);
        assert!(message.contains("no connection"), "{message}");
    }
}
