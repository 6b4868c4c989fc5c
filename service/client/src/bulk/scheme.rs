//! Names of signature schemes.

use modmill_rsa::{Hash, Pss, SaltLength, SignatureScheme};

/// The scheme named `name`: `pss-HASH` or `pkcs1v15-HASH`, such as `pss-sha256`. For PSS, `salt` is the
/// length of the salt: `digest` (as without it), `max`, or a number of bytes; `mask` is the hash of the mask
/// if it is another one.
pub fn parse(name: &str, salt: Option<&str>, mask: Option<&str>) -> Result<SignatureScheme, String> {
    let unknown = || format!("{name:?} is not a scheme: give pss-HASH or pkcs1v15-HASH, such as pss-sha256");
    let (padding, hash) = name.split_once('-').ok_or_else(unknown)?;
    let hash: Hash = hash.parse().map_err(|_| unknown())?;
    match padding {
        "pkcs1v15" if salt.is_some() || mask.is_some() => Err("salt and mask are for PSS".into()),
        "pkcs1v15" if hash.digest_info_prefix().is_none() => Err(unknown()),
        "pkcs1v15" => Ok(SignatureScheme::Pkcs1v15(hash)),
        "pss" => {
            let salt = match salt {
                None | Some("digest") => SaltLength::Digest,
                Some("max") => SaltLength::Longest,
                Some(text) => {
                    let wrong = |_| {
                        format!("{text:?} is not a length of a salt: give digest, max or a number of bytes")
                    };
                    SaltLength::Bytes(text.parse().map_err(wrong)?)
                }
            };
            let mask_hash = match mask {
                None => hash,
                Some(mask) => mask.parse().map_err(|_| format!("{mask:?} is not a hash"))?,
            };
            Ok(SignatureScheme::Pss(Pss { hash, mask_hash, salt }))
        }
        _ => Err(unknown()),
    }
}

/// The part of a query that names `scheme`: `scheme=pss-sha256&salt=digest`. `None` if a request cannot name
/// it.
#[must_use]
pub fn query(scheme: &SignatureScheme) -> Option<String> {
    // A slash in a name need not be escaped in a query.
    let text = match scheme {
        SignatureScheme::Pkcs1v15(hash) => format!("scheme=pkcs1v15-{hash}"),
        SignatureScheme::Pss(Pss { hash, mask_hash, salt }) => {
            let salt = match salt {
                SaltLength::Any | SaltLength::Digest => "digest".to_owned(),
                SaltLength::Longest => "max".to_owned(),
                SaltLength::Bytes(bytes) => bytes.to_string(),
            };
            let mask = if mask_hash == hash { String::new() } else { format!("&mask={mask_hash}") };
            format!("scheme=pss-{hash}&salt={salt}{mask}")
        }
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_a_name_that_is_read_again() {
        for hash in Hash::all() {
            let mut schemes = vec![SignatureScheme::Pss(Pss { salt: SaltLength::Digest, ..Pss::new(hash) })];
            schemes.push(SignatureScheme::Pss(Pss { salt: SaltLength::Bytes(7), ..Pss::new(hash) }));
            schemes.push(SignatureScheme::Pss(Pss {
                hash,
                mask_hash: Hash::Sha384,
                salt: SaltLength::Longest,
            }));
            schemes.extend(hash.digest_info_prefix().map(|_| SignatureScheme::Pkcs1v15(hash)));
            for scheme in schemes {
                let query = query(&scheme).expect("a name");
                let part =
                    |name: &str| query.split('&').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
                assert_eq!(parse(part("scheme").expect("a scheme"), part("salt"), part("mask")), Ok(scheme));
            }
        }
    }

    #[test]
    fn other_names_are_refused() {
        for (name, salt, mask) in [
            ("", None, None),
            ("pss", None, None),
            ("pss-md5", None, None),
            ("rsa-sha256", None, None),
            ("pkcs1v15-shake128", None, None),
            ("pkcs1v15-sha256", Some("max"), None),
            ("pss-sha256", Some("-1"), None),
            ("pss-sha256", None, Some("x")),
        ] {
            assert!(parse(name, salt, mask).is_err(), "{name}");
        }
    }
}
