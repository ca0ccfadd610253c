//! What attacks came to, and whether it is bearable.

use std::collections::BTreeMap;

use serde::Serialize;

use super::other::Answers;
use crate::machine::Machine;
use crate::report::{show, table};

const MEBIBYTE: f64 = 1024.0 * 1024.0;
/// What a hub may have in memory after an attack.
const MAX_RESIDENT_AFTER: u64 = 400 * 1024 * 1024;
const MAX_STOP_SECONDS: f64 = 10.0;

pub(super) struct Limits {
    pub(super) answer_seconds: f64,
}

#[derive(Serialize)]
pub(super) struct HostileReport {
    pub(super) bench: &'static str,
    pub(super) machine: Machine,
    pub(super) engine: String,
    pub(super) scale: f64,
    pub(super) attacks: Vec<AttackFigures>,
}

#[derive(Serialize)]
pub(super) struct AttackFigures {
    pub(super) attack: &'static str,
    pub(super) seconds: f64,
    /// By the attacker.
    pub(super) sent_bytes: u64,
    /// What the attacker was answered, and how often.
    pub(super) heard: BTreeMap<String, u64>,
    pub(super) resident_before_bytes: u64,
    pub(super) resident_most_bytes: u64,
    /// None if the hub did not live to see it.
    pub(super) resident_after_bytes: Option<u64>,
    pub(super) data_most_bytes: u64,
    pub(super) disk_growth_bytes: u64,
    /// Of the hub, with what the other owner caused.
    pub(super) cpu_seconds: f64,
    pub(super) other: Vec<Answers>,
    pub(super) has_lived: bool,
    pub(super) ended: String,
    /// From SIGTERM to the end.
    pub(super) stop_seconds: Option<f64>,
    pub(super) faults: Vec<String>,
}

impl AttackFigures {
    /// Says which promises were broken.
    pub(super) fn judged(mut self, limits: &Limits) -> Self {
        let mut faults = Vec::new();
        if !self.has_lived {
            faults.push(format!("the hub ended during the attack ({})", self.ended));
        }
        if self.resident_after_bytes.is_some_and(|bytes| bytes >= MAX_RESIDENT_AFTER) {
            faults.push("the hub has 400 MB or more after the attack".to_owned());
        }
        if self.stop_seconds.is_some_and(|seconds| seconds > MAX_STOP_SECONDS) {
            faults.push("the hub took more than 10 s to stop".to_owned());
        }
        for answers in self.other.iter().filter(|answers| answers.is_required) {
            for (refusal, count) in &answers.refused {
                faults.push(format!("the other owner's {} was refused: {refusal} ({count}x)", answers.kind));
            }
            if answers.slowest_seconds > limits.answer_seconds {
                let seconds = show(answers.slowest_seconds);
                faults.push(format!("the other owner's {} took {seconds} s", answers.kind));
            }
        }
        self.faults = faults;
        self
    }

    fn caused_bytes(&self) -> u64 {
        self.resident_most_bytes.saturating_sub(self.resident_before_bytes)
    }

    /// One line for those who watch.
    pub(super) fn summary(&self) -> String {
        let heard: Vec<_> = self.heard.iter().map(|(answer, count)| format!("{answer} {count}x")).collect();
        let heard = if heard.is_empty() { "nothing".to_owned() } else { heard.join(", ") };
        format!(
            "{}: {} faults, {} CPU s in {} s; the attacker was answered: {heard}",
            self.attack,
            self.faults.len(),
            show(self.cpu_seconds),
            show(self.seconds),
        )
    }

    fn slowest(&self, kind: &str) -> String {
        let found = self.other.iter().find(|answers| answers.kind == kind);
        found.map_or_else(String::new, |answers| {
            let refused: u64 = answers.refused.values().sum();
            let mark = if refused > 0 { format!(" ({refused} refused)") } else { String::new() };
            show(answers.slowest_seconds) + &mark
        })
    }
}

impl HostileReport {
    pub(super) fn show(&self) -> String {
        let mib = |bytes: u64| show(bytes as f64 / MEBIBYTE);
        let hub = self.attacks.iter().map(|attack| {
            vec![
                attack.attack.to_owned(),
                mib(attack.sent_bytes),
                mib(attack.caused_bytes()),
                attack.resident_after_bytes.map_or_else(|| "-".to_owned(), mib),
                mib(attack.disk_growth_bytes),
                show(attack.cpu_seconds),
                show(attack.seconds),
                attack.stop_seconds.map_or_else(|| "-".to_owned(), show),
                if attack.has_lived { "lived".to_owned() } else { attack.ended.clone() },
            ]
        });
        let columns =
            ["attack", "sent MB", "caused MB", "MB after", "disk MB", "hub CPU s", "in s", "SIGTERM s", "hub"];
        let mut kinds = vec!["read", "channels", "send", "search", "login", "first login", "upload", "replies"];
        kinds.retain(|kind| self.attacks.iter().flat_map(|attack| &attack.other).any(|answers| answers.kind == *kind));
        let answers = self.attacks.iter().map(|attack| {
            let slowest = kinds.iter().map(|kind| attack.slowest(kind));
            std::iter::once(attack.attack.to_owned()).chain(slowest).collect()
        });
        let answer_columns = [&["attack"][..], &kinds[..]].concat();
        let mut text = [
            self.machine.heading("hostile", &self.engine),
            "\n".to_owned(),
            table(&columns, hub.collect()),
            "\nslowest answers of the other owner in seconds\n".to_owned(),
            table(&answer_columns, answers.collect()),
            "\n".to_owned(),
        ]
        .concat();
        for attack in &self.attacks {
            for fault in &attack.faults {
                text += &format!("{}: {fault}\n", attack.attack);
            }
        }
        if self.attacks.iter().all(|attack| attack.faults.is_empty()) {
            text += "PASS: no attack took the hub from the other owner\n";
        }
        text
    }
}
