//! Reading keys. The format is recognised by the contents: PEM, DER or a JSON Web Key.

use super::stack::with_clean_stack;
use super::{AnyKey, PrivateKey, PrivateParts, PublicKey, Sizes, jwk, password, pem};
use crate::KeyError;
use pkcs1::{ObjectIdentifier, RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::der::asn1::{AnyRef, OctetStringRef};
use pkcs8::der::{Decode, ErrorKind, Reader, SliceReader};
use pkcs8::pkcs5::pbes2::PBES2_OID;
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};

impl AnyKey {
    /// Reads a key from PEM or DER (PKCS #8 with or without a password, PKCS #1, `SubjectPublicKeyInfo`), or
    /// from a JSON Web Key.
    ///
    /// PEM may have other text, other blocks and white space around the key, and lines of any length. Of
    /// several keys the first private key is read, or the first public key if none is private.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{AnyKey, PrivateKey, Sizes};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 512, Sizes::AllowSmall)?;
    /// let pem = key.to_encrypted_pem(b"password")?;
    /// let read = AnyKey::read(pem.as_bytes(), Some(b"password"), Sizes::AllowSmall)?;
    /// assert!(matches!(&read, AnyKey::Private(_)));
    /// assert_eq!(read.public_key(), key.public_key());
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
    pub fn read(bytes: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<Self, KeyError> {
        with_clean_stack(|| read(bytes, password, sizes))
    }
}

impl PublicKey {
    /// Reads a public key, or the public half of a private key, as [`AnyKey::read`] does.
    ///
    /// ```
    /// use modmill_rsa::{KeyError, PublicKey, Sizes};
    ///
    /// let refused = PublicKey::read(b"ssh-rsa AAAAB3NzaC1yc2E= user@host", Sizes::Standard);
    /// assert!(matches!(refused, Err(KeyError::Convert { .. })));
    /// ```
    pub fn read(bytes: &[u8], sizes: Sizes) -> Result<Self, KeyError> {
        AnyKey::read(bytes, None, sizes).map(|key| key.public_key().clone())
    }
}

impl PrivateKey {
    /// Reads a private key as [`AnyKey::read`] does.
    ///
    /// ```
    /// use modmill::Engine;
    /// use modmill_rsa::{PrivateKey, Sizes};
    ///
    /// let key = PrivateKey::generate(&Engine::new()?, 512, Sizes::AllowSmall)?;
    /// let read = PrivateKey::read(key.to_pem()?.as_bytes(), None, Sizes::AllowSmall)?;
    /// assert_eq!(read.to_der()?, key.to_der()?);
    /// # Ok::<(), modmill_rsa::Error>(())
    /// ```
    pub fn read(bytes: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<Self, KeyError> {
        match AnyKey::read(bytes, password, sizes)? {
            AnyKey::Private(key) => Ok(key),
            AnyKey::Public(_) => Err(KeyError::NotPrivate),
        }
    }
}

fn format_error(reason: impl ToString) -> KeyError {
    KeyError::Format(reason.to_string())
}

fn read(bytes: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<AnyKey, KeyError> {
    // Some editors put a byte order mark before UTF-8.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    if text.starts_with(b"{") {
        return jwk::read(text, sizes);
    }
    if AnyRef::from_der(bytes).is_ok() {
        return read_der(bytes, password, sizes);
    }
    let blocks = pem::blocks(text);
    let first = |labels: &[&str]| blocks.iter().find(|block| labels.contains(&block.label));
    let private = first(&["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY"]);
    match private.or_else(|| first(&["PUBLIC KEY", "RSA PUBLIC KEY"])).or(blocks.first()) {
        Some(block) => read_block(block, password, sizes),
        None if text.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"ssh-rsa ")) => {
            Err(KeyError::Convert {
                format: "a public key of OpenSSH",
                command: "ssh-keygen -e -m PKCS8 -f FILE > public.pem",
            })
        }
        // DER starts with a sequence. The attempt says what is wrong with it.
        None if bytes.first() == Some(&0x30) => read_der(bytes, password, sizes),
        None => Err(format_error("neither PEM nor DER nor JSON")),
    }
}

/// Reads a block of PEM by its label.
fn read_block(block: &pem::Block<'_>, password: Option<&[u8]>, sizes: Sizes) -> Result<AnyKey, KeyError> {
    let convert = |format, command| Err(KeyError::Convert { format, command });
    match block.label {
        "OPENSSH PRIVATE KEY" => {
            return convert(
                "a private key of OpenSSH",
                "ssh-keygen -p -m PKCS8 -f FILE (this rewrites FILE: make a copy first)",
            );
        }
        "CERTIFICATE" => {
            return convert("a certificate", "openssl x509 -in FILE -noout -pubkey > public.pem");
        }
        _ if block.is_encrypted() => {
            return convert(
                "a key in the old encryption of PEM (Proc-Type: 4,ENCRYPTED)",
                "openssl pkcs8 -topk8 -in FILE -out key.pem",
            );
        }
        _ => {}
    }
    let der = block.decode()?;
    match block.label {
        "PRIVATE KEY" => read_pkcs8(&der, sizes),
        "ENCRYPTED PRIVATE KEY" => read_encrypted(&der, password, sizes),
        "RSA PRIVATE KEY" => read_pkcs1(&der, sizes),
        "PUBLIC KEY" => read_spki(&der, sizes).map(AnyKey::Public),
        "RSA PUBLIC KEY" => read_public_pkcs1(&der, sizes).map(AnyKey::Public),
        label => Err(format_error(format!("it is the PEM of a {label:?}"))),
    }
}

/// Reads DER of any kind. The kinds differ in their second field.
fn read_der(der: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<AnyKey, KeyError> {
    if encryption_algorithm(der).is_ok() {
        return read_encrypted(der, password, sizes);
    }
    if PrivateKeyInfoRef::from_der(der).is_ok() {
        return read_pkcs8(der, sizes);
    }
    if SubjectPublicKeyInfoRef::from_der(der).is_ok() {
        return read_spki(der, sizes).map(AnyKey::Public);
    }
    if RsaPublicKeyRef::from_der(der).is_ok() {
        return read_public_pkcs1(der, sizes).map(AnyKey::Public);
    }
    read_pkcs1(der, sizes)
}

/// The algorithm of an `EncryptedPrivateKeyInfo`, which need not be supported.
fn encryption_algorithm(der: &[u8]) -> Result<ObjectIdentifier, pkcs8::der::Error> {
    SliceReader::new(der)?.sequence(|fields| {
        let algorithm = AlgorithmIdentifierRef::decode(fields)?;
        <&OctetStringRef>::decode(fields)?;
        Ok(algorithm.oid)
    })
}

/// Encrypts a key anew in a way that is read here.
const CONVERT_ENCRYPTION: &str =
    "openssl pkey -provider default -provider legacy -in FILE -aes256 -out key.pem";

/// Whether this is one of the password-based encryptions before PBES2: those of PKCS #5 version 1.5 and of
/// PKCS #12.
fn is_pbes1(algorithm: ObjectIdentifier) -> bool {
    let name = algorithm.to_string();
    name.starts_with("1.2.840.113549.1.5.") || name.starts_with("1.2.840.113549.1.12.1.")
}

fn read_encrypted(der: &[u8], password: Option<&[u8]>, sizes: Sizes) -> Result<AnyKey, KeyError> {
    let unsupported = KeyError::Convert {
        format: "a key in an encryption other than PBES2 with AES",
        command: CONVERT_ENCRYPTION,
    };
    let algorithm = encryption_algorithm(der).map_err(format_error)?;
    if algorithm != PBES2_OID {
        return Err(match is_pbes1(algorithm) {
            true => KeyError::Convert { format: "a key encrypted by PBES1", command: CONVERT_ENCRYPTION },
            false => unsupported,
        });
    }
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(|error| match error.kind() {
        ErrorKind::OidUnknown { .. } => unsupported.clone(),
        _ => format_error(error),
    })?;
    let parameters = info.encryption_algorithm.pbes2().ok_or(unsupported)?;
    let password = password.ok_or(KeyError::PasswordNeeded)?;
    let der = password::decrypt(parameters, info.encrypted_data.as_bytes(), password)?;
    // Under a wrong password the padding may happen to be right. The plaintext is then no key.
    if PrivateKeyInfoRef::from_der(&der).is_err() {
        return Err(KeyError::WrongPassword);
    }
    read_pkcs8(&der, sizes)
}

fn read_pkcs8(der: &[u8], sizes: Sizes) -> Result<AnyKey, KeyError> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(format_error)?;
    check_algorithm(info.algorithm)?;
    read_pkcs1(info.private_key.as_bytes(), sizes)
}

fn read_spki(der: &[u8], sizes: Sizes) -> Result<PublicKey, KeyError> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(format_error)?;
    check_algorithm(info.algorithm)?;
    let bits = info.subject_public_key.as_bytes().ok_or_else(|| format_error("an odd number of bits"))?;
    read_public_pkcs1(bits, sizes)
}

fn check_algorithm(algorithm: AlgorithmIdentifierRef<'_>) -> Result<(), KeyError> {
    const NAMES: [(ObjectIdentifier, &str); 4] = [
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10"), "RSASSA-PSS only"),
        (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.7"), "RSAES-OAEP only"),
        (ObjectIdentifier::new_unwrap("1.2.840.10045.2.1"), "elliptic curves"),
        (ObjectIdentifier::new_unwrap("1.3.101.112"), "Ed25519"),
    ];
    if algorithm.oid != pkcs1::ALGORITHM_OID {
        let known = NAMES.iter().find(|(oid, _)| *oid == algorithm.oid);
        let name = known.map_or(algorithm.oid.to_string(), |(_, name)| (*name).to_owned());
        return Err(KeyError::Algorithm(name));
    }
    if algorithm.parameters.is_some_and(|parameters| parameters != AnyRef::NULL) {
        return Err(format_error("RSA with parameters"));
    }
    Ok(())
}

fn read_public_pkcs1(der: &[u8], sizes: Sizes) -> Result<PublicKey, KeyError> {
    let key = RsaPublicKeyRef::from_der(der).map_err(format_error)?;
    PublicKey::new(key.modulus.as_bytes(), key.public_exponent.as_bytes(), sizes)
}

fn read_pkcs1(der: &[u8], sizes: Sizes) -> Result<AnyKey, KeyError> {
    let key = RsaPrivateKeyRef::from_der(der).map_err(format_error)?;
    if key.other_prime_infos.is_some() {
        return Err(KeyError::MultiPrime);
    }
    let parts = PrivateParts {
        modulus: key.modulus.as_bytes(),
        public_exponent: key.public_exponent.as_bytes(),
        private_exponent: key.private_exponent.as_bytes(),
        prime1: key.prime1.as_bytes(),
        prime2: key.prime2.as_bytes(),
        exponent1: Some(key.exponent1.as_bytes()),
        exponent2: Some(key.exponent2.as_bytes()),
        coefficient: Some(key.coefficient.as_bytes()),
    };
    PrivateKey::new(&parts, sizes).map(AnyKey::Private)
}
