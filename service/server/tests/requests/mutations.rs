//! Key policies that were changed element by element.

use modmill_testing::rng::Rng;
use serde_json::{Value, json};

/// Policies that are accepted.
pub(crate) const SEEDS: [&str; 4] = [
    r#"{"Version":"2012-10-17","Id":"key-default-1","Statement":[{"Sid":"Enable IAM User Permissions","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::000000000000:root"},"Action":"kms:*","Resource":"*"}]}"#,
    r#"{"Statement":[{"Effect":"Allow","Principal":"*","Action":["kms:Sign","kms:Get*"],"Resource":"*"},{"Effect":"Deny","Principal":{"AWS":["arn:aws:iam::000000000000:user/alice","000000000000"]},"Action":"kms:Sign","Resource":"*","Condition":{"StringNotEquals":{"kms:SigningAlgorithm":["RSASSA_PSS_SHA_256","x"]}}}]}"#,
    r#"{"Version":"2008-10-17","Statement":{"Effect":"Deny","NotPrincipal":{"AWS":["arn:aws:iam::000000000000:user/bob"]},"NotAction":"kms:Verify","NotResource":"arn:aws:kms:*:key/x*"}}"#,
    r#"{"Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::000000000000:user/alice","Service":"ec2.amazonaws.com"},"Action":"kms:S?gn","Resource":"arn:aws:kms:us-east-1:*:key/k","Condition":{"StringLike":{"aws:username":"al*"},"StringEquals":{"kms:KeySpec":"RSA_2048","unknown:key":"x"}}},{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::000000000000:user/alice"},"Action":"*","Resource":"*","Condition":{"StringEquals":{"kms:KeySpec":"RSA_4096"}}}]}"#,
];

/// Texts that stand in the places of others.
const TEXTS: [&str; 26] = [
    "Allow",
    "Deny",
    "allow",
    "*",
    "?",
    "",
    " ",
    "kms:Sign",
    "kms:*",
    "kms:sign ",
    "KMS:S*",
    "Sign",
    "s3:*",
    "arn:aws:iam::000000000000:user/alice",
    "arn:aws:iam::000000000000:user/*",
    "arn:aws:iam::000000000000:user/bob ",
    "arn:aws:iam::000000000000:User/bob",
    "arn:aws:iam::000000000000:root",
    "000000000000",
    "111111111111",
    "arn:aws:kms:us-east-1:000000000000:key/k",
    "arn:aws:kms:*",
    "key/k",
    "${aws:username}",
    "RSASSA_PSS_SHA_256",
    "true",
];

/// Names that are put in the places of others, or next to them.
const NAMES: [&str; 18] = [
    "Effect",
    "Principal",
    "NotPrincipal",
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "Condition",
    "Sid",
    "Statement",
    "AWS",
    "Service",
    "StringEquals",
    "StringNotEquals",
    "StringLike",
    "kms:KeySpec",
    "aws:username",
    "effect",
];

/// `seed` with some elements changed.
pub(crate) fn mutate(random: &mut Rng, seed: &str) -> String {
    let mut policy: Value = serde_json::from_str(seed).expect("a seed");
    for _ in 0..=random.below(2) {
        change(random, &mut policy);
    }
    let mut text = policy.to_string();
    if random.below(4) == 0 {
        // An element more in some object, perhaps one that it has already.
        let places: Vec<usize> = text.match_indices("{\"").map(|(place, _)| place + 1).collect();
        if let Some(place) = places.get(random.below(places.len().max(1))) {
            let (name, value) = (*random.pick(&NAMES), *random.pick(&TEXTS));
            text.insert_str(
                *place,
                &format!("{},", &json!({ name: value }).to_string()[1..].trim_end_matches('}')),
            );
        }
    }
    text
}

/// Changes something in `value`, mostly deep within it.
fn change(random: &mut Rng, value: &mut Value) {
    let deeper = random.below(6) != 0;
    match value {
        Value::Object(object) if deeper && !object.is_empty() => {
            let place = random.below(object.len());
            object.values_mut().nth(place).into_iter().for_each(|value| change(random, value));
        }
        Value::Array(values) if deeper && !values.is_empty() => {
            let place = random.below(values.len());
            values.get_mut(place).into_iter().for_each(|value| change(random, value));
        }
        Value::Object(object) => {
            let place = random.below(object.len().max(1));
            let name = object.keys().nth(place).cloned().unwrap_or_default();
            let old = object.remove(&name).unwrap_or_default();
            if random.below(2) == 0 {
                object.insert(random.pick(&NAMES).to_string(), old);
            }
        }
        Value::Array(values) => match random.below(3) {
            0 => values.clear(),
            1 => values.extend_from_within(..),
            _ => values.reverse(),
        },
        value => *value = (*random.pick(&TEXTS)).into(),
    }
}
