//! Progress on standard error. Results go to standard output.

#[expect(clippy::print_stderr, reason = "this is the command line")]
pub(super) fn show_progress(text: &str) {
    eprintln!("{text}");
}
