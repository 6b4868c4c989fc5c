//! Compiling a program to a library of the host that has its kernels.
#![allow(unsafe_code)] // loads the library

use crate::cache::Cache;
use crate::compiler::watch::Compilation;
use crate::compiler::{Digest, Program};
use crate::error::{Error, Result};
use crate::library;
use crate::memo::Memo;
use libloading::Library;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The header that gives the CPU the functions of a GPU. It is included first.
const HEADER: &str = "emulator.hpp";

/// The compiler must not fuse multiplications and additions, so that results do not depend on the host.
/// Kernels are compiled a third faster with `-O1` than with `-O2`, and run as fast.
const OPTIONS: &[&str] = &["-std=c++17", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-x", "c++"];

/// The kernels of a program. A program is compiled at most once in a process, and kept in the cache.
/// Libraries are never unloaded, because threads keep variables in them.
pub(super) fn library(program: &Program, cache: &Cache) -> Result<&'static Library> {
    static LIBRARIES: Memo<Digest, &'static Library> = Memo::new();
    LIBRARIES.get(&program.digest(), || {
        let folder = TempDir::new().map_err(|error| broken(program, &error))?;
        let compiler = Compiler::from_environment()?;
        let key = Digest::of(&[
            program.digest().bytes(),
            compiler.version.as_bytes(),
            OPTIONS.join(" ").as_bytes(),
            env::consts::ARCH.as_bytes(),
            env!("CARGO_PKG_VERSION").as_bytes(),
        ]);
        let file = folder.path().join("kernels.so");
        match cache.get(&key) {
            Some(code) => fs::write(&file, code).map_err(|error| broken(program, &error))?,
            None => {
                let _compilation = Compilation::begin();
                compiler.compile(program, folder.path(), &file)?;
                cache.put(&key, &fs::read(&file).map_err(|error| broken(program, &error))?);
            }
        }
        // SAFETY: runs the initialisers of a library that was just compiled from the program, or was
        // when the cache got it. It stays loaded when its file is removed.
        let library = unsafe { Library::new(&file) }.map_err(|error| broken(program, &error))?;
        Ok(Box::leak(Box::new(library)))
    })
}

fn broken(program: &Program, error: &(dyn std::error::Error + 'static)) -> Error {
    Error::Compile { program: program.name.clone(), log: library::reason(error) }
}

/// The host's C++ compiler.
struct Compiler {
    /// The program, and options that `CXX` may give it.
    command: Vec<String>,
    version: String,
}

impl Compiler {
    fn from_environment() -> Result<Self> {
        let command = env::var("CXX").unwrap_or_default();
        let mut command: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if command.is_empty() {
            command.push("c++".to_owned());
        }
        let mut compiler = Self { command, version: String::new() };
        let output = compiler.run(|command| command.arg("--version"))?;
        compiler.version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(compiler)
    }

    fn run(&self, arguments: impl FnOnce(&mut Command) -> &mut Command) -> Result<Output> {
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]);
        let missing = |error| Error::NoHostCompiler { reason: format!("{}: {error}", self.command[0]) };
        arguments(&mut command).output().map_err(missing)
    }

    fn compile(&self, program: &Program, folder: &Path, file: &Path) -> Result<()> {
        let main = folder.join("kernels.cpp");
        let texts = program.files.iter().map(|source| (folder.join(source.name), source.text));
        for (path, text) in texts.chain([(main.clone(), program.main.as_str())]) {
            fs::write(path, text).map_err(|error| broken(program, &error))?;
        }
        let emulated = program.files.iter().any(|source| source.name == HEADER);
        let output = self.run(|command| {
            command.args(OPTIONS).args(program.define_options()).arg("-I").arg(folder);
            if emulated {
                command.arg("-include").arg(HEADER);
            }
            command.arg(&main).arg("-o").arg(file)
        })?;
        match output.status.success() {
            true => Ok(()),
            false => Err(Error::Compile {
                program: program.name.clone(),
                log: String::from_utf8_lossy(&output.stderr).into_owned(),
            }),
        }
    }
}
