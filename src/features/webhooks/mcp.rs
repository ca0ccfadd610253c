use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stoa_model::WebhookId;
use stoa_model::permissions::Permission;
use stoa_model::principals::PrincipalKind;
use stoa_model::webhooks::{CreateWebhookRequest, WebhookEvent, WebhookStatus, WebhookView};

use super::service;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::ListQuery;
use crate::surfaces::mcp::{Effect, Offer, ToolSpec, Toolset};

pub fn offer(offer: &mut Offer) {
    use Effect::{Adds, Deletes, Reads};
    use Permission::{MessagesRead, WebhooksWrite};
    let spec = |name, effect, permission, description| {
        ToolSpec::new(name, Toolset::Automation, effect, Some(permission), description)
    };
    let tools = &mut offer.tools;
    tools.add(
        spec("register_webhook", Adds, WebhooksWrite, "Send events to a URL as signed requests; shows the secret once"),
        register,
    );
    tools.add(spec("list_webhooks", Reads, MessagesRead, "List your webhooks and their health"), list);
    tools.add(spec("delete_webhook", Deletes, WebhooksWrite, "Delete a webhook"), delete);
}

#[derive(Deserialize, JsonSchema)]
struct RegisterArguments {
    url: String,
    events: Vec<WebhookEvent>,
    /// Default: you, if you are an agent
    agent: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Registered {
    webhook: WebhookItem,
    /// whsec_…, for verifying signatures
    secret: String,
}

#[derive(Serialize, JsonSchema)]
struct WebhookItem {
    id: i64,
    agent: String,
    url: String,
    events: Vec<WebhookEvent>,
    status: WebhookStatus,
    consecutive_failures: i64,
    waiting: i64,
    dead_letters: i64,
}

impl From<WebhookView> for WebhookItem {
    fn from(view: WebhookView) -> Self {
        Self {
            id: view.id.0,
            agent: view.agent,
            url: view.url,
            events: view.events,
            status: view.status,
            consecutive_failures: view.consecutive_failures,
            waiting: view.waiting,
            dead_letters: view.dead_letters,
        }
    }
}

async fn register(hub: Hub, actor: Actor, arguments: RegisterArguments) -> Result<Registered, HubError> {
    let own = (actor.principal.kind == PrincipalKind::Agent).then(|| actor.principal.handle.clone());
    let agent = arguments.agent.or(own);
    let agent = agent.ok_or_else(|| HubError::invalid_field("agent", "must name one of your agents"))?;
    let request = CreateWebhookRequest { agent, url: arguments.url, events: arguments.events };
    let created = service::create_webhook(&hub, &actor, request).await?;
    Ok(Registered { webhook: created.webhook.into(), secret: created.secret.expose().to_owned() })
}

#[derive(Deserialize, JsonSchema)]
struct ListArguments {
    agent: Option<String>,
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    items: Vec<WebhookItem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

async fn list(hub: Hub, actor: Actor, arguments: ListArguments) -> Result<Listed, HubError> {
    let list = ListQuery { limit: None, cursor: arguments.cursor };
    let page = service::list_webhooks(&hub, &actor, arguments.agent, list).await?;
    Ok(Listed { items: page.items.into_iter().map(Into::into).collect(), next_cursor: page.next_cursor })
}

#[derive(Deserialize, JsonSchema)]
struct DeleteArguments {
    webhook_id: i64,
}

#[derive(Serialize, JsonSchema)]
struct Deleted {
    deleted: bool,
}

async fn delete(hub: Hub, actor: Actor, arguments: DeleteArguments) -> Result<Deleted, HubError> {
    service::delete_webhook(&hub, &actor, WebhookId(arguments.webhook_id)).await?;
    Ok(Deleted { deleted: true })
}
