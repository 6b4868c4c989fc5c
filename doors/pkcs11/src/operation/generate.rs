//! New keys.

use crate::attributes::Value;
use crate::mechanism::{Mechanism, Scheme};
use crate::object::{Attributes, Object};
use crate::refusal::{Answer, Refusal, refuse};
use crate::template::{self, AES_LENGTHS, Origin, Template, given};
use cryptoki_sys::*;
use modmill_rsa::{PrivateKey, Sizes};
use modmill_seal::SecretBytes;

/// The public exponent of new keys: 65537.
const EXPONENT: [u8; 3] = [1, 0, 1];

/// The public and the private key object of a new RSA key.
pub(crate) fn key_pair(mechanism: &Mechanism, public: &Template, private: &Template) -> Answer<[Object; 2]> {
    mechanism.row.serves(CKF_GENERATE_KEY_PAIR)?;
    let bits = match given(public, CKA_MODULUS_BITS) {
        Some(Value::Number(bits)) => usize::try_from(*bits).unwrap_or(usize::MAX),
        _ => return refuse(CKR_TEMPLATE_INCOMPLETE, "the public template has no CKA_MODULUS_BITS"),
    };
    if let Some(Value::Bytes(exponent)) = given(public, CKA_PUBLIC_EXPONENT) {
        let zeros = exponent.iter().take_while(|byte| **byte == 0).count();
        if exponent[zeros..] != EXPONENT {
            return refuse(CKR_ATTRIBUTE_VALUE_INVALID, "new keys have the public exponent 65537");
        }
    }
    for (template, class) in [(public, CKO_PUBLIC_KEY), (private, CKO_PRIVATE_KEY)] {
        if template::class(template).is_some_and(|given| given != class) {
            return refuse(CKR_TEMPLATE_INCONSISTENT, "a template has the class of another object");
        }
        if given(template, CKA_MODULUS).is_some() || given(template, CKA_PRIVATE_EXPONENT).is_some() {
            return refuse(
                CKR_TEMPLATE_INCONSISTENT,
                "the numbers of a new key are drawn, and cannot be given",
            );
        }
    }
    let key = modmill_client::with_engine(|engine| PrivateKey::generate(engine, bits, Sizes::Standard))??;
    let numbers = template::private_numbers(&key)?;
    let kind = (CKA_KEY_TYPE, Value::from(CKK_RSA as u64));
    let shared = [CKA_MODULUS, CKA_PUBLIC_EXPONENT].map(|name| (name, numbers[&name].clone()));
    let origin = Origin::Generated(mechanism.row.number);
    let public_numbers = Attributes::from_iter(shared.into_iter().chain([kind.clone()]));
    let public = template::build(CKO_PUBLIC_KEY, public, public_numbers, origin, false)?;
    let private_numbers = numbers.into_iter().chain([kind]).collect();
    let private = template::build(CKO_PRIVATE_KEY, private, private_numbers, origin, false)?;
    Ok([public, private])
}

/// The object of a new AES key.
pub(crate) fn aes_key(mechanism: &Mechanism, template: &Template) -> Answer<Object> {
    mechanism.row.serves(CKF_GENERATE)?;
    if mechanism.row.scheme != Scheme::AesKey {
        return refuse(CKR_MECHANISM_INVALID, "the mechanism makes no secret key");
    }
    if template::class(template).is_some_and(|class| class != CKO_SECRET_KEY) {
        return refuse(CKR_TEMPLATE_INCONSISTENT, "an AES key has the class CKO_SECRET_KEY");
    }
    let len = match given(template, CKA_VALUE_LEN) {
        Some(Value::Number(len)) => usize::try_from(*len).ok().filter(|len| AES_LENGTHS.contains(len)),
        _ => return refuse(CKR_TEMPLATE_INCOMPLETE, "the template has no CKA_VALUE_LEN"),
    };
    let len =
        len.ok_or_else(|| Refusal::new(CKR_ATTRIBUTE_VALUE_INVALID, "CKA_VALUE_LEN is 16, 24 or 32"))?;
    if given(template, CKA_VALUE).is_some() {
        return refuse(CKR_TEMPLATE_INCONSISTENT, "the value of a new key is drawn, and cannot be given");
    }
    let value = SecretBytes::random(len)?;
    let numbers = [(CKA_KEY_TYPE, Value::from(CKK_AES as u64)), (CKA_VALUE, value.expose().into())];
    let origin = Origin::Generated(mechanism.row.number);
    template::build(CKO_SECRET_KEY, template, numbers.into(), origin, false)
}
