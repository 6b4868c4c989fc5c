use super::*;

fn bytes(key: &MasterKey) -> Vec<u8> {
    key.wrapping_key(None).unwrap().expose().to_vec()
}

#[test]
fn text_is_hex_or_base64() {
    let expected: Vec<u8> = (0..32).map(|byte| byte * 8 + 7).collect();
    let hex: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
    for text in [hex.clone(), hex.to_uppercase(), format!(" {hex}\n"), STANDARD.encode(&expected)] {
        assert_eq!(bytes(&MasterKey::parse(&text, "it").unwrap()), expected, "{text}");
    }
    for text in
        ["", "00", &hex[1..], &format!("{hex}00"), &hex.replace('0', "g"), "\u{e9}".repeat(32).as_str()]
    {
        let error = MasterKey::parse(text, "MODMILL_MASTER_KEY").err().unwrap().to_string();
        assert!(
            error.contains("MODMILL_MASTER_KEY") && (text.is_empty() || !error.contains(text)),
            "{error}"
        );
    }
}

#[test]
fn a_file_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    assert!(matches!(MasterKey::read(&path), Err(MasterKeyError::File { .. })));
    let made = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| bytes(&MasterKey::read_or_create(&path).unwrap()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(made.iter().all(|key| *key == made[0]), "processes that start together have one key");
    assert_eq!(bytes(&MasterKey::read(&path).unwrap()), made[0]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_no_key_is_refused_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    std::fs::write(&path, [9; 32]).unwrap();
    assert_eq!(
        bytes(&MasterKey::read_or_create(&path).unwrap()),
        [9; 32],
        "32 bytes are a key as they stand"
    );
    for wrong in [&b""[..], &[9; 31], &[b'a'; 5000]] {
        std::fs::write(&path, wrong).unwrap();
        assert!(matches!(MasterKey::read_or_create(&path), Err(MasterKeyError::Form(_))));
        assert_eq!(std::fs::read(&path).unwrap(), wrong);
    }
}

#[test]
fn a_passphrase_depends_on_its_salt_and_its_bytes() {
    let secret = |text: &str| SecretBytes::new(Zeroizing::new(text.as_bytes().to_vec()));
    assert!(matches!(MasterKey::passphrase(secret("too short")), Err(MasterKeyError::Passphrase)));
    let one = MasterKey::passphrase(secret("a long passphrase")).unwrap().cheap();
    let two = MasterKey::passphrase(secret("another passphrase")).unwrap().cheap();
    let (first, second) = (one.new_stretch().unwrap(), one.new_stretch().unwrap());
    let key = |master: &MasterKey, stretch: &Option<Stretch>| master.wrapping_key(stretch.as_ref()).unwrap();
    assert_eq!(key(&one, &first), key(&one, &first));
    assert_ne!(key(&one, &first), key(&one, &second));
    assert_ne!(key(&one, &first), key(&two, &first));
    assert_eq!(one.wrapping_key(None).err(), Some(SealError::WrongMasterKey));
}

#[test]
fn a_header_cannot_ask_for_all_memory() {
    let one = MasterKey::passphrase(SecretBytes::new(Zeroizing::new(vec![b'a'; 20]))).unwrap().cheap();
    for cost in [
        Cost { memory_kib: u32::MAX, passes: 1, lanes: 1 },
        Cost { memory_kib: 64, passes: u32::MAX, lanes: 1 },
        Cost { memory_kib: 64, passes: 1, lanes: u32::MAX },
        Cost { memory_kib: 0, passes: 0, lanes: 0 },
    ] {
        assert_eq!(one.wrapping_key(Some(&Stretch::new(cost).unwrap())).err(), Some(SealError::Stretch));
    }
}
