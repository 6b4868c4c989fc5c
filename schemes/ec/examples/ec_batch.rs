//! Signs and verifies a batch on every curve, and says how many items a second one thread answers.

use modmill::Engine;
use modmill_ec::{Answers, Curve, Ec, Ecdsa, Ed25519, Error, Hash, PrivateKey, PublicKey, SignatureScheme};
use std::time::Instant;

const ITEMS: usize = 1024;

/// Prints the rate of an operation that answers all items.
fn measure<T>(
    name: &str,
    work: impl Fn() -> Result<Answers<T>, Error>,
) -> Result<Vec<T>, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let answers = work()?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:24} {:8.0} a second", ITEMS as f64 / seconds);
    Ok(answers.into_iter().collect::<Result<Vec<T>, _>>()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder().threads(1).build()?.here();
    let ec = Ec::new(&engine);
    let messages: Vec<String> = (0..ITEMS).map(|number| format!("message {number}")).collect();
    for curve in Curve::all() {
        // The first key on a curve makes the generator's table.
        let key = PrivateKey::generate(curve)?;
        if curve != Curve::Ed25519 {
            let peers = vec![key.public_key(); ITEMS];
            measure(&format!("{curve} derive"), || ec.derive(&key, &peers))?;
        }
        let scheme: SignatureScheme<'_> = match curve {
            Curve::X25519 => continue,
            Curve::Ed25519 => Ed25519::default().into(),
            _ => Ecdsa::new(Hash::Sha256).into(),
        };
        let signatures = measure(&format!("{curve} sign"), || ec.sign(&key, scheme, &messages))?;
        let keys: Vec<&PublicKey> = messages.iter().map(|_| key.public_key()).collect();
        let each = || ec.verify(&keys[..], scheme, &messages, &signatures);
        measure(&format!("{curve} verify"), each)?;
        let one = || ec.verify(key.public_key(), scheme, &messages, &signatures);
        measure(&format!("{curve} verify, one key"), one)?;
    }
    Ok(())
}
