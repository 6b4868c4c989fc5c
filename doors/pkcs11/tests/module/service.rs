//! Tokens over the signing service, which is played by a thread of this process.

use crate::common::{SERVICE_SLOTS, folder, module, pin, refused};
use cryptoki::error::RvError;
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeInfo, AttributeType, ObjectClass};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use modmill_client::wire::{Reason, Request, Response};
use modmill_client::with_engine;
use modmill_rsa::{PrivateKey, Rsa, Sizes};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{LazyLock, Once};
use std::thread;

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| {
    with_engine(|engine| PrivateKey::generate(engine, 2048, Sizes::Standard)).unwrap().unwrap()
});

/// The answer of a service with one key.
fn answer(request: Request) -> Response {
    let refused = |reason, text: &str| Response::Refused { reason, text: text.to_owned() };
    match request {
        Request::Hello { token } if token == "right" => Response::Welcome,
        Request::Hello { .. } => refused(Reason::Denied, "the token is unknown"),
        Request::Describe { key } if key == "transit/web" => Response::Key {
            modulus: KEY.public_key().modulus_bytes().to_vec(),
            exponent: KEY.public_key().exponent_bytes(),
        },
        Request::Sign { scheme, digest, .. } => {
            let signed = with_engine(|engine| Rsa::new(engine).sign_digests(&*KEY, scheme, &[digest]));
            Response::Signature(signed.unwrap().unwrap().remove(0).unwrap().to_vec())
        }
        _ => refused(Reason::NoSuchKey, "there is no such key"),
    }
}

fn talk(mut stream: UnixStream) -> Option<()> {
    loop {
        let mut length = [0; 4];
        stream.read_exact(&mut length).ok()?;
        let mut frame = vec![0; u32::from_le_bytes(length) as usize];
        stream.read_exact(&mut frame).ok()?;
        let (id, request) = Request::decode(&frame).ok()?;
        stream.write_all(&answer(request).encode(id)).ok()?;
    }
}

/// The slots of the token with the access token in a file, and of the one that asks for it.
fn slots() -> [Slot; 2] {
    static SERVING: Once = Once::new();
    SERVING.call_once(|| {
        std::fs::write(folder().join("access"), "right\n").unwrap();
        let listener = UnixListener::bind(folder().join("service.sock")).unwrap();
        thread::spawn(move || {
            listener.incoming().for_each(|stream| drop(thread::spawn(move || talk(stream.unwrap()))));
        });
    });
    let slots = module().get_all_slots().unwrap();
    SERVICE_SLOTS.map(|index| slots[index])
}

/// Signs with the key of the service in every way, and verifies.
fn sign_and_verify(session: &Session) {
    let find =
        |class| session.find_objects(&[Attribute::Class(class), Attribute::Label(b"transit/web".to_vec())]);
    let (public, private) =
        (find(ObjectClass::PUBLIC_KEY).unwrap()[0], find(ObjectClass::PRIVATE_KEY).unwrap()[0]);
    let pss =
        PkcsPssParams { hash_alg: MechanismType::SHA256, mgf: PkcsMgfType::MGF1_SHA256, s_len: 32.into() };
    for mechanism in [Mechanism::Sha256RsaPkcs, Mechanism::Sha256RsaPkcsPss(pss)] {
        let signature = session.sign(&mechanism, private, b"message").unwrap();
        session.verify(&mechanism, public, b"message", &signature).unwrap();
    }
    let info =
        [&b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"[..], &[7; 32]]
            .concat();
    let signature = session.sign(&Mechanism::RsaPkcs, private, &info).unwrap();
    session.verify(&Mechanism::RsaPkcs, public, &info, &signature).unwrap();
    // The service signs digests and nothing else, and the key does not leave.
    assert_eq!(refused(session.sign(&Mechanism::RsaPkcs, private, b"anything")), RvError::DataInvalid);
    assert_eq!(
        refused(session.decrypt(&Mechanism::RsaPkcs, private, &[1; 256])),
        RvError::KeyFunctionNotPermitted
    );
    assert_eq!(refused(session.sign(&Mechanism::RsaX509, private, b"anything")), RvError::MechanismInvalid);
    let secrets = [AttributeType::PrivateExponent, AttributeType::Prime1];
    for info in session.get_attribute_info(private, &secrets).unwrap() {
        assert!(matches!(info, AttributeInfo::Sensitive), "{info:?}");
    }
    assert_eq!(refused(session.destroy_object(private)), RvError::SessionReadOnly);
}

#[test]
fn a_token_file_spares_the_login() {
    let [slot, _] = slots();
    let info = module().get_token_info(slot).unwrap();
    assert!(!info.login_required() && info.write_protected() && info.label() == "with file");
    assert_eq!(refused(module().open_rw_session(slot)), RvError::TokenWriteProtected);
    assert_eq!(refused(module().init_token(slot, &pin("12345678"), "new")), RvError::TokenWriteProtected);
    let session = module().open_ro_session(slot).unwrap();
    // The second key of the configuration is not known to the service.
    assert_eq!(session.find_objects(&[]).unwrap().len(), 2);
    sign_and_verify(&session);
}

#[test]
fn the_pin_is_the_access_token() {
    let [_, slot] = slots();
    let session = module().open_ro_session(slot).unwrap();
    assert!(session.find_objects(&[]).unwrap().is_empty());
    assert_eq!(refused(session.login(UserType::User, Some(&pin("wrong")))), RvError::PinIncorrect);
    session.login(UserType::User, Some(&pin("right"))).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| sign_and_verify(&module().open_ro_session(slot).unwrap()));
        }
    });
    session.logout().unwrap();
    assert!(session.find_objects(&[]).unwrap().is_empty());
}
