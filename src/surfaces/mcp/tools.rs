//! Tools: the frame into which features put what agents can do.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use stoa_db::{DbError, Tx};
use stoa_model::handles::nearest;
use stoa_model::mcp::Toolset;
use stoa_model::permissions::{Permission, PermissionSet};

use super::exchange::{Converse, Exchange};
use super::schema::{self, Schema};
use crate::access::{Actor, Call, Idempotency};
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};
use crate::json::{from_json_value, has_nul};

/// A list is looked through by a model, not by a machine.
pub const MAX_LISTED: i64 = 25;
const IDEMPOTENCY_KEY: &str = "idempotency_key";
const MAX_IDEMPOTENCY_KEY: usize = 255;

/// What a call does to the world, for clients that ask their person before some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// Each call adds something.
    Adds,
    /// A second call of the same kind changes nothing more.
    Sets,
    /// Something is gone afterwards.
    Deletes,
}

/// Whether a caller is shown a tool.
pub type ShownTo = fn(&mut Tx<'_>, &Actor) -> Result<bool, DbError>;

/// What a tool is called, and what for.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    pub name: &'static str,
    pub toolset: Toolset,
    /// For models: as few words as will do.
    pub description: &'static str,
    pub effect: Effect,
    /// What a credential needs to have for this; who lacks it is not shown the tool. None: any will do.
    pub permission: Option<Permission>,
    /// What it needs beside that.
    pub second_permission: Option<Permission>,
    /// Whether a call can be repeated safely with an `idempotency_key`.
    pub is_repeatable: bool,
    /// Whether it reaches beyond the hub.
    pub is_open_world: bool,
    /// Whether a call may wait for something to happen.
    pub waits: bool,
    /// Whether its arguments may have a file in them, and so be long.
    pub takes_files: bool,
    /// Limits who sees it further. None: every caller with the permissions.
    pub shown_to: Option<ShownTo>,
}

impl ToolSpec {
    pub const fn new(
        name: &'static str,
        toolset: Toolset,
        effect: Effect,
        permission: Option<Permission>,
        description: &'static str,
    ) -> Self {
        Self {
            name,
            toolset,
            description,
            effect,
            permission,
            second_permission: None,
            is_repeatable: false,
            is_open_world: false,
            waits: false,
            takes_files: false,
            shown_to: None,
        }
    }

    pub const fn and(self, permission: Permission) -> Self {
        Self { second_permission: Some(permission), ..self }
    }

    pub const fn shown_to(self, shown_to: ShownTo) -> Self {
        Self { shown_to: Some(shown_to), ..self }
    }

    pub const fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    /// Whether a credential with these permissions may use it.
    pub fn is_open_to(&self, permissions: PermissionSet) -> bool {
        [self.permission, self.second_permission].into_iter().flatten().all(|needed| permissions.contains(needed))
    }

    pub const fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }

    pub const fn taking_files(self) -> Self {
        Self { takes_files: true, ..self }
    }

    pub const fn open_world(self) -> Self {
        Self { is_open_world: true, ..self }
    }
}

/// What a tool comes to: its answer, and blocks of content beside it.
type Outcome = Result<(Value, Vec<Value>), HubError>;
type Handler = Box<dyn Fn(Hub, Actor, Value) -> BoxFuture<'static, Outcome> + Send + Sync>;
type Converser = Converse<CallToolRequestParams, CallToolResponse>;

enum Way {
    /// It answers, and that is all.
    Answers(Handler),
    Converses(Converser),
}

pub(super) struct Tool {
    pub(super) spec: ToolSpec,
    pub(super) input: Schema,
    /// None if it answers with content of every kind.
    pub(super) output: Option<Schema>,
    way: Way,
}

/// The tools that features offer, in the order in which they are listed.
#[derive(Default)]
pub struct Tools {
    tools: Vec<Tool>,
    by_name: HashMap<&'static str, usize>,
}

impl Tools {
    /// Adds a tool whose arguments become `P`, and which answers `R`.
    pub fn add<P, R, F, A>(&mut self, spec: ToolSpec, tool: F)
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize + JsonSchema + 'static,
        F: Fn(Hub, Actor, P) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, HubError>> + Send + 'static,
    {
        self.add_with_blocks(spec, move |hub, actor, arguments| {
            let running = tool(hub, actor, arguments);
            async move { Ok((running.await?, Vec::new())) }
        });
    }

    /// The same for a tool that has more to show than an answer: images, links, files. They come as blocks of content as the
    /// protocol has them.
    pub fn add_with_blocks<P, R, F, A>(&mut self, spec: ToolSpec, tool: F)
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize + JsonSchema + 'static,
        F: Fn(Hub, Actor, P) -> A + Send + Sync + 'static,
        A: Future<Output = Result<(R, Vec<Value>), HubError>> + Send + 'static,
    {
        let mut input = (*schema::of_input::<P>()).clone();
        if spec.is_repeatable
            && let Some(Value::Object(properties)) = input.get_mut("properties")
        {
            properties.insert(
                IDEMPOTENCY_KEY.to_owned(),
                json!({"type": "string", "description": "A repeated call is done once"}),
            );
        }
        let handler = move |hub: Hub, actor: Actor, arguments: Value| -> BoxFuture<'static, Outcome> {
            match from_json_value(arguments).map(|arguments| tool(hub, actor, arguments)) {
                Ok(running) => Box::pin(async move {
                    let (answer, blocks) = running.await?;
                    Ok((serde_json::to_value(answer).map_err(HubError::internal)?, blocks))
                }),
                Err(error) => Box::pin(async move { Err(error) }),
            }
        };
        let output = Some(schema::of_output::<R>());
        self.push(Tool { spec, input: Arc::new(input), output, way: Way::Answers(Box::new(handler)) });
    }

    /// Adds a tool that says itself what it takes, and which answers with blocks of content as the protocol has them:
    /// texts, images, sounds, resources.
    pub fn add_with_content<F, A>(&mut self, spec: ToolSpec, input: Map<String, Value>, tool: F)
    where
        F: Fn(Hub, Actor, Value) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Vec<Value>, HubError>> + Send + 'static,
    {
        let handler = move |hub: Hub, actor: Actor, arguments: Value| -> BoxFuture<'static, Outcome> {
            let running = tool(hub, actor, arguments);
            Box::pin(async move { Ok((Value::Null, running.await?)) })
        };
        self.push(Tool { spec, input: Arc::new(input), output: None, way: Way::Answers(Box::new(handler)) });
    }

    /// Adds a tool that talks with its client before it answers.
    pub fn add_conversing<F, A>(&mut self, spec: ToolSpec, input: Map<String, Value>, tool: F)
    where
        F: Fn(Exchange<CallToolRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CallToolResponse, ErrorData>> + Send + 'static,
    {
        let way = Way::Converses(Box::new(move |exchange| Box::pin(tool(exchange))));
        self.push(Tool { spec, input: Arc::new(input), output: None, way });
    }

    fn push(&mut self, tool: Tool) {
        self.by_name.insert(tool.spec.name, self.tools.len());
        self.tools.push(tool);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index))
    }

    /// The names nearest to one that no tool has.
    pub(super) fn nearest(&self, name: &str) -> Vec<String> {
        nearest(name, self.tools.iter().map(|tool| tool.spec.name)).into_iter().map(str::to_owned).collect()
    }
}

impl Tool {
    /// How it talks with its client, if it does.
    pub(super) fn converser(&self) -> Option<&Converser> {
        match &self.way {
            Way::Answers(_) => None,
            Way::Converses(converse) => Some(converse),
        }
    }

    /// Does what the tool does, in the caller's name.
    pub(super) async fn call(
        &self,
        hub: &Hub,
        actor: &Actor,
        mut arguments: Map<String, Value>,
    ) -> Result<CallToolResult, HubError> {
        self.check_names(&arguments)?;
        let mut actor = actor.clone();
        if self.spec.is_repeatable
            && let Some(key) = arguments.remove(IDEMPOTENCY_KEY)
        {
            actor.call = Arc::new(self.repeatable_call(&actor.call, &key, &arguments)?);
        }
        let arguments = Value::Object(arguments);
        if has_nul(&arguments) {
            return Err(HubError::invalid_field("", "must not contain NUL characters"));
        }
        let Way::Answers(handler) = &self.way else {
            return Err(HubError::internal("a tool that converses was called like one that answers"));
        };
        let (answer, blocks) = handler(hub.clone(), actor, arguments).await?;
        let blocks: Vec<ContentBlock> = serde_json::from_value(Value::Array(blocks)).map_err(HubError::internal)?;
        if self.output.is_none() {
            return Ok(CallToolResult::success(blocks));
        }
        let mut result = CallToolResult::structured(answer);
        result.content.extend(blocks);
        Ok(result)
    }

    /// A wrong name is answered with the right one.
    fn check_names(&self, arguments: &Map<String, Value>) -> Result<(), HubError> {
        let known = || self.input["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str);
        let Some(wrong) = arguments.keys().find(|name| !known().any(|known| known == name.as_str())) else {
            return Ok(());
        };
        let near = nearest(wrong, known());
        let hint = match near.as_slice() {
            [] if known().next().is_none() => format!("{} takes no arguments.", self.spec.name),
            [] => format!("{} takes {}.", self.spec.name, known().collect::<Vec<_>>().join(", ")),
            [best, ..] => format!("Did you mean {best}?"),
        };
        let shown: String = wrong.chars().take(60).collect();
        Err(HubError::invalid_field(&shown, "is not an argument of this tool").hint(hint))
    }

    fn repeatable_call(&self, call: &Call, key: &Value, arguments: &Map<String, Value>) -> Result<Call, HubError> {
        let is_key = |key: &&str| {
            (1..=MAX_IDEMPOTENCY_KEY).contains(&key.len())
                && key.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        };
        let key = key.as_str().filter(is_key).ok_or_else(|| {
            HubError::invalid_field(IDEMPOTENCY_KEY, "must be a text of 1 to 255 printable ASCII characters")
        })?;
        let digest = Sha256::digest(serde_json::to_vec(arguments).map_err(HubError::internal)?);
        let idempotency = Idempotency {
            key: key.to_owned(),
            route: format!("mcp {}", self.spec.name),
            request_digest: digest.into(),
            anonymous_caller: String::new(),
            replayed: Arc::new(AtomicBool::new(false)),
        };
        Ok(Call { idempotency: Some(idempotency), ..call.clone() })
    }
}
