//! Dispatch: whether a message starts a run of a reactive agent, and if not, why.

use crate::agents::TriggerMode;
use crate::named::named_enum;

/// Agents of other owners that one message can wake.
pub const MAX_FAN_OUT: u32 = 5;
pub const DEFAULT_MAX_ROUND_TRIPS: u32 = 12;

named_enum! {
    /// Why a message starts no run.
    pub enum NotWokenReason {
        /// The sender set `no_wake`.
        NoWake = "no_wake",
        /// The operator or the owner has stopped automation.
        ActingOff = "acting_off",
        Quarantined = "quarantined",
        Paused = "paused",
        /// The agent checks its inbox itself.
        Passive = "passive",
        Disabled = "disabled",
        /// The sender is not allowed to start the agent.
        Sender = "sender",
        /// The owner is not allowed to run commands on the server.
        SubprocessNotAllowed = "subprocess_not_allowed",
        /// The message has reached the limit of other owners' agents.
        FanOut = "fan_out",
        /// The sender has reached the hourly limit.
        SenderLimit = "sender_limit",
        /// The chain of agents has reached its maximum depth.
        Depth = "depth",
        /// The chain has reached its limit of runs.
        ChainLimit = "chain_limit",
        /// Stopped to avoid a reply loop between two agents.
        Damped = "damped",
        Budget = "budget",
        /// Others have used up their share of the budget.
        OthersBudget = "others_budget",
        GoalBudget = "goal_budget",
    }
}

named_enum! {
    /// What a message waits for before it starts a run.
    pub enum DeferredReason {
        /// The agent is in its cooldown.
        Cooldown = "cooldown",
        /// The agent is running.
        Sequential = "sequential",
    }
}

named_enum! {
    /// Who can start an agent.
    #[derive(Default)]
    pub enum TriggerFrom {
        /// The owner and the owner's agents.
        Owner = "owner",
        /// Also other people, and agents that write in a private channel of the agent.
        #[default]
        People = "people",
        Everyone = "everyone",
    }
}

named_enum! {
    /// What a run can read and write if someone other than the owner and the owner's agents started it.
    #[derive(Default)]
    pub enum ForeignReach {
        /// The conversation of the message that started it. It also reads public channels, and writes to the owner.
        #[default]
        Conversation = "conversation",
        /// All that the agent can read and write.
        Agent = "agent",
    }
}

/// What a sender is to the agent that a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderKind {
    /// The owner or one of the owner's agents.
    OwnerSide,
    /// Another person, in a session.
    Person,
    /// A program of another owner that writes in a private channel of the agent.
    ProgramInPrivateChannel,
    /// A program of another owner anywhere else.
    Program,
}

/// What the decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Situation {
    pub is_no_wake: bool,
    pub is_acting_off: bool,
    pub is_quarantined: bool,
    pub is_paused: bool,
    pub mode: TriggerMode,
    pub sender: SenderKind,
    pub trigger_from: TriggerFrom,
    /// Whether `trigger_allow` names the sender, or the person whose agent the sender is.
    pub is_allowed_by_name: bool,
    /// Whether the run would have the hub's rights on its machine.
    pub is_subprocess_without_isolation: bool,
    pub is_subprocess_forbidden: bool,
    /// Agents of other owners that this message has woken so far.
    pub foreign_agents_woken: u32,
    /// How often the sender's person and their agents have woken this agent within an hour, and how often they may.
    pub wakes_by_sender: u32,
    pub max_wakes_by_sender: u32,
    pub depth: u32,
    pub max_depth: u32,
    /// Runs that descend from one message.
    pub runs_in_chain: u32,
    pub max_runs_in_chain: u32,
    /// Exchanges with the sender within an hour, since a person last wrote.
    pub round_trips: u32,
    pub max_round_trips: u32,
    /// Whether the text of an agent acknowledges something and says nothing else.
    pub is_bare_acknowledgement: bool,
    pub runs_today: u32,
    pub max_runs_today: u32,
    /// Whether the money for the day is spent.
    pub is_money_spent: bool,
    /// Runs of today that others have started.
    pub foreign_runs_today: u32,
    /// What others may use of the budget.
    pub others_percent: u32,
    pub is_goal_budget_spent: bool,
    pub is_cooling_down: bool,
    pub is_running: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Start,
    Later(DeferredReason),
    Not(NotWokenReason),
}

impl Situation {
    /// Whether somebody else than the owner's side would have the agent run.
    pub fn is_foreign(&self) -> bool {
        self.sender != SenderKind::OwnerSide
    }

    /// Asks one question after another. The first that speaks against a run decides.
    pub fn decide(&self) -> Decision {
        use DeferredReason as Later;
        use NotWokenReason as Not;
        let refusals = [
            (Not::NoWake, self.is_no_wake),
            (Not::ActingOff, self.is_acting_off),
            (Not::Quarantined, self.is_quarantined),
            (Not::Paused, self.is_paused),
            (Not::Passive, self.mode == TriggerMode::Passive),
            (Not::Disabled, self.mode == TriggerMode::Disabled),
            (Not::Sender, !self.is_sender_accepted()),
            (Not::SubprocessNotAllowed, self.is_subprocess_forbidden),
            (Not::FanOut, self.is_foreign() && self.foreign_agents_woken >= MAX_FAN_OUT),
            (Not::SenderLimit, self.is_foreign() && self.wakes_by_sender >= self.max_wakes_by_sender),
            (Not::Depth, self.depth >= self.max_depth),
            (Not::ChainLimit, self.runs_in_chain >= self.max_runs_in_chain),
            (Not::Damped, self.is_damped()),
            (Not::Budget, self.runs_today >= self.max_runs_today || self.is_money_spent),
            (Not::OthersBudget, self.is_foreign() && self.foreign_runs_today >= self.max_foreign_runs_today()),
            (Not::GoalBudget, self.is_goal_budget_spent),
        ];
        if let Some((reason, _)) = refusals.into_iter().find(|(_, applies)| *applies) {
            return Decision::Not(reason);
        }
        match () {
            () if self.is_cooling_down => Decision::Later(Later::Cooldown),
            () if self.is_running => Decision::Later(Later::Sequential),
            () => Decision::Start,
        }
    }

    /// Each question in its order: its name, whether it lets a run start, and what was found, in words.
    pub fn steps(&self) -> Vec<(&'static str, bool, String)> {
        let runs = |now: u32, most: u32| format!("{now} of {most} runs today");
        let yes_or = |holds: bool, so: &str, not: &str| if holds { so.to_owned() } else { not.to_owned() };
        let exchanges =
            format!("{} of {} messages from this agent in the last hour", self.round_trips, self.max_round_trips);
        vec![
            ("acting_off", !self.is_acting_off, yes_or(self.is_acting_off, "all automation is stopped", "not stopped")),
            ("quarantined", !self.is_quarantined, yes_or(self.is_quarantined, "quarantined", "not quarantined")),
            ("paused", !self.is_paused, yes_or(self.is_paused, "paused", "not paused")),
            ("mode", self.mode == TriggerMode::Reactive, format!("mode {}", self.mode.name())),
            ("sender", self.is_sender_accepted(), self.sender_in_words()),
            (
                "subprocess_not_allowed",
                !self.is_subprocess_forbidden,
                yes_or(self.is_subprocess_forbidden, "the owner is not allowed to run commands here", "allowed here"),
            ),
            (
                "sender_limit",
                !self.is_foreign() || self.wakes_by_sender < self.max_wakes_by_sender,
                format!(
                    "{} of {} runs for this sender in the last hour",
                    self.wakes_by_sender, self.max_wakes_by_sender
                ),
            ),
            ("depth", self.depth < self.max_depth, format!("depth {} of {}", self.depth, self.max_depth)),
            ("damped", !self.is_damped(), exchanges),
            ("budget", self.runs_today < self.max_runs_today, runs(self.runs_today, self.max_runs_today)),
            (
                "others_budget",
                !self.is_foreign() || self.foreign_runs_today < self.max_foreign_runs_today(),
                format!("others: {}", runs(self.foreign_runs_today, self.max_foreign_runs_today())),
            ),
            (
                "cooldown",
                !self.is_cooling_down,
                yes_or(self.is_cooling_down, "waiting for the cooldown after the last run", "no cooldown"),
            ),
            ("sequential", !self.is_running, yes_or(self.is_running, "a run is active", "no run is active")),
        ]
    }

    fn sender_in_words(&self) -> String {
        let who = match self.sender {
            SenderKind::OwnerSide => "the owner or one of their agents",
            SenderKind::Person => "another person",
            SenderKind::ProgramInPrivateChannel => "another owner's agent in a private channel of this agent",
            SenderKind::Program => "another owner's agent or service",
        };
        if self.is_foreign() && self.is_subprocess_without_isolation {
            return format!(
                "{who}; runs are not isolated on this hub, so only the owner and their agents can start this agent"
            );
        }
        format!("{who}; allowed senders: {}", self.trigger_from.name())
    }

    fn is_sender_accepted(&self) -> bool {
        if self.sender == SenderKind::OwnerSide {
            return true;
        }
        let is_accepted = match self.trigger_from {
            TriggerFrom::Owner => false,
            TriggerFrom::People => {
                matches!(self.sender, SenderKind::Person | SenderKind::ProgramInPrivateChannel)
            }
            TriggerFrom::Everyone => true,
        };
        !self.is_subprocess_without_isolation && (is_accepted || self.is_allowed_by_name)
    }

    /// People are never damped: what they write always asks the rest of the chain.
    fn is_damped(&self) -> bool {
        self.is_bare_acknowledgement || self.round_trips > self.max_round_trips
    }

    fn max_foreign_runs_today(&self) -> u32 {
        let runs = u64::from(self.max_runs_today) * u64::from(self.others_percent) / 100;
        u32::try_from(runs).unwrap_or(u32::MAX)
    }
}

/// Words that acknowledge something and say nothing else.
const ACKNOWLEDGEMENTS: [&str; 13] = [
    "ack",
    "acknowledged",
    "got it",
    "many thanks",
    "noted",
    "ok",
    "ok thanks",
    "okay",
    "received",
    "roger",
    "thank you",
    "thanks",
    "understood",
];
/// Longer texts say something.
const MAX_ACKNOWLEDGEMENT_BYTES: usize = 64;

/// Whether a text says nothing but "ok", "thanks" or the like, is an emoji, or is empty.
pub fn is_bare_acknowledgement(text: &str) -> bool {
    if text.len() > MAX_ACKNOWLEDGEMENT_BYTES {
        return text.trim().is_empty();
    }
    // A mention is how the text gets to its recipient.
    let words = text.split_whitespace().filter(|word| !word.starts_with('@'));
    let spoken = words.collect::<Vec<_>>().join(" ").to_lowercase();
    let spoken = spoken.trim_matches(|letter: char| !letter.is_alphanumeric());
    // What has neither letters nor digits is punctuation or an emoji.
    spoken.is_empty() || ACKNOWLEDGEMENTS.contains(&spoken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The owner writes to an agent that has nothing to do.
    fn free() -> Situation {
        Situation {
            is_no_wake: false,
            is_acting_off: false,
            is_quarantined: false,
            is_paused: false,
            mode: TriggerMode::Reactive,
            sender: SenderKind::Person,
            trigger_from: TriggerFrom::People,
            is_allowed_by_name: false,
            is_subprocess_without_isolation: false,
            is_subprocess_forbidden: false,
            foreign_agents_woken: 0,
            wakes_by_sender: 0,
            max_wakes_by_sender: 20,
            depth: 0,
            max_depth: 4,
            runs_in_chain: 0,
            max_runs_in_chain: 50,
            round_trips: 0,
            max_round_trips: DEFAULT_MAX_ROUND_TRIPS,
            is_bare_acknowledgement: false,
            runs_today: 0,
            max_runs_today: 100,
            is_money_spent: false,
            foreign_runs_today: 0,
            others_percent: 50,
            is_goal_budget_spent: false,
            is_cooling_down: false,
            is_running: false,
        }
    }

    /// Changes a situation so that something speaks against a run.
    type Change = fn(&mut Situation);

    /// Everything that can speak against a run, in the order of the chain.
    fn chain() -> Vec<(Decision, Change)> {
        use DeferredReason as Later;
        use NotWokenReason as Not;
        let refusals: [(Not, Change); 18] = [
            (Not::NoWake, |it| it.is_no_wake = true),
            (Not::ActingOff, |it| it.is_acting_off = true),
            (Not::Quarantined, |it| it.is_quarantined = true),
            (Not::Paused, |it| it.is_paused = true),
            (Not::Passive, |it| it.mode = TriggerMode::Passive),
            (Not::Disabled, |it| it.mode = TriggerMode::Disabled),
            (Not::Sender, |it| it.trigger_from = TriggerFrom::Owner),
            (Not::SubprocessNotAllowed, |it| it.is_subprocess_forbidden = true),
            (Not::FanOut, |it| it.foreign_agents_woken = 5),
            (Not::SenderLimit, |it| it.wakes_by_sender = 20),
            (Not::Depth, |it| it.depth = 4),
            (Not::ChainLimit, |it| it.runs_in_chain = 50),
            (Not::Damped, |it| it.round_trips = 13),
            (Not::Damped, |it| it.is_bare_acknowledgement = true),
            (Not::Budget, |it| it.runs_today = 100),
            (Not::Budget, |it| it.is_money_spent = true),
            (Not::OthersBudget, |it| it.foreign_runs_today = 50),
            (Not::GoalBudget, |it| it.is_goal_budget_spent = true),
        ];
        let waits: [(Later, Change); 2] =
            [(Later::Cooldown, |it| it.is_cooling_down = true), (Later::Sequential, |it| it.is_running = true)];
        let refusals = refusals.map(|(reason, apply)| (Decision::Not(reason), apply)).into_iter();
        refusals.chain(waits.map(|(reason, apply)| (Decision::Later(reason), apply))).collect()
    }

    #[test]
    fn each_reason_alone_decides_and_of_two_the_first() {
        assert_eq!(free().decide(), Decision::Start);
        let chain = chain();
        for (place, (reason, apply)) in chain.iter().enumerate() {
            let mut alone = free();
            apply(&mut alone);
            assert_eq!(alone.decide(), *reason);
            for (later, apply_later) in &chain[place + 1..] {
                // The one that comes first is applied last: two modes exclude each other.
                let mut both = free();
                apply_later(&mut both);
                apply(&mut both);
                assert_eq!(both.decide(), *reason, "{reason:?} comes before {later:?}");
            }
        }
    }

    #[test]
    fn every_reason_is_in_the_chain() {
        let chain = chain();
        for reason in NotWokenReason::ALL {
            assert!(chain.iter().any(|(decision, _)| *decision == Decision::Not(reason)), "{reason:?}");
        }
        for reason in DeferredReason::ALL {
            assert!(chain.iter().any(|(decision, _)| *decision == Decision::Later(reason)), "{reason:?}");
        }
    }

    #[test]
    fn senders_and_settings() {
        use SenderKind::{OwnerSide, Person, Program, ProgramInPrivateChannel};
        use TriggerFrom::{Everyone, Owner, People};
        for (sender, accepted_by) in [
            (OwnerSide, &[Owner, People, Everyone][..]),
            (Person, &[People, Everyone]),
            (ProgramInPrivateChannel, &[People, Everyone]),
            (Program, &[Everyone]),
        ] {
            for trigger_from in [Owner, People, Everyone] {
                let asked = Situation { sender, trigger_from, ..free() };
                let is_accepted = accepted_by.contains(&trigger_from);
                assert_eq!(asked.decide() == Decision::Start, is_accepted, "{sender:?} {trigger_from:?}");
                let named = Situation { is_allowed_by_name: true, ..asked.clone() };
                assert_eq!(named.decide(), Decision::Start);
                let bare = Situation { is_subprocess_without_isolation: true, ..named };
                assert_eq!(bare.decide() == Decision::Start, sender == OwnerSide, "{sender:?} without isolation");
            }
        }
    }

    /// Limits on others do not hold for the owner's side.
    #[test]
    fn the_owners_side_has_the_whole_budget() {
        let busy = Situation {
            foreign_agents_woken: 5,
            wakes_by_sender: 20,
            foreign_runs_today: 50,
            runs_today: 99,
            ..free()
        };
        assert_eq!(busy.decide(), Decision::Not(NotWokenReason::FanOut));
        assert_eq!(Situation { sender: SenderKind::OwnerSide, ..busy }.decide(), Decision::Start);
        let half = Situation { foreign_runs_today: 49, runs_today: 49, ..free() };
        assert_eq!(half.decide(), Decision::Start);
        let nothing = Situation { others_percent: 0, ..free() };
        assert_eq!(nothing.decide(), Decision::Not(NotWokenReason::OthersBudget));
    }

    #[test]
    fn acknowledgements() {
        for text in
            ["", "  \n", "ok", "OK!", "Thanks.", "thank you", "@scribe got it", "👍", "👍🏽 🎉", "...", "Understood!"]
        {
            assert!(is_bare_acknowledgement(text), "{text:?}");
        }
        for text in [
            "ok, do it",
            "no",
            "done",
            "yes",
            "thanks for 3 of them",
            "42",
            "好",
            "okay then, what about the second one?",
        ] {
            assert!(!is_bare_acknowledgement(text), "{text:?}");
        }
        assert!(is_bare_acknowledgement(&" ".repeat(1000)));
    }
}
