//! What models cost, for programs that do not say it.

use serde_json::Value;

/// What a run read and wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// All that the model read, also from its cache.
    pub read: i64,
    pub written: i64,
    /// Of what it read, the part that came from its cache.
    pub cached: i64,
}

impl Tokens {
    /// What is left after an earlier total, for programs that count whole sessions. A smaller total is one of a new session.
    pub fn since(self, earlier: Tokens) -> Tokens {
        if self.read < earlier.read || self.written < earlier.written {
            return self;
        }
        Tokens {
            read: self.read - earlier.read,
            written: self.written - earlier.written,
            cached: (self.cached - earlier.cached).max(0),
        }
    }
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Price {
    read: f64,
    cached: f64,
    written: f64,
}

/// Prices by the beginning of a model's name.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceList(Vec<(String, Price)>);

/// List prices as far as they were known when this was written.
const KNOWN: [(&str, f64, f64, f64); 9] = [
    ("claude-opus", 5.0, 0.5, 25.0),
    ("claude-sonnet", 3.0, 0.3, 15.0),
    ("claude-haiku", 1.0, 0.1, 5.0),
    ("gpt-5-mini", 0.25, 0.025, 2.0),
    ("gpt-5", 1.25, 0.125, 10.0),
    ("gemini-3", 2.0, 0.2, 12.0),
    ("gemini-2.5-flash-lite", 0.1, 0.01, 0.4),
    ("gemini-2.5-flash", 0.3, 0.03, 2.5),
    ("gemini-2.5-pro", 1.25, 0.125, 10.0),
];

impl Default for PriceList {
    fn default() -> Self {
        let price =
            |(model, read, cached, written): (&str, f64, f64, f64)| (model.to_owned(), Price { read, cached, written });
        Self(KNOWN.map(price).to_vec())
    }
}

impl PriceList {
    /// Reads a list: `{"gpt-5": {"input": 1.25, "cached": 0.125, "output": 10}}`, in US dollars for a million tokens.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        let Value::Object(models) = value else { return Err("must be a JSON object of models".to_owned()) };
        let mut list = Vec::new();
        for (model, price) in models {
            let figure =
                |name: &str| price.get(name).and_then(Value::as_f64).filter(|figure| (0.0..1e6).contains(figure));
            let (Some(read), Some(written)) = (figure("input"), figure("output")) else {
                return Err(format!("must have numbers for input and output of {model}"));
            };
            let cached = match price.get("cached") {
                None => read,
                Some(_) => figure("cached").ok_or_else(|| format!("must have a number for cached of {model}"))?,
            };
            list.push((model, Price { read, cached, written }));
        }
        Ok(Self(list))
    }

    /// What tokens cost, by the longest name that the model's name begins with. None for a model that is not on the list.
    pub fn estimate(&self, model: &str, tokens: Tokens) -> Option<f64> {
        let fitting = self.0.iter().filter(|(name, _)| model.starts_with(name.as_str()));
        let (_, price) = fitting.max_by_key(|(name, _)| name.len())?;
        let fresh = (tokens.read - tokens.cached).max(0);
        let sum =
            fresh as f64 * price.read + tokens.cached as f64 * price.cached + tokens.written as f64 * price.written;
        Some(sum / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_counts() {
        let tokens = Tokens { read: 1_000_000, written: 100_000, cached: 400_000 };
        let list = PriceList::parse(
            r#"{"gpt-5": {"input": 1, "output": 10}, "gpt-5-mini": {"input": 0.5, "cached": 0.1, "output": 1}}"#,
        );
        let list = list.unwrap();
        assert_eq!(list.estimate("gpt-5.5", tokens), Some(2.0));
        assert!((list.estimate("gpt-5-mini-2026", tokens).unwrap() - 0.44).abs() < 1e-9);
        assert_eq!(list.estimate("other", tokens), None);
    }

    #[test]
    fn lists_with_faults_are_refused() {
        for text in [
            "",
            "[]",
            r#"{"a": 1}"#,
            r#"{"a": {"input": -1, "output": 1}}"#,
            r#"{"a": {"input": 1, "output": 1, "cached": "x"}}"#,
        ] {
            assert!(PriceList::parse(text).is_err(), "{text}");
        }
        assert_eq!(PriceList::parse("{}").unwrap().estimate("gpt-5", Tokens::default()), None);
    }

    #[test]
    fn sessions_are_counted_once() {
        let total = |read, written, cached| Tokens { read, written, cached };
        assert_eq!(total(6600, 144, 4600).since(total(3900, 89, 2700)), total(2700, 55, 1900));
        assert_eq!(total(100, 5, 0).since(total(3900, 89, 2700)), total(100, 5, 0));
    }
}
