//! The `openssl` program verifies our signatures and decrypts our ciphertexts, and the other way round. The
//! tests say so and pass where the program is missing.

use modmill::Engine;
use modmill_rsa::{
    AnyKey, EncryptionScheme, Hash, KeyError, Oaep, PrivateKey, Pss, PublicKey, Rsa, SaltLength,
    SignatureScheme, Sizes,
};
use std::path::PathBuf;
use std::process::Command;

const MESSAGE: &[u8] = b"a message of some length";

/// A folder in which the `openssl` program runs.
struct Openssl {
    folder: tempfile::TempDir,
}

impl Openssl {
    fn find() -> Option<Self> {
        let version = Command::new("openssl").arg("version").output();
        match version {
            Ok(output) if output.status.success() => {
                println!("{}", String::from_utf8_lossy(&output.stdout).trim());
                Some(Self { folder: tempfile::tempdir().unwrap() })
            }
            _ => {
                println!("left out: there is no program openssl");
                None
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, contents: &[u8]) -> &Self {
        std::fs::write(self.path(name), contents).unwrap();
        self
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Runs the program in the folder, and returns whether it succeeded.
    fn succeeds(&self, arguments: &str) -> bool {
        let output =
            Command::new("openssl").args(arguments.split(' ')).current_dir(&self.folder).output().unwrap();
        if !output.status.success() {
            println!("openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
        }
        output.status.success()
    }

    fn run(&self, arguments: &str) {
        assert!(self.succeeds(arguments), "openssl {arguments}");
    }

    /// Generates a key with OpenSSL.
    fn generate(&self, bits: usize, name: &str) -> PrivateKey {
        self.run(&format!("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:{bits} -out {name}"));
        PrivateKey::read(&self.read(name), None, Sizes::AllowSmall).unwrap()
    }
}

/// Lengths of keys that are generated quickly enough for every run. Long keys are for `--ignored`.
const QUICK: [usize; 3] = [1024, 2048, 3072];
const SLOW: [usize; 3] = [4096, 6144, 8192];

fn converse(sizes: &[usize]) {
    let Some(openssl) = Openssl::find() else { return };
    let engine = Engine::new().unwrap();
    for (index, &bits) in sizes.iter().enumerate() {
        // OpenSSL's keys and ours in turn.
        let key = if index % 2 == 0 {
            openssl.generate(bits, "key.pem")
        } else {
            let key = PrivateKey::generate(&engine, bits, Sizes::AllowSmall).unwrap();
            openssl.write("key.pem", key.to_pem().unwrap().as_bytes());
            key
        };
        assert_eq!(key.bits(), bits);
        openssl.write("public.pem", key.public_key().to_pem().unwrap().as_bytes());
        openssl.write("message", MESSAGE);
        signatures(&openssl, &Rsa::new(&engine), &key);
        encryption(&openssl, &Rsa::new(&engine).blinding(true), &key);
    }
}

#[test]
fn every_scheme_in_both_directions() {
    converse(&QUICK);
}

#[test]
#[ignore = "generates long keys, which takes a minute"]
fn every_scheme_in_both_directions_with_long_keys() {
    converse(&SLOW);
}

fn signatures(openssl: &Openssl, rsa: &Rsa<'_>, key: &PrivateKey) {
    let pss = |hash, mask_hash, salt| SignatureScheme::Pss(Pss { hash, mask_hash, salt });
    let hashes = [
        Hash::Sha224,
        Hash::Sha256,
        Hash::Sha384,
        Hash::Sha512,
        Hash::Sha512_256,
        Hash::Sha3_256,
        Hash::Sha3_512,
    ];
    let mut schemes: Vec<(SignatureScheme, String)> = hashes
        .map(|hash| (SignatureScheme::Pkcs1v15(hash), "-sigopt rsa_padding_mode:pkcs1".to_owned()))
        .to_vec();
    for (salt, option) in
        [(SaltLength::Digest, "digest"), (SaltLength::Longest, "max"), (SaltLength::Bytes(7), "7")]
    {
        let options = format!("-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:{option}");
        schemes.push((pss(Hash::Sha256, Hash::Sha256, salt), options));
    }
    // The defaults of both sides: OpenSSL signs with the longest salt, and both verify any salt.
    schemes.push((SignatureScheme::pss(Hash::Sha256), "-sigopt rsa_padding_mode:pss".to_owned()));
    let options = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:20 -sigopt rsa_mgf1_md:sha1";
    schemes.push((pss(Hash::Sha384, Hash::Sha1, SaltLength::Bytes(20)), options.to_owned()));
    for (scheme, options) in schemes {
        let hash = scheme.hash();
        let ours = rsa.sign(key, scheme, &[MESSAGE]).unwrap().remove(0).unwrap();
        openssl.write("ours", &ours);
        let verify = format!("dgst -{hash} {options} -verify public.pem -signature ours message");
        openssl.run(&verify);
        // OpenSSL notices a wrong signature.
        let mut wrong = ours.clone();
        wrong[5] ^= 1;
        openssl.write("ours", &wrong);
        assert!(!openssl.succeeds(&verify));
        openssl.run(&format!("dgst -{hash} {options} -sign key.pem -out theirs message"));
        let theirs = openssl.read("theirs");
        let verdicts =
            rsa.verify(key.public_key(), scheme, &[MESSAGE, b"another"], &[&theirs, &theirs]).unwrap();
        assert!(verdicts[0].is_ok() && verdicts[1].is_err(), "{scheme:?}");
    }
}

fn encryption(openssl: &Openssl, rsa: &Rsa<'_>, key: &PrivateKey) {
    let oaep = |hash, mask_hash, label| EncryptionScheme::Oaep(Oaep { hash, mask_hash, label });
    let schemes = [
        (EncryptionScheme::Pkcs1v15, "-pkeyopt rsa_padding_mode:pkcs1"),
        (oaep(Hash::Sha1, Hash::Sha1, b""), "-pkeyopt rsa_padding_mode:oaep"),
        (
            oaep(Hash::Sha256, Hash::Sha256, b""),
            "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha256",
        ),
        (
            oaep(Hash::Sha256, Hash::Sha1, b"label"),
            "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_mgf1_md:sha1 \
             -pkeyopt rsa_oaep_label:6c6162656c",
        ),
    ];
    for (scheme, options) in schemes {
        let ours = rsa.encrypt(key.public_key(), scheme, &[MESSAGE]).unwrap().remove(0).unwrap();
        openssl.write("ours", &ours);
        openssl.run(&format!("pkeyutl -decrypt -inkey key.pem {options} -in ours -out plain"));
        assert_eq!(openssl.read("plain"), MESSAGE);
        openssl.run(&format!("pkeyutl -encrypt -pubin -inkey public.pem {options} -in message -out theirs"));
        let answer = rsa.decrypt(key, scheme, &[openssl.read("theirs")]).unwrap().remove(0);
        assert_eq!(answer.unwrap()[..], *MESSAGE);
    }
}

#[test]
fn key_files_are_read_on_both_sides() {
    let Some(openssl) = Openssl::find() else { return };
    let key = openssl.generate(2048, "key.pem");
    let same = |name: &str, password: Option<&[u8]>| {
        let read = PrivateKey::read(&openssl.read(name), password, Sizes::Standard).unwrap();
        assert_eq!(read.to_der().unwrap(), key.to_der().unwrap(), "{name}");
    };
    // OpenSSL's files, in every format.
    for (name, command) in [
        ("pkcs8.der", "pkcs8 -topk8 -nocrypt -in key.pem -outform DER -out pkcs8.der"),
        ("pkcs1.pem", "rsa -traditional -in key.pem -out pkcs1.pem"),
        ("pkcs1.der", "rsa -traditional -in key.pem -outform DER -out pkcs1.der"),
    ] {
        openssl.run(command);
        same(name, None);
    }
    for (name, options) in [
        ("pbkdf2.pem", "-v2 aes-256-cbc -iter 5000"),
        ("sha1.pem", "-v2 aes-256-cbc -v2prf hmacWithSHA1"),
        ("sha512.pem", "-v2 aes-128-cbc -v2prf hmacWithSHA512"),
        ("scrypt.pem", "-scrypt"),
    ] {
        openssl.run(&format!("pkcs8 -topk8 -in key.pem {options} -passout pass:secret -out {name}"));
        same(name, Some(b"secret"));
    }
    openssl.run("rsa -in key.pem -pubout -out public.pem");
    openssl.run("rsa -in key.pem -RSAPublicKey_out -outform DER -out public.der");
    for name in ["public.pem", "public.der"] {
        assert_eq!(PublicKey::read(&openssl.read(name), Sizes::Standard).unwrap(), *key.public_key());
    }
    // Our files.
    openssl.write("ours", key.to_encrypted_pem(b"secret").unwrap().as_bytes());
    openssl.run("pkey -in ours -passin pass:secret -check -noout");
    openssl.write("ours", key.to_pkcs1_pem().unwrap().as_bytes());
    openssl.run("rsa -in ours -check -noout");
    openssl.write("ours", key.public_key().to_pkcs1_pem().unwrap().as_bytes());
    openssl.run("rsa -RSAPublicKey_in -in ours -noout");
}

/// Every error that names a command names one that works.
#[test]
fn unsupported_formats_are_converted_by_the_command_in_their_error() {
    let Some(openssl) = Openssl::find() else { return };
    let key = openssl.generate(2048, "key.pem");
    openssl.run("rsa -traditional -aes128 -in key.pem -passout pass:secret -out traditional");
    openssl.run("req -x509 -new -key key.pem -subj /CN=test -out certificate");
    openssl.run("pkcs8 -topk8 -v1 PBE-SHA1-3DES -in key.pem -passout pass:secret -out pkcs12_pbe");
    openssl.run(
        "pkcs8 -topk8 -v1 PBE-SHA1-3DES -in key.pem -passout pass:secret -outform DER -out pkcs12_pbe.der",
    );
    openssl.run("pkcs8 -topk8 -v2 des3 -in key.pem -passout pass:secret -out des3");
    let mut files = vec!["traditional", "certificate", "pkcs12_pbe", "pkcs12_pbe.der", "des3"];
    // Some installations have no legacy algorithms.
    let legacy = "pkcs8 -provider default -provider legacy -topk8 -v1 PBE-MD5-DES -in key.pem";
    if openssl.succeeds(&format!("{legacy} -passout pass:secret -out pbes1")) {
        files.push("pbes1");
    }
    let ssh = |command: &str| {
        let output = Command::new("sh").args(["-c", command]).current_dir(&openssl.folder).output();
        output.is_ok_and(|output| output.status.success())
    };
    if ssh(
        "chmod 600 key.pem && cp key.pem ssh && ssh-keygen -p -P '' -N '' -f ssh && ssh-keygen -y -f ssh > ssh.pub",
    ) {
        files.extend(["ssh", "ssh.pub"]);
    } else {
        println!("left out: there is no program ssh-keygen");
    }
    for name in files {
        let error = AnyKey::read(&openssl.read(name), Some(b"secret"), Sizes::Standard).unwrap_err();
        let is_pbes1 = ["pkcs12_pbe", "pkcs12_pbe.der", "pbes1"].contains(&name);
        assert_eq!(error.to_string().contains("PBES1"), is_pbes1, "{name}: {error}");
        let KeyError::Convert { command, .. } = error else { panic!("{name}: {error}") };
        let command = command.split(" (").next().unwrap();
        let (command, out) = match command.split_once(" > ").or_else(|| command.split_once(" -out ")) {
            Some((command, _)) => (command.to_owned(), "converted"),
            None => (format!("{command} -P '' -N ''"), name),
        };
        let command = command.replace("FILE", name);
        let passwords =
            if command.starts_with("openssl pk") { "-passin pass:secret -passout pass:secret" } else { "" };
        let redirection = if out == name { "" } else { "> converted" };
        assert!(ssh(&format!("{command} {passwords} {redirection}")), "{command}");
        let converted = AnyKey::read(&openssl.read(out), Some(b"secret"), Sizes::Standard).unwrap();
        assert_eq!(converted.public_key(), key.public_key(), "{command}");
    }
}
