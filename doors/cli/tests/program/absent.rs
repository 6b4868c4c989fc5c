//! Commands that a build without their features lacks.

use crate::common::{run, stderr, stdout};

#[test]
fn commands_of_other_features_are_in_the_help_and_say_what_brings_them() {
    // The text of a command may go on in the next line.
    let help = stdout(&run(&["--help"], "")).replace("\n               ", " ");
    for (command, feature, is_here) in [
        ("audit", "audit", cfg!(feature = "audit")),
        ("ec", "ec", cfg!(feature = "ec")),
        ("fhe", "fhe", cfg!(feature = "fhe")),
        ("hardware", "hardware", cfg!(feature = "hardware")),
        ("load", "serve", cfg!(feature = "serve")),
        ("openssl", "openssl", cfg!(feature = "openssl")),
        ("serve", "serve", cfg!(feature = "serve")),
    ] {
        let line = help.lines().find(|line| line.trim_start().starts_with(command)).expect(command);
        assert_eq!(line.contains(&format!("[needs --features {feature}]")), !is_here, "{line}");
        if is_here {
            continue;
        }
        for arguments in [&[command][..], &[command, "--help"], &[command, "demo", "--bits", "5"]] {
            let output = run(arguments, "");
            assert_eq!(output.status.code(), Some(2), "{arguments:?}");
            let text = stderr(&output);
            assert!(text.contains(&format!("no `modmill {command}`")), "{text}");
            assert!(text.contains(&format!("--features {feature}")), "{text}");
        }
    }
}
