//! Tables as text (RFC 4180), for spreadsheets.

/// Adds a cell. One that a spreadsheet would take for a formula gets an apostrophe in front, so that it is text.
pub fn push_cell(line: &mut String, cell: &str) {
    let is_formula = cell.starts_with(is_formula_start);
    let is_quoted =
        cell.contains([',', '"', '\r', '\n']) || cell.starts_with([' ', '\t']) || cell.ends_with([' ', '\t']);
    if is_quoted {
        line.push('"');
    }
    if is_formula {
        line.push('\'');
    }
    for part in cell.split_inclusive('"') {
        line.push_str(part);
        if part.ends_with('"') {
            line.push('"');
        }
    }
    if is_quoted {
        line.push('"');
    }
}

/// Adds a line of cells, with its end.
pub fn push_line<'a>(text: &mut String, cells: impl IntoIterator<Item = &'a str>) {
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        push_cell(text, cell);
    }
    text.push_str("\r\n");
}

/// The wide forms too: some spreadsheets take them for the narrow ones.
fn is_formula_start(character: char) -> bool {
    matches!(character, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        for (cell, written) in [
            ("", ""),
            ("plain", "plain"),
            ("日本語 é", "日本語 é"),
            ("a,b", r#""a,b""#),
            (r#"say "hi""#, r#""say ""hi""""#),
            ("two\nlines", "\"two\nlines\""),
            (" blank", "\" blank\""),
            ("=1+1", "'=1+1"),
            ("-2", "'-2"),
            ("+2", "'+2"),
            ("@sum", "'@sum"),
            ("\tx", "\"'\tx\""),
            ("\rx", "\"'\rx\""),
            ("\nx", "\"'\nx\""),
            ("＝1", "'＝1"),
            ("＋1", "'＋1"),
            ("－1", "'－1"),
            ("＠x", "'＠x"),
            (r#"=cmd|" /C calc"!A0"#, r#""'=cmd|"" /C calc""!A0""#),
            ("a=b", "a=b"),
        ] {
            let mut line = String::new();
            push_cell(&mut line, cell);
            assert_eq!(line, written, "{cell:?}");
        }
        let mut text = String::new();
        push_line(&mut text, ["a", "", "c,d"]);
        assert_eq!(text, "a,,\"c,d\"\r\n");
    }
}
