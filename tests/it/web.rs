//! The web page: what browsers get, and what the page knows of the hub.

use serde_json::{Map, Value, json};

#[cfg(debug_assertions)]
use crate::cli_support::{Hub, Place};
#[cfg(debug_assertions)]
use crate::support::Client;
use crate::support::TestHub;

const PAGE: &str = "text/html,application/xhtml+xml";

#[tokio::test]
async fn pages_are_for_browsers_and_everything_else_is_data() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let page = ada.get("/channels/general").header("accept", PAGE).await.ok();
    assert!(page.header("content-type").unwrap().starts_with("text/html"), "{page:?}");
    for path in
        ["/api/nothing", "/auth/nothing", "/oauth/nothing", "/mcp/nothing", "/machine/nothing", "/.well-known/nothing"]
    {
        ada.get(path).header("accept", PAGE).await.problem(404, "not_found");
    }
    // A file that is gone is not a page: a browser would take it for a script.
    ada.get("/assets/gone.js").header("accept", PAGE).await.problem(404, "not_found");
    ada.get("/channels/general").header("accept", "application/json").await.problem(404, "not_found");
    ada.post("/channels/general", &json!({})).header("accept", PAGE).await.problem(404, "not_found");
    hub.finish().await;
}

#[tokio::test]
async fn who_is_not_logged_in_is_led_to_the_login_and_back() {
    let hub = TestHub::start().await;
    let answer = hub.nobody().get("/channels/general?at=7").header("accept", PAGE).await.status(303);
    assert_eq!(answer.header("location").unwrap(), "/login?next=%2Fchannels%2Fgeneral%3Fat%3D7");
    hub.finish().await;
}

/// A hub with a page of these files, and a browser that has a session there. Only debug builds take a page from a folder.
#[cfg(debug_assertions)]
fn with_page(place: &Place, files: &[(&str, &str)]) -> (Hub, Client) {
    let folder = place.root().join("page");
    std::fs::create_dir_all(folder.join("assets")).unwrap();
    for (name, content) in files {
        std::fs::write(folder.join(name), content).unwrap();
    }
    let hub = Hub::start(place.serve(&[]).env("STOA_DEV_WEB", folder), place.data());
    let browser = Client::new(format!("http://{}", hub.address)).cookie("stoa_session=x");
    (hub, browser)
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn files_come_in_the_forms_that_browsers_take() {
    let place = Place::new();
    let (hub, browser) = with_page(
        &place,
        &[
            ("index.html", "<h1>page</h1>"),
            ("assets/app.js", "plain"),
            ("assets/app.js.br", "br"),
            ("assets/app.js.gz", "gz"),
        ],
    );
    let forms = [
        ("gzip, br", "br", Some("br")),
        ("br;q=0, GZIP", "gz", Some("gzip")),
        ("zstd", "plain", None),
        ("", "plain", None),
    ];
    let mut tags = Vec::new();
    for (accepted, content, encoding) in forms {
        let file = browser.get("/assets/app.js").header("accept-encoding", accepted).await.ok();
        assert_eq!((file.text().as_str(), file.header("content-encoding")), (content, encoding), "{accepted}");
        assert_eq!(file.header("cache-control").unwrap(), "public, max-age=31536000, immutable");
        assert_eq!(file.header("vary").unwrap(), "accept-encoding");
        tags.push(file.header("etag").unwrap().to_owned());
    }
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[2] == tags[3], "each form has a tag of its own: {tags:?}");
    for known in [tags[2].clone(), format!("\"other\", W/{}", tags[2]), "*".to_owned()] {
        assert_eq!(browser.get("/assets/app.js").header("if-none-match", known).await.status(304).text(), "");
    }
    let other = browser.get("/assets/app.js").header("accept-encoding", "br").header("if-none-match", &tags[2]).await;
    assert_eq!(other.ok().text(), "br");
    let page = browser.get("/channels/general").header("accept", PAGE).await.ok();
    assert_eq!((page.text().as_str(), page.header("cache-control").unwrap()), ("<h1>page</h1>", "no-cache"));
    assert!(page.header("content-security-policy").unwrap().contains("require-trusted-types-for 'script'"));
    hub.stop();
}

#[cfg(debug_assertions)]
#[tokio::test]
async fn a_hub_without_its_page_says_so() {
    let place = Place::new();
    let (hub, browser) = with_page(&place, &[]);
    let page = browser.get("/channels/general").header("accept", PAGE).await.ok();
    assert!(page.text().contains("built without its web page") && page.text().contains("make run"), "{page:?}");
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"), "{page:?}");
    hub.stop();
}

#[tokio::test]
async fn a_long_address_is_not_said_back_whole() {
    let hub = TestHub::start().await;
    let path = format!("/{}", "ä".repeat(5000).replace('ä', "%C3%A4"));
    let answer = hub.nobody().get(&path).await.problem(404, "not_found");
    assert!(answer.text().len() < 600, "{answer:?}");
    hub.finish().await;
}

/// What the page's types are made from is what the hub says of itself. `STOA_UPDATE=1` writes it.
#[tokio::test]
async fn the_api_is_described_to_the_page() {
    let hub = TestHub::start().await;
    let document = hub.nobody().get("/api/openapi.json").await.ok().json();
    let now = reduced(&document);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/web/openapi.json");
    if std::env::var_os("STOA_UPDATE").is_some() {
        std::fs::write(path, format!("{:#}\n", sorted(&now))).unwrap();
    }
    let known: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(known == now, "web/openapi.json is out of date; run: STOA_UPDATE=1 cargo test --test it described");
    hub.finish().await;
}

/// The description without what makes no types: words, examples, refusals.
fn reduced(document: &Value) -> Value {
    let mut paths = Map::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let mut operations = Map::new();
        for (method, operation) in item.as_object().unwrap() {
            let Some(operation) = operation.as_object().filter(|operation| operation.contains_key("responses")) else {
                continue;
            };
            let mut kept: Map<String, Value> = ["operationId", "parameters", "requestBody"]
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), operation.get(*name)?.clone())))
                .collect();
            let good = operation["responses"].as_object().unwrap().iter().filter(|(code, _)| code.starts_with('2'));
            kept.insert("responses".to_owned(), good.map(|(code, answer)| (code.clone(), answer.clone())).collect());
            operations.insert(method.clone(), without_words(&Value::Object(kept), false));
        }
        paths.insert(path.clone(), Value::Object(operations));
    }
    let schemas = without_words(&document["components"]["schemas"], true);
    json!({"openapi": document["openapi"], "info": {"title": "Stoa", "version": "0"}, "paths": paths, "components": {"schemas": schemas}})
}

/// The same with its keys in order, so that the file changes only where the API does.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// `are_names` says that the keys are names that the API has given, and not words of the format.
fn without_words(value: &Value, are_names: bool) -> Value {
    const WORDS: [&str; 7] = ["description", "summary", "tags", "security", "example", "examples", "title"];
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| are_names || !WORDS.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), without_words(value, name == "properties" && !are_names))).collect()
        }
        Value::Array(items) => items.iter().map(|item| without_words(item, false)).collect(),
        other => other.clone(),
    }
}
