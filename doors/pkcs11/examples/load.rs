//! Signs with any PKCS#11 module from many threads, and prints the signatures of a second of CPU time.
//!
//! ```sh
//! cargo run --release -p modmill-pkcs11 --example load -- MODULE THREADS SECONDS [BITS]
//! ```
//!
//! The module's first token is initialised if it is new, with the PIN 1234. It gets one RSA key, of 2048 bits
//! if BITS is not given. Each thread has a session of its own and signs SHA-256 digests with CKM_RSA_PKCS, as
//! TLS servers do. One signature of each thread is verified.

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::time::{Duration, Instant};

const OFFICER: &str = "12345678";
const USER: &str = "1234";

/// The `DigestInfo` of SHA-256 before the digest.
const PREFIX: [u8; 19] = *b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, threads, seconds, bits @ ..] = &arguments[..] else {
        return Err("usage: load MODULE THREADS SECONDS [BITS]".into());
    };
    let (threads, seconds): (usize, f64) = (threads.parse()?, seconds.parse()?);
    let bits = bits.first().map_or(Ok(2048), |bits| bits.parse::<u64>())?;
    let module = Pkcs11::new(module)?;
    module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK))?;
    let slot = token(&module)?;
    let owner = module.open_rw_session(slot)?;
    owner.login(UserType::User, Some(&AuthPin::new(USER.into())))?;
    let (public, private) = key(&owner, bits)?;

    // Until the first signatures are made, modules read files and compute constants.
    run(&module, slot, public, private, threads, Duration::from_millis(200))?;
    let (cpu, start) = (cpu_seconds(), Instant::now());
    let signatures = run(&module, slot, public, private, threads, Duration::from_secs_f64(seconds))?;
    let (cpu, wall) = (cpu_seconds() - cpu, start.elapsed().as_secs_f64());
    println!(
        "{bits} bits, {threads} threads: {:.0} signatures per CPU second, {:.0} per second",
        signatures as f64 / cpu,
        signatures as f64 / wall
    );
    Ok(())
}

/// The CPU time of this process.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The slot of the first token, which is initialised if it is new.
fn token(module: &Pkcs11) -> Result<Slot, Box<dyn Error>> {
    if let Some(slot) = module.get_slots_with_initialized_token()?.first() {
        return Ok(*slot);
    }
    let slot = *module.get_all_slots()?.first().ok_or("the module has no slot")?;
    module.init_token(slot, &AuthPin::new(OFFICER.into()), "load")?;
    // Some modules give an initialised token another slot.
    let slot = *module.get_slots_with_initialized_token()?.first().ok_or("the token is not there")?;
    let session = module.open_rw_session(slot)?;
    session.login(UserType::So, Some(&AuthPin::new(OFFICER.into())))?;
    session.init_pin(&AuthPin::new(USER.into()))?;
    session.logout()?;
    Ok(slot)
}

/// The token's key of `bits` bits, which is made if it is not there: public and private.
fn key(session: &Session, bits: u64) -> Result<(ObjectHandle, ObjectHandle), Box<dyn Error>> {
    let id = Attribute::Id(bits.to_be_bytes().to_vec());
    let find = |class| session.find_objects(&[Attribute::Class(class), id.clone()]);
    if let (Some(public), Some(private)) =
        (find(ObjectClass::PUBLIC_KEY)?.first(), find(ObjectClass::PRIVATE_KEY)?.first())
    {
        return Ok((*public, *private));
    }
    let public = [
        Attribute::Token(true),
        Attribute::Verify(true),
        Attribute::ModulusBits(bits.into()),
        Attribute::PublicExponent(vec![1, 0, 1]),
        id.clone(),
    ];
    let private = [Attribute::Token(true), Attribute::Sign(true), Attribute::Sensitive(true), id];
    Ok(session.generate_key_pair(&Mechanism::RsaPkcsKeyPairGen, &public, &private)?)
}

/// Signs on all threads for as long as `time`, and returns the number of signatures.
fn run(
    module: &Pkcs11,
    slot: Slot,
    public: ObjectHandle,
    private: ObjectHandle,
    threads: usize,
    time: Duration,
) -> Result<usize, Box<dyn Error>> {
    let work = &|number: usize| -> Result<usize, cryptoki::error::Error> {
        let session = module.open_ro_session(slot)?;
        let mut data = [&PREFIX[..], &[number as u8; 32]].concat();
        let (end, mut done) = (Instant::now() + time, 0usize);
        while Instant::now() < end {
            data[PREFIX.len()..][..8].copy_from_slice(&done.to_be_bytes());
            let signature = session.sign(&Mechanism::RsaPkcs, private, &data)?;
            if done == 0 {
                session.verify(&Mechanism::RsaPkcs, public, &data, &signature)?;
            }
            done += 1;
        }
        Ok(done)
    };
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        running.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    Ok(outcomes.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().sum())
}
