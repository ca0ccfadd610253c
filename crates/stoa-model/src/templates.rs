//! Small templates: text with `{{data.host}}` in it. No loops, no conditions, nothing that could take long.

use serde_json::{Map, Value};

/// Values that one template names.
const MAX_VALUES: usize = 100;
const MAX_PATH: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// Names of fields, or places in lists, from the outermost one in.
    Value(Vec<String>),
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, opened)) = rest.split_once("{{") {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let Some((path, after)) = opened.split_once("}}") else {
                return Err("has a {{ without a closing }}".to_owned());
            };
            pieces.push(Piece::Value(parse_path(path.trim())?));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        if pieces.iter().filter(|piece| matches!(piece, Piece::Value(_))).count() > MAX_VALUES {
            return Err(format!("uses more than {MAX_VALUES} values"));
        }
        Ok(Self(pieces))
    }

    /// The text with the values in it, cut at `max` bytes. What is not there is left out.
    pub fn render(&self, fields: &Map<String, Value>, max: usize) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(path) => push_value(&mut text, fields, path),
            }
            if text.len() > max {
                cut(&mut text, max);
                break;
            }
        }
        text
    }

    /// The same with another value in place of one.
    #[must_use]
    pub fn renamed(mut self, from: &str, to: &str) -> Self {
        for piece in &mut self.0 {
            if matches!(piece, Piece::Value(path) if path.join(".") == from) {
                *piece = Piece::Value(to.split('.').map(str::to_owned).collect());
            }
        }
        self
    }

    /// The values that it names, as they are written.
    pub fn values(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(path) => Some(path.join(".")),
        })
    }

    /// What whoever wrote the template says themselves, without what comes from elsewhere: only this may call
    /// somebody out.
    pub fn own_words(&self) -> String {
        let words: Vec<&str> = self
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                // Something has to stand there: what is before and behind it are not one word.
                Piece::Value(_) => "…",
            })
            .collect();
        words.concat()
    }
}

fn parse_path(path: &str) -> Result<Vec<String>, String> {
    let segments: Vec<String> = path.split('.').map(str::to_owned).collect();
    let is_word =
        |segment: &String| !segment.is_empty() && segment.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if segments.len() <= MAX_PATH && segments.iter().all(is_word) {
        Ok(segments)
    } else {
        Err("must have names such as type, subject or data.host between {{ and }}".to_owned())
    }
}

fn push_value(text: &mut String, fields: &Map<String, Value>, path: &[String]) {
    let Some((first, inner)) = path.split_first() else { return };
    let mut value = fields.get(first);
    for segment in inner {
        value = match value {
            Some(Value::Object(fields)) => fields.get(segment),
            Some(Value::Array(items)) => segment.parse::<usize>().ok().and_then(|place| items.get(place)),
            _ => None,
        };
    }
    match value {
        None | Some(Value::Null) => {}
        Some(Value::String(value)) => text.push_str(value),
        Some(value) => text.push_str(&value.to_string()),
    }
}

fn cut(text: &mut String, max: usize) {
    const MARK: &str = "…";
    let mut end = max.saturating_sub(MARK.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.push_str(MARK);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn rendered(template: &str, fields: Value) -> String {
        let Value::Object(fields) = fields else { panic!("not an object") };
        Template::parse(template).unwrap().render(&fields, 1000)
    }

    #[test]
    fn values_are_put_in() {
        let event =
            json!({"type": "t", "data": {"host": "web-1", "load": 3.5, "tags": ["a", {"b": true}], "none": null}});
        let cases = [
            ("plain", "plain"),
            ("{{type}}", "t"),
            ("{{ data.host }} is at {{data.load}}!", "web-1 is at 3.5!"),
            ("{{data.tags.0}} {{data.tags.1.b}} {{data.tags.2}}|", "a true |"),
            ("{{data.tags}}", r#"["a",{"b":true}]"#),
            ("{{data.none}}{{data.host.deeper}}{{missing}}|", "|"),
            ("{ {x} } }}", "{ {x} } }}"),
        ];
        for (template, expected) in cases {
            assert_eq!(rendered(template, event.clone()), expected, "{template}");
        }
    }

    #[test]
    fn what_is_put_in_is_not_read_again() {
        assert_eq!(rendered("{{data}}", json!({"data": "{{type}}", "type": "t"})), "{{type}}");
    }

    #[test]
    fn own_words_leave_values_out() {
        let words = Template::parse("@ops: {{data.who}} and @{{data.who}}").unwrap().own_words();
        assert_eq!(words, "@ops: … and @…");
    }

    #[test]
    fn faults() {
        for bad in ["{{", "{{type", "{{}}", "{{a..b}}", "{{a b}}", "{{a|upper}}", &"{{a}}".repeat(101)] {
            assert!(Template::parse(bad).is_err(), "{bad:.20}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_the_limit_holds(template in ".{0,80}", value in ".{0,80}", max in 3_usize..40) {
            if let Ok(template) = Template::parse(&template) {
                let Value::Object(fields) = json!({"a": value}) else { unreachable!() };
                prop_assert!(template.render(&fields, max).len() <= max);
            }
        }
    }
}
