//! The stores, and documents in them, as the service uses them.

mod commits;
mod faults;
mod kill;
mod model;
mod postgres;
mod proxy;
mod replicas;
mod restore;

use modmill_records::{Document, Kinds};
use modmill_seal::SecretBytes;
use serde::{Deserialize, Serialize};

/// A document of these tests.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    id: String,
    number: u64,
    secret: SecretBytes,
}

impl Note {
    fn new(id: impl Into<String>, number: u64) -> Self {
        let secret = vec![u8::try_from(number % 251).unwrap(); 300];
        Self { id: id.into(), number, secret: SecretBytes::new(secret.into()) }
    }

    /// Whether all of it belongs together.
    fn is_whole(&self) -> bool {
        self.secret == Self::new("", self.number).secret
    }
}

impl Document for Note {
    const KIND: &'static str = "note";

    fn id(&self) -> &str {
        &self.id
    }
}

/// A folder in memory where there is one: writing it to disk takes long, and what a process wrote before it
/// was killed is the same there.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn kinds() -> Kinds {
    Kinds::default().with::<Note>()
}
