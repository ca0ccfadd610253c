use serde_json::json;
use stoa_db::Tx;
use stoa_model::automation::{ActingView, AutomationItem, AutomationKind, AutomationView, ResumeRequest, Waiting};

use crate::access::Actor;
use crate::error::HubError;
use crate::features::{acting, audit, hooks, runs, webhooks};
use crate::hub::Hub;

/// What the switch was turned off by.
const OPERATOR: &str = "operator";
const OWNER: &str = "owner";

/// Everything of the caller that may start by itself.
pub async fn get_automation(hub: &Hub, actor: &Actor) -> Result<AutomationView, HubError> {
    actor.require_session()?;
    let (hub_in, actor) = (hub.clone(), actor.clone());
    hub.read(move |tx| view(&hub_in, tx, &actor)).await
}

/// Stops everything of the caller that acts.
pub async fn stop(hub: &Hub, actor: &Actor) -> Result<AutomationView, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        acting::set_stop(tx, actor_in.id(), OWNER)?;
        runs::stop(&hub_in, tx, Some(actor_in.id()))?;
        audit::record(tx, &actor_in, "automation.stopped", None, &json!({}))?;
        view(&hub_in, tx, &actor_in)
    })
    .await
}

/// Lets everything of the caller act again.
pub async fn resume(hub: &Hub, actor: &Actor, request: ResumeRequest) -> Result<AutomationView, HubError> {
    actor.require_session()?;
    let waiting = request.waiting.unwrap_or_default();
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let owner = actor_in.id();
        acting::remove_stop(tx, owner)?;
        if waiting == Waiting::Drop {
            runs::drop_waiting(&hub_in, tx, Some(owner))?;
            webhooks::drop_waiting(tx, Some(owner))?;
        }
        // The operator's switch may still be off.
        if !acting::is_off(&hub_in, tx, owner)? {
            runs::resume(tx, Some(owner))?;
            webhooks::resume(tx, Some(owner))?;
        }
        audit::record(tx, &actor_in, "automation.resumed", None, &json!({"waiting": waiting}))?;
        view(&hub_in, tx, &actor_in)
    })
    .await
}

fn view(hub: &Hub, tx: &mut Tx<'_>, actor: &Actor) -> Result<AutomationView, HubError> {
    let owner = actor.id();
    let stop = acting::find_stop(tx, owner)?;
    let (queued_runs, running_runs) = runs::count_active(tx, Some(owner))?;
    let mut items = Vec::new();
    for agent in runs::list_reactive_in(tx, actor)? {
        items.push(AutomationItem {
            kind: AutomationKind::Agent,
            id: agent.agent.name.clone(),
            name: agent.agent.display_name,
            is_on: agent.agent.paused_at.is_none() && agent.agent.quarantined_at.is_none(),
            agent: Some(agent.agent.name),
            run_id: agent.run.map(|run| run.id.0),
            waiting: agent.waiting,
        });
    }
    for webhook in webhooks::list_of_owner(tx, owner)? {
        items.push(AutomationItem {
            kind: AutomationKind::Webhook,
            id: webhook.id.to_string(),
            is_on: webhook.disabled_at.is_none(),
            waiting: webhook.waiting,
            name: webhook.url,
            agent: Some(webhook.agent),
            run_id: None,
        });
    }
    for hook in hooks::list_of_owner(tx, owner)? {
        items.push(AutomationItem {
            kind: AutomationKind::Hook,
            id: hook.id,
            name: hook.name,
            agent: hook.agent,
            is_on: hook.is_enabled,
            run_id: None,
            waiting: 0,
        });
    }
    Ok(AutomationView {
        stopped: stop.is_some(),
        stopped_at: stop.map(|stop| stop.stopped_at),
        hub_stopped: !hub.config().acting || acting::find_stop(tx, acting::EVERYBODY)?.is_some(),
        queued_runs,
        running_runs,
        items,
    })
}

pub async fn get_acting(hub: &Hub, actor: &Actor) -> Result<ActingView, HubError> {
    actor.require_admin()?;
    let hub_in = hub.clone();
    hub.read(move |tx| acting_view(&hub_in, tx)).await
}

/// Stops everything that acts on the hub.
pub async fn turn_off(hub: &Hub, actor: &Actor) -> Result<ActingView, HubError> {
    actor.require_admin()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        acting::set_stop(tx, acting::EVERYBODY, OPERATOR)?;
        runs::stop(&hub_in, tx, None)?;
        audit::record(tx, &actor_in, "acting.off", None, &json!({}))?;
        acting_view(&hub_in, tx)
    })
    .await
}

/// Lets everything act again, but for those who have stopped theirs themselves.
pub async fn turn_on(hub: &Hub, actor: &Actor, waiting: Waiting) -> Result<ActingView, HubError> {
    actor.require_admin()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        acting::remove_stop(tx, acting::EVERYBODY)?;
        if waiting == Waiting::Drop {
            runs::drop_waiting(&hub_in, tx, None)?;
            webhooks::drop_waiting(tx, None)?;
        }
        runs::resume(tx, None)?;
        webhooks::resume(tx, None)?;
        audit::record(tx, &actor_in, "acting.on", None, &json!({"waiting": waiting}))?;
        acting_view(&hub_in, tx)
    })
    .await
}

fn acting_view(hub: &Hub, tx: &mut Tx<'_>) -> Result<ActingView, HubError> {
    let stop = acting::find_stop(tx, acting::EVERYBODY)?;
    let (queued_runs, running_runs) = runs::count_active(tx, None)?;
    let is_set_off = !hub.config().acting;
    Ok(ActingView {
        acting: stop.is_none() && !is_set_off,
        reason: stop.as_ref().map(|stop| stop.reason.clone()).or_else(|| is_set_off.then(|| "setting".to_owned())),
        since: stop.map(|stop| stop.stopped_at),
        queued_runs,
        running_runs,
    })
}
