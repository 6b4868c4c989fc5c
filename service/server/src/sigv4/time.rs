//! Times in requests.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last second of the year 9999, in seconds since 1970. Texts of times have four digits for the year.
const LAST: u64 = 253_402_300_799;

/// The time `time` since 1970. Times after the year 9999 become its last second.
pub(crate) fn since_1970(time: Duration) -> SystemTime {
    UNIX_EPOCH + time.min(Duration::from_secs(LAST))
}

/// The time `seconds` since 1970 as SigV4 writes it: `20150830T123600Z`.
#[must_use]
pub fn timestamp(seconds: u64) -> String {
    let time = humantime::format_rfc3339_seconds(since_1970(Duration::from_secs(seconds)));
    time.to_string().replace(['-', ':'], "")
}

/// The seconds since 1970 of a time as SigV4 writes it. `None` if it is not one.
#[must_use]
pub fn time_of(text: &str) -> Option<u64> {
    let octets: &[u8; 16] = text.as_bytes().try_into().ok().filter(|_| text.is_ascii())?;
    let mut spread = *b"0000-00-00T00:00:00Z";
    for (from, to, len) in [(0, 0, 4), (4, 5, 2), (6, 8, 5), (11, 14, 2), (13, 17, 3)] {
        spread[to..to + len].copy_from_slice(&octets[from..from + len]);
    }
    seconds_of(humantime::parse_rfc3339(std::str::from_utf8(&spread).ok()?).ok()?)
}

/// The seconds since 1970 of a header `Date`. `None` if it is not a date of HTTP.
#[must_use]
pub fn http_time(text: &str) -> Option<u64> {
    seconds_of(httpdate::parse_http_date(text).ok()?)
}

fn seconds_of(time: SystemTime) -> Option<u64> {
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_written() {
        assert_eq!(timestamp(1_440_938_160), "20150830T123600Z");
        for seconds in [0, 951_782_400, 951_868_799, 1_709_164_800, 4_107_542_399, 253_402_300_799] {
            assert_eq!(time_of(&timestamp(seconds)), Some(seconds));
        }
        assert_eq!(timestamp(u64::MAX), "99991231T235959Z");
        assert_eq!(http_time("Sun, 30 Aug 2015 12:36:00 GMT"), Some(1_440_938_160));
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "20150830T123600",
            "20150832T123600Z",
            "20150229T123600Z",
            "20150830T243600Z",
            "20150830T123661Z",
            "20150830t123600Z",
            "20150830T12360.Z",
            "+0150830T123600Z",
            "2015083éT12360Z",
        ] {
            assert_eq!(time_of(text), None, "{text}");
        }
        assert_eq!(http_time("yesterday"), None);
    }
}
