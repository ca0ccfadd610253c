//! What the hub tells people to write into their clients' settings, and what the page about it says.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cli_support::{Hub, Place, password_of};
use crate::support::{Agent, Client, Human, Reply, TestHub};

const PAGE: &str = include_str!("../../docs/mcp.md");
const ADDRESS: &str = "https://hub.example";

async fn config(client: &Client, query: &str) -> Reply {
    client.get(&format!("/api/agents/scout/mcp-config{query}")).await
}

/// A hub at a public address, somebody who owns scout, and scout.
async fn public_hub() -> (TestHub, Human, Agent) {
    let hub = TestHub::setup().base_url(ADDRESS).start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    (hub, ada, scout)
}

#[tokio::test]
async fn each_client_gets_the_settings_that_it_reads() {
    let (hub, ada, scout) = public_hub().await;
    let url = "https://hub.example/mcp";
    let key = scout.key.as_str();
    let bearer = |key: &str| json!({"Authorization": format!("Bearer {key}")});
    let http = |headers: Option<Value>| match headers {
        None => json!({"type": "http", "url": url}),
        Some(headers) => json!({"type": "http", "url": url, "headers": headers}),
    };
    let stoa = |server: Value| json!({"mcpServers": {"stoa": server}});
    let codex = |rest: &str| json!({"toml": format!("[mcp_servers.stoa]\nurl = \"{url}\"\n{rest}")});
    let bridge = |key: &str| {
        let environment = json!({"STOA_MCP_URL": url, "STOA_MCP_KEY": key});
        stoa(json!({"command": "stoa", "args": ["mcp"], "env": environment}))
    };
    let input =
        json!([{"type": "promptString", "id": "stoa-key", "description": "Agent key in Stoa", "password": true}]);
    let cases = [
        ("", stoa(http(Some(bearer("${STOA_MCP_KEY}"))))),
        ("?client=generic", stoa(http(Some(bearer("${STOA_MCP_KEY}"))))),
        ("?client=generic&auth=oauth", stoa(http(None))),
        ("?api_key={key}", stoa(http(Some(bearer(key))))),
        ("?client=claude-code", stoa(http(None))),
        ("?client=claude-code&auth=key", stoa(http(Some(bearer("${STOA_MCP_KEY}"))))),
        ("?client=claude-code&api_key={key}", stoa(http(Some(bearer(key))))),
        ("?client=cursor", stoa(json!({"url": url}))),
        ("?client=cursor&auth=key", stoa(json!({"url": url, "headers": bearer("${env:STOA_MCP_KEY}")}))),
        ("?client=cursor&api_key={key}", stoa(json!({"url": url, "headers": bearer(key)}))),
        ("?client=vscode", json!({"servers": {"stoa": http(None)}})),
        (
            "?client=vscode&auth=key",
            json!({"servers": {"stoa": http(Some(bearer("${input:stoa-key}")))}, "inputs": input}),
        ),
        ("?client=vscode&auth=key&api_key={key}", json!({"servers": {"stoa": http(Some(bearer(key)))}})),
        ("?client=gemini", stoa(json!({"httpUrl": url}))),
        ("?client=gemini&auth=key", stoa(json!({"httpUrl": url, "headers": bearer("${STOA_MCP_KEY}")}))),
        ("?client=gemini&api_key={key}", stoa(json!({"httpUrl": url, "headers": bearer(key)}))),
        ("?client=codex", codex("")),
        ("?client=codex&auth=key", codex("bearer_token_env_var = \"STOA_MCP_KEY\"\n")),
        ("?client=codex&api_key={key}", codex(&format!("http_headers = {{ Authorization = \"Bearer {key}\" }}\n"))),
        ("?client=stdio", bridge("${STOA_MCP_KEY}")),
        ("?client=stdio&api_key={key}", bridge(key)),
    ];
    for (query, expected) in cases {
        let reply = config(&ada, &query.replace("{key}", key)).await.status(200);
        assert_eq!(reply.json(), expected, "{query}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
    }
    hub.finish().await;
}

#[tokio::test]
async fn the_settings_work() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    let (_, managed) = ada.key("scout", json!(["messages:read"])).await;
    for key in [&scout.key, &managed] {
        // An agent asks for its own, with the key that it has.
        let caller = hub.nobody().bearer(key);
        let settings = config(&caller, &format!("?api_key={key}")).await.status(200).json();
        let server = &settings["mcpServers"]["stoa"];
        // The address by which this caller came.
        assert_eq!(server["url"], format!("http://{}/mcp", hub.address));
        let bearer = server["headers"]["Authorization"].as_str().unwrap();
        let listed = hub.nobody().mcp("tools/list", json!({})).header("authorization", bearer).await.rpc_result();
        assert_eq!(listed["tools"][0]["name"], "my_status");
    }
    hub.finish().await;
}

#[tokio::test]
async fn what_is_no_key_is_not_put_in() {
    let (hub, ada, scout) = public_hub().await;
    let app = hub.app().await;
    let token = app.tokens(&ada, "scout").await.access;
    let (truncated, last) = scout.key.split_at(scout.key.len() - 1);
    let mistyped = format!("{truncated}{}", if last == "0" { "1" } else { "0" });
    for wrong in ["", "secret", truncated, &mistyped, &token, "%22%2C%22command%22%3A%22sh"] {
        let reply = config(&ada, &format!("?api_key={wrong}")).await;
        let problem = reply.problem(422, "validation_failed");
        assert_eq!(problem.json()["errors"][0]["field"], "api_key");
        assert!(wrong.len() < 10 || !problem.text().contains(wrong), "{problem:?}");
    }
    let field = |reply: Reply| reply.problem(422, "validation_failed").json()["errors"][0]["field"].clone();
    assert_eq!(field(config(&ada, "?client=netscape").await), "client");
    assert_eq!(field(config(&ada, "?auth=password").await), "auth");
    assert_eq!(field(config(&ada, "?client=stdio&auth=oauth").await), "auth");
    assert_eq!(field(config(&ada, &format!("?auth=oauth&api_key={}", scout.key)).await), "auth");
    hub.finish().await;
}

#[tokio::test]
async fn others_do_not_learn_that_there_is_such_an_agent() {
    let (hub, ada, _) = public_hub().await;
    let bob = hub.human("bob").await;
    let finder = bob.agent("finder").await;
    for stranger in [&bob.client, &finder.client, &hub.admin().await.client] {
        config(stranger, "").await.problem(404, "not_found");
    }
    config(&hub.nobody(), "").await.problem(401, "unauthenticated");
    ada.get("/api/agents/nobody/mcp-config").await.problem(404, "not_found");
    hub.finish().await;
}

/// A key in an address is kept in none of the places where addresses end up.
#[tokio::test]
async fn a_key_that_is_asked_with_is_neither_logged_nor_stored() {
    let place = Place::new();
    let hub = Hub::start(&mut place.serve(&["--log-level", "trace"]), place.data());
    hub.create_user("ada");
    let created = hub.json(&["agents", "create", "scout", "--owner", "ada"]);
    let key = created["key"].as_str().unwrap();
    let http = Client::new(format!("http://{}", hub.address));
    let session = http.cookie(&hub.log_in("ada", &password_of("ada")).unwrap());
    config(&session, &format!("?api_key={key}")).await.status(200);
    config(&session, &format!("?api_key={key}x")).await.problem(422, "validation_failed");
    config(&session, &format!("?client={key}")).await.problem(422, "validation_failed");
    config(&http, &format!("?api_key={key}")).await.problem(401, "unauthenticated");
    // A write with such an address would be traced.
    let path = format!("/api/agents/scout/mcp-config?api_key={key}");
    session.post(&path, &json!({})).header("idempotency-key", "one").await.problem(405, "method_not_allowed");
    let traces = session.get("/api/traces").await.ok().text();
    assert!(!traces.contains(key), "{traces}");
    let said = hub.stop();
    assert!(said.stderr.contains("DEBUG") && said.stderr.contains("/mcp-config"), "{}", said.stderr);
    assert_eq!(said.stderr.lines().find(|line| line.contains(key)), None);
}

#[test]
fn operators_print_the_settings_of_any_agent() {
    let place = Place::new();
    let hub = place.start();
    hub.create_user("ada");
    hub.admin(&["agents", "create", "scout", "--owner", "ada"]).ok();
    let url = format!("http://{}/mcp", hub.address);
    let printed = hub.admin(&["agents", "mcp-config", "scout", "--client", "cursor"]).ok();
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(printed, json!({"mcpServers": {"stoa": {"url": url}}}));
    // Ready to be put into the file.
    let printed = hub.admin(&["agents", "mcp-config", "scout", "--client", "codex", "--auth", "key"]).ok();
    assert_eq!(printed, format!("[mcp_servers.stoa]\nurl = \"{url}\"\nbearer_token_env_var = \"STOA_MCP_KEY\"\n"));
    let printed = hub.json(&["agents", "mcp-config", "scout"]);
    assert_eq!(printed["mcpServers"]["stoa"]["headers"]["Authorization"], "Bearer ${STOA_MCP_KEY}");
    hub.admin(&["agents", "mcp-config", "nobody"]).fails(4, &[]);
    hub.stop();
}

/// The page's blocks say for which question they are the answer: "```json ?client=cursor".
#[tokio::test]
async fn the_page_shows_what_the_hub_answers() {
    let (hub, ada, _) = public_hub().await;
    let mut shown = Vec::new();
    for block in PAGE.split("\n```").filter(|block| block.contains(" ?client=")) {
        let (heading, text) = block.split_once('\n').unwrap();
        let (kind, query) = heading.split_once(' ').unwrap();
        let answer = config(&ada, query).await.status(200).json();
        match kind {
            "json" => assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer, "{heading}"),
            "toml" => assert_eq!(format!("{text}\n"), answer["toml"].as_str().unwrap(), "{heading}"),
            _ => panic!("{heading}"),
        }
        shown.push(query);
    }
    for client in ["claude-code", "codex", "cursor", "vscode", "gemini"] {
        for query in [format!("?client={client}"), format!("?client={client}&auth=key")] {
            assert!(shown.contains(&query.as_str()), "docs/mcp.md does not show {query}");
        }
    }
    assert!(shown.contains(&"?client=stdio"));
    hub.finish().await;
}

/// The table of tools in the page, made from what the hub lists. `STOA_UPDATE=1` writes it.
#[tokio::test]
async fn the_tools_are_described_in_the_page() {
    let hub = TestHub::start().await;
    // An administrator's, who are shown all of them.
    let scout = hub.admin().await.agent("scout").await;
    let mut table = String::from("| toolset | tool | arguments | what it does |\n|---|---|---|---|\n");
    for toolset in ["core", "channels", "workflow", "attachments", "automation", "goals", "wiki"] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let listed = scout.mcp_at(&format!("/mcp?toolsets={toolset}"), &message).await.rpc_result();
        for tool in listed["tools"].as_array().unwrap() {
            let schema = &tool["inputSchema"];
            let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.contains(&json!(name)));
            let mut names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
            names.sort_by_key(|name| !is_required(name));
            let names = names.iter().map(|name| format!("`{name}{}`", if is_required(name) { "" } else { "?" }));
            let (name, description) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
            writeln!(table, "| {toolset} | `{name}` | {} | {description} |", names.collect::<Vec<_>>().join(", "))
                .unwrap();
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/mcp.md");
    let page = std::fs::read_to_string(path).unwrap();
    let start = page.find("| toolset | tool |").expect("docs/mcp.md has a table of tools");
    let length = page[start..].find("\n\n").map_or(page.len() - start, |end| end + 1);
    if std::env::var_os("STOA_UPDATE").is_some() {
        std::fs::write(path, format!("{}{table}{}", &page[..start], &page[start + length..])).unwrap();
    } else {
        let hint = "docs/mcp.md is out of date; run: STOA_UPDATE=1 cargo test --test it described";
        assert_eq!(&page[start..start + length], table, "{hint}");
    }
    hub.finish().await;
}

#[tokio::test]
async fn the_page_shows_an_error_as_it_is() {
    let (hub, _, scout) = public_hub().await;
    let params = json!({"name": "send_message", "arguments": {"to": "skout", "body": "Are you there?"}});
    let answer = scout.mcp("tools/call", params).await.rpc_result();
    let shown = PAGE.split("```json error\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(serde_json::from_str::<Value>(shown).unwrap(), answer);
    hub.finish().await;
}
