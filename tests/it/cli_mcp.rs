//! `stoa mcp`: the real program between a client and a real hub.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli_support::{Hub, Outcome, Place, stoa, with_scout};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// An address that other tests do not listen on, so that a hub finds its port free when it comes back.
const OWN_ADDRESS: &str = "127.0.0.77:0";
/// An address on which nobody listens.
const NOBODYS_ADDRESS: &str = "127.0.0.78:0";

/// A client's end of the bridge.
struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: mpsc::Receiver<Value>,
    /// What came while something else was waited for.
    kept: Vec<Value>,
}

impl Bridge {
    fn to(hub: &Hub, key: &str) -> Self {
        Self::start(bridge_command(&hub.address, &[]).env("STOA_MCP_KEY", key))
    }

    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines {
                let value: Value = serde_json::from_str(&line.unwrap()).expect("each line is JSON");
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self { input: child.stdin.take(), child, output, kept: Vec::new() }
    }

    fn say(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params});
        self.say(&message.to_string());
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    #[track_caller]
    fn next(&mut self) -> Value {
        if !self.kept.is_empty() {
            return self.kept.remove(0);
        }
        self.output.recv_timeout(PATIENCE).expect("the bridge says nothing")
    }

    /// The answer with this id, whatever comes before it.
    #[track_caller]
    fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        if let Some(place) = self.kept.iter().position(|said| said["id"] == id) {
            return self.kept.remove(place);
        }
        loop {
            let said = self.output.recv_timeout(PATIENCE).expect("the bridge says nothing");
            if said["id"] == id {
                return said;
            }
            self.kept.push(said);
        }
    }

    #[track_caller]
    fn ask(&mut self, id: i64, method: &str, params: &Value) -> Value {
        self.request(id, method, params);
        self.answer(id)
    }

    /// What a tool answers.
    #[track_caller]
    fn call(&mut self, id: i64, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(id, "tools/call", &json!({"name": tool, "arguments": arguments}));
        result_of(&answer)
    }

    #[track_caller]
    fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask(0, "initialize", &params);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        self.notify("notifications/initialized", &json!({}));
        answer
    }

    /// Ends the input, and waits until the bridge has ended too. Returns its exit code and what it said until then.
    fn end(mut self) -> (Option<i32>, Vec<Value>) {
        drop(self.input.take());
        let mut said = std::mem::take(&mut self.kept);
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(more) => said.push(more),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("the bridge does not end"),
            }
        }
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bridge_command(address: &str, more: &[&str]) -> Command {
    let mut command = stoa(&["mcp", "--url", &format!("http://{address}")]);
    command.args(more);
    command
}

#[track_caller]
fn result_of(answer: &Value) -> Value {
    let result = &answer["result"];
    assert!(result.is_object() && result["isError"] != true, "{answer}");
    result["structuredContent"].clone()
}

#[track_caller]
fn error_of(answer: &Value, code: &str) -> String {
    assert_eq!(answer["error"]["data"]["code"], code, "{answer}");
    assert_eq!(answer["error"]["code"], -32000, "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

/// Params of the revision without a beginning.
fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

/// A hub with the agents `scout` and `bee`, and their keys.
fn with_two(place: &Place, more: &[&str]) -> (Hub, String, String) {
    let hub = place.start_with(more);
    hub.create_user("ada");
    let key = |name: &str| {
        let created = hub.json(&["agents", "create", name, "--owner", "ada"]);
        created["key"].as_str().unwrap().to_owned()
    };
    let (scout, bee) = (key("scout"), key("bee"));
    (hub, scout, bee)
}

#[test]
fn two_agents_work_together() {
    let place = Place::new();
    let (hub, scout, bee) = with_two(&place, &[]);
    let (mut scout, mut bee) = (Bridge::to(&hub, &scout), Bridge::to(&hub, &bee));
    scout.initialize("2025-06-18");
    let begun = bee.initialize("2025-11-25");
    assert_eq!(begun["result"]["serverInfo"]["name"], "stoa");

    let listed = scout.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "send_message"), "{listed}");

    // Bee waits, and meanwhile does something else.
    bee.request(1, "tools/call", &json!({"name": "wait_for_messages", "arguments": {}}));
    let status = bee.call(2, "my_status", &json!({}));
    assert_eq!((&status["name"], &status["pending"]), (&json!("bee"), &json!(0)));
    assert!(bee.kept.is_empty(), "the wait has not ended");

    let sent = scout.call(2, "send_message", &json!({"to": "bee", "body": "What is\n6 times 7?"}));
    let waited = bee.answer(1);
    assert_eq!(result_of(&waited)["items"][0]["id"], sent["id"], "{waited}");
    let claimed = bee.call(3, "claim_messages", &json!({}));
    assert_eq!(claimed["items"][0]["content"], "What is\n6 times 7?");
    let settled = bee.call(4, "mark_done", &json!({"message_id": sent["id"], "result": "42"}));
    assert_eq!(settled["status"], "done");
    let reply = scout.call(3, "read_inbox", &json!({}));
    assert_eq!(reply["items"][0]["content"], "42", "{reply}");

    // What the hub refuses comes as the hub says it.
    let refused = scout.ask(4, "tools/call", &json!({"name": "send_massage", "arguments": {}}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("Did you mean send_message?"), "{refused}");
    let refused = scout.ask(5, "no/such/method", &json!({}));
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
    for bridge in [scout, bee] {
        assert_eq!(bridge.end(), (Some(0), Vec::new()), "a notification has no answer");
    }
}

#[test]
fn the_revision_without_a_beginning() {
    let place = Place::new();
    let (hub, scout, bee) = with_two(&place, &[]);
    let (mut scout, mut bee) = (Bridge::to(&hub, &scout), Bridge::to(&hub, &bee));
    let discovered = scout.ask(1, "server/discover", &stateless(json!({})));
    let versions = discovered["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{discovered}");

    // A stream stays open, and what it says comes at once.
    let wanted = json!({"notifications": {"resourceSubscriptions": ["stoa://inbox"]}});
    bee.request("listening", "subscriptions/listen", &stateless(wanted));
    let acknowledged = bee.next();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    let arguments = json!({"to": "bee", "body": "é"});
    let sent = scout.ask(2, "tools/call", &stateless(json!({"name": "send_message", "arguments": arguments})));
    assert!(result_of(&sent)["id"].is_i64(), "{sent}");
    let told = bee.next();
    assert_eq!(
        (&told["method"], &told["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!("stoa://inbox"))
    );
    let read = bee.ask(2, "resources/read", &stateless(json!({"uri": "stoa://inbox"})));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains('é'), "{read}");
    // A name that no header can hold.
    let refused = scout.ask(3, "tools/call", &stateless(json!({"name": " é\n", "arguments": {}})));
    assert!(refused["error"]["message"].as_str().unwrap().contains("Unknown tool"), "{refused}");
    // The end of the input is the end of the stream too.
    assert_eq!(bee.end(), (Some(0), Vec::new()));
}

#[test]
fn what_is_cancelled_ends_without_an_answer() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let mut bridge = Bridge::to(&hub, &key);
    bridge.initialize("2025-11-25");
    for id in [json!(7), json!("seven")] {
        bridge.request(id.clone(), "tools/call", &json!({"name": "wait_for_messages", "arguments": {}}));
        bridge.notify("notifications/cancelled", &json!({"requestId": id, "reason": "enough"}));
    }
    bridge.notify("notifications/cancelled", &json!({"requestId": 99}));
    assert_eq!(bridge.call(8, "my_status", &json!({}))["name"], "scout");
    // Were the two still under way, the end would take most of a minute and bring their answers.
    assert_eq!(bridge.end(), (Some(0), Vec::new()));
}

#[test]
fn a_key_that_is_not_accepted_is_named() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let mut bridge = Bridge::to(&hub, "stoa_wrong");
    let said = error_of(&bridge.ask(1, "ping", &json!({})), "unauthenticated");
    assert!(said.contains("STOA_MCP_KEY") && said.contains(&hub.address) && !said.contains("stoa_wrong"), "{said}");
    // It goes on, as the key may be mended on the hub's side.
    bridge.notify("notifications/initialized", &json!({}));
    error_of(&bridge.ask(2, "tools/list", &json!({})), "unauthenticated");
    assert_eq!(bridge.end(), (Some(0), Vec::new()));

    let file = place.root().join("agent.key");
    fs::write(&file, format!("{key}\n")).unwrap();
    let command = || bridge_command(&hub.address, &["--key-file", file.to_str().unwrap()]);
    for mode in [0o644, 0o640, 0o602] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let said = Outcome::of(&mut command(), b"").fails(2, &["the key file", "chmod 600"]);
        assert!(!said.contains(&key));
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let mut bridge = Bridge::start(command().env("STOA_MCP_KEY", "stoa_wrong"));
    assert_eq!(bridge.ask(1, "ping", &json!({}))["result"], json!({}));
}

#[test]
fn what_is_set_up_wrongly_is_said_at_once() {
    Outcome::of(&mut stoa(&["mcp"]), b"").fails(2, &["no key", "STOA_MCP_KEY", "--key-file"]);
    Outcome::of(stoa(&["mcp"]).env("STOA_MCP_KEY", " "), b"").fails(2, &["no key"]);
    Outcome::of(stoa(&["mcp"]).env("STOA_MCP_KEY", "two words"), b"").fails(2, &["STOA_MCP_KEY", "not a key"]);
    Outcome::of(&mut stoa(&["mcp", "--key-file", "/nowhere/key"]), b"").fails(2, &["/nowhere/key"]);
    for (url, words) in [
        ("127.0.0.1:8080", "absolute"),
        ("localhost:8080", "https:// or http://"),
        ("ftp://hub.example", "https:// or http://"),
        ("http://me:word@hub.example", "password"),
    ] {
        let mut command = stoa(&["mcp"]);
        command.env("STOA_MCP_KEY", "key").env("STOA_MCP_URL", url);
        Outcome::of(&mut command, b"").fails(2, &["STOA_MCP_URL", words]);
    }
    let help = Outcome::of(stoa(&["mcp", "--help"]).env("STOA_MCP_KEY", "canary"), b"").ok();
    assert!(help.contains("STOA_MCP_KEY") && help.contains("STOA_MCP_URL") && !help.contains("canary"), "{help}");
}

#[test]
fn without_a_hub_there_is_an_answer_nevertheless() {
    let nobody = TcpListener::bind(NOBODYS_ADDRESS).unwrap();
    let address = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    let mut bridge = Bridge::start(bridge_command(&address, &["--retry", "0"]).env("STOA_MCP_KEY", "key"));
    bridge.notify("notifications/initialized", &json!({}));
    let said = error_of(&bridge.ask(1, "initialize", &json!({})), "unreachable");
    assert!(said.contains(&address) && said.contains("STOA_MCP_URL"), "{said}");
    assert_eq!(bridge.end(), (Some(0), Vec::new()));
}

/// Somebody who is not a hub: says this to whoever asks, as often as asked.
fn pretender(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            hear(&mut stream);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

/// Reads a request to its end.
fn hear(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

#[test]
fn what_is_not_a_hub_is_called_so() {
    let problem = json!({"detail": "At most 600 writes per minute are allowed."}).to_string();
    for (status, headers, body, code, words) in [
        ("404 Not Found", "", "<html>", "no_hub", "STOA_MCP_URL"),
        ("405 Method Not Allowed", "", "", "no_hub", "STOA_MCP_URL"),
        ("200 OK", "content-type: text/html\r\n", "<html>", "no_hub", "not MCP"),
        ("200 OK", "content-type: application/json\r\n", "{\"ok\":true}", "no_hub", "not MCP"),
        ("202 Accepted", "", "", "no_hub", "not MCP"),
        ("307 Elsewhere", "location: https://hub.example/mcp\r\n", "", "redirected", "https://hub.example/mcp"),
        ("403 Forbidden", "", &problem, "forbidden", "At most 600"),
        ("413 Too Large", "", "", "too_large", "too long"),
        ("429 Too Many", "retry-after: 17\r\n", &problem, "rate_limited", "in 17 seconds"),
        ("500 Broken", "", "", "hub_failed", "may or may not"),
        ("503 Away", "", "", "unavailable", "may or may not"),
    ] {
        let length = body.len();
        let address = pretender(format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}"));
        let mut bridge = Bridge::start(bridge_command(&address, &[]).env("STOA_MCP_KEY", "key"));
        let said = error_of(&bridge.ask(1, "tools/call", &json!({"name": "send_message"})), code);
        assert!(said.contains(words), "{status}: {said}");
    }
}

/// What breaks off in the middle is asked again only where that does no harm.
#[test]
fn nothing_is_done_twice() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (heard, hearing) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            // Heard, and then gone without a word.
            let request = hear(&mut stream.unwrap());
            let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
            let _ = heard.send(body["id"].clone());
        }
    });
    let mut bridge = Bridge::start(bridge_command(&address, &["--retry", "1s"]).env("STOA_MCP_KEY", "key"));
    let call = |arguments: Value| json!({"name": "send_message", "arguments": arguments});
    let said = error_of(&bridge.ask(1, "tools/call", &call(json!({"to": "bee", "body": "x"}))), "broken");
    assert!(said.contains("may or may not have been carried out"), "{said}");
    let said = error_of(&bridge.ask(2, "tools/call", &call(json!({"idempotency_key": "k"}))), "broken");
    assert!(!said.contains("may or may not"), "{said}");
    error_of(&bridge.ask(3, "tools/list", &json!({})), "broken");
    drop(bridge);
    let times = |id: i64, ids: &[Value]| ids.iter().filter(|heard| **heard == id).count();
    let ids: Vec<_> = hearing.try_iter().collect();
    assert_eq!(times(1, &ids), 1, "{ids:?}");
    assert!(times(2, &ids) > 1 && times(3, &ids) > 1, "{ids:?}");
}

#[test]
fn a_restart_of_the_hub_is_hardly_noticed() {
    let place = Place::new();
    let (hub, scout, bee) = with_two(&place, &["--listen", OWN_ADDRESS]);
    let address = hub.address.clone();
    let start = |key: &str| Bridge::start(bridge_command(&address, &["--retry", "60s"]).env("STOA_MCP_KEY", key));
    let (mut scout, mut bee) = (start(&scout), start(&bee));
    scout.initialize("2025-11-25");
    bee.initialize("2025-06-18");
    // So that the bridge knows that waiting does no harm.
    bee.ask(1, "tools/list", &json!({}));
    bee.request(2, "tools/call", &json!({"name": "wait_for_messages", "arguments": {}}));
    assert_eq!(bee.call(3, "my_status", &json!({}))["name"], "bee");

    let said = hub.stop();
    assert_eq!(said.code, Some(0), "{said:?}");
    // Said to nobody, who comes back.
    let message = json!({"name": "send_message", "arguments": {"to": "bee", "body": "Good morning"}});
    scout.request(1, "tools/call", &message);
    scout.notify("notifications/progress", &json!({}));
    let hub = place.start_with(&["--listen", &address]);
    let sent = result_of(&scout.answer(1));
    // A hub that stops lets go who waits, if there is still time; else the bridge has asked again.
    let mut waited = result_of(&bee.answer(2));
    if waited["items"] == json!([]) {
        waited = bee.call(7, "wait_for_messages", &json!({}));
    }
    assert_eq!(waited["items"][0]["id"], sent["id"], "{waited}");
    assert_eq!(waited["items"].as_array().unwrap().len(), 1);

    // The same without a word of warning.
    let claimed = bee.call(4, "claim_messages", &json!({}));
    assert_eq!(claimed["items"][0]["content"], "Good morning");
    bee.request(5, "tools/call", &json!({"name": "wait_for_messages", "arguments": {}}));
    assert_eq!(bee.call(6, "my_status", &json!({}))["pending"], 0);
    hub.kill();
    let _hub = place.start_with(&["--listen", &address]);
    let sent = scout.call(2, "send_message", &json!({"to": "bee", "body": "Good evening"}));
    assert_eq!(result_of(&bee.answer(5))["items"][0]["id"], sent["id"]);
    for bridge in [scout, bee] {
        assert_eq!(bridge.end(), (Some(0), Vec::new()));
    }
}

#[test]
fn a_stream_outlives_the_hub() {
    let place = Place::new();
    let (hub, scout, bee) = with_two(&place, &["--listen", OWN_ADDRESS]);
    let address = hub.address.clone();
    let start = |key: &str| Bridge::start(bridge_command(&address, &["--retry", "60s"]).env("STOA_MCP_KEY", key));
    let (mut scout, mut bee) = (start(&scout), start(&bee));
    let wanted = json!({"notifications": {"resourceSubscriptions": ["stoa://inbox"]}});
    bee.request(1, "subscriptions/listen", &stateless(wanted));
    assert_eq!(bee.next()["method"], "notifications/subscriptions/acknowledged");
    hub.kill();
    let _hub = place.start_with(&["--listen", &address]);
    assert_eq!(bee.next()["method"], "notifications/subscriptions/acknowledged", "it is there again");
    scout.call(1, "send_message", &json!({"to": "bee", "body": "Still there?"}));
    assert_eq!(bee.next()["params"]["uri"], "stoa://inbox");
}

#[test]
fn what_is_no_message_is_answered() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let mut bridge = Bridge::to(&hub, &key);
    for (line, code) in [
        ("nonsense", -32700),
        ("{\"jsonrpc\": \"2.0\",", -32700),
        ("[]", -32600),
        ("7", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
    ] {
        bridge.say(line);
        let answer = bridge.next();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)), "{line}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().ends_with('.'), "{answer}");
    }
    // Only the hub knows what is wrong with this one, but not whose it is.
    let answer = bridge.ask(5, "tools/call", &json!("text"));
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    bridge.say("");
    bridge.say("  \r");
    bridge.say(&format!("{}\r", json!({"jsonrpc": "2.0", "id": "a", "method": "ping"})));
    assert_eq!(bridge.next(), json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
    // Answers to a server that asks nothing.
    bridge.say(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}).to_string());
    assert_eq!(bridge.end(), (Some(0), Vec::new()));
}

#[test]
fn long_messages_pass_and_too_long_ones_do_not() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let mut bridge = Bridge::to(&hub, &key);
    bridge.initialize("2025-11-25");
    // In base64 this is a text of 6 MiB.
    let body = "eHh4".repeat(2 << 20);
    let file = json!({"filename": "x.txt", "content_base64": body});
    let answer = bridge.ask(1, "tools/call", &json!({"name": "upload_attachment", "arguments": file}));
    assert_eq!(answer["result"]["structuredContent"]["size"], 6 << 20, "{answer}");
    bridge.say(&"x".repeat((70 << 20) + 1));
    let answer = bridge.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)), "{answer}");
    assert_eq!(bridge.call(2, "my_status", &json!({}))["name"], "scout");
}

#[test]
fn it_ends_when_the_input_ends_and_everything_is_answered() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let call = json!({"name": "wait_for_messages", "arguments": {"timeout_seconds": 1}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}),
    ];
    // Without a line break at the end, and all of it before anything is answered.
    let input = lines.map(|line| line.to_string()).join("\n");
    let mut command = bridge_command(&hub.address, &["--log-level", "trace"]);
    let outcome = Outcome::of(command.env("STOA_MCP_KEY", &key), input.as_bytes());
    assert!(outcome.code == Some(0) && !outcome.stderr.contains(&key), "{outcome:?}");
    let mut said: Vec<Value> = outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    said.sort_by_key(|answer| answer["id"].as_i64());
    let [waited, pong] = &said[..] else { panic!("{said:?}") };
    assert_eq!((&waited["id"], &result_of(waited)["items"]), (&json!(1), &json!([])));
    assert_eq!(pong["id"], 2);
}

#[test]
fn it_ends_when_it_is_told_to() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    for signal in ["-TERM", "-INT"] {
        let mut bridge = Bridge::to(&hub, &key);
        bridge.request(1, "tools/call", &json!({"name": "wait_for_messages", "arguments": {}}));
        assert_eq!(bridge.ask(2, "ping", &json!({}))["result"], json!({}));
        assert!(Command::new("kill").args([signal, &bridge.child.id().to_string()]).status().unwrap().success());
        assert_eq!(bridge.output.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
        assert_eq!(bridge.child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn it_ends_when_nobody_reads() {
    let place = Place::new();
    let (hub, key) = with_scout(&place);
    let mut command = bridge_command(&hub.address, &[]);
    let mut child = command.env("STOA_MCP_KEY", &key).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
