//! A folder with a configuration, keys and messages, and the program `openssl` in it.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

/// The provider that computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The provider under test.
    Modmill,
    /// OpenSSL's default provider, which says what is right.
    Default,
}

pub(crate) use By::{Default as Reference, Modmill};

pub(crate) struct Setup {
    folder: tempfile::TempDir,
}

/// The provider's library: cargo puts it next to the tests.
fn module() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a name");
    let module = test.with_file_name("libmodmill_openssl.so");
    assert!(module.exists(), "{} is not built", module.display());
    module
}

impl Setup {
    /// A folder with a key of 2048 bits. `None`, with a note, where there is no `openssl` of version 3 or
    /// later.
    pub(crate) fn new() -> Option<Self> {
        let version = Command::new("openssl").arg("version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let version = version.unwrap_or_default();
        if !["OpenSSL 3.", "OpenSSL 4."].iter().any(|known| version.starts_with(known)) {
            eprintln!("LEFT OUT: there is no openssl of version 3 or later (found {version:?})");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let module = module();
        let configuration = format!(
            "openssl_conf = init\n[init]\nproviders = providers\nalg_section = algorithms\n\
             [providers]\ndefault = default_provider\nmodmill = modmill_provider\n[default_provider]\nactivate = 1\n\
             [modmill_provider]\nmodule = {}\nactivate = 1\n\
             [algorithms]\ndefault_properties = ?provider=modmill\n\
             [req]\ndistinguished_name = name\n[name]\n",
            module.display()
        );
        let setup = Self { folder };
        setup.write("modmill.cnf", configuration.as_bytes());
        setup.write("default.cnf", b"[req]\ndistinguished_name = name\n[name]\n");
        setup.write("message", b"a message that is signed and encrypted\n");
        setup.ok(Reference, "genrsa -out key.pem 2048");
        setup.ok(Reference, "pkey -in key.pem -pubout -out public.pem");
        Some(setup)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, contents: &[u8]) {
        std::fs::write(self.path(name), contents).expect("a file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn command(&self, by: By, arguments: &str) -> Command {
        let mut command = Command::new("openssl");
        command.args(arguments.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        let configuration = if by == Modmill { "modmill.cnf" } else { "default.cnf" };
        command.env("OPENSSL_CONF", self.path(configuration));
        command.env("MODMILL_STATISTICS", self.path("statistics"));
        command
    }

    pub(crate) fn run(&self, by: By, arguments: &str) -> Output {
        self.command(by, arguments).output().expect("openssl can be run")
    }

    /// Runs a command that has to succeed.
    pub(crate) fn ok(&self, by: By, arguments: &str) -> Vec<u8> {
        let output = self.run(by, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{by:?}: openssl {arguments}: {said}");
        output.stdout
    }

    /// Runs a command that has to fail, without a crash. Returns what it says.
    pub(crate) fn fails(&self, by: By, arguments: &str) -> String {
        let output = self.run(by, arguments);
        assert!(!output.status.success(), "{by:?}: openssl {arguments} succeeds");
        assert!(output.status.code().is_some(), "{by:?}: openssl {arguments} crashes: {}", output.status);
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// The private operations that the provider computed in the commands since the last call, and their
    /// batches.
    pub(crate) fn statistics(&self) -> (usize, usize) {
        let path = self.path("statistics");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        let sum = |name: &str| {
            let figures = text.split_whitespace().filter_map(|part| part.strip_prefix(name));
            figures.map(|figure| figure.parse::<usize>().expect("a number")).sum()
        };
        (sum("operations="), sum("batches="))
    }

    /// Starts a command that runs until it is dropped.
    pub(crate) fn start(&self, by: By, arguments: &str) -> Running {
        let mut command = self.command(by, arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("openssl can be run"))
    }
}

/// A command that is ended when this is dropped.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
