//! Other processes: children of a fork, processes that share a token, and processes that are killed.
//!
//! Each test starts this program again, with one of the ignored tests below and a folder of its own.
#![allow(unsafe_code)]

use crate::common::{USER, configure, initialise, key_pair, library, module, pin, session};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::RvError;
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass};
use cryptoki::session::UserType;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The variable that names the folder of tokens to a process.
const FOLDER: &str = "MODMILL_TEST_PKCS11_FOLDER";

/// Starts one of the ignored tests in a process of its own.
fn start(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads", "1"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The module in such a process, whose first token is initialised already if its file is there.
fn start_module() -> Pkcs11 {
    let folder = std::env::var_os(FOLDER).expect("another test starts this one");
    configure(Path::new(&folder), 1);
    let module = Pkcs11::new(library()).unwrap();
    module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
    module
}

/// A folder with one initialised token.
fn token_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert!(start("processes::initialise_a_token", folder.path()).wait().unwrap().success());
    folder
}

#[test]
#[ignore = "another test starts it"]
fn initialise_a_token() {
    let module = start_module();
    let slot = module.get_all_slots().unwrap()[0];
    module.init_token(slot, &pin("87654321"), "shared").unwrap();
    let session = module.open_rw_session(slot).unwrap();
    session.login(UserType::So, Some(&pin("87654321"))).unwrap();
    session.init_pin(&pin(USER)).unwrap();
}

#[test]
fn a_child_of_a_fork_begins_anew() {
    let folder = token_folder();
    assert!(start("processes::fork_in_the_middle", folder.path()).wait().unwrap().success());
}

#[test]
#[ignore = "another test starts it"]
fn fork_in_the_middle() {
    let module = start_module();
    let slot = module.get_all_slots().unwrap()[0];
    let session = module.open_rw_session(slot).unwrap();
    session.login(UserType::User, Some(&pin(USER))).unwrap();
    let (public, private) = key_pair(&session, &[]);
    let sign = |session: &cryptoki::session::Session| {
        session.sign(&Mechanism::Sha256RsaPkcs, private, b"m").unwrap()
    };
    let expected = sign(&session);
    let stop = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Other threads are in the middle of calls when the process forks.
        for _ in 0..3 {
            let other = module.open_ro_session(slot).unwrap();
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    sign(&other);
                }
            });
        }
        // One of them changes the token, under its lock.
        let writer = module.open_rw_session(slot).unwrap();
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let data = [Attribute::Class(ObjectClass::DATA), Attribute::Token(true)];
                writer.destroy_object(writer.create_object(&data).unwrap()).unwrap();
            }
        });
        for round in 0..10 {
            // SAFETY: the child does what programs with PKCS #11 do after a fork, and leaves without
            // returning.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let code = crate::common::refused(module.get_library_info());
                    assert_eq!(code, RvError::CryptokiNotInitialized);
                    module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
                    let session = module.open_ro_session(slot).unwrap();
                    session.login(UserType::User, Some(&pin(USER))).unwrap();
                    assert_eq!(sign(&session), expected);
                    let writer = module.open_rw_session(slot).unwrap();
                    let data = [Attribute::Class(ObjectClass::DATA), Attribute::Token(true)];
                    writer.destroy_object(writer.create_object(&data).unwrap()).unwrap();
                }));
                // SAFETY: ends the child, without what the parent's test still has to do.
                unsafe { libc::_exit(i32::from(outcome.is_err())) };
            }
            let mut status = 0;
            // SAFETY: waits for the child, and writes to memory for its status.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0, "round {round}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    session.verify(&Mechanism::Sha256RsaPkcs, public, b"m", &sign(&session)).unwrap();
}

#[test]
fn a_finished_module_begins_again() {
    let folder = token_folder();
    assert!(start("processes::initialise_again_and_again", folder.path()).wait().unwrap().success());
}

#[test]
#[ignore = "another test starts it"]
fn initialise_again_and_again() {
    for _ in 0..20 {
        let module = start_module();
        let slot = module.get_all_slots().unwrap()[0];
        let session = module.open_rw_session(slot).unwrap();
        session.login(UserType::User, Some(&pin(USER))).unwrap();
        session.create_object(&[Attribute::Class(ObjectClass::DATA), Attribute::Token(true)]).unwrap();
        drop(session);
        module.finalize().unwrap();
    }
}

#[test]
fn processes_share_a_token() {
    let folder = token_folder();
    let mut children: Vec<_> =
        (0..3).map(|_| start("processes::initialise_again_and_again", folder.path())).collect();
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    // No change of one was lost to another.
    let text = std::fs::read_to_string(folder.path().join("0.json")).unwrap();
    assert_eq!(text.matches("\"revision\"").count(), 60);
}

#[test]
fn what_another_process_stores_is_seen() {
    let slot = crate::common::slot();
    let session = session(slot);
    // The functions that this program links are a second module on the same file.
    let mut other = 0;
    let list = crate::raw::list();
    let flags = cryptoki_sys::CKF_SERIAL_SESSION | cryptoki_sys::CKF_RW_SESSION;
    let (mut class, mut yes, mut no) = ([cryptoki_sys::CKO_DATA], [1u8], [0u8]);
    let mut template = [
        crate::raw::attribute(cryptoki_sys::CKA_CLASS, &mut class),
        crate::raw::attribute(cryptoki_sys::CKA_TOKEN, &mut yes),
        crate::raw::attribute(cryptoki_sys::CKA_PRIVATE, &mut no),
    ];
    let mut object = 0;
    // SAFETY: the pointers lead to as much as their lengths say.
    unsafe {
        let slot = slot.id() as cryptoki_sys::CK_SLOT_ID;
        assert_eq!(list.C_OpenSession.unwrap()(slot, flags, std::ptr::null_mut(), None, &mut other), 0);
        assert_eq!(list.C_CreateObject.unwrap()(other, template.as_mut_ptr(), 3, &mut object), 0);
    }
    let found = session.find_objects(&[]).unwrap();
    assert_eq!(found.len(), 1);
    session.destroy_object(found[0]).unwrap();
    // SAFETY: handles are numbers.
    let destroyed = unsafe { list.C_DestroyObject.unwrap()(other, object) };
    assert_eq!(destroyed, cryptoki_sys::CKR_OBJECT_HANDLE_INVALID);
}

#[test]
fn a_killed_process_leaves_a_whole_token() {
    // Most of the time, a process stretches a passphrase.
    std::thread::scope(|scope| {
        for rounds in [0..8, 8..15] {
            scope.spawn(|| kill_writers_of_a_token(rounds));
        }
    });
}

fn kill_writers_of_a_token(rounds: std::ops::Range<u64>) {
    let folder = token_folder();
    for round in rounds {
        let mut child = start("processes::write_for_ever", folder.path());
        std::thread::sleep(Duration::from_millis(60 + 7 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            start("processes::initialise_again_and_again", folder.path()).wait().unwrap().success(),
            "{round}"
        );
    }
    // The token, its lock and the configuration are left, and no half-written file.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
#[ignore = "another test starts it"]
fn write_for_ever() {
    let module = start_module();
    let session = module.open_rw_session(module.get_all_slots().unwrap()[0]).unwrap();
    session.login(UserType::User, Some(&pin(USER))).unwrap();
    loop {
        let template =
            [Attribute::Class(ObjectClass::DATA), Attribute::Token(true), Attribute::Value(vec![1; 20_000])];
        let object = session.create_object(&template).unwrap();
        session.destroy_object(object).unwrap();
    }
}

#[test]
fn a_damaged_file_is_reported_and_left_alone() {
    let slot = crate::common::fresh_slot();
    initialise(slot);
    session(slot);
    let path = crate::common::folder().join(format!("{}.json", slot.id()));
    let text = std::fs::read_to_string(&path).unwrap();
    for damaged in [&text[..text.len() / 2], "", "{}", &text.replace("\"format\":1", "\"format\":9")] {
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(crate::common::refused(module().get_token_info(slot)), RvError::TokenNotRecognized);
        let made = module().init_token(slot, &pin("87654321"), "new");
        assert_eq!(crate::common::refused(made), RvError::TokenNotRecognized);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    }
    std::fs::write(&path, &text).unwrap();
    module().get_token_info(slot).unwrap();
}
