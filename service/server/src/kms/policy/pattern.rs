//! Patterns with `*` for any characters and `?` for one.

/// Whether `text` is as `pattern` says.
pub(super) fn matches(pattern: &str, text: &str, ignore_case: bool) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let same = |a: u8, b: u8| a == b || ignore_case && a.eq_ignore_ascii_case(&b);
    let (mut at, mut place) = (0, 0);
    // The place of the last star, and the place where the text behind its match begins.
    let mut star: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(&wanted) if wanted == b'?' || same(wanted, text[place]) => {
                at += 1;
                place += 1;
            }
            _ => match &mut star {
                Some((star, from)) => {
                    *from += 1;
                    (at, place) = (*star + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text) in [
            ("*", ""),
            ("kms:*", "kms:Sign"),
            ("kms:*Key*", "kms:GenerateDataKeyPair"),
            ("a*b*c", "aXbbYc"),
            ("s?gn", "sign"),
            ("**", "x"),
        ] {
            assert!(matches(pattern, text, false), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "x"), ("kms:Sig", "kms:Sign"), ("a*b", "abc"), ("?", ""), ("KMS:*", "kms:Sign")]
        {
            assert!(!matches(pattern, text, false), "{pattern} {text}");
        }
        assert!(matches("KMS:sign", "kms:Sign", true));
    }
}
