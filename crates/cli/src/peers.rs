//! Other libraries to compare with, loaded at run time: nothing links to them, and nothing is
//! needed to build.
//!
//! A peer works on the same inputs, one call after another on each thread, with whatever it can
//! prepare beforehand (conversion of numbers, Montgomery constants) left out of its time.

mod flint;
mod gmp;
mod integers;
mod openssl;

use crate::bench::inputs::Inputs;
use crate::bench::rsa::{RsaOp, Task};
use libloading::Library;
use modmill::Op;
use std::ops::Range;

/// A library that was found.
pub(crate) trait Peer: Send + Sync {
    /// Which library it is.
    fn about(&self) -> &About;
    /// The function that computes an operation.
    fn function(&self, op: Op) -> &'static str;
    /// Takes over some items, converted and prepared.
    fn worker<'a>(&'a self, inputs: &Inputs, items: Range<usize>) -> Box<dyn Worker + 'a>;
    /// RSA, if the library has it.
    fn rsa(&self) -> Option<&dyn RsaPeer> {
        None
    }
}

/// A library with RSA.
pub(crate) trait RsaPeer: Send + Sync {
    /// The function that computes an operation.
    fn function(&self, op: RsaOp) -> &'static str;
    /// Takes over some items, keys read and prepared.
    fn worker<'a>(&'a self, task: &'a Task, items: Range<usize>) -> Box<dyn Worker + 'a>;
}

/// Which library a peer is.
pub(crate) struct About {
    /// `gmp`, `openssl` or `flint`.
    pub(crate) name: &'static str,
    /// What the library says of itself.
    pub(crate) version: String,
    /// The file it was loaded from.
    pub(crate) library: String,
}

/// Some items of a batch in the hands of one thread of a peer.
pub(crate) trait Worker: Send {
    /// Computes items, counted from the first this worker took.
    fn run(&mut self, items: Range<usize>);
    /// The answer of an item that was computed, `limbs` long.
    fn answer(&self, item: usize, limbs: usize) -> Vec<u64>;
}

/// A peer asked for: by name, perhaps from a given file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    kind: &'static Kind,
    file: Option<String>,
}

/// A library we know how to call.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    /// Names to try, the usual one first.
    files: &'static [&'static str],
    load: Load,
}

/// Finds its functions in a library loaded from the file named.
type Load = fn(Library, &str) -> Result<Box<dyn Peer>, libloading::Error>;

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kind {}

static KINDS: [Kind; 3] = [gmp::KIND, openssl::KIND, flint::KIND];

/// Which peers to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// All that are found.
    Found,
    /// These; an error if one is not there.
    These(Vec<Wanted>),
}

/// Reads `all`, `none`, or a list such as `gmp,openssl=/opt/lib/libcrypto.so.3`.
pub(crate) fn parse(text: &str) -> Result<Choice, String> {
    match text {
        "all" => return Ok(Choice::Found),
        "none" => return Ok(Choice::These(Vec::new())),
        _ => {}
    }
    let entry = |entry: &str| {
        let (name, file) = match entry.split_once('=') {
            Some((name, file)) => (name, Some(file.to_owned())),
            None => (entry, None),
        };
        match KINDS.iter().find(|kind| kind.name == name) {
            Some(kind) => Ok(Wanted { kind, file }),
            None => Err(format!("unknown peer {name:?}; known: gmp, openssl, flint, all, none")),
        }
    };
    text.split(',').map(entry).collect::<Result<_, _>>().map(Choice::These)
}

/// Loads the peers asked for.
pub(crate) fn load(choice: &Choice) -> Result<Vec<Box<dyn Peer>>, String> {
    match choice {
        Choice::Found => {
            let usual = |kind: &'static Kind| Wanted { kind, file: None };
            Ok(KINDS.iter().filter_map(|kind| open(&usual(kind)).ok()).collect())
        }
        Choice::These(wanted) => wanted.iter().map(open).collect(),
    }
}

fn open(Wanted { kind, file }: &Wanted) -> Result<Box<dyn Peer>, String> {
    let files: Vec<&str> = match file {
        Some(file) => vec![file],
        None => kind.files.to_vec(),
    };
    let mut reason = String::new();
    for file in &files {
        match load_library(file).and_then(|library| (kind.load)(library, file)) {
            Ok(peer) => return Ok(peer),
            Err(error) => reason = error.to_string(),
        }
    }
    Err(format!("cannot load {} from {}: {reason}", kind.name, files.join(", ")))
}

#[allow(unsafe_code)]
fn load_library(file: &str) -> Result<Library, libloading::Error> {
    // SAFETY: loading a library runs its initialisers. The names are those of well-known
    // libraries, or a file the user asked for.
    unsafe { Library::new(file) }
}

/// Copies function pointers out of a library into the struct that will keep it loaded.
macro_rules! api {
    ($(#[$doc:meta])* struct $name:ident { $($field:ident = $symbol:literal: $type:ty,)+ }) => {
        $(#[$doc])*
        struct $name {
            $($field: $type,)+
            /// Keeps the functions above where they are.
            _library: libloading::Library,
        }

        impl $name {
            fn new(library: libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: each symbol has the type that the library's documented interface gives
                // it, and the pointers live no longer than the library beside them.
                unsafe {
                    Ok(Self {
                        $($field: *library.get::<$type>(concat!($symbol, "\0").as_bytes())?,)+
                        _library: library,
                    })
                }
            }
        }
    };
}
use api;

/// A C string as text.
///
/// # Safety
/// `text` is null or points to a string that ends in a zero byte.
#[allow(unsafe_code)]
unsafe fn c_string(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return "unknown version".to_owned();
    }
    // SAFETY: by the contract above.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_peers_are_read() {
        assert_eq!(parse("all"), Ok(Choice::Found));
        assert_eq!(parse("none"), Ok(Choice::These(Vec::new())));
        let Ok(Choice::These(wanted)) = parse("gmp,openssl=/opt/libcrypto.so.4") else { panic!() };
        assert_eq!((wanted[0].kind.name, &wanted[0].file), ("gmp", &None));
        assert_eq!(wanted[1].file.as_deref(), Some("/opt/libcrypto.so.4"));
        assert!(parse("mpir").unwrap_err().contains("known: gmp"));
    }

    #[test]
    fn a_missing_library_is_named() {
        let choice = parse("gmp=/nowhere/libgmp.so").unwrap();
        let error = load(&choice).err().unwrap();
        assert!(error.contains("/nowhere/libgmp.so"), "{error}");
    }

    #[test]
    fn every_peer_found_computes_every_operation() {
        for peer in load(&Choice::Found).unwrap() {
            for &op in Op::ALL {
                for shared_modulus in [false, true] {
                    let shape = crate::bench::inputs::Shape {
                        op,
                        bits: 200,
                        exponent_bits: 100,
                        count: 5,
                        shared_modulus,
                    };
                    let inputs = Inputs::random(shape, 7);
                    let mut worker = peer.worker(&inputs, 1..5);
                    worker.run(0..4);
                    for item in 1..5 {
                        let limbs = inputs.answer_limbs();
                        let answer = worker.answer(item - 1, limbs);
                        assert_eq!(answer, inputs.expected(item), "{} {op} {item}", peer.about().name);
                    }
                }
            }
        }
    }
}
