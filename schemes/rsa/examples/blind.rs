//! A batch of blind signatures (RFC 9474): the client blinds, the signer signs, the client finishes and
//! anybody verifies.
//!
//! `cargo run --release -p modmill-rsa --example blind [COUNT [BITS]]`

use modmill::Engine;
use modmill_rsa::{BlindScheme, PrivateKey, Rsa, Sizes};
use std::time::Instant;

/// Runs `work` on `count` items twice, so that the second run finds everything prepared, and prints the rate
/// of the second.
fn measured<T>(
    name: &str,
    count: usize,
    work: impl Fn() -> Result<T, modmill_rsa::Error>,
) -> Result<T, modmill_rsa::Error> {
    work()?;
    let start = Instant::now();
    let answers = work()?;
    println!("{name:<11} {:>9.0} a second", count as f64 / start.elapsed().as_secs_f64());
    Ok(answers)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<usize>, _>>()?;
    let (count, bits) = (*arguments.first().unwrap_or(&1024), *arguments.get(1).unwrap_or(&2048));
    let engine = Engine::new()?;
    let key = PrivateKey::generate(&engine, bits, Sizes::Standard)?;
    let (rsa, public, scheme) = (Rsa::new(&engine), key.public_key(), BlindScheme::PssRandomized);
    println!("{scheme}, {count} messages, a key of {bits} bits");

    let prepared: Vec<Vec<u8>> = (0..count)
        .map(|number| scheme.prepare(format!("message {number}").as_bytes()))
        .collect::<Result<_, _>>()?;
    let blinded = measured("blind", count, || rsa.blind(public, scheme, &prepared))?;
    let blinded = blinded.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (messages, inverses): (Vec<&[u8]>, Vec<&[u8]>) =
        blinded.iter().map(|blinded| (&blinded.message[..], &blinded.inverse[..])).unzip();

    let signed = measured("blind_sign", count, || rsa.blind_sign(&key, &messages))?;
    let mut signed = signed.into_iter().collect::<Result<Vec<_>, _>>()?;

    let finalize = |signed: &[Vec<u8>]| rsa.finalize(public, scheme, &prepared, signed, &inverses);
    let signatures = measured("finalize", count, || finalize(&signed))?;
    let signatures = signatures.into_iter().collect::<Result<Vec<_>, _>>()?;
    let verdicts =
        measured("verify", count, || rsa.verify(public, scheme.signature_scheme(), &prepared, &signatures))?;
    assert!(verdicts.iter().all(Result::is_ok));

    // A signer that answers wrongly is found out.
    if let Some(first) = signed.first_mut() {
        first[0] ^= 1;
        println!("a changed answer: {}", finalize(&signed)?.remove(0).unwrap_err());
    }
    Ok(())
}
