//! Structured fields (RFC 8941), as far as signatures need them: dictionaries.
//!
//! Stricter than the RFC where it is lenient: a name that appears twice is refused (the RFC lets the last one win, so two
//! readers that disagree would see two signatures), and so is base64 that is not the canonical text of its bytes. What
//! is accepted is small: these headers come from strangers, and are read before anything is known of them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The longest header that is read.
pub(crate) const MAX_BYTES: usize = 16 * 1024;
const MAX_MEMBERS: usize = 16;
const MAX_ITEMS: usize = 64;
const MAX_PARAMETERS: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Bare<'a> {
    Integer(i64),
    /// In thousandths, which is all the precision there is.
    Decimal(i64),
    /// As written between the quotes: with `\"` and `\\`, which are the only escapes.
    String(&'a str),
    Token(&'a str),
    Bytes(Vec<u8>),
    Boolean(bool),
}

pub(crate) type Parameters<'a> = Vec<(&'a str, Bare<'a>)>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item<'a> {
    pub(crate) value: Bare<'a>,
    pub(crate) parameters: Parameters<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InnerList<'a> {
    pub(crate) items: Vec<Item<'a>>,
    pub(crate) parameters: Parameters<'a>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Member<'a> {
    Item(Item<'a>),
    InnerList(InnerList<'a>),
}

pub(crate) type Dictionary<'a> = Vec<(&'a str, Member<'a>)>;

/// Where reading ended (counted from 1), and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) position: usize,
    pub(crate) reason: &'static str,
}

pub(crate) fn parse_dictionary(text: &str) -> Result<Dictionary<'_>, Fault> {
    let mut reader = Reader { text, at: 0 };
    if text.len() > MAX_BYTES {
        return Err(reader.fault("it is longer than 16 KiB"));
    }
    let mut members = Dictionary::new();
    reader.skip_spaces();
    while reader.peek().is_some() {
        let key = reader.key()?;
        if members.iter().any(|(known, _)| *known == key) {
            return Err(reader.fault("the name of this entry appears twice"));
        }
        if members.len() == MAX_MEMBERS {
            return Err(reader.fault("there are more than 16 entries"));
        }
        let member = if !reader.take(b'=') {
            Member::Item(Item { value: Bare::Boolean(true), parameters: reader.parameters()? })
        } else if reader.peek() == Some(b'(') {
            Member::InnerList(reader.inner_list()?)
        } else {
            Member::Item(reader.item()?)
        };
        members.push((key, member));
        reader.skip_blanks();
        if reader.peek().is_none() {
            break;
        }
        if !reader.take(b',') {
            return Err(reader.fault("a comma is expected here"));
        }
        reader.skip_blanks();
        if reader.peek().is_none() {
            return Err(reader.fault("nothing follows the last comma"));
        }
    }
    Ok(members)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(&self, reason: &'static str) -> Fault {
        Fault { position: self.at + 1, reason }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, expected: u8) -> bool {
        let is_next = self.peek() == Some(expected);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes bytes for as long as they belong; all that belong are ASCII.
    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.bytes().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        self.take_while(|byte| byte == b' ');
    }

    fn skip_blanks(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t'));
    }

    fn key(&mut self) -> Result<&'a str, Fault> {
        match self.peek() {
            Some(b'a'..=b'z' | b'*') => {
                Ok(self.take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*')))
            }
            _ => Err(self.fault("a name is expected here, starting with a lowercase letter")),
        }
    }

    fn inner_list(&mut self) -> Result<InnerList<'a>, Fault> {
        if !self.take(b'(') {
            return Err(self.fault("an opening parenthesis is expected here"));
        }
        let mut items = Vec::new();
        loop {
            self.skip_spaces();
            if self.take(b')') {
                return Ok(InnerList { items, parameters: self.parameters()? });
            }
            if items.len() == MAX_ITEMS {
                return Err(self.fault("the list has more than 64 items"));
            }
            items.push(self.item()?);
            if !matches!(self.peek(), Some(b' ' | b')')) {
                return Err(self.fault("a space or a closing parenthesis is expected here"));
            }
        }
    }

    fn item(&mut self) -> Result<Item<'a>, Fault> {
        Ok(Item { value: self.bare()?, parameters: self.parameters()? })
    }

    fn parameters(&mut self) -> Result<Parameters<'a>, Fault> {
        let mut parameters = Parameters::new();
        while self.take(b';') {
            self.skip_spaces();
            let key = self.key()?;
            if parameters.iter().any(|(known, _)| *known == key) {
                return Err(self.fault("the name of this parameter appears twice"));
            }
            if parameters.len() == MAX_PARAMETERS {
                return Err(self.fault("there are more than 32 parameters"));
            }
            let value = if self.take(b'=') { self.bare()? } else { Bare::Boolean(true) };
            parameters.push((key, value));
        }
        Ok(parameters)
    }

    fn bare(&mut self) -> Result<Bare<'a>, Fault> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b':') => self.bytes(),
            Some(b'?') => self.boolean(),
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'*' => {
                Ok(Bare::Token(self.take_while(|byte| is_token_byte(byte) || matches!(byte, b':' | b'/'))))
            }
            _ => Err(self.fault("a value is expected here")),
        }
    }

    fn boolean(&mut self) -> Result<Bare<'a>, Fault> {
        self.at += 1;
        match self.peek() {
            Some(byte @ (b'0' | b'1')) => {
                self.at += 1;
                Ok(Bare::Boolean(byte == b'1'))
            }
            _ => Err(self.fault("0 or 1 is expected here")),
        }
    }

    fn string(&mut self) -> Result<Bare<'a>, Fault> {
        self.at += 1;
        let start = self.at;
        loop {
            self.take_while(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\');
            match self.peek() {
                Some(b'"') => {
                    let raw = self.text.get(start..self.at).unwrap_or_default();
                    self.at += 1;
                    return Ok(Bare::String(raw));
                }
                Some(b'\\') => {
                    self.at += 1;
                    if !self.take(b'"') && !self.take(b'\\') {
                        return Err(self.fault("only a quote or a backslash may follow a backslash"));
                    }
                }
                Some(_) => return Err(self.fault("this character may not be in a string")),
                None => return Err(self.fault("the closing quote is missing")),
            }
        }
    }

    fn bytes(&mut self) -> Result<Bare<'a>, Fault> {
        self.at += 1;
        let encoded = self.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        // This engine wants the padding, and no stray bits in the last character.
        let decoded = STANDARD.decode(encoded).map_err(|_| self.fault("this is not canonical base64 with padding"))?;
        if !self.take(b':') {
            return Err(self.fault("the colon that closes the bytes is missing"));
        }
        Ok(Bare::Bytes(decoded))
    }

    fn number(&mut self) -> Result<Bare<'a>, Fault> {
        let sign = if self.take(b'-') { -1 } else { 1 };
        let whole = self.take_while(|byte| byte.is_ascii_digit());
        if whole.is_empty() {
            return Err(self.fault("a digit is expected here"));
        }
        if !self.take(b'.') {
            if whole.len() > 15 {
                return Err(self.fault("an integer has at most 15 digits"));
            }
            return Ok(Bare::Integer(sign * value_of(whole)));
        }
        let fraction = self.take_while(|byte| byte.is_ascii_digit());
        if whole.len() > 12 || !(1..=3).contains(&fraction.len()) {
            return Err(self.fault("a decimal has at most 12 digits before the point, and 1 to 3 after it"));
        }
        let thousandths = (fraction.len()..3).fold(value_of(fraction), |value, _| value * 10);
        Ok(Bare::Decimal(sign * (value_of(whole) * 1000 + thousandths)))
    }
}

/// Of at most 15 digits, which fit.
fn value_of(digits: &str) -> i64 {
    digits.bytes().fold(0, |value, digit| value * 10 + i64::from(digit.wrapping_sub(b'0')))
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl Bare<'_> {
    /// Appends the one canonical text of this value.
    pub(crate) fn write_to(&self, text: &mut String) {
        match self {
            Bare::Integer(value) => text.push_str(&value.to_string()),
            Bare::Decimal(thousandths) => {
                let (whole, fraction) = (thousandths.abs() / 1000, thousandths.abs() % 1000);
                let sign = if *thousandths < 0 { "-" } else { "" };
                let digits = format!("{fraction:03}");
                let digits = digits.trim_end_matches('0');
                text.push_str(&format!("{sign}{whole}.{}", if digits.is_empty() { "0" } else { digits }));
            }
            Bare::String(raw) => {
                text.push('"');
                text.push_str(raw);
                text.push('"');
            }
            Bare::Token(token) => text.push_str(token),
            Bare::Bytes(bytes) => {
                text.push(':');
                STANDARD.encode_string(bytes, text);
                text.push(':');
            }
            Bare::Boolean(value) => text.push_str(if *value { "?1" } else { "?0" }),
        }
    }
}

impl Item<'_> {
    pub(crate) fn write_to(&self, text: &mut String) {
        self.value.write_to(text);
        write_parameters(&self.parameters, text);
    }
}

pub(crate) fn write_parameters(parameters: &Parameters<'_>, text: &mut String) {
    for (key, value) in parameters {
        text.push(';');
        text.push_str(key);
        if *value != Bare::Boolean(true) {
            text.push('=');
            value.write_to(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sfv::FieldType;

    fn text_of(dictionary: &Dictionary<'_>) -> String {
        let mut text = String::new();
        for (key, member) in dictionary {
            if !text.is_empty() {
                text.push_str(", ");
            }
            text.push_str(key);
            match member {
                Member::Item(item) if item.value == Bare::Boolean(true) => {
                    write_parameters(&item.parameters, &mut text)
                }
                Member::Item(item) => {
                    text.push('=');
                    item.write_to(&mut text);
                }
                Member::InnerList(list) => {
                    text.push_str("=(");
                    for (index, item) in list.items.iter().enumerate() {
                        if index > 0 {
                            text.push(' ');
                        }
                        item.write_to(&mut text);
                    }
                    text.push(')');
                    write_parameters(&list.parameters, &mut text);
                }
            }
        }
        text
    }

    #[test]
    fn values_have_one_canonical_text() {
        for (written, canonical) in [
            ("", ""),
            ("   ", ""),
            ("a=1", "a=1"),
            ("  a=007 ,\t b=-0  ", "a=7, b=0"),
            ("a=1.50, b=-0.0, c=00.010, d=-3.125", "a=1.5, b=0.0, c=0.01, d=-3.125"),
            ("a=999999999999999, b=-999999999999999", "a=999999999999999, b=-999999999999999"),
            ("a=?1, b=?0, c;x=?1;y=?0", "a, b=?0, c;x;y=?0"),
            (r#"a="x \"quoted\" \\", b=tok/en:*"#, r#"a="x \"quoted\" \\", b=tok/en:*"#),
            ("a=::, b=:AAA=:", "a=::, b=:AAA=:"),
            (r#"a=(  "x";y   1  );  z=*t"#, r#"a=("x";y 1);z=*t"#),
            ("a=()", "a=()"),
            ("*a.b-c_d*=1", "*a.b-c_d*=1"),
        ] {
            let parsed = parse_dictionary(written).unwrap_or_else(|fault| panic!("{written}: {fault:?}"));
            assert_eq!(text_of(&parsed), canonical, "{written}");
        }
    }

    #[test]
    fn what_is_not_a_dictionary_is_refused() {
        for (written, position) in [
            ("a=1,", 5),
            ("a=1 b=2", 5),
            ("A=1", 1),
            ("\ta=1", 1),
            ("a =1", 3),
            ("a= 1", 3),
            ("a=1, a=2", 7),
            ("a=1;x=1;x=1", 10),
            ("a=(1 2", 7),
            ("a=(1,2)", 5),
            ("a=(1\t2)", 5),
            ("a=((1))", 4),
            ("a=1.", 5),
            ("a=1.1234", 9),
            ("a=1234567890123.1", 18),
            ("a=1000000000000000", 19),
            ("a=--1", 4),
            ("a=?2", 4),
            ("a=:AAA:", 7),
            ("a=:AAB=:", 8),
            ("a=:AA A=:", 6),
            ("a=:AAA=", 8),
            ("a=:AA-_:", 6),
            (r#"a="x"#, 5),
            (r#"a="\x""#, 5),
            ("a=\"\u{7f}\"", 4),
            ("a=\"é\"", 4),
            ("a=@1", 3),
            (r#"a=%"x""#, 3),
            ("é=1", 1),
        ] {
            let fault = parse_dictionary(written).expect_err(written);
            assert_eq!(fault.position, position, "{written}: {}", fault.reason);
        }
    }

    #[test]
    fn sizes_are_bounded() {
        let members = |count: usize| (0..count).map(|n| format!("k{n}=1")).collect::<Vec<_>>().join(",");
        assert!(parse_dictionary(&members(16)).is_ok());
        assert!(parse_dictionary(&members(17)).is_err());
        assert!(parse_dictionary(&format!("a=({})", "1 ".repeat(64))).is_ok());
        assert!(parse_dictionary(&format!("a=({})", "1 ".repeat(65))).is_err());
        let parameters = |count: usize| (0..count).map(|n| format!(";k{n}")).collect::<String>();
        assert!(parse_dictionary(&format!("a=1{}", parameters(32))).is_ok());
        assert!(parse_dictionary(&format!("a=1{}", parameters(33))).is_err());
        assert!(parse_dictionary(&format!("a=\"{}\"", "x".repeat(MAX_BYTES - 4))).is_ok());
        assert!(parse_dictionary(&format!("a=\"{}\"", "x".repeat(MAX_BYTES - 3))).is_err());
    }

    /// Text made of what dictionaries are made of, so that a good part of it is one.
    fn near_dictionary() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            proptest::sample::select(vec![
                "a",
                "b",
                "*",
                "=",
                "=",
                "(",
                ")",
                ";",
                ", ",
                ",",
                " ",
                "\t",
                "\"",
                "\\",
                ":",
                "AAA=",
                "?1",
                "?0",
                "-",
                "1",
                "0",
                ".",
                "5",
                "x=1",
                "sig=(",
                "\"@path\"",
                ";k=\"v\"",
                ":AAA=:",
                ":AAE=:",
                "tok/en",
                "@1",
                "%\"a\""
            ])
            .prop_map(str::to_owned),
            "[a-z0-9.*-]{1,4}",
            "[ -~]",
        ];
        let loose = proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat());
        let value = prop_oneof![
            "-?[0-9]{1,16}",
            r"-?[0-9]{1,13}\.[0-9]{0,4}",
            "\"[ -~]{0,4}\"",
            "[A-Za-z*][A-Za-z/:!]{0,3}",
            ":([A-Za-z0-9+/]{4}){0,2}([A-Za-z0-9+/]{2}==)?:",
            r"\?[01]",
        ];
        let parameters =
            proptest::collection::vec(("[a-c]", proptest::option::of(value.clone())), 0..3).prop_map(|all| {
                all.iter()
                    .map(|(key, value)| value.as_ref().map_or(format!(";{key}"), |value| format!("; {key}={value}")))
                    .collect::<String>()
            });
        let item = (value, parameters.clone()).prop_map(|(value, parameters)| value + &parameters);
        let list = (proptest::collection::vec(item.clone(), 0..4), parameters)
            .prop_map(|(items, parameters)| format!("({}){parameters}", items.join(" ")));
        let member = ("[a-f]", prop_oneof![item, list]).prop_map(|(key, value)| format!("{key}={value}"));
        let tidy = proptest::collection::vec(member, 0..4).prop_map(|members| members.join(" ,"));
        prop_oneof![loose, tidy]
    }

    proptest! {
        /// What this reader accepts, another accepts too and understands in the same way; and what only the other one
        /// accepts has a name twice or loose base64.
        #[test]
        fn agrees_with_another_reader(text in near_dictionary()) {
            let theirs = sfv::Parser::new(&text).with_version(sfv::Version::Rfc8941).parse::<sfv::Dictionary>();
            match (parse_dictionary(&text), theirs) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(text_of(&ours), theirs.serialize().unwrap_or_default()),
                (Ok(_), Err(error)) => prop_assert!(false, "only we accept {text:?}: {error}"),
                (Err(fault), Ok(_)) => prop_assert!(
                    fault.reason.ends_with("appears twice") || fault.reason.contains("base64"),
                    "only they accept {text:?}: {}", fault.reason
                ),
                (Err(_), Err(_)) => {}
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,64}") {
            if let Ok(parsed) = parse_dictionary(&text) {
                let canonical = text_of(&parsed);
                prop_assert_eq!(text_of(&parse_dictionary(&canonical).unwrap()), canonical);
            }
        }
    }
}
