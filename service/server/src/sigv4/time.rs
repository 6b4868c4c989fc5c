//! Times in requests.

/// Seconds of a day.
const DAY: i64 = 86_400;

/// The time `seconds` since 1970 as SigV4 writes it: `20150830T123600Z`.
#[must_use]
pub fn timestamp(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let (year, month, day) = date_of(seconds.div_euclid(DAY));
    let second = seconds.rem_euclid(DAY);
    format!("{year:04}{month:02}{day:02}T{:02}{:02}{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// The seconds since 1970 of a time as SigV4 writes it. `None` if it is not one.
#[must_use]
pub fn time_of(text: &str) -> Option<u64> {
    let bytes: &[u8; 16] = text.as_bytes().try_into().ok()?;
    if bytes[8] != b'T' || bytes[15] != b'Z' {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        let digit =
            |value: i64, byte: &u8| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'));
        bytes.get(range)?.iter().try_fold(0, digit)
    };
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    let (hour, minute, second) = (number(9..11)?, number(11..13)?, number(13..15)?);
    let days = days_of(year, month, day);
    if date_of(days) != (year, month, day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    u64::try_from(days * DAY + hour * 3600 + minute * 60 + second).ok()
}

/// The seconds since 1970 of a header `Date`. `None` if it is not a date of HTTP.
#[must_use]
pub fn http_time(text: &str) -> Option<u64> {
    let time = httpdate::parse_http_date(text).ok()?;
    time.duration_since(std::time::UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Year, month and day of the day that is `days` after 1970-01-01. Years are counted from March, so that a leap day is the
/// last day of its year; 400 years are an era of 146097 days.
#[must_use]
pub fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day_of_month)
}

/// The inverse of [`date_of`] for dates that exist.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
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
            "2015083éT12360Z",
        ] {
            assert_eq!(time_of(text), None, "{text}");
        }
        assert_eq!(http_time("yesterday"), None);
    }
}
