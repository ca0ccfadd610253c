//! Incoming webhooks: requests of other services that become messages.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::mentions::mentions_in;
use crate::named::named_enum;
use crate::templates::Template;
use crate::text::{check_label, is_unprintable, without_stacked_marks};
use crate::validation::{Faults, FieldError, nullable, or_default, present, present_object};
use crate::{MessageId, Secret, Timestamp, handles};

/// Handles of hooks begin like this. Nobody else can have such a handle: users and agents have no colon in theirs, and those of machine
/// principals begin with `svc:`.
pub const AUTHOR_PREFIX: &str = "hook:";
pub const MAX_HOOKS: i64 = 100;
/// Requests of one hook that are kept with their outcome.
pub const KEPT_REQUESTS: i64 = 20;
/// A Standard Webhooks request is refused if its timestamp is further away from the time of the hub.
pub const TOLERANCE_SECONDS: i64 = 300;
/// The longest message that a request can become. The hub cuts longer ones.
pub const MAX_RENDERED_BYTES: usize = 16 * 1024;
pub const MAX_DELIVERY_ID: usize = 255;
const MAX_NAME: usize = 60;
const MAX_EVENTS: usize = 50;
const MAX_EVENT: usize = 100;
const MAX_TEMPLATE_BYTES: usize = 8 * 1024;
/// Names that one template may mention.
const MAX_CALLS: usize = 10;
/// A value in a default message, in characters.
const MAX_VALUE: usize = 200;
/// Commits that a default message of a push lists.
const MAX_COMMITS: usize = 5;
const MAX_EXCERPT: usize = 1000;
const MIN_SECRET: usize = 16;
const MAX_SECRET: usize = 255;
pub const STANDARD_SECRET_PREFIX: &str = "whsec_";

named_enum! {
    pub enum HookKind {
        Github = "github",
        Standard = "standard",
        Url = "url",
    }
}

named_enum! {
    pub enum HookOutcome {
        Posted = "posted",
        Duplicate = "duplicate",
        Ignored = "ignored",
        InvalidSignature = "invalid_signature",
        Expired = "expired",
        RateLimited = "rate_limited",
        Malformed = "malformed",
        Empty = "empty",
        Disabled = "disabled",
        TargetUnavailable = "target_unavailable",
    }
}

/// The channel or the agent that messages of a hook go to: exactly one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookTarget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HookView {
    pub id: String,
    /// Shown as the author of its messages.
    pub name: String,
    /// The handle of that author, for searches.
    pub author: String,
    /// The user who created the hook.
    pub owner: String,
    pub kind: HookKind,
    pub target: HookTarget,
    /// Whether the channel or the agent was deleted. Requests fail until the hook gets another target.
    pub target_deleted: bool,
    /// Only these events become messages; empty means all.
    pub events: Vec<String>,
    /// Null means the default message of the kind.
    pub template: Option<String>,
    pub enabled: bool,
    /// Where the other service sends its requests. Null for the kind `url`, whose address contains the secret.
    pub url: Option<String>,
    pub created_at: Timestamp,
    /// The latest request that the hub has a record of.
    pub last_request_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateHookRequest {
    #[schema(min_length = 1, max_length = 60, example = "GitHub")]
    pub name: String,
    pub kind: HookKind,
    pub target: HookTarget,
    #[serde(default, deserialize_with = "or_default")]
    #[schema(max_items = 50, example = json!(["push", "pull_request.opened"]))]
    pub events: Vec<String>,
    /// Text with `{{event}}`, `{{id}}` and `{{body.repository.full_name}}` in it.
    #[serde(default)]
    #[schema(max_length = 8192)]
    pub template: Option<String>,
    /// The other service's secret, if that service provides it. Not for the kind `url`.
    #[serde(default)]
    #[schema(value_type = Option<String>, min_length = 16, max_length = 255)]
    pub secret: Option<Secret>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateHookRequest {
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, min_length = 1, max_length = 60)]
    pub name: Option<String>,
    #[serde(default, deserialize_with = "present_object", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = HookTarget)]
    pub target: Option<HookTarget>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<String>, max_items = 50)]
    pub events: Option<Vec<String>>,
    /// Null restores the default message.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 8192)]
    pub template: Option<Option<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    pub enabled: Option<bool>,
    /// Replaces the secret. Not for the kind `url`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, min_length = 16, max_length = 255)]
    pub secret: Option<Secret>,
}

/// A new hook: its record, its address, and its secret, shown only once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CreatedHook {
    pub hook: HookView,
    /// Where the other service sends its requests. For the kind `url` it contains the secret.
    #[schema(value_type = String)]
    pub url: Secret,
    pub secret: Secret,
}

/// A request that reached a hook, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HookRequestView {
    pub received_at: Timestamp,
    pub outcome: HookOutcome,
    /// The event that the request names.
    pub event: Option<String>,
    pub delivery_id: Option<String>,
    pub message_id: Option<MessageId>,
}

/// The latest requests of a hook, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HookRequestList {
    pub items: Vec<HookRequestView>,
}

/// The answer to a request of another service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HookAnswer {
    /// `posted`, `duplicate` or `ignored`.
    pub outcome: HookOutcome,
}

impl HookTarget {
    fn check(&mut self, faults: &mut Faults) {
        if let Some(name) = self.channel.as_ref().and_then(|name| name.strip_prefix('#')) {
            self.channel = Some(name.to_owned());
        }
        let is_one = self.channel.is_some() != self.agent.is_some();
        faults.require("target", is_one, "must have either channel or agent");
        if let Some(channel) = &self.channel {
            faults.check("target.channel", handles::check_channel_name(channel));
        }
    }
}

impl CreateHookRequest {
    /// The same request with channel names as they are kept, or all its faults.
    pub fn checked(mut self) -> Result<Self, Vec<FieldError>> {
        let mut faults = Faults::default();
        faults.check("name", check_label(&self.name, MAX_NAME));
        self.target.check(&mut faults);
        check_events(&mut faults, self.kind, &self.events);
        check_template(&mut faults, self.template.as_deref());
        check_secret(&mut faults, self.kind, self.secret.as_ref());
        faults.finish()?;
        Ok(self)
    }
}

impl UpdateHookRequest {
    pub fn checked(mut self, kind: HookKind) -> Result<Self, Vec<FieldError>> {
        let mut faults = Faults::default();
        if let Some(name) = &self.name {
            faults.check("name", check_label(name, MAX_NAME));
        }
        if let Some(target) = &mut self.target {
            target.check(&mut faults);
        }
        check_events(&mut faults, kind, self.events.as_deref().unwrap_or_default());
        check_template(&mut faults, self.template.as_ref().and_then(Option::as_deref));
        check_secret(&mut faults, kind, self.secret.as_ref());
        faults.finish()?;
        Ok(self)
    }
}

fn check_events(faults: &mut Faults, kind: HookKind, events: &[String]) {
    faults.require("events", events.len() <= MAX_EVENTS, "must be at most 50");
    let has_events = kind != HookKind::Url || events.is_empty();
    faults.require("events", has_events, "must be empty for the kind url, because its requests have no event name");
    for (place, event) in events.iter().enumerate().take(MAX_EVENTS) {
        let literal = event.strip_suffix(".*").unwrap_or(event);
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte);
        let is_event = (1..=MAX_EVENT).contains(&literal.len()) && literal.bytes().all(is_word);
        faults.require(
            &format!("events[{place}]"),
            is_event,
            "must be an event such as push, pull_request.opened or invoice.*",
        );
    }
}

fn check_template(faults: &mut Faults, template: Option<&str>) {
    let Some(text) = template else { return };
    let has_words = !text.trim().is_empty() && text.len() <= MAX_TEMPLATE_BYTES;
    faults.require("template", has_words, "must be 1 to 8192 bytes long");
    let parsed = faults.check("template", Template::parse(text));
    let calls = parsed.map_or(0, |parsed| mentions_in(&parsed.own_words()).len());
    faults.require("template", calls <= MAX_CALLS, "can mention at most 10 names");
}

fn check_secret(faults: &mut Faults, kind: HookKind, secret: Option<&Secret>) {
    let Some(secret) = secret.map(Secret::expose) else { return };
    faults.require("secret", kind != HookKind::Url, "cannot be set for the kind url: the hub creates it");
    let is_long = (MIN_SECRET..=MAX_SECRET).contains(&secret.len());
    let is_printable = secret.bytes().all(|byte| byte.is_ascii_graphic());
    faults.require("secret", is_long && is_printable, "must be 16 to 255 printable ASCII characters without spaces");
}

/// Whether a hook with these events takes a request. `action` makes `pull_request` a `pull_request.opened`.
pub fn takes_event(events: &[String], event: Option<&str>, action: Option<&str>) -> bool {
    if events.is_empty() {
        return true;
    }
    let Some(event) = event else { return false };
    let whole = action.map(|action| format!("{event}.{action}"));
    events.iter().any(|wanted| match wanted.strip_suffix(".*") {
        Some(beginning) => event.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        None => wanted == event || Some(wanted.as_str()) == whole.as_deref(),
    })
}

/// What a request says, whatever its kind.
#[derive(Debug, Clone, PartialEq)]
pub struct HookContent {
    pub event: Option<String>,
    pub id: Option<String>,
    pub body: Value,
}

/// A message to post, and the words in it that can be mentions: those of the template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookMessage {
    pub body: String,
    pub own_words: String,
}

impl HookContent {
    pub fn action(&self) -> Option<&str> {
        self.body.get("action").and_then(Value::as_str)
    }

    /// The message that this request becomes; its body is empty if there is nothing to say.
    pub fn message(self, kind: HookKind, template: Option<&str>) -> Result<HookMessage, String> {
        let Some(template) = template else {
            let body = printable(&self.default_message(kind));
            return Ok(HookMessage { body: cut(body.trim(), MAX_RENDERED_BYTES), own_words: String::new() });
        };
        let template = Template::parse(template)?;
        let text = |value: Option<String>| value.map_or(Value::Null, Value::String);
        let fields = Map::from_iter([
            ("event".to_owned(), text(self.event)),
            ("id".to_owned(), text(self.id)),
            ("body".to_owned(), self.body),
        ]);
        let body = printable(&template.render(&fields, MAX_RENDERED_BYTES)).trim().to_owned();
        Ok(HookMessage { body, own_words: template.own_words() })
    }

    fn default_message(&self, kind: HookKind) -> String {
        match kind {
            HookKind::Github => self.github_message(),
            HookKind::Standard => {
                let event = self.event.as_deref().map(|event| clean(event, MAX_VALUE)).unwrap_or_default();
                let data = self.body.get("data").unwrap_or(&self.body);
                format!("{event}\n{}", excerpt(data))
            }
            HookKind::Url => match self.body.get("text").and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => excerpt(&self.body),
            },
        }
    }

    fn github_message(&self) -> String {
        let event = self.event.as_deref().map(|event| clean(event, MAX_VALUE)).unwrap_or_else(|| "event".to_owned());
        let get = |path: &[&str]| value_at(&self.body, path);
        let repository = get(&["repository", "full_name"])
            .or_else(|| get(&["organization", "login"]))
            .map_or_else(|| "an unknown repository".to_owned(), |name| clean(&name, MAX_VALUE));
        let sender = get(&["sender", "login"]).map_or_else(|| "someone".to_owned(), |name| clean(&name, MAX_VALUE));
        let action = get(&["action"]).map(|action| clean(&action.replace('_', " "), MAX_VALUE)).unwrap_or_default();
        // An item with a number and a title, like an issue.
        let item = |name: &str| {
            let number = get(&[name, "number"]).map(|number| format!("#{}", clean(&number, 20))).unwrap_or_default();
            let title = get(&[name, "title"]).map(|title| clean(&title, MAX_VALUE)).unwrap_or_default();
            format!("{number} {title}").trim().to_owned()
        };
        let link = |path: &[&str]| get(path).map(|url| format!("\n{}", clean(&url, 500))).unwrap_or_default();
        match event.as_str() {
            "ping" => format!("{repository}: GitHub sends events of this repository to this hook."),
            "push" => self.push_message(&repository, &sender),
            "pull_request" => {
                let is_merged = self.body.pointer("/pull_request/merged") == Some(&Value::Bool(true));
                let action = if action == "closed" && is_merged { "merged".to_owned() } else { action };
                let item = item("pull_request");
                format!("{repository}: {sender} {action} pull request {item}{}", link(&["pull_request", "html_url"]))
            }
            "pull_request_review" => {
                let state = get(&["review", "state"]).map(|state| clean(&state.replace('_', " "), MAX_VALUE));
                let (state, item) = (state.unwrap_or_default(), item("pull_request"));
                format!("{repository}: {sender} reviewed pull request {item}: {state}{}", link(&["review", "html_url"]))
            }
            "issues" => {
                format!("{repository}: {sender} {action} issue {}{}", item("issue"), link(&["issue", "html_url"]))
            }
            "issue_comment" => {
                let text = get(&["comment", "body"]).map(|text| clean(&text, MAX_VALUE)).unwrap_or_default();
                let (item, link) = (item("issue"), link(&["comment", "html_url"]));
                format!("{repository}: {sender} {action} a comment on {item}: {text}{link}")
            }
            "release" => {
                let tag = get(&["release", "tag_name"]).map(|tag| clean(&tag, MAX_VALUE)).unwrap_or_default();
                format!("{repository}: {sender} {action} release {tag}{}", link(&["release", "html_url"]))
            }
            "workflow_run" => {
                let name = get(&["workflow_run", "name"]).map(|name| clean(&name, MAX_VALUE)).unwrap_or_default();
                let branch = get(&["workflow_run", "head_branch"]).map(|name| clean(&name, MAX_VALUE));
                let state = get(&["workflow_run", "conclusion"]).map_or(action, |state| clean(&state, MAX_VALUE));
                let (branch, link) = (branch.unwrap_or_default(), link(&["workflow_run", "html_url"]));
                format!("{repository}: workflow {name} on {branch}: {state}{link}")
            }
            "create" | "delete" => {
                let kind = get(&["ref_type"]).map(|kind| clean(&kind, MAX_VALUE)).unwrap_or_default();
                let name = get(&["ref"]).map(|name| clean(&name, MAX_VALUE)).unwrap_or_default();
                format!("{repository}: {sender} {event}d {kind} {name}")
            }
            _ if action.is_empty() => format!("{event} in {repository} by {sender}"),
            _ => format!("{event}: {action} in {repository} by {sender}"),
        }
    }

    fn push_message(&self, repository: &str, sender: &str) -> String {
        let name = value_at(&self.body, &["ref"]).map(|name| clean(&name, MAX_VALUE)).unwrap_or_default();
        let branch = name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/tags/")).unwrap_or(&name);
        let is = |field: &str| self.body.get(field) == Some(&Value::Bool(true));
        if is("deleted") {
            return format!("{repository}: {sender} deleted {branch}");
        }
        let commits = self.body.get("commits").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let verb = if is("forced") { "force-pushed" } else { "pushed" };
        let plural = if commits.len() == 1 { "commit" } else { "commits" };
        let mut text = format!("{repository}: {sender} {verb} {} {plural} to {branch}", commits.len());
        for commit in commits.iter().take(MAX_COMMITS) {
            let id: String = value_at(commit, &["id"]).unwrap_or_default().chars().take(7).collect();
            let title = value_at(commit, &["message"]).unwrap_or_default();
            let title = clean(title.lines().next().unwrap_or_default(), MAX_VALUE);
            text.push_str(&format!("\n- {} {title}", clean(&id, 7)));
        }
        if commits.len() > MAX_COMMITS {
            text.push_str(&format!("\n- and {} more", commits.len() - MAX_COMMITS));
        }
        if let Some(url) = value_at(&self.body, &["compare"]) {
            text.push_str(&format!("\n{}", clean(&url, 500)));
        }
        text
    }
}

/// A text, number or truth value in a document.
fn value_at(document: &Value, path: &[&str]) -> Option<String> {
    let value = path.iter().try_fold(document, |value, name| value.get(name))?;
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Somebody else's text with its lines: without characters that are invisible or change how their neighbours look.
fn printable(text: &str) -> String {
    let is_harmless = |character: &char| matches!(character, '\n' | '\t') || !is_unprintable(*character);
    without_stacked_marks(&text.chars().filter(is_harmless).collect::<String>())
}

/// One line of somebody else's text: without invisible characters, and not too long.
pub fn clean(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = line.chars().filter(|character| !is_unprintable(*character)).take(max + 1).collect();
    if shown.chars().count() > max {
        shown = shown.chars().take(max.saturating_sub(1)).collect();
        shown.push('…');
    }
    without_stacked_marks(&shown)
}

/// The beginning of a document, as code.
fn excerpt(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let shown: String = text
        .chars()
        .filter(|character| matches!(character, '\n') || !is_unprintable(*character))
        .take(MAX_EXCERPT)
        // A fence in a value would end the code.
        .map(|character| if character == '`' { '\'' } else { character })
        .collect();
    let shown = without_stacked_marks(&shown);
    let more = if text.chars().count() > MAX_EXCERPT { "\n…" } else { "" };
    format!("```json\n{shown}{more}\n```")
}

fn cut(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let mut end = max.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn said(kind: HookKind, event: &str, body: Value) -> String {
        let content = HookContent { event: Some(event.to_owned()), id: None, body };
        content.message(kind, None).unwrap().body
    }

    #[test]
    fn github_events_become_lines() {
        let about = |mut body: Value| {
            body["repository"] = json!({"full_name": "octo/hub"});
            body["sender"] = json!({"login": "ada"});
            body
        };
        let issue = json!({"number": 7, "title": "It\nbreaks \u{202e}@bob", "html_url": "https://x/7"});
        let cases = [
            ("ping", json!({}), "octo/hub: GitHub sends events of this repository to this hook."),
            (
                "issues",
                json!({"action": "opened", "issue": issue}),
                "octo/hub: ada opened issue #7 It breaks @bob\nhttps://x/7",
            ),
            (
                "pull_request",
                json!({"action": "closed", "pull_request": {"number": 8, "title": "Fix", "merged": true}}),
                "octo/hub: ada merged pull request #8 Fix",
            ),
            (
                "issue_comment",
                json!({"action": "created", "issue": {"number": 7, "title": "T"}, "comment": {"body": "so\nlong"}}),
                "octo/hub: ada created a comment on #7 T: so long",
            ),
            (
                "release",
                json!({"action": "published", "release": {"tag_name": "v1"}}),
                "octo/hub: ada published release v1",
            ),
            (
                "workflow_run",
                json!({"action": "completed", "workflow_run": {"name": "CI", "head_branch": "main", "conclusion": "failure"}}),
                "octo/hub: workflow CI on main: failure",
            ),
            ("create", json!({"ref_type": "tag", "ref": "v2"}), "octo/hub: ada created tag v2"),
            (
                "push",
                json!({"ref": "refs/heads/main", "commits": [{"id": "0123456789", "message": "One\n\nmore"}]}),
                "octo/hub: ada pushed 1 commit to main\n- 0123456 One",
            ),
            ("star", json!({"action": "created"}), "star: created in octo/hub by ada"),
            ("fork", json!({}), "fork in octo/hub by ada"),
        ];
        for (event, body, expected) in cases {
            assert_eq!(said(HookKind::Github, event, about(body)), expected, "{event}");
        }
        // A body that has nothing of what was expected still says something.
        assert_eq!(said(HookKind::Github, "push", json!([])), "an unknown repository: someone pushed 0 commits to");
    }

    #[test]
    fn other_kinds_have_a_text_or_an_excerpt() {
        assert_eq!(said(HookKind::Url, "", json!({"text": " hello "})), "hello");
        assert_eq!(said(HookKind::Url, "", json!({"a": "``"})), "```json\n{\n  \"a\": \"''\"\n}\n```");
        let standard = said(HookKind::Standard, "invoice.paid", json!({"type": "invoice.paid", "data": {"id": 1}}));
        assert_eq!(standard, "invoice.paid\n```json\n{\n  \"id\": 1\n}\n```");
    }

    #[test]
    fn only_the_words_of_a_template_may_mention() {
        let content = HookContent { event: Some("push".to_owned()), id: None, body: json!({"who": "@bob"}) };
        let message = content.message(HookKind::Url, Some("@ada: {{body.who}} {{event}}")).unwrap();
        assert_eq!((message.body.as_str(), message.own_words.as_str()), ("@ada: @bob push", "@ada: … …"));
    }

    #[test]
    fn filters() {
        let events: Vec<String> = ["push", "pull_request.opened", "invoice.*"].map(str::to_owned).to_vec();
        for (event, action, expected) in [
            (Some("push"), None, true),
            (Some("push"), Some("any"), true),
            (Some("pull_request"), Some("opened"), true),
            (Some("pull_request"), Some("closed"), false),
            (Some("invoice.paid"), None, true),
            (Some("invoices"), None, false),
            (None, None, false),
        ] {
            assert_eq!(takes_event(&events, event, action), expected, "{event:?} {action:?}");
        }
        assert!(takes_event(&[], None, None));
    }

    proptest! {
        #[test]
        fn default_messages_are_never_too_long(text in ".{0,3000}", kind in 0..3_usize) {
            let kind = [HookKind::Github, HookKind::Standard, HookKind::Url][kind];
            let body = json!({"text": text.repeat(9), "ref": text, "commits": [{"id": text, "message": text}], "data": [text]});
            prop_assert!(said(kind, "push", body).len() <= MAX_RENDERED_BYTES);
        }
    }
}
