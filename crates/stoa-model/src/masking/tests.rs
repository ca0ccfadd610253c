use super::*;
use crate::credentials::CredentialKind;
use proptest::prelude::*;

/// No part of it is like another, and it needs escapes.
const VALUE: &str = r#"k3y+"Ab/9\z =é%Q&x7"#;

fn masker(values: &[&str]) -> Masker {
    Masker::new(values.iter().copied())
}

fn streamed(masker: &Arc<Masker>, text: &[u8], cuts: &[usize]) -> String {
    let mut stream = MaskedStream::new(masker.clone());
    let (mut shown, mut rest) = (Vec::new(), text);
    for cut in cuts {
        let (piece, after) = rest.split_at((*cut).min(rest.len()));
        shown.extend(stream.push(piece));
        rest = after;
    }
    shown.extend(stream.push(rest));
    shown.extend(stream.finish());
    String::from_utf8(shown).unwrap()
}

fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let padded = [0, chunk[0], chunk.get(1).copied().unwrap_or(0), chunk.get(2).copied().unwrap_or(0)];
        let number = u32::from_be_bytes(padded);
        for digit in 0..=chunk.len() {
            text.push(char::from(alphabet[(number >> (18 - 6 * digit) & 63) as usize]));
        }
        text.push_str(&"="[..usize::from(chunk.len() < 3)]);
        text.push_str(&"="[..usize::from(chunk.len() < 2)]);
    }
    text
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn percent_encoded(text: &str, keep: fn(u8) -> bool) -> String {
    text.bytes().map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn json_of(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// What programs make of a value when they show it.
fn forms_of(value: &str) -> Vec<(&'static str, String)> {
    let escaped = json_of(value);
    let unicode = |text: &str| text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect::<String>();
    let mut forms = vec![
        ("plain", value.to_owned()),
        ("hex", hex_of(value.as_bytes())),
        ("HEX", hex_of(value.as_bytes()).to_uppercase()),
        ("json", escaped.clone()),
        ("json in json", json_of(&escaped)),
        ("unicode escapes", unicode(value)),
        ("python bytes", value.bytes().map(|byte| format!("\\x{byte:02x}")).collect()),
        ("url", percent_encoded(value, |byte| byte.is_ascii_alphanumeric())),
        ("url, all of it", percent_encoded(value, |_| false)),
        ("form", percent_encoded(value, |byte| byte.is_ascii_alphanumeric() || byte == b' ').replace(' ', "+")),
    ];
    for alphabet in [BASE64, BASE64_OF_URLS] {
        for before in ["", "x", "xy"] {
            forms.push(("base64", base64(format!("{before}{value}").as_bytes(), alphabet)));
        }
    }
    forms
}

#[test]
fn every_form_of_a_value_is_masked() {
    for value in [VALUE, "abcdef", "sk-ant-api03-R2D2_c3po", "pässwörd😀 mit Ümläuten", &"Qx7!zé".repeat(300)] {
        let masker = masker(&[value]);
        for (name, form) in forms_of(value) {
            let text = format!("before {form} after");
            let masked = masker.mask(&text);
            assert!(masked.starts_with("before ") && masked.ends_with(" after"), "{name} of {value}: {masked}");
            // In base64 the first two digits may have no bits of the value.
            let left = &masked["before ".len()..masked.len() - " after".len()];
            assert!(
                left == MASK || (left.ends_with(MASK) && left.len() <= MASK.len() + 2),
                "{name} of {value}: {masked}"
            );
            assert!(masker.finds_secret(&text), "{name}");
        }
    }
}

#[test]
fn a_value_is_masked_inside_of_what_was_encoded() {
    let masker = masker(&["sk-ant-api03-R2D2_c3po"]);
    for length in 0..9 {
        let url = format!("{}:sk-ant-api03-R2D2_c3po@host.example", "user-name".split_at(length).0);
        let masked = masker.mask(&base64(url.as_bytes(), BASE64)).into_owned();
        let digits = masked.replace(MASK, "");
        assert!(
            masked.contains(MASK) && digits.len() < base64(b"user-name:@host.example", BASE64).len() + 4,
            "{masked}"
        );
    }
}

#[test]
fn pieces_of_short_values_are_masked() {
    let value = "zQ4tLm8WpX2vBn6KcR1yHd5G";
    let masker = masker(&[value]);
    for start in 0..=value.len() - PIECE_BYTES {
        for end in start + PIECE_BYTES..=value.len() {
            let piece = &value[start..end];
            assert_eq!(masker.mask(&format!("<{piece}>")), "<***>", "{piece}");
            assert_eq!(masker.mask(&format!("<{}>", hex_of(piece.as_bytes()))), "<***>", "{piece}");
            assert!(masker.finds_secret(&format!("{}\n", base64(piece.as_bytes(), BASE64))), "{piece}");
        }
        let short = format!("<{}>", &value[start..start + PIECE_BYTES - 1]);
        assert_eq!(masker.mask(&short), short);
    }
    // Without the first seven.
    assert_eq!(masker.mask(&value[7..]), MASK);
}

#[test]
fn pieces_of_long_values_are_not() {
    let value: String = (0..200).map(|number| format!("{number}.")).collect();
    assert!(value.len() > MAX_PIECED_BYTES);
    let masker = masker(&[&value]);
    assert_eq!(masker.mask(&format!("<{value}>")), "<***>");
    assert!(!masker.finds_secret(&value[..500]) && !masker.finds_secret(&value[1..]));
}

#[test]
fn ordinary_text_stays() {
    let masker = masker(&[
        "short",
        "",
        "      ",
        "----------------------------",
        "sk-ant-api03-R2D2_c3po",
        "line one\nline two of it",
    ]);
    for text in [
        "",
        "short",
        "      ",
        "------------------------",
        "sk-ant-api03",
        "100% of it + 3 \\ 4 \\u00 %zz %",
        "äöü 😀 \u{0}",
        "stoa_agent_0000000000000000000000000000000000000000000000000",
    ] {
        assert_eq!(masker.mask(text), text);
        assert!(matches!(masker.mask(text), Cow::Borrowed(_)));
    }
    // The whole value is a secret, however dull it is.
    assert_eq!(masker.mask("----------------------------"), MASK);
}

#[test]
fn values_may_overlap_touch_and_repeat() {
    let masker = masker(&["abcdefgh", "efghijkl", "123456"]);
    assert_eq!(masker.mask("abcdefghijkl"), "***");
    assert_eq!(masker.mask("abcdefgh123456efghijkl"), "***");
    assert_eq!(masker.mask("123456 123456"), "*** ***");
    assert_eq!(masker.mask("éabcdefghé"), "é***é");
    assert_eq!(masker.mask("12345123456"), "12345***");
}

#[test]
fn lines_of_a_key_file_are_masked() {
    let lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7", "Zm9vYmFyYmF6cXV4Y29ycmdl", "Rk9PQkFS"];
    let filler = "0123456789ABCDEF/ghijklmnopqrst+\n".repeat(20);
    let pem = format!(
        "-----BEGIN PRIVATE KEY-----\n{}\n{}\n{filler}{}\n-----END PRIVATE KEY-----\n",
        lines[0], lines[1], lines[2]
    );
    // A service account of a cloud has a key in JSON.
    let account = serde_json::json!({"type": "service_account", "private_key": pem}).to_string();
    for value in [&pem, &account] {
        let masker = masker(&[value]);
        for line in lines {
            assert_eq!(masker.mask(&format!("> {line}\r\n")), "> ***\r\n");
        }
        assert_eq!(
            masker.mask(&format!("cat key\n{value}$ ")),
            if value == &pem { "cat key\n***\n$ " } else { "cat key\n***$ " }
        );
        for text in ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "service_account"] {
            assert_eq!(masker.mask(text), text);
        }
    }
}

#[test]
fn credentials_of_the_hub_are_masked() {
    let masker = masker(&[]);
    for kind in [CredentialKind::AgentKey, CredentialKind::RunToken, CredentialKind::Invitation] {
        let credential = kind.render([7; 32]);
        assert_eq!(masker.mask(&format!("Bearer {credential}\n")), "Bearer ***\n");
        assert_eq!(masker.mask(&format!("a={}", percent_encoded(&credential, |_| false))), "a=***");
        let mistyped = format!("{}x", &credential[..credential.len() - 1]);
        assert!(credential.ends_with('x') || !masker.finds_secret(&mistyped));
    }
}

#[test]
fn a_stream_masks_what_comes_in_two_reads() {
    let filler = "nothing to see here. ".repeat(200);
    let masker = Arc::new(masker(&[VALUE]));
    for (name, form) in forms_of(VALUE) {
        let text = format!("{filler}{form} {filler}");
        let whole = masker.mask(&text).into_owned();
        for cut in 0..=form.len() {
            assert_eq!(streamed(&masker, text.as_bytes(), &[filler.len() + cut]), whole, "{name} cut at {cut}");
        }
        assert_eq!(streamed(&masker, text.as_bytes(), &vec![1; text.len()]), whole, "{name} byte by byte");
    }
}

#[test]
fn a_stream_shows_what_is_old_enough() {
    let masker = Arc::new(masker(&["abcdef"]));
    let mut stream = MaskedStream::new(masker.clone());
    let first = stream.push("x".repeat(3 * masker.held_bytes()).as_bytes());
    assert_eq!(first.len(), 2 * masker.held_bytes());
    // What was cut off is not shown by a stream that ends early.
    assert_eq!(stream.push(b"abc"), b"");
    assert!(stream.finish().ends_with(b"xabc"));
}

#[test]
fn debug_shows_no_value() {
    let masker = Arc::new(masker(&["abcdefgh"]));
    let mut stream = MaskedStream::new(masker.clone());
    stream.push(b"abcdefgh");
    assert!(!format!("{masker:?} {stream:?}").contains("abc"));
}

proptest! {
    #[test]
    fn a_stream_and_the_whole_text_agree(
        values in prop::collection::vec("[ab%+é]{6,24}", 1..4),
        parts in prop::collection::vec((0usize..5, 0usize..20, "[ab%+é\\\\nux0416\\u{1f600}]{0,40}"), 1..60),
        cuts in prop::collection::vec(1usize..900, 0..60),
    ) {
        let masker = Arc::new(Masker::new(values.iter().map(String::as_str)));
        let mut text = String::new();
        for (value, form, filler) in parts {
            text.push_str(&filler);
            if let Some(value) = values.get(value) {
                let forms = forms_of(value);
                text.push_str(&forms[form % forms.len()].1);
            }
        }
        let whole = masker.mask(&text).into_owned();
        prop_assert_eq!(streamed(&masker, text.as_bytes(), &cuts), whole);
    }

    #[test]
    fn no_text_shows_a_value(value in "[a-z\"\\\\é%+ /]{6,40}", before in "[^\\\\%]{0,20}", after in ".{0,20}") {
        let trimmed = value.trim();
        prop_assume!(is_maskable(trimmed));
        let masker = Masker::new([value.as_str()]);
        for (name, form) in forms_of(trimmed) {
            let masked = masker.mask(&format!("{before}{form}{after}")).into_owned();
            let is_alone = !before.contains(trimmed) && !after.contains(trimmed);
            prop_assert!(masked.contains(MASK) && !(is_alone && masked.contains(trimmed)), "{name}: {masked}");
        }
    }

    #[test]
    fn any_bytes_pass_through_a_stream(bytes: Vec<u8>, cuts in prop::collection::vec(1usize..50, 0..10)) {
        let masker = Arc::new(masker(&["abcdef"]));
        let mut stream = MaskedStream::new(masker);
        let mut shown = Vec::new();
        let mut rest = bytes.as_slice();
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            shown.extend(stream.push(piece));
            rest = after;
        }
        shown.extend(stream.push(rest));
        shown.extend(stream.finish());
        prop_assert_eq!(shown, bytes);
    }
}
