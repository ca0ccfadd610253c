//! Search: what is found, by whom, and how soon.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Value, json};
use stoa_db::{DbError, params};

use crate::backup::{Target, back_up};
use crate::support::{Client, DAY, HOUR, KEY, MINUTE, Setup, TestHub, each, eventually, off_the_runtime, on_postgres};
use crate::walk::{Row, ToolRow, either, shows_own};

/// What agents of other owners must be refused; see `walk/tools.rs`.
pub(crate) fn tool_rows() -> Vec<ToolRow> {
    vec![
        shows_own("search_messages", json!({"q": "plover"})),
        shows_own("search_messages", json!({"q": "heron"})),
        shows_own("search_messages", json!({"channel": "{channel}"})),
        shows_own("search_messages", json!({"agent": "{name}"})),
    ]
}

/// Who may do what; see `walk/mod.rs`.
pub(crate) fn walk_rows() -> Vec<Row> {
    vec![
        either("GET /api/messages/search")
            .aimed("q=plover", 0, "")
            .aimed("q=heron", 0, "")
            .aimed("channel={channel}", 0, "")
            .aimed("agent={name}", 0, "")
            .aimed("q=in:{channel}", 0, ""),
    ]
}

impl Client {
    /// What a search answers; `query` as it stands behind the question mark.
    pub(crate) async fn search(&self, query: &str) -> Value {
        self.get(&format!("/api/messages/search?{query}")).await.ok().json()
    }

    /// The bodies that are found by what is typed, newest first.
    pub(crate) async fn found(&self, q: &str) -> Vec<String> {
        self.found_by(&format!("limit=200&q={}", encoded(q))).await
    }

    pub(crate) async fn found_by(&self, query: &str) -> Vec<String> {
        let answer = self.search(query).await;
        let bodies = bodies(&answer);
        assert_eq!(answer["total"], bodies.len(), "{query}: {answer}");
        bodies
    }
}

pub(crate) fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn bodies(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().unwrap();
    items.iter().map(|item| item["body"].as_str().unwrap().to_owned()).collect()
}

/// How many messages the index itself has.
pub(crate) async fn indexed(hub: &TestHub) -> i64 {
    let sql = if on_postgres() {
        "select count(*) as n from search_documents"
    } else {
        "select count(*) as n from search_facts"
    };
    hub.count(sql).await
}

/// Writes messages that nobody was told of: only who looks at all messages finds them.
async fn fill(hub: &TestHub, messages: i64) {
    let filled = hub.inner().write(move |tx| {
        tx.execute(
            "insert into messages (conversation_id, channel_id, author_id, body, status, priority, metadata, mentions, depth,
                 created_at)
             with recursive number (n) as (select cast(1 as bigint) union all select n + 1 from number where n < $1)
             select ch.conversation_id, ch.id, 1, 'common filler', 'done', 5, '{}', '[]', 0, $2
             from number join channels ch on ch.name = 'general'",
            params![messages, tx.now_ms()],
        )
    });
    filled.await.unwrap_or_else(|error: DbError| panic!("{error}"));
}

/// Takes the index away from a hub that has stopped.
fn lose_index(setup: &Setup) {
    match &setup.database {
        Some(database) => {
            let lose =
                || database.connect().batch_execute("truncate search_state, search_documents, search_queue").unwrap();
            off_the_runtime(lose);
        }
        None => std::fs::remove_file(setup.config.data.join("search.db")).unwrap(),
    }
}

#[tokio::test]
async fn words_phrases_prefixes_and_exclusions_find() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for body in ["The deploy failed again", "Deployment went well", "it failed to deploy", "Un café à Zürich"] {
        ada.say("general", body).await;
    }
    for settled in [false, true] {
        if settled {
            hub.settle().await;
            assert_eq!(indexed(&hub).await, 4);
        }
        for (q, wanted) in [
            ("deploy", &["it failed to deploy", "The deploy failed again"][..]),
            ("DEPLOY failed", &["it failed to deploy", "The deploy failed again"]),
            ("\"deploy failed\"", &["The deploy failed again"]),
            ("\"deploy failed", &["The deploy failed again"]),
            ("deploy*", &["it failed to deploy", "Deployment went well", "The deploy failed again"]),
            ("deploy* -failed", &["Deployment went well"]),
            ("failed -\"deploy failed\"", &["it failed to deploy"]),
            ("cafe zurich", &["Un café à Zürich"]),
            ("nothing", &[]),
            ("???", &[]),
            ("-failed", &["Un café à Zürich", "Deployment went well"]),
            ("-failed -well -zurich", &[]),
        ] {
            assert_eq!(ada.found(q).await, wanted, "{q}, settled: {settled}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn answers_are_messages_with_snippets_and_totals() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let sent = ada.send(json!({"channel": "general", "subject": "Needles", "body": "a <b>needle</b> & more"})).await;
    ada.reply("general", &sent, "here is a needle too").await;
    let answer = ada.search("q=needle").await;
    assert_eq!(
        (&answer["total"], &answer["total_capped"], &answer["offset"]),
        (&json!(2), &json!(false), &json!(0)),
        "{answer}"
    );
    let item = &answer["items"][1];
    let mut message = ada.message(&sent).await;
    message["snippet"] = json!("a &lt;b&gt;<mark>needle</mark>&lt;/b&gt; &amp; more");
    assert_eq!(item, &message, "it is the message, as everywhere, and a snippet");
    assert_eq!(item["reply_count"], 1);
    let by_subject = ada.search("q=needles").await;
    assert_eq!(by_subject["items"][0]["snippet"], "<mark>Needles</mark>");
    let listed = ada.search("agent=ada").await;
    assert_eq!(listed["items"][0]["snippet"], "here is a needle too");
    let far = format!("{} needle at the end", "word ".repeat(1000));
    ada.say("general", &far).await;
    let answer = ada.search("q=needle").await;
    let snippet = answer["items"][0]["snippet"].as_str().unwrap();
    assert!(snippet.contains("<mark>needle</mark> at the end") && snippet.len() < 250, "{snippet}");
    hub.finish().await;
}

#[tokio::test]
async fn pages_go_by_offset_and_limit() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    for number in 0..7 {
        ada.say("general", &format!("item {number}")).await;
    }
    for settled in [false, true] {
        if settled {
            hub.settle().await;
        }
        let page = ada.search("q=item&limit=3&offset=2").await;
        assert_eq!(bodies(&page), ["item 4", "item 3", "item 2"]);
        assert_eq!((&page["total"], &page["offset"]), (&json!(7), &json!(2)));
        let beyond = ada.search("q=item&offset=10000").await;
        assert_eq!((bodies(&beyond).len(), &beyond["total"]), (0, &json!(7)));
        assert_eq!(bodies(&ada.search("q=item&limit=1000").await).len(), 7);
    }
    hub.finish().await;
}

#[tokio::test]
async fn filters_and_operators_narrow() {
    let hub = TestHub::setup().session_lifetime(30 * DAY).start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let scout = ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    ada.say("general", "one in general").await;
    scout.say("work", "one in work https://example.com/x").await;
    bob.say("work", "one of bob for @ada").await;
    hub.advance(DAY);
    bob.dm("ada", "one in private").await;
    let wanted = |place: usize| {
        ["one in general", "one in work https://example.com/x", "one of bob for @ada", "one in private"][place]
            .to_owned()
    };
    for settled in [false, true] {
        if settled {
            hub.settle().await;
        }
        for (query, places) in [
            ("q=one", &[3, 2, 1, 0][..]),
            ("", &[3, 2, 1, 0]),
            ("q=one&channel=work", &[2, 1]),
            ("channel=work,general", &[2, 1, 0]),
            ("channel=-work", &[3, 0]),
            ("channel=%23work&agent=bob", &[2]),
            ("agent=scout", &[1]),
            ("agent=@Scout,bob", &[3, 2, 1]),
            ("agent=-bob", &[1, 0]),
            ("agent=scout&q=from:bob", &[]),
            ("channel=work&q=-in:work", &[]),
            ("q=from:bob in:work", &[2]),
            ("q=from:@bob -in:%23work", &[3]),
            ("q=-from:bob -from:scout", &[0]),
            ("q=from:ada from:scout", &[1, 0]),
            ("agent=nobody", &[]),
            ("agent=-nobody", &[3, 2, 1, 0]),
            ("channel=nowhere", &[]),
            ("channel=-nowhere", &[3, 2, 1, 0]),
            ("after=2027-01-16", &[3]),
            ("before=2027-01-16", &[2, 1, 0]),
            ("after=2027-01-15T08:00:00Z&before=2027-01-15T08:00:00.001Z", &[2, 1, 0]),
            ("before=2027-01-15T08:00:00Z", &[]),
            ("q=one after:2027-01-16 before:2027-01-17", &[3]),
            ("q=one&after=2027-01-15&before=2027-01-17", &[3, 2, 1, 0]),
            ("has=link", &[1]),
            ("has=-link", &[3, 2, 0]),
            ("q=has:mention", &[2]),
            ("q=-has:mention -has:link one", &[3, 0]),
            ("has=link,mention", &[]),
            ("has=attachment", &[]),
            ("state=proposed", &[]),
            ("state=done,approved", &[]),
            ("q=-is:done one", &[3, 2, 1, 0]),
            ("state=-proposed", &[3, 2, 1, 0]),
            ("channel=,&agent=&state=&has=&after=&before=&q=", &[3, 2, 1, 0]),
        ] {
            let bodies: Vec<String> = places.iter().map(|place| wanted(*place)).collect();
            let query = query.replace(' ', "%20");
            assert_eq!(ada.found_by(&query).await, bodies, "{query}, settled: {settled}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn states_and_reactions_are_found() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.make_workflow("work", json!({})).await;
    let (first, second) = (ada.propose("work", "first").await, ada.propose("work", "second").await);
    hub.settle().await;
    let path = format!("/api/messages/{}/reactions", first["id"]);
    ada.post(&path, &json!({"reaction": "done"})).await.ok();
    for settled in [false, true] {
        if settled {
            hub.settle().await;
        }
        for (query, wanted) in [
            ("state=done", &first),
            ("q=is:DONE", &first),
            ("q=-is:done", &second),
            ("state=proposed", &second),
            ("has=reaction", &first),
            ("has=-reaction", &second),
        ] {
            assert_eq!(ada.found_by(query).await, [wanted["body"].as_str().unwrap()], "{query}, settled: {settled}");
        }
    }
    ada.post(&path, &json!({"reaction": "done"})).await.ok();
    assert_eq!((ada.found_by("state=done").await.len(), ada.found_by("has=reaction").await.len()), (0, 0));
    hub.finish().await;
}

#[tokio::test]
async fn files_are_found_by_their_kind() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let text = ada.uploaded("notes.txt", b"some notes\n").await;
    let pdf =
        ada.uploaded("paper.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n").await;
    ada.send(json!({"channel": "general", "body": "with notes", "attachments": [text]})).await;
    let both = ada.send(json!({"channel": "general", "body": "with both", "attachments": [text, pdf]})).await;
    ada.say("general", "with nothing").await;
    for settled in [false, true] {
        if settled {
            hub.settle().await;
        }
        for (query, wanted) in [
            ("has=attachment", &["with both", "with notes"][..]),
            ("q=has:text", &["with both", "with notes"]),
            ("has=pdf", &["with both"]),
            ("has=text,-pdf", &["with notes"]),
            ("has=image", &[]),
            ("q=-has:attachment", &["with nothing"]),
        ] {
            assert_eq!(ada.found_by(query).await, wanted, "{query}, settled: {settled}");
        }
    }
    let found = ada.search("has=pdf").await;
    assert_eq!(found["items"][0]["attachments"].as_array().unwrap().len(), 2, "{found}");
    ada.take_back(&both).await.ok();
    assert_eq!(ada.found_by("has=pdf").await.len(), 0);
    hub.finish().await;
}

#[tokio::test]
async fn what_was_just_written_changed_or_taken_back_is_known_at_once() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "a walrus").await;
    assert_eq!(ada.found("walrus").await, ["a walrus"]);
    ada.edit(&message, "an ostrich").await.ok();
    assert_eq!((ada.found("walrus").await.len(), ada.found("ostrich").await), (0, vec!["an ostrich".to_owned()]));
    hub.settle().await;
    assert_eq!((ada.found("walrus").await.len(), ada.found("ostrich").await.len()), (0, 1));
    // Now the index has it, and is behind.
    ada.edit(&message, "a walrus after all").await.ok();
    assert_eq!((ada.found("walrus").await.len(), ada.found("ostrich").await.len()), (1, 0));
    assert_eq!(ada.search("q=walrus").await["total"], 1);
    hub.settle().await;
    ada.take_back(&message).await.ok();
    assert_eq!(ada.found("walrus").await.len(), 0);
    assert_eq!(ada.found("").await.len(), 0, "a tombstone is not found");
    hub.settle().await;
    assert_eq!((ada.found("walrus").await.len(), indexed(&hub).await), (0, 0));
    hub.finish().await;
}

#[tokio::test]
async fn a_search_without_any_indexing_is_the_same() {
    let hub = TestHub::setup().without_listeners().start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "a walrus").await;
    ada.say("general", "another walrus").await;
    ada.edit(&message, "an ostrich").await.ok();
    assert_eq!(ada.found("walrus").await, ["another walrus"]);
    assert_eq!(ada.found("an*").await, ["another walrus", "an ostrich"]);
    assert_eq!(indexed(&hub).await, 0);
    hub.finish().await;
}

#[tokio::test]
async fn nobody_finds_or_counts_what_is_not_theirs_to_see() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let (scout, spy) = (ada.agent("scout").await, eve.agent("spy").await);
    let admin = hub.admin().await;
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.add_member("den", "scout").await.ok();
    ada.say("den", "secret of the den").await;
    ada.dm("scout", "secret of two").await;
    scout.dm("ada", "secret answer").await;
    ada.say("general", "no secret at all").await;
    for settled in [false, true] {
        if settled {
            hub.settle().await;
        }
        assert_eq!(ada.found("secret").await.len(), 4);
        assert_eq!(scout.found("secret").await.len(), 4);
        for stranger in [&eve.client, &spy.client, &admin.client] {
            assert_eq!(stranger.found("secret").await, ["no secret at all"], "settled: {settled}");
            for query in [
                "channel=den",
                "q=in:den",
                "q=secret%20in:den",
                "agent=scout",
                "channel=den&agent=-ada",
                "q=-nothing%20in:den",
            ] {
                let answer = stranger.search(query).await;
                assert_eq!((&answer["items"], &answer["total"]), (&json!([]), &json!(0)), "{query}");
            }
            // Leaving out what one cannot see says nothing about it either.
            assert_eq!(stranger.found_by("q=secret&channel=-den").await, ["no secret at all"]);
        }
    }
    // An owner sees what their agents see; another agent of theirs does not.
    let scribe = ada.agent("scribe").await;
    assert_eq!(scribe.found("secret").await, ["no secret at all"]);
    hub.finish().await;
}

#[tokio::test]
async fn who_may_see_it_is_asked_when_somebody_searches() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    ada.make_channel(json!({"name": "den", "public": false})).await;
    ada.say("den", "needle").await;
    hub.settle().await;
    assert_eq!(bob.found("needle").await.len(), 0);
    ada.add_member("den", "bob").await.ok();
    assert_eq!(bob.found("needle").await.len(), 1);
    bob.call("POST", "/api/channels/den/leave").await.ok();
    assert_eq!(bob.found("needle").await.len(), 0);
    ada.patch("/api/channels/den", &json!({"public": true})).await.ok();
    assert_eq!(bob.found("needle").await.len(), 1);
    ada.patch("/api/channels/den", &json!({"public": false})).await.ok();
    assert_eq!(bob.found("needle").await.len(), 0);
    ada.delete("/api/channels/den").await.ok();
    assert_eq!(ada.found("needle").await.len(), 0);
    hub.settle().await;
    // What was said there goes, and so does what the index knows of it.
    hub.advance(HOUR);
    eventually("the index forgets it", async || {
        hub.settle().await;
        indexed(&hub).await == 0
    })
    .await;
    hub.finish().await;
}

#[tokio::test]
async fn what_an_operator_purges_is_found_no_more() {
    let hub = TestHub::setup().session_lifetime(30 * DAY).start().await;
    let ada = hub.human("ada").await;
    ada.say("general", "old needle").await;
    hub.settle().await;
    hub.advance(DAY);
    ada.say("general", "new needle").await;
    hub.settle().await;
    hub.operator().call("messages.purge", json!({"older_than": "12h"})).await;
    assert_eq!(ada.found("needle").await, ["new needle"]);
    hub.settle().await;
    assert_eq!((ada.found("needle").await.len(), indexed(&hub).await), (1, 1));
    hub.finish().await;
}

#[tokio::test]
async fn a_key_finds_what_it_reaches() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    ada.make_channel(json!({"name": "work"})).await;
    for channel in ["work", "general"] {
        ada.say(channel, &format!("needle in {channel}")).await;
    }
    ada.dm("scout", "needle in a DM").await;
    let limited = json!({"name": "k", "agent": "scout", "permissions": ["search:read"], "channels": ["work"]});
    let key = ada.post("/api/keys", &limited).await.status(201).json();
    let client = hub.nobody().bearer(key["key"].as_str().unwrap());
    assert_eq!(client.found("needle").await, ["needle in a DM", "needle in work"]);
    assert_eq!(client.found_by("channel=general").await.len(), 0);
    let (_, key) = ada.key("scout", json!(["messages:read"])).await;
    let client = hub.nobody().bearer(&key);
    client.get("/api/messages/search?q=needle").await.problem(403, "forbidden");
    hub.nobody().get("/api/messages/search?q=needle").await.problem(401, "unauthenticated");
    hub.finish().await;
}

#[tokio::test]
async fn a_mention_is_found_once() {
    let hub = TestHub::start().await;
    let (ada, bob) = (hub.human("ada").await, hub.human("bob").await);
    let message = ada.say("general", "a needle for @bob").await;
    assert_eq!(bob.inbox().await.len(), 1);
    assert_eq!(bob.found("needle").await.len(), 1);
    ada.edit(&message, "another needle for @bob").await.ok();
    hub.settle().await;
    assert_eq!((bob.found("needle").await.len(), ada.found("needle").await.len(), indexed(&hub).await), (1, 1, 1));
    hub.finish().await;
}

#[tokio::test]
async fn queries_that_are_refused() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.say("general", "something").await;
    for (query, field, says) in [
        ("q=a%00b".to_owned(), "", "NUL"),
        ("agent=a%00b".to_owned(), "", "NUL"),
        (format!("q={}", "x".repeat(10_000)), "q", "1000"),
        (format!("q={}", (0..40).map(|number| format!("w{number}+")).collect::<String>()), "q", "32"),
        ("after=2027-01-02&before=2027-01-01".to_owned(), "before", "after"),
        ("after=2027-01-01&before=2027-01-01".to_owned(), "before", "after"),
        ("q=after:2027-01-02+before:2027-01-01".to_owned(), "q", "after"),
        ("after=yesterday".to_owned(), "after", "2026-01-31"),
        ("q=before:soon".to_owned(), "q", "before:soon"),
        ("q=is:lost".to_owned(), "q", "in_progress"),
        ("q=has:cake".to_owned(), "q", "attachment"),
        ("state=lost".to_owned(), "state", "published"),
        ("has=cake".to_owned(), "has", "reaction"),
        ("offset=-1".to_owned(), "offset", "10000"),
        ("offset=10001".to_owned(), "offset", "10000"),
        ("limit=0".to_owned(), "limit", "1"),
    ] {
        let refused = ada.get(&format!("/api/messages/search?{query}")).await.problem(422, "validation_failed").json();
        let errors = refused["errors"].as_array().unwrap();
        assert_eq!(each(errors, "field"), [field], "{query}: {refused}");
        assert!(errors[0]["message"].as_str().unwrap().contains(says), "{query}: {refused}");
    }
    ada.get("/api/messages/search?offset=x").await.problem(422, "validation_failed");
    // What means something to an engine means nothing here.
    for q in [
        "\"",
        "\"\"",
        "\"unbalanced",
        "a AND",
        "OR",
        "NEAR(a b)",
        "NEAR/3",
        "^a",
        "words:a",
        "words : a",
        "{words bag}: a",
        "-",
        "*",
        "a*b*",
        "(",
        ")",
        "a)",
        "'",
        "' or 1=1 --",
        "\\",
        "a:*",
        "a & b",
        "!a",
        "a <-> b",
        "a | b",
        "%",
        "_",
        "\u{1}",
        "¶c1",
        "¶m",
        "\u{fffd}",
        "𝕏",
        "-\"",
        "-*",
        "- a",
        "from:",
        ":",
        "::",
    ] {
        for settled in [false, true] {
            if settled {
                hub.settle().await;
            }
            assert!(!ada.found(q).await.contains(&"something".to_owned()) || q.starts_with("-") || q == "- a", "{q}");
        }
    }
    hub.finish().await;
}

#[tokio::test]
async fn agents_search_with_a_tool() {
    let hub = TestHub::start().await;
    let (ada, eve) = (hub.human("ada").await, hub.human("eve").await);
    let scout = ada.agent("scout").await;
    let spy = eve.agent("spy").await;
    let posted = scout.tool("send_channel_message", json!({"channel": "general", "body": "a <needle>"})).await;
    ada.dm("scout", "another needle").await;
    let found = scout.tool("search_messages", json!({"q": "needle"})).await;
    assert_eq!(found["total"], 2);
    let item = &found["items"][1];
    assert_eq!((&item["id"], &item["from"], &item["channel"]), (&posted["id"], &json!("scout"), &json!("general")));
    assert_eq!((&item["preview"], &item["to"]), (&json!("a <needle>"), &Value::Null));
    let limited = scout.tool("search_messages", json!({"q": "needle", "limit": 1, "offset": 1})).await;
    assert_eq!((limited["items"].as_array().unwrap().len(), &limited["total"]), (1, &json!(2)));
    for (arguments, word) in [(json!({"q": "has:cake"}), "attachment"), (json!({"after": "x"}), "2026")] {
        let (code, said) = scout.tool_refused("search_messages", arguments).await;
        assert!(code == "validation_failed" && said.contains(word), "{said}");
    }
    assert_eq!(spy.tool("search_messages", json!({"q": "needle"})).await["total"], 1);
    let (_, key) = ada.key("scout", json!(["messages:read"])).await;
    let names = hub.nobody().bearer(&key).tool_names("/mcp").await;
    assert!(!names.contains(&"search_messages".to_owned()), "{names:?}");
    hub.finish().await;
}

#[tokio::test]
async fn totals_are_counted_up_to_ten_thousand() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    fill(&hub, 10_000).await;
    hub.settle().await;
    let setup = hub.stop().await;
    lose_index(&setup);
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    eventually("the index is filled", async || indexed(&hub).await == 10_000).await;
    hub.settle().await;
    let exact = ada.search("q=common&limit=1").await;
    assert_eq!((&exact["total"], &exact["total_capped"]), (&json!(10_000), &json!(false)));
    ada.say("general", "common too").await;
    for settled in [false, true] {
        if settled {
            hub.settle().await;
        }
        for query in ["q=common", "q=common&channel=general", "", "q=-nothing", "agent=-ada"] {
            let capped = ada.search(&format!("{query}&limit=1")).await;
            let is_capped = query != "agent=-ada";
            assert_eq!((&capped["total"], &capped["total_capped"]), (&json!(10_000), &json!(is_capped)), "{query}");
        }
        let last = ada.search("q=common&offset=10000").await;
        assert_eq!(last["items"].as_array().unwrap().len(), 1);
    }
    hub.finish().await;
}

#[tokio::test]
async fn an_index_that_is_lost_is_made_again() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let message = ada.say("general", "needle").await;
    ada.say("general", "another needle").await;
    hub.settle().await;
    let setup = hub.stop().await;
    lose_index(&setup);
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    // Whatever the index knows by now.
    assert_eq!(ada.found("needle").await.len(), 2);
    ada.take_back(&message).await.ok();
    assert_eq!(ada.found("needle").await, ["another needle"]);
    hub.settle().await;
    assert_eq!((ada.found("needle").await.len(), indexed(&hub).await), (1, 1));
    hub.finish().await;
}

#[tokio::test]
async fn a_restored_hub_finds_what_was_backed_up_and_nothing_else() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let kept = ada.say("general", "a needle that is kept").await;
    hub.settle().await;
    let folder = tempfile::tempdir().unwrap();
    let backup = back_up(&hub, folder.path(), "backup.tar.gz").await;
    ada.say("general", "a needle that came later").await;
    ada.edit(&kept, "a thread").await.ok();
    hub.settle().await;
    let original = hub.stop().await;
    let target = Target::new();
    target.restore(&backup).await.unwrap();
    let hub = target.setup(&original).start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    assert_eq!(ada.found("needle").await, ["a needle that is kept"]);
    ada.say("general", "a new needle").await;
    hub.settle().await;
    assert_eq!(ada.found("needle").await, ["a new needle", "a needle that is kept"]);
    assert_eq!((ada.found("thread").await.len(), indexed(&hub).await), (0, 2));
    let setup = hub.stop().await;
    // A file of another history is of no use.
    if !on_postgres() {
        std::fs::copy(original.config.data.join("search.db"), setup.config.data.join("search.db")).unwrap();
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(setup.config.data.join(format!("search.db{ending}")));
        }
    }
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    assert_eq!(ada.found("needle").await.len(), 2);
    hub.settle().await;
    assert_eq!((ada.found("needle").await.len(), ada.found("thread").await.len()), (2, 0));
    hub.finish().await;
}

/// Puts a copy of a database file where a hub that has stopped finds it.
fn bring_back(copy: &Path, file: &Path) {
    std::fs::copy(copy, file).unwrap();
    for ending in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", file.display()));
    }
}

#[tokio::test]
async fn an_older_database_gets_an_index_of_its_own() {
    if on_postgres() {
        return;
    }
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    ada.say("general", "a needle that is kept").await;
    hub.settle().await;
    let setup = hub.stop().await;
    let aside = tempfile::tempdir().unwrap();
    let (database, index) = (setup.config.data.join("stoa.db"), setup.config.data.join("search.db"));
    let (older, ahead) = (aside.path().join("stoa.db"), aside.path().join("search.db"));
    std::fs::copy(&database, &older).unwrap();
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    let mut events = ada.events().await;
    for number in 0..3 {
        ada.say("general", &format!("a needle that is lost {number}")).await;
    }
    events.until("new_message").await;
    let last_id = events.last_id.clone();
    drop(events);
    hub.settle().await;
    let setup = hub.stop().await;
    std::fs::copy(&index, &ahead).unwrap();

    // The index has seen more than there is. New messages take the numbers of the lost ones.
    bring_back(&older, &database);
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    assert_eq!(ada.found("needle").await, ["a needle that is kept"]);
    ada.say("general", "a new needle").await;
    hub.settle().await;
    assert_eq!(ada.found("needle").await, ["a new needle", "a needle that is kept"]);
    assert_eq!((ada.found("lost").await.len(), indexed(&hub).await), (0, 2));
    // What followers have seen is gone as well.
    assert_eq!(ada.events_after(&last_id).await.next().await.event, "resync");
    let setup = hub.stop().await;

    // The database has grown past what the index has seen, but that was another history.
    bring_back(&older, &database);
    std::fs::remove_file(&index).unwrap();
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    for number in 0..10 {
        ada.say("general", &format!("thread {number}")).await;
    }
    hub.settle().await;
    let setup = hub.stop().await;
    bring_back(&ahead, &index);
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    hub.settle().await;
    assert_eq!((ada.found("lost").await.len(), ada.found("thread").await.len()), (0, 10));
    assert_eq!(indexed(&hub).await, 11);
    hub.finish().await;
}

#[tokio::test]
async fn a_crash_loses_nothing_that_can_be_found() {
    let hub = TestHub::start().await;
    let ada = hub.human("ada").await;
    let mut hub = hub;
    for round in 0..3 {
        let client = hub.nobody().with(ada.proof.clone());
        for number in 0..20 {
            client.say("general", &format!("needle {round} {number}")).await;
        }
        hub = hub.crash().await.start().await;
        // On PostgreSQL the hub that is gone keeps the index for a while.
        hub.advance(MINUTE);
    }
    let ada = hub.nobody().with(ada.proof.clone());
    assert_eq!(ada.found("needle").await.len(), 60);
    hub.settle().await;
    assert_eq!((ada.found("needle").await.len(), indexed(&hub).await), (60, 60));
    hub.finish().await;
}

#[tokio::test]
async fn a_damaged_index_is_made_again() {
    if on_postgres() {
        return;
    }
    // The first page, another one, all of them, and something else altogether.
    for (from, bytes) in [(0, 100), (4096 * 2, 4096), (100, 1_000_000), (0, 0)] {
        let hub = TestHub::start().await;
        let ada = hub.human("ada").await;
        for number in 0..50 {
            ada.say("general", &format!("needle {number}")).await;
        }
        hub.settle().await;
        let setup = hub.stop().await;
        let path = setup.config.data.join("search.db");
        if bytes == 0 {
            std::fs::write(&path, "not a database").unwrap();
        } else {
            let length = std::fs::metadata(&path).unwrap().len();
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.seek(SeekFrom::Start(from)).unwrap();
            let bytes = bytes.min(usize::try_from(length - from).unwrap());
            file.write_all(&vec![0x5a; bytes]).unwrap();
        }
        let hub = setup.may_fail().start().await;
        let ada = hub.nobody().with(ada.proof.clone());
        // Who finds out that it is damaged is told to come again; the next ones find it mended.
        eventually("everything is found again", async || {
            let answer = ada.get("/api/messages/search?q=needle&limit=200").may_fail().await;
            if answer.code() == 503 {
                answer.problem(503, "search_index_building");
                return false;
            }
            answer.ok().json()["total"] == 50
        })
        .await;
        ada.say("general", "one more needle").await;
        hub.settle().await;
        assert_eq!((ada.found("needle").await.len(), indexed(&hub).await), (51, 51), "{from} {bytes}");
        hub.finish().await;
    }
}

#[tokio::test]
async fn an_index_that_is_being_made_says_so() {
    let hub = TestHub::setup().without_listeners().start().await;
    let ada = hub.human("ada").await;
    fill(&hub, 5_000).await;
    assert_eq!(ada.search("q=common").await["total"], 5_000);
    fill(&hub, 1).await;
    let refused = ada.get("/api/messages/search?q=common").may_fail().await.problem(503, "search_index_building");
    assert_eq!(refused.header("retry-after"), Some("2"));
    // With somebody to make it, it is made in the background.
    let setup = hub.stop().await.with_listeners();
    let hub = setup.start().await;
    let ada = hub.nobody().with(ada.proof.clone());
    hub.settle().await;
    assert_eq!(ada.search("q=common").await["total"], 5_001);
    hub.finish().await;
}

#[tokio::test]
async fn two_hubs_find_the_same() {
    if !on_postgres() {
        return;
    }
    let one = TestHub::setup().key(KEY).start().await;
    let ada = one.human("ada").await;
    let other = one.beside().start().await;
    let ada_there = other.nobody().with(ada.proof.clone());
    for number in 0..20 {
        ada.say("general", &format!("needle {number}")).await;
        assert_eq!(ada_there.found("needle").await.len(), 2 * number + 1);
        ada_there.say("general", &format!("needle {number} too")).await;
        assert_eq!(ada.found("needle").await.len(), 2 * number + 2);
    }
    other.settle().await;
    assert_eq!((ada.found("needle").await.len(), indexed(&one).await), (40, 40));
    other.finish().await;
    one.finish().await;
}
