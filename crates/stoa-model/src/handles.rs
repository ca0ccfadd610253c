//! Handles: what `@name` means. Users and agents share one namespace, compared without case.

/// Names that nobody can take. `admin` is made at the first start and reserved from then on.
pub const RESERVED: [&str; 7] = ["system", "all", "channel", "here", "self", "reactive", "admin"];

/// Longest name of a user, an agent or a channel.
pub const MAX_LENGTH: usize = 64;

/// The form in which handles are compared. They are ASCII, so this is all it takes.
pub fn fold(handle: &str) -> String {
    handle.to_ascii_lowercase()
}

pub fn check_username(name: &str) -> Result<(), &'static str> {
    let fits = (3..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if fits { Ok(()) } else { Err("must be 3 to 64 letters, digits or underscores") }
}

pub fn check_agent_name(name: &str) -> Result<(), &'static str> {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fits = (2..=64).contains(&name.len())
        && name.bytes().next().is_some_and(is_alphanumeric)
        && name.bytes().all(|byte| is_alphanumeric(byte) || byte == b'_' || byte == b'-');
    if fits {
        Ok(())
    } else {
        Err("must be 2 to 64 lowercase letters, digits, underscores or dashes, starting with a letter or digit")
    }
}

/// Channel names follow the same alphabet as agent names, but may be a single character.
pub fn check_channel_name(name: &str) -> Result<(), &'static str> {
    if name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Ok(());
    }
    check_agent_name(name).map_err(
        |_| "must be 1 to 64 lowercase letters, digits, underscores or dashes, starting with a letter or digit",
    )
}

pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&fold(name).as_str())
}

/// The three candidates that are most like `wanted`, for "did you mean".
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Nothing is like a name that is longer than names can be.
    if wanted.len() > 64 {
        return Vec::new();
    }
    let wanted = fold(wanted);
    let mut scored: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, &fold(candidate)), candidate))
        .filter(|(score, candidate)| *score <= candidate.len().max(wanted.len()) / 2)
        .collect();
    scored.sort_unstable();
    scored.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// Levenshtein distance, in bytes; handles are ASCII and at most 64 long.
fn distance(left: &str, right: &str) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in right.bytes().enumerate() {
            let substitute = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usernames() {
        for good in ["abc", "Ada_Lovelace", "a_1", &"x".repeat(64)] {
            assert!(check_username(good).is_ok(), "{good}");
        }
        for bad in ["", "ab", "a-b", "a b", "ädä", "a\n\n", &"x".repeat(65)] {
            assert!(check_username(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn agent_names() {
        for good in ["ab", "a-b_c", "0x", &"x".repeat(64)] {
            assert!(check_agent_name(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "-a", "_a", "Ab", "a b", "a\0", &"x".repeat(65)] {
            assert!(check_agent_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn reserved_names_ignore_case() {
        assert!(is_reserved("System") && is_reserved("ADMIN") && !is_reserved("administrator"));
    }

    #[test]
    fn nearest_names_come_first() {
        let names = ["scout", "scott", "writer", "shout"];
        assert_eq!(nearest("scoot", names), ["scott", "scout", "shout"]);
        assert!(nearest("zzzzzz", names).is_empty());
    }
}
