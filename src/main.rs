//! The command line.

/// Requests make and drop many small things on many threads, which this does faster than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    stoa::cli::main()
}
