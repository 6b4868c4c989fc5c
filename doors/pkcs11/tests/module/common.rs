//! One module for all tests of the process, and a token of its own for each.

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use std::fmt::Debug;
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The tokens of the configuration. Every test takes one.
const TOKENS: usize = 50;

/// The slots after them, whose tokens are over the service.
pub(crate) const SERVICE_SLOTS: [usize; 2] = [TOKENS, TOKENS + 1];

pub(crate) const OFFICER: &str = "87654321";
pub(crate) const USER: &str = "1234";

/// The shared library, which cargo puts next to the tests.
pub(crate) fn library() -> PathBuf {
    std::env::current_exe().unwrap().with_file_name("libmodmill_pkcs11.so")
}

/// The folder of the tokens of this process.
pub(crate) fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        configure(&folder, TOKENS);
        let service = "[[token]]\nsocket = \"service.sock\"\nkeys = [\"transit/web\", \"transit/other\"]\n";
        let more = format!("{service}label = \"with file\"\ntoken_file = \"access\"\n{service}");
        let mut config = std::fs::OpenOptions::new().append(true).open(folder.join("config.toml")).unwrap();
        config.write_all(more.as_bytes()).unwrap();
        folder
    })
}

/// Writes the configuration of `count` tokens whose PINs cost little, and names it to the module.
#[allow(unsafe_code)]
pub(crate) fn configure(folder: &std::path::Path, count: usize) {
    let entry = |number| format!("[[token]]\npath = \"{number}.json\"\npin_memory_mib = 1\npin_passes = 1\n");
    let path = folder.join("config.toml");
    // Renamed when it is whole: another process may be reading it.
    let draft = folder.join(format!("config-{}.toml", std::process::id()));
    std::fs::write(&draft, (0..count).map(entry).collect::<String>()).unwrap();
    std::fs::rename(&draft, &path).unwrap();
    // SAFETY: tests come here once, before the module is loaded, and nothing else of this process reads the
    // environment meanwhile by way of C.
    unsafe { std::env::set_var("MODMILL_PKCS11_CONFIG", &path) };
}

/// The initialised module.
pub(crate) fn module() -> &'static Pkcs11 {
    static MODULE: OnceLock<Pkcs11> = OnceLock::new();
    MODULE.get_or_init(|| {
        folder();
        let module = Pkcs11::new(library()).unwrap();
        module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)).unwrap();
        module
    })
}

pub(crate) fn pin(text: &str) -> AuthPin {
    AuthPin::new(text.into())
}

/// A slot that no other test has. Its token is not initialised.
pub(crate) fn fresh_slot() -> Slot {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    module().get_all_slots().unwrap()[NEXT.fetch_add(1, Ordering::Relaxed)]
}

/// A slot whose token is initialised, with both PINs.
pub(crate) fn slot() -> Slot {
    let slot = fresh_slot();
    initialise(slot);
    slot
}

pub(crate) fn initialise(slot: Slot) {
    module().init_token(slot, &pin(OFFICER), "token").unwrap();
    let session = module().open_rw_session(slot).unwrap();
    session.login(UserType::So, Some(&pin(OFFICER))).unwrap();
    session.init_pin(&pin(USER)).unwrap();
    session.logout().unwrap();
}

/// A session that may write, whose user is logged in.
pub(crate) fn session(slot: Slot) -> Session {
    let session = module().open_rw_session(slot).unwrap();
    session.login(UserType::User, Some(&pin(USER))).unwrap();
    session
}

/// A new RSA key: public and private.
pub(crate) fn key_pair(session: &Session, more: &[Attribute]) -> (ObjectHandle, ObjectHandle) {
    let public = [Attribute::Token(true), Attribute::ModulusBits(2048.into())];
    let private = [&[Attribute::Token(true)], more].concat();
    session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, &private).unwrap()
}

/// The return value of a call that has to fail.
pub(crate) fn refused<T: Debug>(outcome: Result<T, Error>) -> RvError {
    match outcome {
        Err(Error::Pkcs11(code, _)) => code,
        other => panic!("a refusal was expected, and this came: {other:?}"),
    }
}
