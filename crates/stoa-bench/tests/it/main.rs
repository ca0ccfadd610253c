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
    for name in ["raw", "auth", "send", "machine", "mcp", "read", "search", "mixed", "fanout", "fill"] {
        assert!(listed.iter().any(|(command, _)| *command == name), "{name} is missing: {help}");
    }
}
