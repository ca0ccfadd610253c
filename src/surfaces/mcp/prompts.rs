//! Prompts: what people ask agents to do, filled with what is the case.

use std::collections::BTreeMap;

use rmcp::model::{ErrorData, GetPromptRequestParams, GetPromptResponse};
use stoa_model::permissions::{Permission, PermissionSet};

use super::completion::Completer;
use super::exchange::{Converse, Exchange};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};

/// A value that a prompt needs.
#[derive(Debug, Clone, Copy)]
pub struct PromptValue {
    pub name: &'static str,
    pub description: &'static str,
    /// Finds values that begin with what is there already.
    pub completer: Option<Completer>,
}

#[derive(Debug, Clone, Copy)]
pub struct PromptSpec {
    pub name: &'static str,
    pub description: &'static str,
    /// All of them are needed.
    pub values: &'static [PromptValue],
    /// All that it needs to be filled; who lacks some of it is not shown the prompt.
    pub permissions: &'static [Permission],
}

impl PromptSpec {
    pub(super) fn is_open_to(&self, permissions: PermissionSet) -> bool {
        self.permissions.iter().all(|needed| permissions.contains(*needed))
    }
}

pub type PromptValues = BTreeMap<String, String>;
type Writer = Box<dyn Fn(Hub, Actor, PromptValues) -> BoxFuture<'static, Result<String, HubError>> + Send + Sync>;

type Converser = Converse<GetPromptRequestParams, GetPromptResponse>;

enum Way {
    /// It is a text.
    Writes(Writer),
    Converses(Converser),
}

pub(super) struct Prompt {
    pub(super) spec: PromptSpec,
    way: Way,
}

/// The prompts that features offer.
#[derive(Default)]
pub struct Prompts(Vec<Prompt>);

impl Prompts {
    pub fn add<F, A>(&mut self, spec: PromptSpec, write: F)
    where
        F: Fn(Hub, Actor, PromptValues) -> A + Send + Sync + 'static,
        A: Future<Output = Result<String, HubError>> + Send + 'static,
    {
        let writer: Writer = Box::new(move |hub, actor, values| Box::pin(write(hub, actor, values)));
        self.0.push(Prompt { spec, way: Way::Writes(writer) });
    }

    /// Adds a prompt that is more than a text, or that asks its client for something first.
    pub fn add_conversing<F, A>(&mut self, spec: PromptSpec, converse: F)
    where
        F: Fn(Exchange<GetPromptRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<GetPromptResponse, ErrorData>> + Send + 'static,
    {
        let way = Way::Converses(Box::new(move |exchange| Box::pin(converse(exchange))));
        self.0.push(Prompt { spec, way });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Prompt> {
        self.0.iter()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Prompt> {
        self.0.iter().find(|prompt| prompt.spec.name == name)
    }
}

impl Prompt {
    /// How it talks with its client, if it does.
    pub(super) fn converser(&self) -> Option<&Converser> {
        match &self.way {
            Way::Writes(_) => None,
            Way::Converses(converse) => Some(converse),
        }
    }

    pub(super) async fn write(&self, hub: &Hub, actor: &Actor, values: PromptValues) -> Result<String, HubError> {
        for needed in self.spec.permissions {
            actor.require(*needed)?;
        }
        if let Some(missing) = self.spec.values.iter().find(|value| !values.contains_key(value.name)) {
            return Err(HubError::invalid_field(missing.name, "is required"));
        }
        if let Some(unknown) = values.keys().find(|name| !self.spec.values.iter().any(|value| value.name == *name)) {
            let shown: String = unknown.chars().take(60).collect();
            return Err(HubError::invalid_field(&shown, "is not an argument of this prompt"));
        }
        match &self.way {
            Way::Writes(write) => write(hub.clone(), actor.clone(), values).await,
            Way::Converses(_) => Err(HubError::internal("a prompt that converses was written like a text")),
        }
    }
}
