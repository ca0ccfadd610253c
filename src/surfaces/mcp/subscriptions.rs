//! Notifying agents that a resource has changed, from the hub's own event streams.

use std::collections::BTreeSet;

use rmcp::model::ErrorData;
use rmcp::service::SubscriptionContext;
use serde_json::Value;

use super::server::Caller;
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::{BoxFuture, Hub};

/// Addresses that one subscription may name.
pub(super) const MAX_URIS: usize = 100;

/// Where subscriptions get events from. The feature that streams events registers it.
pub trait EventSource: Send + Sync {
    /// The present end of the events, from which they can be followed later.
    fn end<'a>(&'a self, hub: &'a Hub) -> BoxFuture<'a, Result<String, HubError>>;

    /// Follows the events that a caller may see, from a place or from now on.
    fn follow<'a>(
        &'a self,
        hub: &'a Hub,
        actor: &'a Actor,
        from: Option<String>,
    ) -> BoxFuture<'a, Result<Box<dyn EventFollower>, HubError>>;
}

/// Events as a caller may see them. Dropping it ends the stream.
pub trait EventFollower: Send {
    /// The next event: its name and its data. None when the stream has ended.
    fn next(&mut self) -> BoxFuture<'_, Option<(String, Value)>>;
}

/// Notifies of changes until the client goes, the credential ends or the hub stops.
pub(super) async fn follow(
    hub: &Hub,
    source: &dyn EventSource,
    caller: &Caller,
    context: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let refused = |error: HubError| ErrorData::invalid_request(error.detail.clone(), None);
    let mut stream = source.follow(hub, &caller.actor, caller.from.clone()).await.map_err(refused)?;
    let wanted: BTreeSet<String> =
        context.accepted().resource_subscriptions.clone().unwrap_or_default().into_iter().collect();
    loop {
        let told = tokio::select! {
            told = stream.next() => told,
            () = context.cancelled() => return Ok(()),
        };
        let Some((name, data)) = told else { return Ok(()) };
        for uri in changed(&name, &data, &caller.actor.principal.handle) {
            if wanted.contains(&uri) && context.sink().notify_resource_updated(uri).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// The resources that an event of a stream has changed.
fn changed(name: &str, data: &Value, handle: &str) -> Vec<String> {
    let channel = data["channel"].as_str().map(|channel| format!("stoa://channels/{channel}"));
    let message = |id: &Value| id.as_i64().map(|id| format!("stoa://messages/{id}"));
    let is_dm = data["channel"].is_null();
    let inbox = || "stoa://inbox".to_owned();
    match name {
        "new_message" => {
            let is_mine = is_dm && data["to"].as_str().is_some_and(|to| to.eq_ignore_ascii_case(handle));
            let inbox = is_mine.then(inbox);
            channel.into_iter().chain(inbox).chain(message(&data["reply_to"])).collect()
        }
        "message_updated" | "message_deleted" | "reaction" => {
            channel.into_iter().chain(is_dm.then(inbox)).chain(message(&data["message_id"])).collect()
        }
        "channel" => data["name"].as_str().map(|name| format!("stoa://channels/{name}")).into_iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::changed;

    #[test]
    fn what_an_event_changes() {
        let post = json!({"message_id": 7, "channel": "work", "to": null, "reply_to": 3});
        assert_eq!(changed("new_message", &post, "ant"), ["stoa://channels/work", "stoa://messages/3"]);
        let dm = json!({"message_id": 8, "channel": null, "to": "ant", "reply_to": null});
        assert_eq!(changed("new_message", &dm, "ant"), ["stoa://inbox"]);
        assert!(changed("new_message", &dm, "bee").is_empty());
        let done = json!({"message_id": 8, "channel": null, "status": "done"});
        assert_eq!(changed("message_updated", &done, "ant"), ["stoa://inbox", "stoa://messages/8"]);
        let reacted = json!({"message_id": 7, "channel": "work", "workflow_state": "done", "reactions": []});
        assert_eq!(changed("reaction", &reacted, "ant"), ["stoa://channels/work", "stoa://messages/7"]);
        assert_eq!(changed("channel", &json!({"name": "work", "change": "updated"}), "ant"), ["stoa://channels/work"]);
        assert!(changed("presence", &json!({"name": "bee"}), "ant").is_empty());
    }
}
