//! Rules for short texts that people read: names and titles.

/// Longest display name, in characters.
pub const MAX_DISPLAY_NAME: usize = 100;

/// A name that is shown: 1 to `max` characters, no control or invisible direction characters, which
/// could make one name look like another, and no blanks at the ends.
pub fn check_label(text: &str, max: usize) -> Result<(), String> {
    let length = text.chars().count();
    if length == 0 || length > max {
        return Err(format!("must be 1 to {max} characters long"));
    }
    if text.chars().any(is_unprintable) {
        return Err("must not contain control or invisible characters".to_owned());
    }
    if text.trim() != text {
        return Err("must not begin or end with a blank".to_owned());
    }
    Ok(())
}

/// The same, or nothing at all.
pub fn check_optional_label(text: &str, max: usize) -> Result<(), String> {
    if text.chars().count() > max {
        return Err(format!("must be at most {max} characters long"));
    }
    if text.is_empty() { Ok(()) } else { check_label(text, max) }
}

/// A longer text, in which line breaks are fine: at most `max` bytes.
pub fn check_body(text: &str, max: usize) -> Result<(), String> {
    if text.len() > max { Err(format!("must be at most {max} bytes long")) } else { Ok(()) }
}

/// Control characters, and invisible ones that change how their neighbours look.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{fffc}' | '\u{e0000}'..='\u{e0fff}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::check_label;

    #[test]
    fn labels() {
        for good in ["Ada", "Ada Lovelace", "日本語", "é", &"x".repeat(100)] {
            assert!(check_label(good, 100).is_ok(), "{good:?}");
        }
        for bad in ["", " Ada", "Ada\n", "a\u{0}b", "a\u{202e}b", "a\u{200b}", &"x".repeat(101)] {
            assert!(check_label(bad, 100).is_err(), "{bad:?}");
        }
    }
}
