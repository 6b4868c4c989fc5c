//! The client's side of TLS: whose certificates are trusted.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;

/// The root certificates that a server's certificate is checked by.
#[derive(Debug, Clone, Copy)]
pub enum Roots<'a> {
    /// The certificates that the system trusts.
    System,
    /// The certificates in a PEM file.
    File(&'a Path),
    /// The certificates in PEM text.
    Pem(&'a [u8]),
}

impl Roots<'_> {
    fn load(self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        let mut add =
            |certificates: &mut dyn Iterator<Item = Result<CertificateDer<'static>, pem::Error>>| {
                for certificate in certificates {
                    let certificate = certificate.map_err(|error| error.to_string())?;
                    roots.add(certificate).map_err(|error| error.to_string())?;
                }
                Ok::<_, String>(())
            };
        match self {
            // The system may have some that are of no use; the others are.
            Self::System => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
            Self::File(path) => {
                add(&mut CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?)?;
            }
            Self::Pem(text) => add(&mut CertificateDer::pem_slice_iter(text))?,
        }
        if roots.is_empty() { Err("there are no certificates in it".into()) } else { Ok(roots) }
    }
}

/// A TLS client that checks servers by the certificates of `roots` and offers `protocols` to them. The error
/// says which file cannot be used.
pub fn config(roots: Roots<'_>, protocols: &[&str]) -> Result<ClientConfig, String> {
    let roots = roots.load()?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_read_from_files_and_text() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let text = made.cert.pem();
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(config(Roots::File(file.path()), &[]).unwrap_err().contains("no certificates"));
        std::fs::write(file.path(), &text).unwrap();
        for roots in [Roots::File(file.path()), Roots::Pem(text.as_bytes())] {
            assert_eq!(config(roots, &["h2"]).unwrap().alpn_protocols, [b"h2"]);
        }
        assert!(config(Roots::Pem(b""), &[]).is_err());
        assert!(
            config(Roots::Pem(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), &[])
                .is_err()
        );
        assert!(config(Roots::File(Path::new("/does/not/exist")), &[]).is_err());
    }
}
