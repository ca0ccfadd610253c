//! What comes from the operator and is not plain text in an argument: passwords, files, a yes.

use std::convert::Infallible;
use std::fmt::Display;
use std::io::{self, IsTerminal, Read, Write};
use std::str::FromStr;

use super::Failure;

/// Far more than any password, so that a wrong file piped in is noticed before it is read to its end.
const MAX_PASSWORD_INPUT: u64 = 4096;
/// Far more than a secret may have: the hub says what is too long.
const MAX_SECRET_INPUT: u64 = 256 * 1024;

/// A password: asked for twice at a terminal, else read from standard input. There is no argument
/// for it, because every user of the machine can read arguments.
pub(super) fn read_password(for_whom: &str) -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        let ask = |prompt: String| {
            rpassword::prompt_password(prompt)
                .map_err(|error| Failure::Other(format!("the password cannot be read: {error}")))
        };
        let password = ask(format!("Password for {for_whom}: "))?;
        if ask("Confirm password: ".to_owned())? != password {
            return Err(Failure::Other("the two passwords differ; nothing was changed".to_owned()));
        }
        return Ok(password);
    }
    let mut bytes = Vec::new();
    io::stdin()
        .take(MAX_PASSWORD_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Other(format!("the password cannot be read from standard input: {error}")))?;
    if bytes.is_empty() {
        return Err(Failure::Usage("there is no password on standard input".to_owned()));
    }
    if bytes.len() as u64 > MAX_PASSWORD_INPUT {
        return Err(Failure::Usage("what is on standard input is too long for a password".to_owned()));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Usage("the password on standard input is not UTF-8 text".to_owned()))?;
    let password = text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
    if password.contains('\n') {
        return Err(Failure::Usage("the password on standard input must be a single line".to_owned()));
    }
    Ok(password.to_owned())
}

/// The value of a secret: asked for at a terminal, else read from standard input. The line break after a single line is not part
/// of it; a value of several lines, like a key file, stays as it is.
pub(super) fn read_secret(name: &str) -> Result<String, Failure> {
    if io::stdin().is_terminal() {
        return rpassword::prompt_password(format!("Value of {name}: "))
            .map_err(|error| Failure::Other(format!("the value cannot be read: {error}")));
    }
    let mut bytes = Vec::new();
    io::stdin()
        .take(MAX_SECRET_INPUT + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Other(format!("the value cannot be read from standard input: {error}")))?;
    if bytes.is_empty() {
        return Err(Failure::Usage("there is no value on standard input".to_owned()));
    }
    if bytes.len() as u64 > MAX_SECRET_INPUT {
        return Err(Failure::Usage("what is on standard input is too long for a secret".to_owned()));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Usage("the value on standard input is not UTF-8 text; encode it first".to_owned()))?;
    let line = text.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    Ok(line.filter(|line| !line.contains('\n')).map_or(text.clone(), str::to_owned))
}

/// All of standard input.
pub(super) fn read_text(what: &str) -> Result<String, Failure> {
    io::read_to_string(io::stdin())
        .map_err(|error| Failure::Usage(format!("{what} cannot be read from standard input: {error}")))
}

/// Makes sure that what cannot be undone is meant.
pub(super) fn confirm(question: &str) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::Usage("this cannot be undone; use --yes to confirm".to_owned()));
    }
    let mut answer = String::new();
    let asked = write!(io::stderr(), "{question} [y/N] ").and_then(|()| io::stdin().read_line(&mut answer));
    asked.map_err(|error| Failure::Other(format!("the answer cannot be read: {error}")))?;
    match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::Other("nothing was changed".to_owned())),
    }
}

/// A value that `none` removes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clearable<T>(pub(super) Option<T>);

impl<T: FromStr> FromStr for Clearable<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        if text == "none" { Ok(Self(None)) } else { text.parse().map(|value| Self(Some(value))) }
    }
}

/// An amount of money.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Dollars(pub(super) f64);

impl FromStr for Dollars {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // JSON has no infinity: it would arrive as null, which takes the limit away.
        let amount = text.parse().ok().filter(|amount: &f64| amount.is_finite());
        amount.map(Self).ok_or("must be an amount such as 2.50, or none")
    }
}

/// Text from the argument itself, or with `@FILE` from a file, or with `@-` from standard input.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextSource(String);

impl FromStr for TextSource {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl TextSource {
    pub(super) fn read(&self, flag: &str) -> Result<String, Failure> {
        let fault = |what: &str, error: &dyn Display| Failure::Usage(format!("{flag}: {what} cannot be read: {error}"));
        match self.0.strip_prefix('@') {
            None => Ok(self.0.clone()),
            Some("-") => io::read_to_string(io::stdin()).map_err(|error| fault("standard input", &error)),
            Some(path) => std::fs::read_to_string(path).map_err(|error| fault(path, &error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_clears_and_only_finite_amounts_count() {
        let parse = |text: &str| text.parse::<Clearable<Dollars>>().ok().map(|parsed| parsed.0.map(|amount| amount.0));
        assert_eq!(parse("none"), Some(None));
        assert_eq!(parse("2.5"), Some(Some(2.5)));
        for text in ["", "NaN", "inf", "-inf", "1e999", "None", "2,5"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
