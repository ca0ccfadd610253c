//! What a person sees when an app asks for access: the question, and why it cannot be asked. No script, as with the login.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use sha2::{Digest, Sha256};
use stoa_model::text::is_unprintable;

use crate::error::HubError;
use crate::surfaces::http::{FormTarget, html_page};

/// So many agents fit into the list; the rest is seen by scrolling.
const AGENTS_IN_SIGHT: usize = 6;
/// Of longer names the beginning is enough, or they push the rest of the page out of sight.
const MAX_NAME_CHARACTERS: usize = 80;
/// As many accents as languages put on one letter.
const MAX_ACCENTS: usize = 3;

/// The question whether an app may act for a person.
pub(super) struct Consent<'a> {
    /// Whatever a stranger wrote.
    pub(super) client_name: &'a str,
    pub(super) origin: Origin<'a>,
    /// Host and port, or the scheme of a private one, like `cursor://`.
    pub(super) redirect_host: &'a str,
    pub(super) redirect_is_loopback: bool,
    /// Reading is always included.
    pub(super) can_write: bool,
    pub(super) username: &'a str,
    pub(super) agents: &'a [AgentChoice],
    /// The name of an agent, or `self`.
    pub(super) selected: &'a str,
    pub(super) request_id: &'a str,
    pub(super) csrf: &'a str,
    /// What was wrong with the last try.
    pub(super) message: Option<&'a str>,
}

/// Where the name of an app comes from.
pub(super) enum Origin<'a> {
    /// The app registered itself, at this time, which is written out.
    Registered { at: &'a str },
    /// The app is described by a document at this host.
    Document { host: &'a str },
}

/// An agent that the app may act as.
pub(super) struct AgentChoice {
    pub(super) name: String,
    pub(super) display_name: String,
    pub(super) archetype: String,
}

#[derive(Template)]
#[template(path = "consent.html")]
struct ConsentPage<'a> {
    page: &'a Consent<'a>,
    client_name: String,
    is_unverified: bool,
    redirect_is_private: bool,
    /// Who would act, and whose name would be used, before the choice is made.
    who: &'static str,
    whose: &'static str,
    agents: Vec<AgentRow<'a>>,
    initial: String,
}

struct AgentRow<'a> {
    name: &'a str,
    description: String,
    pattern: String,
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'a> {
    title: &'a str,
    detail: &'a str,
    hint: Option<&'a str>,
}

pub(super) fn consent(status: StatusCode, page: &Consent<'_>, app_origin: Option<&str>) -> Result<Response, HubError> {
    // Browsers follow a form to where its answer leads only if the page says so.
    let form_target = app_origin.map_or(FormTarget::Anywhere, FormTarget::OwnAnd);
    html_page(status, &consent_page(page), form_target)
}

/// Says to a person why something cannot be done, and what to do instead.
pub(super) fn refusal(status: StatusCode, title: &str, detail: &str, hint: Option<&str>) -> Result<Response, HubError> {
    html_page(status, &RefusalPage { title, detail, hint }, FormTarget::Own)
}

fn consent_page<'a>(page: &'a Consent<'a>) -> ConsentPage<'a> {
    let mut agents: Vec<&AgentChoice> = page.agents.iter().collect();
    if agents.len() > AGENTS_IN_SIGHT {
        // Otherwise the one that is chosen could be out of sight.
        agents.sort_by_key(|agent| agent.name != page.selected);
    }
    let (who, whose) = if agents.is_empty() { ("you", "your") } else { ("the agent", "the agent's") };
    ConsentPage {
        page,
        client_name: shown_name(page.client_name),
        is_unverified: matches!(page.origin, Origin::Registered { .. }),
        redirect_is_private: page.redirect_host.ends_with("://"),
        who,
        whose,
        agents: agents.into_iter().map(agent_row).collect(),
        initial: page.username.chars().next().into_iter().flat_map(char::to_uppercase).collect(),
    }
}

fn agent_row(agent: &AgentChoice) -> AgentRow<'_> {
    let display_name = if agent.display_name == agent.name { "" } else { agent.display_name.as_str() };
    let description: Vec<_> = [display_name, &agent.archetype].into_iter().filter(|text| !text.is_empty()).collect();
    AgentRow { name: &agent.name, description: description.join(" · "), pattern: pattern(&agent.name) }
}

/// The name of an app in one line, without what is not seen but changes how the rest looks, without towers of accents, and
/// without what could end the quotation that it stands in.
fn shown_name(name: &str) -> String {
    let words: Vec<_> = name.split_whitespace().collect();
    if words.is_empty() {
        return "an app without a name".to_owned();
    }
    let mut accents = 0;
    let is_bearable = |character: &char| {
        accents = if is_accent(*character) { accents + 1 } else { 0 };
        accents <= MAX_ACCENTS
    };
    let replace = |character| match character {
        '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '＂' => '\'',
        character if is_unprintable(character) => char::REPLACEMENT_CHARACTER,
        character => character,
    };
    let shown: String = words.join(" ").chars().filter(is_bearable).map(replace).collect();
    match shown.char_indices().nth(MAX_NAME_CHARACTERS) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

/// The accents that go with any letter. Those of single scripts belong to their letters.
fn is_accent(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// A picture to tell agents apart by: 5 by 5 fields of 3 by 3, the right half mirrors the left one. As the `d` of a path.
fn pattern(name: &str) -> String {
    let digest = Sha256::digest(name.as_bytes());
    let mut path = String::new();
    for (row, byte) in digest.iter().take(5).enumerate() {
        for column in 0..5_usize {
            let bit = column.min(4 - column);
            // The middle is always there, so that no picture is empty.
            if byte >> bit & 1 == 1 || (row, column) == (2, 2) {
                path.push_str(&format!("M{} {}h3v3h-3z", column * 3, row * 3));
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    fn question<'a>() -> Consent<'a> {
        Consent {
            client_name: "Claude Code",
            origin: Origin::Registered { at: "2027-01-15 08:00 UTC" },
            redirect_host: "app.example",
            redirect_is_loopback: false,
            can_write: true,
            username: "mira",
            agents: &[],
            selected: "self",
            request_id: "request-1",
            csrf: "token-1",
            message: None,
        }
    }

    fn agent(name: &str) -> AgentChoice {
        AgentChoice { name: name.to_owned(), display_name: name.to_owned(), archetype: "researcher".to_owned() }
    }

    fn render(page: &Consent<'_>) -> String {
        consent_page(page).render().unwrap()
    }

    /// What follows `beginning`, up to `end`.
    fn between<'a>(page: &'a str, beginning: &str, end: &str) -> &'a str {
        page.split_once(beginning).unwrap().1.split_once(end).unwrap().0
    }

    #[test]
    fn the_question_names_the_app_and_what_it_would_get() {
        let agents = [agent("scout"), agent("scribe")];
        let page = render(&Consent { agents: &agents, selected: "scribe", ..question() });
        assert_eq!(between(&page, "<title>", "</title>"), "Let “Claude Code” act for you? · Stoa");
        assert_eq!(between(&page, "<h1>", "</h1>"), "Let “<bdi>Claude Code</bdi>” act for you?");
        for text in ["app.example", "2027-01-15 08:00 UTC", "mcp:read", "mcp:write", "The name is not verified."] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("this computer") && !page.contains("role=\"alert\""));
        assert!(!page.contains("<script") && !page.contains("style=\""));
        for (value, is_checked) in [("scout", false), ("scribe", true), ("self", false)] {
            let input = between(&page, &format!("name=\"agent\" value=\"{value}\""), ">");
            assert_eq!(input.contains("checked"), is_checked, "{value}");
        }
        for value in ["approve", "deny", "switch"] {
            assert_eq!(page.matches(&format!("name=\"decision\" value=\"{value}\"")).count(), 1);
        }
        // Both forms belong to the request: the decision, and "not you?".
        assert_eq!(page.matches("name=\"request_id\" value=\"request-1\"").count(), 2);
        assert_eq!(page.matches("name=\"csrf\" value=\"token-1\"").count(), 2);
    }

    #[test]
    fn the_question_warns_of_what_is_not_known() {
        let verified = Origin::Document { host: "claude.example" };
        let page = render(&Consent { origin: verified, ..question() });
        assert!(page.contains("claude.example") && !page.contains("class=\"box warning\""));
        let page = render(&Consent { redirect_host: "127.0.0.1:33418", redirect_is_loopback: true, ..question() });
        assert!(page.contains("127.0.0.1:33418") && page.contains("Any app on this computer could"));
        let page = render(&Consent { redirect_host: "cursor://", ..question() });
        assert!(page.contains("Any app on this device that opens"));
        let page = render(&Consent { message: Some("Choose who the app acts as."), ..question() });
        assert!(page.contains("role=\"alert\">Choose who the app acts as.</p>") && page.contains("<title>Error: "));
    }

    #[test]
    fn an_app_that_only_reads_is_not_said_to_write() {
        let page = render(&Consent { can_write: false, ..question() });
        assert!(!page.contains("mcp:write") && page.contains("This app cannot send messages, change anything"));
        assert!(page.contains("that you can see"), "there is no agent");
    }

    #[test]
    fn a_hostile_name_is_only_a_name() {
        let page = render(&Consent { client_name: "\"><script>alert(1)</script>", ..question() });
        assert!(!page.contains("<script"));
        assert!(page.contains("<bdi>&#39;&#62;&#60;script&#62;alert(1)&#60;/script&#62;</bdi>"), "{page}");
        for (name, shown) in [
            ("  Claude\r\n\tCode\u{2028}", "Claude Code"),
            ("\u{202e}edoC\u{2066}\u{61c}", "\u{fffd}edoC\u{fffd}\u{fffd}"),
            ("Claude\u{0}\u{ad}\u{200b}\u{e0041}Code", "Claude\u{fffd}\u{fffd}\u{fffd}\u{fffd}Code"),
            ("日本語 é ệ", "日本語 é ệ"),
            (&format!("Z{}a", "\u{301}".repeat(50)), "Z\u{301}\u{301}\u{301}a"),
            ("", "an app without a name"),
            (" \u{3000}\n", "an app without a name"),
        ] {
            assert_eq!(shown_name(name), shown, "{name:?}");
        }
        let hostile = "'\"><b onclick=x>&amp;";
        let page = render(&Consent {
            redirect_host: hostile,
            origin: Origin::Document { host: hostile },
            agents: &[AgentChoice { archetype: hostile.to_owned(), ..agent("scout") }],
            request_id: hostile,
            csrf: hostile,
            message: Some(hostile),
            ..question()
        });
        assert!(!page.contains("<b onclick") && !page.contains("&amp;\""), "{page}");
    }

    #[test]
    fn the_chosen_one_of_many_agents_is_in_sight() {
        let agents: Vec<_> = (0..1000).map(|number| agent(&format!("agent-{number}"))).collect();
        let page = render(&Consent { agents: &agents, selected: "agent-900", ..question() });
        assert_eq!(page.matches("type=\"radio\"").count(), 1001);
        assert!(between(&page, "class=\"agents\"", "</label>").contains("value=\"agent-900\" required checked"));
        let page = render(&Consent { agents: &agents[..3], selected: "agent-2", ..question() });
        assert!(between(&page, "class=\"agents\"", "</label>").contains("value=\"agent-0\""), "few stay in order");
    }

    #[test]
    fn agents_have_pictures_of_their_own() {
        assert_eq!(pattern("scout"), pattern("scout"));
        assert_ne!(pattern("scout"), pattern("scribe"));
        assert!((0..500).all(|number| pattern(&number.to_string()).contains("M6 6h3v3h-3z")));
    }

    #[test]
    fn the_policy_lets_the_form_lead_back_to_the_app() {
        let policy =
            |response: Response| response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        let response = consent(StatusCode::OK, &question(), Some("http://127.0.0.1:33418")).unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(policy(response).contains("; form-action 'self' http://127.0.0.1:33418 "));
        let response = consent(StatusCode::OK, &question(), None).unwrap();
        assert!(!policy(response).contains("form-action"));
        assert!(consent(StatusCode::OK, &question(), Some("https://a.example; img-src *")).is_err());

        let response = refusal(StatusCode::BAD_REQUEST, "Not possible", "It is over.", Some("Start again.")).unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert!(policy(response).contains("; form-action 'self'; "));
    }

    #[test]
    fn a_refusal_says_what_happened_and_what_to_do() {
        let page = RefusalPage { title: "Not <possible>", detail: "It is over.", hint: Some("Start again.") };
        let page = page.render().unwrap();
        assert_eq!(between(&page, "<h1>", "</h1>"), "Not &#60;possible&#62;");
        assert!(page.contains("It is over.") && page.contains("Start again."));
        let page = RefusalPage { title: "Not possible", detail: "It is over.", hint: None }.render().unwrap();
        assert!(!page.contains("Start again."));
    }
}
