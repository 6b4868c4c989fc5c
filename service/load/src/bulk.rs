//! The load of the bulk endpoint: digests side by side in a request, signatures in frames in the answer.

use crate::connection::{Incoming, Outgoing};
use crate::door::{self, Asked, Door, Padding};
use crate::error::Error;
use crate::mixture::Operation;
use crate::transit::{Settings, Transit};
use fastrand::Rng;
use http::Method;
use http_body_util::Full;
use modmill_rsa::PublicKey;

/// The bulk endpoint, with keys of the transit interface.
pub(super) struct Bulk {
    keys: Transit,
}

impl Bulk {
    /// Makes keys, unless there are some.
    pub(super) async fn new(settings: Settings<'_>) -> Result<Self, Error> {
        Ok(Self { keys: Transit::new(settings).await? })
    }
}

impl Door for Bulk {
    fn ask(&self, random: &mut Rng) -> Result<Asked, Error> {
        let (key, digests) = self.keys.draw(random);
        let scheme = match self.keys.padding {
            Padding::Pkcs1v15 => "pkcs1v15-sha256",
            Padding::Pss => "pss-sha256",
        };
        let path = format!("/bulk/v1/sign?key=transit/{}&scheme={scheme}", self.keys.names[key]);
        let request = door::start(&self.keys.endpoint, Method::POST, &path)
            .header("authorization", format!("Bearer {}", self.keys.token.as_str()))
            .header("content-type", "application/x-modmill-digests")
            .body(Full::from(digests.clone()))
            .map_err(door::not_a_request)?;
        Ok(Asked { request, operation: Operation::Sign, key, digests })
    }

    fn read(
        &self,
        asked: &Asked,
        answer: &Incoming,
        keep: &mut dyn FnMut(Option<Vec<u8>>),
    ) -> Result<(), String> {
        if !answer.status.is_success() {
            return Err(door::status_name(answer));
        }
        let size = self.public_keys().get(asked.key).map_or(0, PublicKey::size);
        let mut items = 0;
        let whole = frames(&answer.body, size, &mut |signature| {
            items += 1;
            keep(signature.map(<[u8]>::to_vec));
        });
        match whole {
            Some(()) if items == asked.items() => Ok(()),
            _ => Err(door::WRONG_ANSWER.to_owned()),
        }
    }

    fn public_keys(&self) -> &[PublicKey] {
        self.keys.public_keys()
    }

    fn clean_up(&self) -> Result<Vec<Outgoing>, Error> {
        self.keys.clean_up()
    }
}

/// Takes an answer apart. A frame is a number of items, a byte for each of them that is 0 if it was signed,
/// and as many signatures of `size` bytes. The last frame has no items, and the status 0 if every digest was
/// answered. Returns `None` if the answer ends otherwise.
fn frames(mut body: &[u8], size: usize, item: &mut dyn FnMut(Option<&[u8]>)) -> Option<()> {
    loop {
        let (count, rest) = body.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        if count == 0 {
            return (rest.first() == Some(&0)).then_some(());
        }
        let (flags, rest) = rest.split_at_checked(count)?;
        let (signatures, rest) = rest.split_at_checked(count.checked_mul(size)?)?;
        for (flag, signature) in flags.iter().zip(signatures.chunks_exact(size.max(1))) {
            item((*flag == 0).then_some(signature));
        }
        body = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: &[u8] = &[0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn frames_are_taken_apart() {
        let body = [&[2, 0, 0, 0, 0, 1][..], b"abcxyz", &[1, 0, 0, 0, 0], b"def", END].concat();
        let mut items = Vec::new();
        frames(&body, 3, &mut |item| items.push(item.map(<[u8]>::to_vec))).unwrap();
        assert_eq!(items, [Some(b"abc".to_vec()), None, Some(b"def".to_vec())]);
        let before_status = body.len() - 2;
        for end in 0..before_status {
            assert_eq!(frames(&body[..end], 3, &mut |_| {}), None, "{end}");
        }
        assert_eq!(frames(&[255; 9], usize::MAX, &mut |_| {}), None);
        assert_eq!(frames(&[0, 0, 0, 0, 2, 0, 0], 3, &mut |_| {}), None, "the server was busy");
    }
}
