//! What is looked for, once names are known: conditions that an index can answer.

use std::collections::HashSet;

use stoa_model::messages::WorkflowState;
use stoa_model::search::Has;
use stoa_model::search::document::mark;
use stoa_model::search::query::Term;

use super::entries::{AUTHOR, CONVERSATION, Entry, HAS, Standing};

/// Conversations or authors that are looked for as marks among the words, which is quick for few of them. More are
/// compared with each message that has the words.
const MAX_MARKED: usize = 8;

/// All that a message has to be.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub(super) required: Vec<Term>,
    pub(super) excluded: Vec<Term>,
    /// Where it has to be: what the caller may see of what they ask for.
    pub(super) conversations: Vec<i64>,
    pub(super) authors: Option<Vec<i64>>,
    pub(super) authors_not: Vec<i64>,
    pub(super) states: Option<Vec<WorkflowState>>,
    /// Whether talk fits, which has no state: only where states are left out.
    pub(super) has_talk: bool,
    pub(super) has: Vec<Has>,
    pub(super) has_not: Vec<Has>,
    pub(super) after_ms: Option<i64>,
    pub(super) before_ms: Option<i64>,
}

/// The part of a plan that is about words and marks.
pub(super) struct Wanted {
    /// Of each of these one at least.
    pub(super) all: Vec<Vec<Term>>,
    pub(super) none: Vec<Term>,
}

/// The part that is about facts.
#[derive(Default)]
pub(super) struct Facts<'p> {
    pub(super) conversations: Option<&'p [i64]>,
    pub(super) authors: Option<&'p [i64]>,
    pub(super) after_ms: Option<i64>,
    pub(super) before_ms: Option<i64>,
    /// What changes without the text is asked of the messages themselves, so it is never out of date.
    pub(super) standing: Option<StandingFacts<'p>>,
}

impl Facts<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.conversations.is_none()
            && self.authors.is_none()
            && self.after_ms.is_none()
            && self.before_ms.is_none()
            && self.standing.is_none()
    }
}

/// The part about the state of the work and about reactions.
pub(super) struct StandingFacts<'p> {
    /// Where it has to be, also if there are few of them.
    pub(super) conversations: &'p [i64],
    pub(super) states: Option<&'p [WorkflowState]>,
    pub(super) has_talk: bool,
    pub(super) has_reaction: Option<bool>,
}

impl StandingFacts<'_> {
    /// SQL for the states, as a condition on messages. What is work comes first, as the index of work wants it.
    pub(super) fn states_sql(&self) -> Option<String> {
        let quoted = |state: &WorkflowState| format!("'{}'", state.name());
        let list = self.states?.iter().map(quoted).collect::<Vec<_>>().join(", ");
        Some(match (self.has_talk, list.is_empty()) {
            (false, _) => format!("m.is_work = 1 and m.workflow_state in ({list})"),
            (true, true) => "m.is_work = 0".to_owned(),
            (true, false) => format!("(m.is_work = 0 or m.workflow_state in ({list}))"),
        })
    }
}

/// Those that are marks among the words.
fn texts_have(has: &[Has]) -> impl Iterator<Item = &Has> {
    has.iter().filter(|has| **has != Has::Reaction)
}

fn marked(kind: char, value: impl std::fmt::Display) -> Term {
    Term { words: vec![mark(kind, value)], is_prefix: false }
}

impl Plan {
    /// Whether nothing can fit it.
    pub(super) fn is_hopeless(&self) -> bool {
        self.conversations.is_empty()
            || self.authors.as_ref().is_some_and(Vec::is_empty)
            || (!self.has_talk && self.states.as_ref().is_some_and(Vec::is_empty))
            || self.has.iter().any(|has| self.has_not.contains(has))
    }

    pub(super) fn wanted(&self) -> Wanted {
        let mut all: Vec<Vec<Term>> = self.required.iter().map(|term| vec![term.clone()]).collect();
        all.extend(texts_have(&self.has).map(|has| vec![marked(HAS, has.name())]));
        if let Some(authors) = self.authors.as_ref().filter(|authors| authors.len() <= MAX_MARKED) {
            all.push(authors.iter().map(|author| marked(AUTHOR, author)).collect());
        }
        if self.conversations.len() <= MAX_MARKED {
            all.push(self.conversations.iter().map(|conversation| marked(CONVERSATION, conversation)).collect());
        }
        let mut none = self.excluded.clone();
        none.extend(texts_have(&self.has_not).map(|has| marked(HAS, has.name())));
        none.extend(self.authors_not.iter().map(|author| marked(AUTHOR, author)));
        Wanted { all, none }
    }

    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            conversations: Some(&*self.conversations).filter(|conversations| conversations.len() > MAX_MARKED),
            authors: self.authors.as_deref().filter(|authors| authors.len() > MAX_MARKED),
            after_ms: self.after_ms,
            before_ms: self.before_ms,
            standing: self.standing(),
        }
    }

    fn standing(&self) -> Option<StandingFacts<'_>> {
        let states = self.states.as_deref();
        let has_reaction = match (self.has.contains(&Has::Reaction), self.has_not.contains(&Has::Reaction)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        (states.is_some() || has_reaction.is_some()).then_some(StandingFacts {
            conversations: &self.conversations,
            states,
            has_talk: self.has_talk,
            has_reaction,
        })
    }

    /// What finds out whether a message fits, without any index.
    pub(super) fn judge(&self) -> Judge<'_> {
        Judge { plan: self, wanted: self.wanted(), conversations: self.conversations.iter().copied().collect() }
    }
}

pub(super) struct Judge<'p> {
    plan: &'p Plan,
    wanted: Wanted,
    conversations: HashSet<i64>,
}

impl Judge<'_> {
    /// Whether it is where it may be found.
    pub(super) fn is_in(&self, conversation: i64) -> bool {
        self.conversations.contains(&conversation)
    }

    pub(super) fn fits(&self, entry: &Entry, standing: &Standing) -> bool {
        let Self { plan, wanted, .. } = self;
        let has_reaction = standing.has_reaction;
        self.is_in(entry.conversation)
            && plan
                .states
                .as_ref()
                .is_none_or(|states| standing.state.map_or(plan.has_talk, |state| states.contains(&state)))
            && (has_reaction || !plan.has.contains(&Has::Reaction))
            && !(has_reaction && plan.has_not.contains(&Has::Reaction))
            && plan.authors.as_ref().is_none_or(|authors| authors.contains(&entry.author))
            && plan.after_ms.is_none_or(|after| entry.created_at_ms >= after)
            && plan.before_ms.is_none_or(|before| entry.created_at_ms < before)
            && wanted.all.iter().all(|any| any.iter().any(|term| entry.document.contains(term)))
            && !wanted.none.iter().any(|term| entry.document.contains(term))
    }
}
