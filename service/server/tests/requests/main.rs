//! Requests of anybody, made from real ones by random changes.

mod bodies;
mod mutations;
mod policies;

use modmill_testing::rng::Rng;

/// `data` with a few bytes changed, taken away or doubled.
fn change(random: &mut Rng, data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..=random.below(4) {
        let place = random.below(data.len().max(1));
        match random.below(4) {
            0 if !data.is_empty() => data[place] ^= 1 << random.below(8),
            1 if !data.is_empty() => data.truncate(place),
            2 => data.extend_from_within(place..),
            _ => data.insert(place, *random.pick(b"{}[]\",:\\\0\xff0")),
        }
    }
    data
}

/// Policies made from real ones, byte by byte and element by element. `MODMILL_TEST_POLICIES` says how many
/// of each; the default takes some seconds.
#[test]
fn key_policies() {
    let rounds = std::env::var("MODMILL_TEST_POLICIES").map_or(4000, |rounds| rounds.parse().unwrap());
    let mut random = Rng::new(11);
    let (mut accepted, mut made) = (0, 0);
    for seed in mutations::SEEDS {
        assert!(policies::policy(seed.as_bytes()), "{seed}");
        for _ in 0..rounds {
            let text = mutations::mutate(&mut random, seed);
            accepted += usize::from(policies::policy(text.as_bytes()));
            accepted += usize::from(policies::policy(&change(&mut random, text.as_bytes())));
            made += 2;
        }
    }
    println!("{accepted} of {made} policies were accepted");
    assert!(accepted > made / 20 && accepted < made / 2, "{accepted} of {made}");
}

/// Calls `body` with every seed and with changed ones.
fn run(body: fn(&[u8]), seeds: &[&[u8]]) {
    let mut random = Rng::new(7);
    for seed in seeds {
        body(seed);
        for _ in 0..100 {
            body(&change(&mut random, seed));
        }
    }
}

#[test]
fn kms_requests() {
    let sign = br#"{"KeyId":"alias/a","Message":"bQ==","MessageType":"RAW","SigningAlgorithm":"RSASSA_PSS_SHA_256"}"#;
    let policy = br#"{"KeyId":"k","PolicyName":"default","Policy":"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\",\"Action\":\"kms:*\",\"Resource\":\"*\"}]}"}"#;
    let create = br#"{"KeyUsage":"ENCRYPT_DECRYPT","KeySpec":"SYMMETRIC_DEFAULT","Tags":[{"TagKey":"a","TagValue":"b"}]}"#;
    for operation in 0..56 {
        for seed in [&sign[..], policy, create] {
            let seed = [&[operation], seed].concat();
            let mut random = Rng::new(u64::from(operation));
            bodies::kms(&seed);
            (0..5).for_each(|_| bodies::kms(&change(&mut random, &seed)));
        }
    }
}

#[test]
fn headers_of_requests() {
    run(
        bodies::sigv4,
        &[
            b"authorization: AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/kms/aws4_request, SignedHeaders=host;x-amz-date, Signature=00\nx-amz-date: 20260101T000000Z\nx-amz-target: TrentService.ListKeys",
            b"authorization: Bearer x\nhost: a b  c\nx-amz-content-sha256: UNSIGNED-PAYLOAD",
            b"",
        ],
    );
}

#[test]
fn requests_of_other_doors() {
    run(
        bodies::doors,
        &[
            b"POST /v1/transit/keys/a\n{\"type\":\"rsa-2048\"}",
            b"POST /v1/transit/sign/a/sha2-256\n{\"batch_input\":[{\"input\":\"bQ==\"},{\"input\":\"*\"}],\"prehashed\":false}",
            b"POST /v1/transit/decrypt/a\n{\"ciphertext\":\"vault:v1:AAAA\"}",
            b"POST /v1/transit/keys/b/import\n{\"ciphertext\":\"AAAA\",\"type\":\"rsa-2048\"}",
            b"GET /v1/transit/keys/a\n",
            b"POST /bulk/v1/sign?key=transit/a&scheme=pss-sha256\n0123456789abcdef0123456789abcdef",
            b"POST /token-request\n\x00\x02\x11",
            b"GET /page/data?after=5\n",
        ],
    );
}
