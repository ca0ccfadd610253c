//! The command line of `stoa-bench`. `tests/it/bench.rs` of the hub tests what the benches report.

use std::process::Command;

fn stoa_bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_stoa-bench"))
}

#[test]
fn help_lists_every_bench() {
    let output = stoa_bench().arg("--help").output().unwrap();
    assert!(output.status.success());
    let help = String::from_utf8(output.stdout).unwrap();
    let listed: Vec<_> = help.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).collect();
    for name in ["raw", "auth", "send", "machine", "mcp", "read", "search", "mixed", "fanout", "hostile", "fill"] {
        assert!(listed.iter().any(|(command, _)| *command == name), "{name} is missing: {help}");
    }
}

#[test]
fn a_missing_hub_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("hub");
    for name in ["auth", "send", "machine", "mcp", "read", "search", "mixed", "fanout", "hostile"] {
        let output =
            stoa_bench().args([name, "--data"]).arg(folder.path()).arg("--stoa").arg(&missing).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {error}");
        assert!(error.contains(missing.to_str().unwrap()), "{name}: {error}");
        assert!(error.contains("cargo build") && error.contains("--stoa"), "{name}: {error}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name} created files");
    }
}

#[test]
fn the_hub_is_the_file_beside_stoa_bench() {
    // A link, because a file that was just written cannot be run while another test starts a process.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let link = folder.path().join("stoa-bench");
    std::fs::hard_link(env!("CARGO_BIN_EXE_stoa-bench"), &link).unwrap();
    let output = Command::new(link).args(["send", "--data"]).arg(folder.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(folder.path().join("stoa").to_str().unwrap()), "{error}");
}
