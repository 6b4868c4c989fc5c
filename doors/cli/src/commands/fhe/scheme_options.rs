//! The scheme and its parameters on the command line.

use modmill_fhe::gentry_halevi::Setting;

/// The schemes that keys are made for. A key and a ciphertext say themselves which scheme they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SchemeName {
    GentryHalevi,
}

/// The settings that have names.
const NAMED: [(&str, Setting); 4] = [
    ("toy", Setting::toy()),
    ("small", Setting::small()),
    ("medium", Setting::medium()),
    ("large", Setting::large()),
];

/// Reads the name of a setting, or a setting such as `n=64,t=380,sec=72`.
pub(super) fn parse_setting(text: &str) -> Result<Setting, String> {
    let lower = text.to_ascii_lowercase();
    if let Some(&(_, setting)) = NAMED.iter().find(|(name, _)| *name == lower) {
        return Ok(setting);
    }
    let (mut dimension, mut coefficient_bits, mut security) = (None, None, None);
    for part in lower.split(',') {
        let unknown = || "known: toy, small, medium, large, or numbers such as n=64,t=380,sec=72".to_owned();
        let (name, value) = part.split_once('=').ok_or_else(unknown)?;
        let place = match name.trim() {
            "n" => &mut dimension,
            "t" => &mut coefficient_bits,
            "sec" => &mut security,
            _ => return Err(unknown()),
        };
        let value: usize = value.trim().parse().map_err(|_| format!("{part} has no number"))?;
        if place.replace(value).is_some() {
            return Err(format!("{} is given twice", name.trim()));
        }
    }
    let published = Setting::small();
    let dimension = dimension.ok_or("n, the dimension, is missing")?;
    let coefficient_bits = coefficient_bits.unwrap_or(published.coefficient_bits());
    let security = security.unwrap_or(published.security());
    Setting::custom(dimension, coefficient_bits, security).map_err(|error| error.to_string())
}

/// The name of a setting.
pub(super) fn setting_name(setting: &Setting) -> &'static str {
    NAMED.iter().find(|(_, named)| named == setting).map_or("custom", |(name, _)| name)
}

/// A setting in words.
pub(super) fn setting_text(setting: &Setting) -> String {
    format!(
        "{} (dimension {}, coefficients of {} bits, security {})",
        setting_name(setting),
        setting.dimension(),
        setting.coefficient_bits(),
        setting.security()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_names_or_numbers() {
        assert_eq!(parse_setting("Toy").unwrap(), Setting::toy());
        assert_eq!(parse_setting("n=2048").unwrap(), Setting::small());
        assert_eq!(parse_setting("sec=8, n=64 ,t=128").unwrap(), Setting::custom(64, 128, 8).unwrap());
        for (text, reason) in [
            ("tiny", "known: toy"),
            ("n=64,x=1", "known: toy"),
            ("t=128", "n, the dimension, is missing"),
            ("n=64,n=64", "n is given twice"),
            ("n=many", "n=many has no number"),
            ("n=100", "not a power of two"),
        ] {
            assert!(parse_setting(text).unwrap_err().contains(reason), "{text}");
        }
        assert!(setting_text(&Setting::toy()).starts_with("toy (dimension 512, "));
    }
}
