//! Rules for short texts that people read: names and titles.

use unicode_normalization::char::is_combining_mark;

/// Longest display name, in characters.
pub const MAX_DISPLAY_NAME: usize = 100;
/// Combining marks in a row. More of them cover the lines above and below.
const MAX_MARKS: usize = 3;
/// The same where the spelling of a script needs more, as in the Burmese word for "secret".
const MAX_MARKS_OF_STACKING_SCRIPTS: usize = 6;

/// A name that is shown: 1 to `max` characters, no control or invisible direction characters, which
/// could make one name look like another, no towers of combining marks, and no blanks at the ends.
pub fn check_label(text: &str, max: usize) -> Result<(), String> {
    let length = text.chars().count();
    if length == 0 || length > max {
        return Err(format!("must be 1 to {max} characters long"));
    }
    if text.chars().any(is_unprintable) {
        return Err("must not contain control or invisible characters".to_owned());
    }
    if stacked_marks(text).any(|is_too_many| is_too_many) {
        return Err(format!("must not have more than {MAX_MARKS} combining marks in a row"));
    }
    if text.trim() != text {
        return Err("must not start or end with a space".to_owned());
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

/// A text without the combining marks that are too many in a row, for names that are cleaned and not refused.
pub fn without_stacked_marks(text: &str) -> String {
    text.chars().zip(stacked_marks(text)).filter(|(_, is_too_many)| !is_too_many).map(|(each, _)| each).collect()
}

/// Of each character, whether it is a combining mark too many.
fn stacked_marks(text: &str) -> impl Iterator<Item = bool> {
    let (mut marks, mut plain_marks) = (0, 0);
    text.chars().map(move |character| {
        if !is_combining_mark(character) {
            (marks, plain_marks) = (0, 0);
            return false;
        }
        marks += 1;
        let is_plain = !is_of_stacking_script(character);
        plain_marks += usize::from(is_plain);
        marks > MAX_MARKS_OF_STACKING_SCRIPTS || (is_plain && plain_marks > MAX_MARKS)
    })
}

/// Scripts of South and Southeast Asia in which vowels, medial consonants and tones are all marks.
fn is_of_stacking_script(mark: char) -> bool {
    matches!(mark, '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1a20}'..='\u{1aaf}'
        | '\u{1b00}'..='\u{1bff}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}')
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
    use super::{check_label, without_stacked_marks};

    #[test]
    fn labels() {
        for good in ["Ada", "Ada Lovelace", "日本語", "é", &"x".repeat(100)] {
            assert!(check_label(good, 100).is_ok(), "{good:?}");
        }
        for bad in ["", " Ada", "Ada\n", "a\u{0}b", "a\u{202e}b", "a\u{200b}", &"x".repeat(101)] {
            assert!(check_label(bad, 100).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn combining_marks_in_a_row() {
        let acute = |count: usize| "\u{301}".repeat(count);
        let cases = [
            // Vietnamese, decomposed; Hebrew with dagesh, vowel and accent; a keycap.
            ("e\u{302}\u{301}".to_owned(), true),
            ("ש\u{5c1}\u{5bc}\u{5b8}".to_owned(), true),
            ("1\u{fe0f}\u{20e3}".to_owned(), true),
            // "Secret" in Burmese has five marks in a row, "hūṃ" in Tibetan three.
            ("လျှို့ဝှက်".to_owned(), true),
            ("ཧཱུྃ".to_owned(), true),
            ("ที่นี่".to_owned(), true),
            (format!("a{}", acute(3)), true),
            (format!("a{}", acute(4)), false),
            (format!("a{}b{}", acute(3), acute(3)), true),
            (format!("a{}b{}", acute(3), acute(4)), false),
            (acute(4), false),
            ("Z\u{300}\u{316}\u{489}\u{20dd}".to_owned(), false),
            ("ก\u{e47}\u{e47}\u{e47}\u{e47}".to_owned(), false),
            (format!("က{}", "\u{102d}".repeat(6)), true),
            (format!("က{}", "\u{102d}".repeat(7)), false),
            // Marks of such a script do not make room for others.
            (format!("က\u{102d}\u{102d}{}", acute(3)), true),
            (format!("က\u{102d}\u{102d}{}", acute(4)), false),
        ];
        for (text, is_good) in cases {
            let verdict = check_label(&text, 100);
            assert_eq!(verdict.is_ok(), is_good, "{text:?}: {verdict:?}");
            let cleaned = without_stacked_marks(&text);
            assert_eq!(cleaned == text, is_good, "{text:?}");
            assert!(check_label(&cleaned, 100).is_ok(), "{cleaned:?}");
        }
        assert_eq!(without_stacked_marks(&format!("a{}b", acute(50))), format!("a{}b", acute(3)));
    }
}
