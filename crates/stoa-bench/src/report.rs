//! From samples to figures, and from figures to what is printed.

use std::process::ExitCode;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// What a bench prints, and the exit code it ends with.
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) code: ExitCode,
}

/// One figure of several rounds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Figure {
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Figure {
    pub(super) fn of(rounds: impl IntoIterator<Item = f64>) -> Self {
        let mut rounds: Vec<f64> = rounds.into_iter().collect();
        rounds.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (rounds.first(), rounds.last()) else {
            return Self { median: 0.0, min: 0.0, max: 0.0 };
        };
        let middle = rounds.len() / 2;
        let median = if rounds.len() % 2 == 1 { rounds[middle] } else { (rounds[middle - 1] + rounds[middle]) / 2.0 };
        Self { median, min: *min, max: *max }
    }

    /// The median, with as many digits as it deserves.
    pub(super) fn show(&self) -> String {
        show(self.median)
    }

    /// The median, and how far the rounds were apart.
    pub(super) fn show_range(&self) -> String {
        format!("{} ({}–{})", show(self.median), show(self.min), show(self.max))
    }
}

pub(super) fn show(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// How long most took, and how long all but one in a hundred took, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Latency {
    pub(super) p50_ms: f64,
    pub(super) p99_ms: f64,
}

impl Latency {
    pub(super) fn of(mut samples: Vec<Duration>) -> Self {
        samples.sort_unstable();
        let at = |percent: usize| {
            let place = (samples.len() * percent / 100).min(samples.len().saturating_sub(1));
            samples.get(place).map_or(0.0, |sample| sample.as_secs_f64() * 1000.0)
        };
        Self { p50_ms: at(50), p99_ms: at(99) }
    }
}

pub(super) fn per(total: Duration, count: u64) -> f64 {
    total.as_secs_f64() * 1_000_000.0 / count.max(1) as f64
}

/// A limit that a figure is to keep; most are ratios.
#[derive(Debug, Serialize)]
pub(super) struct Budget {
    pub(super) what: String,
    pub(super) ratio: f64,
    pub(super) limit: f64,
    /// `x` for a ratio.
    pub(super) unit: &'static str,
    /// Whether more is better.
    pub(super) is_least: bool,
    pub(super) is_kept: bool,
}

impl Budget {
    pub(super) fn at_most(what: String, ratio: f64, limit: f64) -> Self {
        Self::at_most_of(what, ratio, limit, "x")
    }

    pub(super) fn at_most_of(what: String, ratio: f64, limit: f64, unit: &'static str) -> Self {
        Self { what, ratio, limit, unit, is_least: false, is_kept: ratio <= limit }
    }

    pub(super) fn at_least(what: String, ratio: f64, limit: f64) -> Self {
        Self { what, ratio, limit, unit: "x", is_least: true, is_kept: ratio >= limit }
    }

    pub(super) fn show(&self) -> String {
        let verdict = match (self.is_kept, self.is_least) {
            (true, _) => "PASS",
            (false, false) => "over budget",
            (false, true) => "below budget",
        };
        let Self { what, ratio, limit, unit, is_least, .. } = self;
        let bound = if *is_least { "at least " } else { "" };
        format!("{what}: {ratio:.3}{unit}, budget {bound}{limit}{unit}: {verdict}\n")
    }
}

/// The exit code of a bench that was asked to check its budgets, or not.
pub(super) fn verdict(is_asked: bool, budgets: &[Budget]) -> ExitCode {
    if is_asked && budgets.iter().any(|budget| !budget.is_kept) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// A table that can be pasted into a document, with numbers from its second column on.
pub(super) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}\n", table.trim_fmt())
}

pub(super) fn json(report: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(report).map(|text| text + "\n").map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        let median = |rounds: &[f64]| Figure::of(rounds.iter().copied()).median;
        assert_eq!([median(&[]), median(&[3.0]), median(&[9.0, 1.0, 2.0]), median(&[4.0, 1.0])], [0.0, 3.0, 2.0, 2.5]);
    }

    #[test]
    fn percentiles_of_few_and_many() {
        let latency = Latency::of((1..=1000).rev().map(Duration::from_millis).collect());
        assert_eq!((latency.p50_ms, latency.p99_ms), (501.0, 991.0));
        let one = Latency::of(vec![Duration::from_millis(7)]);
        assert_eq!((one.p50_ms, one.p99_ms), (7.0, 7.0));
        assert_eq!(Latency::of(Vec::new()).p99_ms, 0.0);
    }
}
