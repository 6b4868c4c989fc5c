//! NVRTC, NVIDIA's run-time compiler. It always makes machine code for the device's own architecture: a
//! driver refuses the intermediate code of a compiler that is newer than itself.
#![allow(unsafe_code)] // calls a C library

use super::program::{Architecture, Program};
use crate::error::{Error, Result};
use crate::library::{self, api};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

type Handle = *mut c_void;
type Strings = *const *const c_char;

api! {
    /// The functions of `nvrtc.h` that are used.
    struct Api {
        version = "nvrtcVersion": fn(*mut c_int, *mut c_int),
        create = "nvrtcCreateProgram": fn(*mut Handle, *const c_char, *const c_char, c_int, Strings, Strings),
        destroy = "nvrtcDestroyProgram": fn(*mut Handle),
        compile = "nvrtcCompileProgram": fn(Handle, c_int, Strings),
        code_size = "nvrtcGetCUBINSize": fn(Handle, *mut usize),
        code = "nvrtcGetCUBIN": fn(Handle, *mut c_char),
        log_size = "nvrtcGetProgramLogSize": fn(Handle, *mut usize),
        log = "nvrtcGetProgramLog": fn(Handle, *mut c_char),
    }
}

/// The loaded compiler.
pub(super) struct Nvrtc {
    api: Api,
    version: String,
    file: Option<PathBuf>,
    /// The libraries that it loads by name when it compiles.
    _builtins: Vec<Library>,
}

impl Nvrtc {
    /// Loads it from a file, or by a name that the system's loader knows.
    pub(super) fn load(file: &Path) -> std::result::Result<Self, String> {
        // SAFETY: loading a library runs its initialisers; this is NVIDIA's, or a file that the user
        // names as such.
        let library = unsafe { Library::new(file) }.map_err(|error| library::reason(&error))?;
        // SAFETY: as above.
        let api = unsafe { Api::new(library) }.map_err(|error| library::reason(&error))?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: writes two numbers.
        match unsafe { (api.version)(&mut major, &mut minor) } {
            0 => Ok(Self {
                api,
                version: format!("{major}.{minor}"),
                file: loaded_from(file),
                _builtins: builtins(file),
            }),
            code => Err(format!("nvrtcVersion fails with code {code}")),
        }
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The file it was loaded from, if that is known.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Machine code of a program.
    pub(super) fn compile(&self, program: &Program, architecture: Architecture) -> Result<Vec<u8>> {
        let options = program.all_options(architecture);
        let unit = Unit::new(&self.api, program)?;
        let options = Texts::new(options.iter().map(String::as_str), program)?;
        let count = options.pointers.len() as c_int;
        // SAFETY: the program exists, and `count` options are there.
        let code = unsafe { (self.api.compile)(unit.handle, count, options.pointers.as_ptr()) };
        if code != 0 {
            return Err(failed(program, format!("{}nvrtcCompileProgram: code {code}", unit.log())));
        }
        let code = unit.read(self.api.code_size, self.api.code);
        code.filter(|code| !code.is_empty())
            .ok_or_else(|| failed(program, "the compiler made no machine code".to_owned()))
    }
}

/// The file of a library that was just loaded. Where the system's loader found a bare name, Linux tells.
fn loaded_from(file: &Path) -> Option<PathBuf> {
    if file.is_absolute() {
        return Some(file.to_owned());
    }
    let name = file.file_name()?.to_str()?;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let is_it =
        |path: &&Path| path.file_name().is_some_and(|found| found.to_string_lossy().starts_with(name));
    maps.lines()
        .filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])))
        .find(is_it)
        .map(Path::to_owned)
}

/// The library of built-in functions in the compiler's folder. The compiler asks the system's loader for it
/// by its name, which finds it only in the system's folders, or where it is loaded already.
fn builtins(file: &Path) -> Vec<Library> {
    let is_builtins = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libnvrtc-builtins.so"))
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = folder.and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten();
    let files = files.map(|entry| entry.path()).filter(is_builtins);
    // SAFETY: runs the initialisers of a library of NVIDIA's; without it compiling fails, and says so.
    files.filter_map(|file| unsafe { Library::new(file) }.ok()).collect()
}

fn failed(program: &Program, log: String) -> Error {
    Error::Compile { program: program.name.clone(), log }
}

/// Texts that end in zero, and their addresses.
struct Texts {
    pointers: Vec<*const c_char>,
    /// The texts that the pointers point to.
    _texts: Vec<CString>,
}

impl Texts {
    fn new<'a>(texts: impl Iterator<Item = &'a str>, program: &Program) -> Result<Self> {
        let texts: Vec<CString> = texts
            .map(CString::new)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| failed(program, error.to_string()))?;
        Ok(Self { pointers: texts.iter().map(|text| text.as_ptr()).collect(), _texts: texts })
    }
}

/// A program inside of the compiler.
struct Unit<'a> {
    api: &'a Api,
    handle: Handle,
}

impl<'a> Unit<'a> {
    fn new(api: &'a Api, program: &Program) -> Result<Self> {
        let files = || program.files.iter().filter(|file| !file.is_for_emulator());
        let name = format!("{}.cu", program.name);
        let main = Texts::new([program.main.as_str(), name.as_str()].into_iter(), program)?;
        let names = Texts::new(files().map(|file| file.name), program)?;
        let texts = Texts::new(files().map(|file| file.text), program)?;
        let mut handle = ptr::null_mut();
        // SAFETY: writes a handle; all texts end in zero, and as many headers as names are there.
        let code = unsafe {
            (api.create)(
                &mut handle,
                main.pointers[0],
                main.pointers[1],
                names.pointers.len() as c_int,
                texts.pointers.as_ptr(),
                names.pointers.as_ptr(),
            )
        };
        match code {
            0 => Ok(Self { api, handle }),
            code => Err(failed(program, format!("nvrtcCreateProgram: code {code}"))),
        }
    }

    /// The compiler's messages.
    fn log(&self) -> String {
        let bytes = self.read(self.api.log_size, self.api.log).unwrap_or_default();
        CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Reads bytes whose number the compiler tells.
    fn read(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> c_int,
        read: unsafe extern "C" fn(Handle, *mut c_char) -> c_int,
    ) -> Option<Vec<u8>> {
        let mut bytes = 0;
        // SAFETY: the program exists; writes a number.
        if unsafe { size(self.handle, &mut bytes) } != 0 {
            return None;
        }
        let mut buffer = vec![0; bytes];
        // SAFETY: the program exists; writes as many bytes as it just said.
        (unsafe { read(self.handle, buffer.as_mut_ptr().cast()) } == 0).then_some(buffer)
    }
}

impl Drop for Unit<'_> {
    fn drop(&mut self) {
        // SAFETY: the program exists and is not used again.
        unsafe { (self.api.destroy)(&mut self.handle) };
    }
}
