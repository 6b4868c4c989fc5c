//! The header `Authorization`.

use super::{ALGORITHM, SigV4Error, TERMINATOR};
use crate::hex;

/// The parts of a header `Authorization`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorization<'a> {
    /// The access key's identifier.
    pub access_key_id: &'a str,
    /// The date of the scope, eight characters.
    pub date: &'a str,
    /// The region of the scope.
    pub region: &'a str,
    /// The service of the scope.
    pub service: &'a str,
    /// The names of the headers that are signed, separated by `;`.
    pub signed_headers: &'a str,
    /// The signature.
    pub signature: [u8; 32],
}

impl<'a> Authorization<'a> {
    /// Reads a header. `Missing` is an empty one or another scheme's.
    pub fn parse(header: &'a str) -> Result<Self, SigV4Error> {
        let header = header.trim();
        let Some(rest) = header.strip_prefix(ALGORITHM).filter(|rest| rest.starts_with([' ', '\t'])) else {
            return Err(match header.is_empty() {
                true => SigV4Error::Missing,
                false => SigV4Error::Incomplete(format!("Unsupported AWS 'algorithm': only {ALGORITHM} is.")),
            });
        };
        let (mut credential, mut signed_headers, mut signature) = (None, None, None);
        for part in rest.split(',') {
            let Some((name, value)) = part.trim().split_once('=') else {
                return Err(incomplete("a parameter without '='"));
            };
            let place = match name {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut signed_headers,
                "Signature" => &mut signature,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return Err(incomplete("a parameter that comes twice"));
            }
        }
        let needed = |value: Option<&'a str>, name| {
            value.filter(|value| !value.is_empty()).ok_or_else(|| {
                SigV4Error::Incomplete(format!("Authorization header requires '{name}' parameter."))
            })
        };
        let credential = needed(credential, "Credential")?;
        let signature = needed(signature, "Signature")?;
        let signed_headers = needed(signed_headers, "SignedHeaders")?;
        // Each mention of a header copies its value, and this is before anybody is authenticated.
        if !signed_headers.split(';').is_sorted_by(|one, next| one < next) {
            return Err(incomplete("SignedHeaders that are not in order, or come twice"));
        }
        let mut parts = credential.split('/');
        let five = [(); 5].map(|()| parts.next());
        let ([Some(access_key_id), Some(date), Some(region), Some(service), Some(TERMINATOR)], None) =
            (five, parts.next())
        else {
            return Err(SigV4Error::Incomplete(
                "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/aws4_request"
                    .into(),
            ));
        };
        let signature = signature_of(signature).ok_or(SigV4Error::Mismatch)?;
        Ok(Self { access_key_id, date, region, service, signed_headers, signature })
    }
}

fn incomplete(what: &str) -> SigV4Error {
    SigV4Error::Incomplete(format!("The Authorization header has {what}."))
}

/// The 32 bytes of 64 hexadecimal digits in lower case.
fn signature_of(text: &str) -> Option<[u8; 32]> {
    let mut octets = [0; 32];
    let is_lower = !text.bytes().any(|digit| digit.is_ascii_uppercase());
    hex::decode(text.as_bytes(), &mut octets).filter(|()| is_lower)?;
    Some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: &str = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";

    #[test]
    fn a_header_is_read_with_any_spaces() {
        for separator in [", ", ",", " ,  "] {
            let header = [
                "AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1/kms/aws4_request",
                "SignedHeaders=host;x-amz-date",
                &format!("Signature={SIGNATURE}"),
            ]
            .join(separator);
            let read = Authorization::parse(&header).unwrap();
            assert_eq!((read.access_key_id, read.date), ("AKID", "20150830"));
            assert_eq!(
                (read.region, read.service, read.signed_headers),
                ("us-east-1", "kms", "host;x-amz-date")
            );
            assert_eq!(hex::encode(&read.signature), SIGNATURE);
        }
    }

    #[test]
    fn other_headers_are_refused() {
        let name = |header: &str| Authorization::parse(header).unwrap_err().name();
        assert_eq!(name(""), "MissingAuthenticationTokenException");
        let scope = "20150830/us-east-1/kms/aws4_request";
        for header in [
            "Basic QWxhZGRpbg==".to_owned(),
            "AWS4-HMAC-SHA256".to_owned(),
            "AWS4-HMAC-SHA256 ".to_owned(),
            format!("AWS4-HMAC-SHA256 Credential=A/{scope}, SignedHeaders=host"),
            format!("AWS4-HMAC-SHA256 Credential=A/{scope}, Signature={SIGNATURE}"),
            format!("AWS4-HMAC-SHA256 SignedHeaders=host, Signature={SIGNATURE}"),
            format!(
                "AWS4-HMAC-SHA256 Credential=A/{scope}, SignedHeaders=a;host;host, Signature={SIGNATURE}"
            ),
            format!("AWS4-HMAC-SHA256 Credential=A/{scope}, SignedHeaders=host;a, Signature={SIGNATURE}"),
            format!("AWS4-HMAC-SHA256 Credential=A/B/{scope}, SignedHeaders=host, Signature={SIGNATURE}"),
            format!(
                "AWS4-HMAC-SHA256 Credential=A/{scope}, Credential=A/{scope}, SignedHeaders=host, Signature=00"
            ),
        ] {
            assert_eq!(name(&header), "IncompleteSignatureException", "{header}");
        }
        let upper = SIGNATURE.to_uppercase();
        for signature in ["00", &upper, "é"] {
            let header =
                format!("AWS4-HMAC-SHA256 Credential=A/{scope}, SignedHeaders=host, Signature={signature}");
            assert_eq!(name(&header), "InvalidSignatureException");
        }
    }
}
