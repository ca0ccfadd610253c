//! Pages that are rendered here: they need no script, and may run none.

use std::sync::LazyLock;

use askama::Template;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::error::HubError;

/// The style sheet of all pages. `templates/base.html` puts it into each of them, so that a page is one answer.
pub(crate) const STYLE_SHEET: &str = include_str!("../../../templates/page.css");

/// Names the style sheet in a policy, which so allows that one and no other.
static STYLE_SHEET_HASH: LazyLock<String> = LazyLock::new(|| STANDARD.encode(Sha256::digest(STYLE_SHEET)));

/// Where the page of an app may lead on to, once it has its answer: the app itself, which has a scheme of its own. Browsers
/// check the whole chain, and would leave the person standing on the page with the question.
const ONWARD: &str = "https: claude: cursor: vscode: vscode-insiders:";

/// Where the forms of a page may lead, redirects after them included.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FormTarget<'a> {
    /// To the hub.
    Own,
    /// To the hub, and from there to this origin and to where it leads on, like `https://app.example` or `http://127.0.0.1:33418`.
    OwnAnd(&'a str),
    /// To what a policy cannot name: a private scheme, or loopback as an IPv6 address.
    Anywhere,
}

/// A page, with a policy that allows what it needs and nothing else.
pub(crate) fn html_page(
    status: StatusCode,
    page: &impl Template,
    form_target: FormTarget<'_>,
) -> Result<Response, HubError> {
    let policy = content_security_policy(form_target)?;
    let page = page.render().map_err(HubError::internal)?;
    Ok((status, [(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}

fn content_security_policy(form_target: FormTarget<'_>) -> Result<HeaderValue, HubError> {
    let forms = match form_target {
        FormTarget::Own => "form-action 'self'; ".to_owned(),
        FormTarget::OwnAnd(origin) if is_origin(origin) => format!("form-action 'self' {origin} {ONWARD}; "),
        FormTarget::OwnAnd(origin) => {
            return Err(HubError::internal(format!("{origin:?} is not an origin that a policy can name")));
        }
        FormTarget::Anywhere => String::new(),
    };
    let style = &*STYLE_SHEET_HASH;
    let policy =
        format!("default-src 'none'; style-src 'sha256-{style}'; {forms}base-uri 'none'; frame-ancestors 'none'");
    HeaderValue::try_from(policy).map_err(HubError::internal)
}

/// Whether it is `http(s)://host` or `http(s)://host:port` and nothing more. The text becomes a part of a header, where a
/// blank, a `;`, a `,` or a `*` would allow more than this one origin.
fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
    matches!(scheme, "http" | "https")
        && !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
        && (1..=5).contains(&port.len())
        && port.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(form_target: FormTarget<'_>) -> String {
        content_security_policy(form_target).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn a_policy_allows_the_style_sheet_and_the_form() {
        let own = policy(FormTarget::Own);
        let hash = own.split('\'').find_map(|part| part.strip_prefix("sha256-")).unwrap();
        assert_eq!(STANDARD.decode(hash).unwrap().len(), 32);
        assert_eq!(
            own,
            format!(
                "default-src 'none'; style-src 'sha256-{hash}'; form-action 'self'; base-uri 'none'; \
                 frame-ancestors 'none'"
            )
        );
        for origin in ["https://a.example", "https://a-b.example:8443", "http://127.0.0.1:33418", "http://localhost"] {
            let expected = own.replace("form-action 'self';", &format!("form-action 'self' {origin} {ONWARD};"));
            assert_eq!(policy(FormTarget::OwnAnd(origin)), expected);
        }
        assert_eq!(policy(FormTarget::Anywhere), own.replace("form-action 'self'; ", ""));
    }

    #[test]
    fn only_an_origin_gets_into_a_policy() {
        for origin in [
            "",
            "https://",
            "https://*",
            "https://*.example",
            "https://a.example:*",
            "https://a.example:",
            "https://a.example:123456",
            "https://a.example:80:80",
            "https://a.example/",
            "https://a.example; script-src *",
            "https://a.example *",
            "https://a.example,default-src *",
            "https://a.example\r\nset-cookie: a=b",
            "https://user@a.example",
            "https://ä.example",
            "http://[::1]:80",
            "//a.example",
            "javascript://a.example",
            "cursor://a.example",
            "'unsafe-inline'",
            "*",
        ] {
            assert!(content_security_policy(FormTarget::OwnAnd(origin)).is_err(), "{origin:?}");
        }
    }

    #[test]
    fn the_style_sheet_can_be_a_part_of_a_page() {
        // A browser takes the hash of what it has parsed: a carriage return would be gone by then, and `</` could end it.
        assert!(STYLE_SHEET.is_ascii() && !STYLE_SHEET.contains('\r') && !STYLE_SHEET.contains('<'));
        assert!(!STYLE_SHEET.contains("url(") && !STYLE_SHEET.contains("@import"), "nothing is fetched");
    }
}
