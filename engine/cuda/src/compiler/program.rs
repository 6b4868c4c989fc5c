//! Programs of kernels, and the keys of their machine code.

use crate::digest::Digest;
use crate::sources::{self, Source};

/// A program of kernels. Kernels are declared `extern "C"`, so that they are found by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name in messages.
    pub name: String,
    /// The text that is compiled; it includes `files` by their names.
    pub main: String,
    /// The files that the text may include.
    pub files: &'static [Source],
    /// Macros, as names and values.
    pub defines: Vec<(String, String)>,
    /// Options for the GPU's compiler beyond the usual ones; the emulated device ignores them.
    pub options: Vec<String>,
    /// Whether it may use instructions that only one generation has (`sm_90a` instead of `sm_90`). There are
    /// such instructions from 9.0 on.
    pub specific: bool,
}

impl Program {
    /// A program of some files, named without their ending, with macros that are numbers.
    pub(crate) fn new(name: impl Into<String>, files: &[&str], defines: &[(&str, u32)]) -> Self {
        Self {
            name: name.into(),
            main: files.iter().map(|file| format!("#include \"{file}.cuh\"\n")).collect(),
            files: sources::ALL,
            defines: defines.iter().map(|&(name, value)| (name.to_owned(), value.to_string())).collect(),
            options: Vec::new(),
            specific: false,
        }
    }

    /// The digest of everything that the program is made of.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let files = self.files.iter().flat_map(|file| [file.name.as_bytes(), file.text.as_bytes()]);
        self.digest_with(files.collect())
    }

    /// The key of the program within this process. Its files do not change while the process runs, so that
    /// their place stands for their texts: hashing these takes as long as a small batch waits for its kernels
    /// to start.
    pub(crate) fn key_in_process(&self) -> Digest {
        let place = (self.files.as_ptr() as usize).to_le_bytes();
        self.digest_with(vec![&place])
    }

    fn digest_with<'a>(&'a self, files: Vec<&'a [u8]>) -> Digest {
        let specific = [u8::from(self.specific)];
        let mut parts: Vec<&[u8]> = vec![self.name.as_bytes(), self.main.as_bytes(), &specific];
        // Numbers of parts keep the lists from running into each other.
        let counts = [self.files.len(), self.defines.len(), self.options.len()].map(usize::to_le_bytes);
        parts.extend(counts.iter().map(|count| &count[..]));
        parts.extend(files);
        parts.extend(self.defines.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
        parts.extend(self.options.iter().map(String::as_bytes));
        Digest::of(&parts)
    }

    /// The macros as options of a compiler.
    pub(crate) fn define_options(&self) -> impl Iterator<Item = String> {
        self.defines.iter().map(|(name, value)| format!("-D{name}={value}"))
    }

    /// All options of the GPU's compiler.
    pub(super) fn all_options(&self, architecture: Architecture) -> Vec<String> {
        let Architecture { major, minor } = architecture;
        let mut options = vec![
            format!("-arch=sm_{major}{minor}{}", if self.specific && major >= 9 { "a" } else { "" }),
            "--std=c++17".to_owned(),
            // Functions without a mark are for the device, so that the same text is plain C++ too.
            "-default-device".to_owned(),
        ];
        options.extend(self.define_options());
        options.extend(self.options.iter().cloned());
        options
    }
}

/// A generation of GPUs, by its compute capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Architecture {
    /// The generation.
    pub major: u32,
    /// The version within the generation.
    pub minor: u32,
}

/// The key of a program's machine code in a bundle: everything but the compiler's version, which a
/// host without compiler cannot know.
#[must_use]
pub fn code_key(program: &Program, architecture: Architecture) -> Digest {
    let options = program.all_options(architecture).join(" ");
    Digest::of(&[program.digest().bytes(), options.as_bytes(), env!("CARGO_PKG_VERSION").as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Program {
        Program {
            name: "square".to_owned(),
            main: "#include \"square.cuh\"".to_owned(),
            files: &[Source { name: "square.cuh", text: "" }],
            defines: vec![("WORDS".to_owned(), "64".to_owned())],
            options: Vec::new(),
            specific: false,
        }
    }

    #[test]
    fn keys_differ_where_anything_differs() {
        let hopper = Architecture { major: 9, minor: 0 };
        let mut others = vec![program(); 5];
        others[0].main.push(' ');
        others[1].files = &[Source { name: "square.cuh", text: " " }];
        others[2].defines[0].1.push('0');
        others[3].options.push("-lineinfo".to_owned());
        others[4].specific = true;
        let key = code_key(&program(), hopper);
        assert_eq!(key, code_key(&program(), hopper));
        let one = program();
        assert_eq!(one.key_in_process(), one.clone().key_in_process());
        assert_ne!(key, code_key(&program(), Architecture { major: 8, minor: 9 }));
        for other in others {
            assert_ne!(key, code_key(&other, hopper), "{other:?}");
            assert_ne!(one.key_in_process(), other.key_in_process(), "{other:?}");
        }
    }
}
