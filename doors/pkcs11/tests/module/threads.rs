//! Many threads.

use crate::common::{key_pair, module, session, slot};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass};

#[test]
fn threads_sign_beside_each_other() {
    let slot = slot();
    let owner = session(slot);
    let keys: Vec<_> = (0..2).map(|_| key_pair(&owner, &[])).collect();
    std::thread::scope(|scope| {
        for thread in 0..8usize {
            let (public, private) = keys[thread % keys.len()];
            scope.spawn(move || {
                let session = module().open_ro_session(slot).unwrap();
                for round in 0..25 {
                    let message = format!("message {round} of thread {thread}");
                    let mechanism = Mechanism::Sha256RsaPkcs;
                    let signature = session.sign(&mechanism, private, message.as_bytes()).unwrap();
                    session.verify(&mechanism, public, message.as_bytes(), &signature).unwrap();
                }
            });
        }
    });
}

#[test]
fn threads_make_and_destroy_objects() {
    let slot = slot();
    let owner = session(slot);
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            scope.spawn(move || {
                let session = module().open_rw_session(slot).unwrap();
                for round in 0..10u8 {
                    let template = [
                        Attribute::Class(ObjectClass::DATA),
                        Attribute::Token(true),
                        Attribute::Value(vec![thread, round]),
                    ];
                    let object = session.create_object(&template).unwrap();
                    assert_eq!(session.find_objects(&template).unwrap(), [object]);
                    if round % 2 == 0 {
                        session.destroy_object(object).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(owner.find_objects(&[]).unwrap().len(), 20);
}
