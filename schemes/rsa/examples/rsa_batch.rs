//! A batch of RSA signatures with one key: made, verified, and one of them forged.
//!
//! `cargo run --release -p modmill-rsa --example rsa_batch`

use modmill::Engine;
use modmill_rsa::{Hash, PrivateKey, Rsa, SignatureScheme, Sizes};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::new()?;
    let key = PrivateKey::generate(&engine, 2048, Sizes::Standard)?;
    let messages: Vec<String> = (0..256).map(|number| format!("message {number}")).collect();
    let (rsa, scheme) = (Rsa::new(&engine), SignatureScheme::pss(Hash::Sha256));

    let start = Instant::now();
    let mut signatures = rsa.sign(&key, scheme, &messages)?.into_iter().collect::<Result<Vec<_>, _>>()?;
    let signing = start.elapsed().as_secs_f64();
    println!("{:.0} signatures of 2048 bits a second", messages.len() as f64 / signing);

    signatures[7][0] ^= 1;
    let start = Instant::now();
    let verdicts = rsa.verify(key.public_key(), scheme, &messages, &signatures)?;
    let verifying = start.elapsed().as_secs_f64();
    println!("{:.0} verifications a second", messages.len() as f64 / verifying);

    // Every item has a verdict of its own; the forged signature spoils no other.
    for (item, verdict) in verdicts.iter().enumerate() {
        assert_eq!(verdict.is_err(), item == 7);
    }
    println!("message 7: {}", verdicts[7].as_ref().unwrap_err());
    Ok(())
}
