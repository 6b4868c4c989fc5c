//! Exchanges with the program `openssl`, where it is installed.

use crate::engine;
use modmill_ec::{Curve, Ec, Ecdsa, Ed25519, Hash, PrivateKey, PublicKey};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Runs `openssl` in a folder. Its standard output, or `None` if it is not installed.
fn openssl(folder: &Path, arguments: &str) -> Option<Vec<u8>> {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output().ok()?;
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

#[test]
fn keys_signatures_and_secrets_are_exchanged() {
    let (folder, ec) = (TempDir::new().unwrap(), Ec::new(engine()));
    let path = |name: &str| folder.path().join(name);
    let run = |arguments: &str| openssl(folder.path(), arguments);
    if run("version").is_none() {
        return;
    }
    std::fs::write(path("message"), "a message").unwrap();
    for (curve, name) in [
        (Curve::P256, "-algorithm EC -pkeyopt ec_paramgen_curve:P-256"),
        (Curve::P384, "-algorithm EC -pkeyopt ec_paramgen_curve:P-384"),
        (Curve::P521, "-algorithm EC -pkeyopt ec_paramgen_curve:P-521"),
        (Curve::Secp256k1, "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1"),
        (Curve::Ed25519, "-algorithm ED25519"),
        (Curve::X25519, "-algorithm X25519"),
    ] {
        // Its key is read here, and ours there.
        run(&format!("genpkey {name} -out theirs.pem"));
        run("pkey -in theirs.pem -pubout -out theirs.pub");
        let theirs = PrivateKey::read(&std::fs::read(path("theirs.pem")).unwrap()).unwrap();
        assert_eq!(theirs.curve(), curve);
        let public = PublicKey::read(&std::fs::read(path("theirs.pub")).unwrap()).unwrap();
        assert_eq!(&public, theirs.public_key());
        let ours = PrivateKey::generate(curve).unwrap();
        std::fs::write(path("ours.pem"), ours.to_pem().unwrap().as_bytes()).unwrap();
        std::fs::write(path("ours.pub"), ours.public_key().to_pem().unwrap()).unwrap();
        let written = run("pkey -in ours.pem -pubout").unwrap();
        assert_eq!(written, ours.public_key().to_pem().unwrap().as_bytes(), "{curve}");
        if curve.is_weierstrass() {
            run("ec -in theirs.pem -out sec1.pem");
            let sec1 = PrivateKey::read(&std::fs::read(path("sec1.pem")).unwrap()).unwrap();
            assert_eq!(sec1.to_raw(), theirs.to_raw());
        }
        if curve != Curve::Ed25519 {
            run("pkeyutl -derive -inkey theirs.pem -peerkey ours.pub -out secret");
            let secret = ec.derive(&ours, &[&public]).unwrap().remove(0).unwrap();
            assert_eq!(secret.to_vec(), std::fs::read(path("secret")).unwrap());
        }
        let (scheme, digest): (modmill_ec::SignatureScheme<'_>, _) = match curve {
            Curve::X25519 => continue,
            Curve::Ed25519 => (Ed25519::default().into(), "-rawin"),
            _ => (Ecdsa::new(Hash::Sha384).into(), "-rawin -digest sha384"),
        };
        run(&format!("pkeyutl -sign -inkey theirs.pem {digest} -in message -out theirs.sig"));
        let signature = std::fs::read(path("theirs.sig")).unwrap();
        assert_eq!(ec.verify(&public, scheme, &["a message"], &[signature]).unwrap(), [Ok(())]);
        let signature = ec.sign(&ours, scheme, &["a message"]).unwrap().remove(0).unwrap();
        std::fs::write(path("ours.sig"), signature).unwrap();
        run(&format!("pkeyutl -verify -pubin -inkey ours.pub {digest} -in message -sigfile ours.sig"));
    }
}
