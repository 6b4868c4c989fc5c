//! The secrets of a key must not stay in memory when the key is gone. A child process reads a key, writes it,
//! signs with it, drops it, and searches its own memory, which Linux shows as `/proc/self/mem`.
//!
//! The child knows the secrets only in disguise, so that it does not find its own copies.

use base64ct::{Base64UrlUnpadded, Encoding};
use modmill::{Backend, Engine};
use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use zeroize::Zeroizing;

/// Names the folder of the child's files.
const FOLDER: &str = "MODMILL_TRACES_FOLDER";
const DISGUISE: u64 = 0x5a5a_5a5a_5a5a_5a5a;
const PASSWORD: &[u8] = b"a password";

/// Every eight neighbouring bytes of a secret, in the order of files and in the order of limbs.
fn traces(secret: &[u8]) -> impl Iterator<Item = u64> {
    let windows = secret.windows(8).map(|window| u64::from_le_bytes(window.try_into().unwrap()));
    windows.flat_map(|word| [word, word.swap_bytes()]).map(|word| word ^ DISGUISE)
}

/// The low bits of a word, by which most words are found not to be a trace.
fn low_bits(word: u64) -> usize {
    (word & 0xf_ffff) as usize
}

/// Searches all writable memory of this process, and returns the number of places that hold a trace.
fn count_traces(traces: &HashSet<u64>) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let memory = File::open("/proc/self/mem").unwrap();
    let mut buffer = Zeroizing::new(vec![0u8; 1 << 20]);
    let (own, len) = (buffer.as_ptr() as u64, buffer.len() as u64);
    let mut possible = vec![false; 1 << 20];
    traces.iter().for_each(|&word| possible[low_bits(word)] = true);
    let is_trace = |word: u64| possible[low_bits(word)] && traces.contains(&word);
    let mut found = 0;
    for line in maps.lines().filter(|line| line.contains(" rw")) {
        let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let [start, end] = [start, end].map(|text| u64::from_str_radix(text, 16).unwrap());
        // Pieces overlap by seven bytes, so that no trace falls between two of them.
        for at in (start..end).step_by(buffer.len() - 7) {
            let piece = &mut buffer[..(end - at).min(len) as usize];
            if memory.read_exact_at(piece, at).is_err() {
                break;
            }
            // The part of the piece that is the buffer itself.
            for place in own.max(at)..(own + len).min(at + piece.len() as u64) {
                piece[(place - at) as usize] = 0;
            }
            let words = piece.windows(8).map(|window| u64::from_le_bytes(window.try_into().unwrap()));
            for (offset, _) in words.enumerate().filter(|(_, word)| is_trace(word ^ DISGUISE)) {
                println!("{:x} in {line}", at + offset as u64);
                found += 1;
            }
        }
    }
    found
}

/// Reads a file into memory of the right size.
fn read(path: &Path) -> Zeroizing<Vec<u8>> {
    let mut file = File::open(path).unwrap();
    let mut bytes = Zeroizing::new(vec![0; file.metadata().unwrap().len() as usize]);
    file.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
#[ignore = "the next test runs it in a process of its own"]
fn child() {
    let folder = std::env::var_os(FOLDER).expect("a folder");
    let folder = Path::new(&folder);
    let disguised = read(&folder.join("traces"));
    let traces: HashSet<u64> =
        disguised.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(count_traces(&traces), 0, "before the key is read");
    for name in ["encrypted.pem", "pkcs8.pem", "pkcs1.der", "key.jwk", "factorless.jwk", "broken.jwk"] {
        match PrivateKey::read(&read(&folder.join(name)), Some(PASSWORD), Sizes::Standard) {
            Ok(key) => {
                assert!(count_traces(&traces) > 0, "the search finds a key that is there");
                key.to_pem().unwrap();
                key.to_pkcs1_pem().unwrap();
                key.to_jwk().unwrap();
                key.to_encrypted_pem(PASSWORD).unwrap();
                let engine = Engine::builder().backend(Backend::Cpu).build().unwrap();
                let scheme = SignatureScheme::pss(Hash::Sha256);
                let signatures = Rsa::new(&engine).sign(&key, scheme, &["message"; 20]).unwrap();
                assert!(signatures.iter().all(Result::is_ok));
            }
            Err(error) => assert!(name == "broken.jwk", "{name}: {error}"),
        }
        assert_eq!(count_traces(&traces), 0, "after {name}");
    }
}

#[test]
fn nothing_of_a_key_stays_in_memory() {
    let key = PrivateKey::generate(&Engine::new().unwrap(), 2048, Sizes::Standard).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let jwk = key.to_jwk().unwrap();
    write("encrypted.pem", key.to_encrypted_pem(PASSWORD).unwrap().as_bytes());
    write("pkcs8.pem", key.to_pem().unwrap().as_bytes());
    write("pkcs1.der", &key.to_pkcs1_der().unwrap());
    write("key.jwk", jwk.as_bytes());
    write("factorless.jwk", format!("{}}}", &jwk[..jwk.find(",\"p\"").unwrap()]).as_bytes());
    write("broken.jwk", format!("{}oops", &jwk[..jwk.len() - 1]).as_bytes());
    let members: serde_json::Value = serde_json::from_str(&jwk).unwrap();
    let mut words = Vec::new();
    for name in ["d", "p", "q", "dp", "dq", "qi"] {
        let text = members[name].as_str().unwrap();
        let secret = Base64UrlUnpadded::decode_vec(text).unwrap();
        words.extend([text.as_bytes(), &secret].into_iter().flat_map(traces).flat_map(u64::to_le_bytes));
    }
    write("traces", &words);
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "traces::child", "--ignored", "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].concat();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&said));
}
