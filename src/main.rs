//! The command line.

fn main() -> std::process::ExitCode {
    stoa::cli::main()
}
