use super::*;

#[test]
fn the_file_of_defaults_is_right() {
    let config = Config::default();
    config.check().unwrap();
    let Settings { region, account, skew_s, stale_s, deadline_ms, transit_mount } = config.settings();
    let default = Settings::default();
    assert_eq!((region, account, transit_mount), (default.region, default.account, default.transit_mount));
    assert_eq!((skew_s, stale_s, deadline_ms), (default.skew_s, default.stale_s, default.deadline_ms));
    assert_eq!(config.issuer_settings(), IssuerSettings::default());
    let (batch, default) = (config.batch_settings(), BatchSettings::default());
    assert_eq!(format!("{batch:?}"), format!("{default:?}"));
    assert_eq!(format!("{:?}", config.audit_settings()), format!("{:?}", AuditSettings::default()));
    // Every option has a comment above it or above its neighbour, so that `--print-config` explains itself.
    assert!(DEFAULT.lines().filter(|line| line.starts_with('#')).count() > 30);
}

#[test]
fn options_replace_defaults() {
    let config = Config::parse("region = \"eu-1\"\n[batch]\nbatch_ms = 2.5\nworkers = 7\n").unwrap();
    assert_eq!((&config.region[..], config.batch.workers), ("eu-1", 7));
    assert_eq!(config.batch_settings().batch, Duration::from_micros(2500));
    assert_eq!(config.batch.queue_ms, 500);
}

#[test]
fn unknown_and_wrong_options_are_named() {
    for (text, parts) in [
        ("# comment\nregin = \"x\"", &["line 2", "regin"][..]),
        ("[batch]\n\nworker = 1", &["line 3", "batch.worker"]),
        ("[batsh]", &["line 1", "batsh"]),
        ("region = 7", &["region", "string"]),
        ("listen = \"nowhere\"", &["listen"]),
        ("region = ", &["line 1"]),
        ("batch = 1", &["batch"]),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{text:?}: {part:?} is not in {error:?}");
        }
    }
}

#[test]
fn values_that_cannot_be_used_are_refused() {
    for (text, option) in [
        ("listen = \"0.0.0.0:1\"\n[tls]\nenabled = false", "listen"),
        ("account = \"1\"", "account"),
        ("region = \"a b\"", "region"),
        ("deadline_ms = 0", "deadline_ms"),
        ("[tls]\nkey = \"k\"", "tls.certificate"),
        ("[store]\nurl = \"mysql://\"", "store.url"),
        ("[engine]\nbackend = \"abacus\"", "engine.backend"),
        ("[engine]\nbackend = \"cuda\"\n[batch]\ngpu_workers = 0", "batch.gpu_workers"),
        ("[audit]\nsync = \"often\"", "audit.sync"),
        ("[batch]\nbatch_ms = 0", "batch.batch_ms"),
        ("[transit]\nmount = \"sys/transit\"", "transit.mount"),
        ("[transit]\nmount = \"transit/\"", "transit.mount"),
        ("[transit]\nmount = \"{name}\"", "transit.mount"),
        ("[limits]\nheader_bytes = 100", "limits.header_bytes"),
        ("[limits]\nwrite_timeout_s = 0", "limits.write_timeout_s"),
        ("[limits]\nbody_bytes = 1048577", "limits.body_bytes"),
        ("[limits]\nbody_bytes = 0", "limits.body_bytes"),
        ("[limits]\nbatch_body_bytes = 33554433", "limits.batch_body_bytes"),
        ("[limits]\nall_bodies_bytes = 67108863", "limits.all_bodies_bytes"),
    ] {
        let error = Config::parse(text).unwrap().check().unwrap_err();
        assert!(error.to_string().starts_with(option), "{text:?}: {error}");
    }
    Config::parse("listen = \"[::1]:1\"\n[tls]\nenabled = false").unwrap().check().unwrap();
    Config::parse("listen = \"0.0.0.0:1\"").unwrap().check().unwrap();
    let largest = "[limits]\nbody_bytes = 1048576\nbatch_body_bytes = 33554432\nall_bodies_bytes = 67108864";
    Config::parse(largest).unwrap().check().unwrap();
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_refused() {
    let error = Config::read(Path::new("/dev/zero")).unwrap_err();
    assert_eq!(error.to_string(), "/dev/zero: it is longer than 1 MiB");
}
