//! The token of a run that a stranger started, at every operation and every tool.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::Expected::{Admins, Missing, NotForRuns, Outside, Works};
use super::reach::{World, shows_secret};
use crate::support::{Client, file_form};
use crate::walk;

/// What an attempt is answered. None of the answers shows a secret.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expected {
    /// A success.
    Works,
    /// 403 `outside_run_reach`.
    Outside,
    /// 403 `run_token_forbidden`, as for every run.
    NotForRuns,
    /// 403 `admin_required`.
    Admins,
    /// 404 `not_found`.
    Missing,
}

impl Expected {
    fn code(self) -> &'static str {
        match self {
            Works => "",
            Outside => "outside_run_reach",
            NotForRuns => "run_token_forbidden",
            Admins => "admin_required",
            Missing => "not_found",
        }
    }
}

/// An operation, where it is tried, with which body, and what comes of it.
type Row = (&'static str, &'static str, Value, Expected);

/// Operations that ask for no credential of a principal, or for one of another kind.
const WITHOUT_TOKEN: [&str; 9] =
    ["/.well-known/", "/healthz", "/readyz", "/metrics", "/machine/", "/hooks/", "/oauth/", "/auth/", "/api/version"];

/// Operations for people, which refuse all tokens of runs.
const FOR_PEOPLE: [&str; 30] = [
    "POST /api/agents",
    "DELETE /api/agents/{name}",
    "PATCH /api/agents/{name}",
    "POST /api/agents/{name}/key",
    "POST /api/agents/{name}/pause",
    "POST /api/agents/{name}/resume",
    "POST /api/agents/{name}/run-secret",
    "POST /api/agents/{name}/unquarantine",
    "GET /api/automation",
    "POST /api/automation/resume",
    "POST /api/automation/stop",
    "DELETE /api/channels/{name}",
    "GET /api/hooks",
    "GET /api/programs",
    "POST /api/hooks",
    "DELETE /api/hooks/{id}",
    "GET /api/hooks/{id}",
    "PATCH /api/hooks/{id}",
    "GET /api/hooks/{id}/requests",
    "GET /api/keys",
    "POST /api/keys",
    "DELETE /api/keys/{id}",
    "GET /api/keys/{id}",
    "GET /api/notifications/settings",
    "PUT /api/notifications/settings",
    "GET /api/oauth/clients",
    "POST /api/oauth/clients",
    "DELETE /api/oauth/clients/{client_id}",
    "GET /api/oauth/grants",
    "DELETE /api/oauth/grants/{id}",
];

fn reads() -> Vec<Row> {
    let none = || Value::Null;
    let row = |operation, path, expected| (operation, path, none(), expected);
    vec![
        row("GET /api/agents", "/api/agents", Works),
        row("GET /api/agents/reactive", "/api/agents/reactive", Outside),
        row("GET /api/agents/{name}", "/api/agents/scribe", Works),
        row("GET /api/agents/{name}/mcp-config", "/api/agents/scribe/mcp-config", Works),
        row("GET /api/attachments", "/api/attachments", Works),
        row("GET /api/attachments/{sha256}", "/api/attachments/{sha256}", Outside),
        row("GET /api/attachments/{sha256}/meta", "/api/attachments/{sha256}/meta", Outside),
        row("GET /api/channels", "/api/channels", Works),
        row("GET /api/channels/{name}", "/api/channels/vault", Outside),
        row("GET /api/channels/{name}", "/api/channels/carols", Missing),
        row("GET /api/channels/{name}", "/api/channels/news", Works),
        row("GET /api/channels/{name}/messages", "/api/channels/vault/messages", Outside),
        row("GET /api/channels/{name}/messages", "/api/channels/news/messages", Works),
        row(
            "GET /api/channels/{name}/messages/by-state",
            "/api/channels/vault/messages/by-state?state=proposed",
            Outside,
        ),
        row("GET /api/channels/{name}/messages/by-state", "/api/channels/news/messages/by-state?state=proposed", Works),
        row("GET /api/channels/{name}/pins", "/api/channels/vault/pins", Outside),
        row("GET /api/channels/{name}/pins", "/api/channels/news/pins", Works),
        row("GET /api/directory", "/api/directory", Works),
        row("GET /api/directory/{name}", "/api/directory/carol", Outside),
        row("GET /api/directory/{name}", "/api/directory/bob", Works),
        row("GET /api/dm/partners", "/api/dm/partners", Works),
        row("GET /api/dm/{name}/messages", "/api/dm/carol/messages", Outside),
        row("GET /api/dm/{name}/messages", "/api/dm/admin/messages", Outside),
        row("GET /api/dm/{name}/messages", "/api/dm/carol/messages?as=scribe", Outside),
        row("GET /api/dm/{name}/messages", "/api/dm/bob/messages", Works),
        row("GET /api/events", "/api/events", Outside),
        row("GET /api/inbox", "/api/inbox?status=all&full=true", Works),
        row("GET /api/messages/search", "/api/messages/search?q=secret", Works),
        row("GET /api/messages/search", "/api/messages/search?channel=vault", Works),
        row("GET /api/messages/search", "/api/messages/search?agent=carol", Works),
        row("GET /api/messages/{id}", "/api/messages/{post}", Outside),
        row("GET /api/messages/{id}", "/api/messages/{of_carol}", Outside),
        row("GET /api/messages/{id}", "/api/messages/{of_ada}", Outside),
        row("GET /api/messages/{id}", "/api/messages/{hidden}", Missing),
        row("GET /api/messages/{id}", "/api/messages/{news}", Works),
        row("GET /api/messages/{id}", "/api/messages/{own}", Works),
        row("GET /api/messages/{id}/delivery", "/api/messages/{post}/delivery", Outside),
        row("GET /api/messages/{id}/history", "/api/messages/{post}/history", Outside),
        row("GET /api/messages/{id}/reactions", "/api/messages/{post}/reactions", Outside),
        row("GET /api/messages/{id}/replies", "/api/messages/{post}/replies", Outside),
        row("GET /api/messages/{id}/replies", "/api/messages/{of_carol}/replies", Outside),
        row("GET /api/notifications/unread", "/api/notifications/unread", Works),
        row("GET /api/runs", "/api/runs", Outside),
        row("GET /api/runs/{id}", "/api/runs/{run}", Outside),
        row("GET /api/starred", "/api/starred", Works),
        row("GET /api/threads", "/api/threads", Works),
        row("GET /api/traces", "/api/traces", Outside),
        row("GET /api/traces/export", "/api/traces/export?format=json", Outside),
        row("GET /api/traces/stats", "/api/traces/stats", Outside),
        row("GET /api/trust/{agent}", "/api/trust/carols-agent", Outside),
        row("GET /api/trust/{agent}", "/api/trust/scribe", Works),
        row("GET /api/webhooks", "/api/webhooks", Outside),
        row("GET /api/webhooks/dead-letters", "/api/webhooks/dead-letters", Outside),
        row("GET /api/webhooks/deliveries", "/api/webhooks/deliveries", Outside),
        row("GET /api/webhooks/deliveries/{id}", "/api/webhooks/deliveries/1", Outside),
        row("GET /api/webhooks/{id}", "/api/webhooks/1", Outside),
        row("GET /api/webhooks/{id}/deliveries", "/api/webhooks/1/deliveries", Outside),
    ]
}

fn writes() -> Vec<Row> {
    let row = |operation, path, body, expected| (operation, path, body, expected);
    let empty = || json!({});
    let done = || json!({"reaction": "done"});
    vec![
        row("POST /api/agents/{name}/check", "/api/agents/scribe/check", empty(), NotForRuns),
        row("POST /api/attachments", "/api/attachments", Value::Null, Works),
        row("POST /api/channels", "/api/channels", json!({"name": "new"}), Outside),
        row("PATCH /api/channels/{name}", "/api/channels/news", json!({"topic": "x"}), Outside),
        row(
            "PUT /api/channels/{name}/settings",
            "/api/channels/news/settings",
            json!({"workflow_enabled": true}),
            Outside,
        ),
        row("POST /api/channels/{name}/join", "/api/channels/news/join", empty(), Outside),
        row("POST /api/channels/{name}/leave", "/api/channels/vault/leave", empty(), Outside),
        row("PUT /api/channels/{name}/members/{principal}", "/api/channels/news/members/scribe", empty(), Outside),
        row("DELETE /api/channels/{name}/members/{principal}", "/api/channels/vault/members/scribe", empty(), Outside),
        row("PUT /api/channels/{name}/pins/{message_id}", "/api/channels/news/pins/{news}", empty(), Outside),
        row("DELETE /api/channels/{name}/pins/{message_id}", "/api/channels/vault/pins/{post}", empty(), Outside),
        row("POST /api/inbox/claim", "/api/inbox/claim", json!({"limit": 10}), Works),
        row("POST /api/inbox/claim", "/api/inbox/claim", json!({"message_ids": ["{of_carol}", "{of_ada}"]}), Works),
        row("POST /api/messages", "/api/messages", json!({"channel": "vault", "body": "x"}), Outside),
        row("POST /api/messages", "/api/messages", json!({"channel": "news", "body": "x"}), Outside),
        row("POST /api/messages", "/api/messages", json!({"channel": "carols", "body": "x"}), Missing),
        row("POST /api/messages", "/api/messages", json!({"to": "carol", "body": "x"}), Outside),
        row("POST /api/messages", "/api/messages", json!({"to": "carols-agent", "body": "x"}), Outside),
        row("POST /api/messages", "/api/messages", json!({"to": "bob", "body": "x", "reply_to": "{post}"}), Outside),
        row(
            "POST /api/messages",
            "/api/messages",
            json!({"to": "bob", "body": "x", "attachments": ["{sha256}"]}),
            Outside,
        ),
        row("POST /api/messages", "/api/messages", json!({"to": "bob", "body": "x"}), Works),
        row("POST /api/messages", "/api/messages", json!({"to": "admin", "body": "x"}), Works),
        row("PATCH /api/messages/{id}", "/api/messages/{said}", json!({"body": "x"}), Outside),
        row("DELETE /api/messages/{id}", "/api/messages/{said}", empty(), Outside),
        row("POST /api/messages/{id}/done", "/api/messages/{of_carol}/done", empty(), Outside),
        row("POST /api/messages/{id}/done", "/api/messages/{of_ada}/done", empty(), Outside),
        row("POST /api/messages/{id}/fail", "/api/messages/{of_carol}/fail", json!({"error": "x"}), Outside),
        row("POST /api/messages/{id}/release", "/api/messages/{of_carol}/release", empty(), Outside),
        row("POST /api/messages/{id}/reactions", "/api/messages/{post}/reactions", done(), Outside),
        row("POST /api/messages/{id}/reactions", "/api/messages/{news}/reactions", done(), Outside),
        row("DELETE /api/messages/{id}/reactions", "/api/messages/{news}/reactions?reaction=done", empty(), Outside),
        row("POST /api/notifications/mark-read", "/api/notifications/mark-read", json!({"channel": "vault"}), Outside),
        row("POST /api/notifications/mark-read", "/api/notifications/mark-read", json!({"channel": "news"}), Outside),
        row("POST /api/notifications/mark-read", "/api/notifications/mark-read", json!({"dm": "carol"}), Outside),
        row("POST /api/notifications/mark-read", "/api/notifications/mark-read", json!({"dm": "bob"}), Works),
        row("POST /api/runs/{id}/cancel", "/api/runs/{run}/cancel", empty(), NotForRuns),
        // The result of another run.
        row("POST /api/runs/{id}/result", "/api/runs/999/result", empty(), Missing),
        row("POST /api/runs/{id}/retry", "/api/runs/{run}/retry", empty(), NotForRuns),
        row("PUT /api/starred/{conversation}", "/api/starred/channel:news", empty(), Outside),
        row("DELETE /api/starred/{conversation}", "/api/starred/channel:vault", empty(), Outside),
        row("PUT /api/threads/{message_id}/mute", "/api/threads/{news}/mute", empty(), Outside),
        row("DELETE /api/threads/{message_id}/mute", "/api/threads/{post}/mute", empty(), Outside),
        row("POST /api/webhooks", "/api/webhooks", webhook(), NotForRuns),
        row("DELETE /api/webhooks/{id}", "/api/webhooks/1", empty(), NotForRuns),
        row("PATCH /api/webhooks/{id}", "/api/webhooks/1", empty(), NotForRuns),
        row("POST /api/webhooks/deliveries/{id}/retry", "/api/webhooks/deliveries/1/retry", empty(), NotForRuns),
        row("POST /api/webhooks/{id}/enable", "/api/webhooks/1/enable", empty(), NotForRuns),
        row("POST /api/webhooks/{id}/retry-dead", "/api/webhooks/1/retry-dead", empty(), NotForRuns),
        row("POST /api/webhooks/{id}/rotate-secret", "/api/webhooks/1/rotate-secret", empty(), NotForRuns),
        row("POST /api/webhooks/{id}/test", "/api/webhooks/1/test", empty(), NotForRuns),
    ]
}

fn webhook() -> Value {
    json!({"agent": "scribe", "url": "https://example.com", "events": ["message.received"]})
}

fn tools() -> Vec<(&'static str, Value, Expected)> {
    vec![
        ("my_status", json!({}), Works),
        ("send_message", json!({"to": "carol", "body": "x"}), Outside),
        ("send_message", json!({"to": "bob", "body": "x", "reply_to": "{post}"}), Outside),
        ("send_message", json!({"to": "bob", "body": "x"}), Works),
        ("send_message", json!({"to": "admin", "body": "x"}), Works),
        ("send_channel_message", json!({"channel": "vault", "body": "x"}), Outside),
        ("send_channel_message", json!({"channel": "news", "body": "x"}), Outside),
        ("read_inbox", json!({"status": "all", "full": true}), Works),
        ("wait_for_messages", json!({"timeout_seconds": 0}), Works),
        ("claim_messages", json!({"message_ids": ["{of_carol}", "{of_ada}"]}), Works),
        ("mark_done", json!({"message_id": "{of_carol}"}), Outside),
        ("read_channel", json!({"channel": "vault"}), Outside),
        ("read_channel", json!({"channel": "news"}), Works),
        ("get_replies", json!({"message_id": "{post}"}), Outside),
        ("search_messages", json!({"q": "secret"}), Works),
        ("list_channels", json!({}), Works),
        ("list_agents", json!({}), Works),
        ("create_channel", json!({"name": "new"}), Outside),
        ("join_channel", json!({"channel": "news"}), Outside),
        ("leave_channel", json!({"channel": "vault"}), Outside),
        ("update_channel_settings", json!({"channel": "news", "workflow_enabled": true}), Outside),
        ("mark_read", json!({"channel": "vault"}), Outside),
        ("mark_read", json!({"dm": "carol"}), Outside),
        ("react", json!({"message_id": "{news}", "reaction": "done"}), Outside),
        ("unreact", json!({"message_id": "{post}", "reaction": "done"}), Outside),
        ("get_reactions", json!({"message_id": "{post}"}), Outside),
        ("list_by_state", json!({"channel": "vault", "state": "proposed"}), Outside),
        ("get_trust", json!({"agent": "carols-agent"}), Outside),
        ("upload_attachment", json!({"filename": "note.txt", "content_base64": "bm90ZQ=="}), Works),
        ("download_attachment", json!({"sha256": "{sha256}"}), Outside),
        ("gc_attachments", json!({}), Outside),
        ("register_webhook", json!({"url": "https://example.com", "events": ["message.received"]}), NotForRuns),
        ("list_webhooks", json!({}), Outside),
        ("delete_webhook", json!({"webhook_id": 1}), NotForRuns),
        ("list_runs", json!({}), Outside),
        ("get_run", json!({"run_id": "{run}"}), Outside),
    ]
}

/// What the table names.
struct Names(Vec<(&'static str, Value)>);

impl Names {
    fn fill(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| {
            let plain = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // In JSON a number takes the place of a string.
            text.replace(&format!("\"{{{name}}}\""), &value.to_string()).replace(&format!("{{{name}}}"), &plain)
        })
    }

    fn fill_json(&self, value: &Value) -> Value {
        serde_json::from_str(&self.fill(&value.to_string())).unwrap()
    }
}

/// A program, and what the table names.
struct Stranger {
    program: Client,
    names: Names,
}

impl Stranger {
    async fn try_row(&self, operation: &str, path: &str, body: &Value, expected: Expected) {
        let (program, names) = (&self.program, &self.names);
        let method = operation.split(' ').next().unwrap();
        let mut call = program.call(method, &names.fill(path));
        if operation == "POST /api/attachments" {
            let (content_type, form) = file_form("note.txt", b"a note");
            call = call.body(&content_type, form);
        } else if !body.is_null() && method != "DELETE" {
            call = call.json(&names.fill_json(body));
        }
        let reply = call.await;
        let answer = format!("{operation} at {path} with {body}: {reply:?}");
        assert!(!shows_secret(&reply.text()), "{answer}");
        match expected {
            Works => assert!((200..300).contains(&reply.code()), "{answer}"),
            Missing => assert_eq!((reply.code(), reply.json()["code"].as_str()), (404, Some("not_found")), "{answer}"),
            _ => assert_eq!((reply.code(), reply.json()["code"].as_str()), (403, Some(expected.code())), "{answer}"),
        }
    }
}

#[tokio::test]
async fn a_stranger_learns_and_changes_nothing_beyond_the_conversation() {
    let world = World::make().await;
    let World { hub, ada, carol, scribe, .. } = &world;
    carol.agent("carols-agent").await;
    // What the agent said elsewhere is its own, and not the stranger's to change.
    let said = scribe.say("vault", "vault-secret again").await;
    hub.advance(std::time::Duration::from_secs(1));
    let (sent, program) = world.started_by_bob().await;
    let names = Names(vec![
        ("post", world.post["id"].clone()),
        ("news", world.news["id"].clone()),
        ("of_carol", world.of_carol["id"].clone()),
        ("of_ada", world.of_ada["id"].clone()),
        ("hidden", world.hidden["id"].clone()),
        ("own", sent["id"].clone()),
        ("said", said["id"].clone()),
        ("sha256", json!(world.sha256)),
        ("run", json!(super::run_of(&sent))),
    ]);
    let rows: Vec<Row> = reads().into_iter().chain(writes()).collect();
    let mut known: BTreeSet<String> = rows.iter().map(|row| row.0.to_owned()).collect();
    known.extend(FOR_PEOPLE.map(str::to_owned));
    let for_admins = |operation: &str| operation.contains(" /api/admin/");
    let is_tried = |operation: &String| {
        let path = operation.split(' ').nth(1).unwrap_or_default();
        !for_admins(operation) && !WITHOUT_TOKEN.iter().any(|beginning| path.starts_with(beginning))
    };
    let all: BTreeSet<String> = walk::operations().into_iter().filter(is_tried).collect();
    assert_eq!(known, all, "a new operation needs a row that says what a stranger's run can do with it");
    let stranger = Stranger { program, names };
    for (operation, path, body, expected) in &rows {
        stranger.try_row(operation, path, body, *expected).await;
    }
    for operation in FOR_PEOPLE {
        let (_, path) = operation.split_once(' ').unwrap();
        let path = path.replace("{name}", "scribe").replace("{id}", "1");
        let body = match operation {
            "POST /api/agents" => json!({"name": "other"}),
            "POST /api/keys" => json!({"name": "k", "agent": "scribe", "permissions": ["*"]}),
            "POST /api/hooks" => json!({"name": "h", "kind": "url", "target": {"agent": "scribe"}}),
            "POST /api/oauth/clients" => json!({"name": "c", "agent": "scribe"}),
            _ => json!({}),
        };
        stranger.try_row(operation, &path, &body, NotForRuns).await;
    }
    for operation in walk::operations().iter().filter(|operation| operation.starts_with("GET") && for_admins(operation))
    {
        let path = operation[4..].replace("{principal_id}", "x");
        stranger.try_row("GET", &path, &Value::Null, Admins).await;
    }

    let tried: BTreeSet<String> = tools().iter().map(|(tool, ..)| (*tool).to_owned()).collect();
    assert_eq!(tried, walk::tools(), "a new tool needs a row that says what a stranger's run can do with it");
    for (tool, arguments, expected) in tools() {
        let arguments = stranger.names.fill_json(&arguments);
        let reply = stranger.program.mcp("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(!shows_secret(&reply.text()), "{tool}: {reply:?}");
        let code = reply.rpc_result()["_meta"]["stoa/error"]["code"].as_str().unwrap_or_default().to_owned();
        assert_eq!(code, expected.code(), "{tool} with {arguments}: {reply:?}");
    }
    for uri in ["stoa://channels/vault", "stoa://messages/{post}", "stoa://attachments/{sha256}"] {
        let reply = stranger.program.mcp("resources/read", json!({"uri": stranger.names.fill(uri)})).await;
        assert!(reply.json()["error"].is_object() && !shows_secret(&reply.text()), "{uri}: {reply:?}");
    }
    for (name, arguments) in [
        ("daily-digest", json!({})),
        ("channel-overview", json!({"channel": "vault"})),
        ("agent-health-check", json!({})),
        ("debug-agent", json!({"agent": "scribe"})),
    ] {
        let reply = stranger.program.mcp("prompts/get", json!({"name": name, "arguments": arguments})).await;
        assert!(!shows_secret(&reply.text()), "{name}: {reply:?}");
    }
    // Nothing has changed where the stranger does not reach.
    let vault = ada.get("/api/channels/vault/messages").await.ok().json();
    assert_eq!(vault["items"].as_array().unwrap().len(), 2);
    assert_eq!(ada.members("vault").await, ["admin", "scribe"]);
    for message in [&world.of_carol, &world.of_ada] {
        assert_eq!(scribe.message(message).await["status"], "pending");
    }
    world.end(&sent, &stranger.program).await;
    world.hub.finish().await;
}
