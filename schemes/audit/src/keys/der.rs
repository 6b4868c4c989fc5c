//! DER: certificates, requests and public keys.

use crate::{EntryError, Key};
use pkcs8::der::asn1::AnyRef;
use pkcs8::der::{Decode, ErrorKind, Reader, SliceReader, Tag, Tagged};
use pkcs8::spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

/// The algorithms whose keys are RSA keys: any padding, PSS only, OAEP only.
const RSA: [&str; 3] = ["1.2.840.113549.1.1.1", "1.2.840.113549.1.1.10", "1.2.840.113549.1.1.7"];

/// Names of other algorithms.
const OTHERS: [(&str, &str); 4] = [
    ("1.2.840.10045.2.1", "elliptic curves"),
    ("1.2.840.10040.4.1", "DSA"),
    ("1.3.101.112", "Ed25519"),
    ("1.3.101.113", "Ed448"),
];

/// The key of a certificate, of a request, of a `SubjectPublicKeyInfo` or of PKCS #1.
pub(super) fn key(der: &[u8]) -> Result<Key, EntryError> {
    let whole = AnyRef::from_der(der).or_else(|error| match error.kind() {
        // OpenSSL's trusted certificates have more after the certificate.
        ErrorKind::TrailingData { .. } => {
            SliceReader::new(der).and_then(|mut reader| AnyRef::decode(&mut reader))
        }
        _ => Err(error),
    });
    let whole = whole.map_err(format_error)?;
    if whole.tag() != Tag::Sequence {
        return Err(EntryError::Format("the DER is no certificate, no request and no key".to_owned()));
    }
    let fields = elements(whole.value())?;
    if is_private(&fields) {
        return Err(EntryError::Private);
    }
    if let Ok(info) = public_key_info(&whole) {
        return from_info(&info);
    }
    if let [modulus, exponent] = &fields[..]
        && [modulus, exponent].iter().all(|field| field.tag() == Tag::Integer)
    {
        return from_integers(modulus, exponent);
    }
    // The first field of a certificate or a request is what is signed, and the key is one of its fields.
    let signed = fields.first().filter(|field| field.tag() == Tag::Sequence);
    let signed = signed.map(|field| elements(field.value())).transpose()?.unwrap_or_default();
    match signed.iter().find_map(|field| public_key_info(field).ok()) {
        Some(info) => from_info(&info),
        None => Err(EntryError::Format("the DER is no certificate, no request and no key".to_owned())),
    }
}

fn format_error(error: impl ToString) -> EntryError {
    EntryError::Format(format!("the DER is damaged: {}", error.to_string()))
}

/// The values that follow each other in `content`.
fn elements(content: &[u8]) -> Result<Vec<AnyRef<'_>>, EntryError> {
    let mut reader = SliceReader::new(content).map_err(format_error)?;
    let mut elements = Vec::new();
    while !reader.is_finished() {
        elements.push(AnyRef::decode(&mut reader).map_err(format_error)?);
    }
    Ok(elements)
}

/// Whether these are the fields of a private key of PKCS #8, plain or encrypted, of PKCS #1, of SEC 1 or of
/// DSA.
fn is_private(fields: &[AnyRef<'_>]) -> bool {
    let tags: Vec<Tag> = fields.iter().map(Tagged::tag).collect();
    match &tags[..] {
        [Tag::Integer, Tag::Sequence, Tag::OctetString, ..] | [Tag::Integer, Tag::OctetString, ..] => true,
        [Tag::Sequence, Tag::OctetString] => true,
        integers => integers.len() > 3 && integers.iter().take(4).all(|&tag| tag == Tag::Integer),
    }
}

fn public_key_info<'a>(field: &AnyRef<'a>) -> Result<SubjectPublicKeyInfoRef<'a>, EntryError> {
    let mut reader = SliceReader::new(field.value()).map_err(format_error)?;
    let algorithm = AlgorithmIdentifierRef::decode(&mut reader).map_err(format_error)?;
    let subject_public_key = Decode::decode(&mut reader).map_err(format_error)?;
    Ok(SubjectPublicKeyInfoRef { algorithm, subject_public_key })
}

fn from_info(info: &SubjectPublicKeyInfoRef<'_>) -> Result<Key, EntryError> {
    let name = info.algorithm.oid.to_string();
    if !RSA.contains(&name.as_str()) {
        let known = OTHERS.iter().find(|(oid, _)| *oid == name);
        return Err(EntryError::Algorithm(known.map_or(name, |(_, name)| (*name).to_owned())));
    }
    let bytes = info.subject_public_key.as_bytes().unwrap_or_default();
    let whole = AnyRef::from_der(bytes).map_err(format_error)?;
    match &elements(whole.value())?[..] {
        [modulus, exponent] => from_integers(modulus, exponent),
        _ => Err(EntryError::Format("the DER of the RSA key has not two numbers".to_owned())),
    }
}

fn from_integers(modulus: &AnyRef<'_>, exponent: &AnyRef<'_>) -> Result<Key, EntryError> {
    let number = |field: &AnyRef<'_>| match field.tag() {
        // A number whose first bit is set would be negative.
        Tag::Integer if field.value().first().is_some_and(|&byte| byte < 0x80) => Ok(()),
        _ => Err(EntryError::Format("a number of the RSA key is negative".to_owned())),
    };
    number(modulus)?;
    number(exponent)?;
    Key::new(modulus.value(), exponent.value())
}
