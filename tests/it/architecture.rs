//! The rules of ARCHITECTURE.md about who may import whom, held against the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of the library, with their path inside of `src/`. The command line is a program of its own that uses it.
fn sources() -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &mut found);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&root).unwrap().to_owned(), text)
    };
    found.into_iter().map(read).filter(|(path, _)| !path.starts_with("cli") && path != Path::new("main.rs")).collect()
}

/// What a file names after `crate::` and a prefix: `users` in `crate::features::users::is_admin`, and both in
/// `crate::features::{agents, users}`.
fn named_after(text: &str, prefix: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
    };
    let mut found = BTreeSet::new();
    for (at, start) in text.match_indices(prefix) {
        let rest = &text[at + start.len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                // Only the first words of the outermost list.
                let mut depth = 0;
                let mut is_first = true;
                for (place, letter) in group.char_indices() {
                    match letter {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' => is_first = depth == 0,
                        _ if is_first && letter.is_ascii_alphabetic() => {
                            found.insert(word(&group[place..]));
                            is_first = false;
                        }
                        _ => {}
                    }
                }
            }
            None => {
                found.insert(word(rest));
            }
        }
    }
    found.remove("");
    found.remove("self");
    found
}

/// The parts of paths are found, whether one by one or in a list.
#[test]
fn imports_are_read() {
    let text = "use crate::features::{self, agents, users::{self, log_in}};\ncrate::features::audit::record();";
    let names: Vec<_> = named_after(text, "crate::features::").into_iter().collect();
    assert_eq!(names, ["agents", "audit", "users"]);
}

#[test]
fn no_surface_imports_a_feature() {
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("surfaces")) {
        let names = named_after(text, "crate::");
        assert!(!names.contains("features") && !names.contains("feature"), "{} imports a feature", path.display());
    }
}

/// Files that translate are called http, mcp or admin, or begin so: `http_login.rs`.
#[test]
fn no_service_imports_a_surface() {
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("features")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let translates = ["http", "mcp", "admin"].contains(&name.split('_').next().unwrap());
        assert!(
            translates || !named_after(text, "crate::").contains("surfaces"),
            "{} imports a surface, which only files called http, mcp or admin may do",
            path.display()
        );
    }
}

#[test]
fn no_folder_imports_another_in_a_circle() {
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let room = path.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if room != "lib" {
            let named = named_after(&text, "crate::");
            imports.entry(room.clone()).or_default().extend(named.into_iter().filter(|named| *named != room));
        }
    }
    // Repeatedly removes what imports nothing that is left. What remains is a circle.
    loop {
        let rooms: BTreeSet<String> = imports.keys().cloned().collect();
        let before = imports.len();
        imports.retain(|_, named| named.iter().any(|named| rooms.contains(named)));
        if imports.len() == before {
            break;
        }
    }
    assert!(imports.is_empty(), "these import each other in a circle: {imports:?}");
}

#[test]
fn features_call_only_those_below_them() {
    let floors: Vec<&str> = stoa::features::all().iter().map(|feature| feature.name).collect();
    let mut folders = BTreeSet::new();
    for (path, text) in sources() {
        let mut parts = path.components().map(|part| part.as_os_str().to_str().unwrap());
        let (Some("features"), Some(folder), Some(_)) = (parts.next(), parts.next(), parts.next()) else { continue };
        folders.insert(folder.to_owned());
        let place = floors.iter().position(|name| *name == folder);
        let place = place.unwrap_or_else(|| panic!("features::all() does not list {folder}"));
        for called in named_after(&text, "crate::features::") {
            let is_below = called == folder || floors[..place].contains(&called.as_str());
            assert!(is_below, "{} calls {called}, which is not below {folder}", path.display());
        }
        let by_super = named_after(&text, "super::super::");
        assert!(
            !by_super.iter().any(|name| floors.contains(&name.as_str())),
            "{} names a feature by super",
            path.display()
        );
    }
    assert_eq!(folders.len(), floors.len());
}

#[test]
fn messages_and_events_are_numbered_in_the_order_of_their_commits() {
    let plain = ["insert into messages", "insert into outbox"];
    for (path, text) in sources() {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for statement in plain {
            assert!(!text.contains(&format!("{statement} (")), "{}: use Tx::append instead", path.display());
        }
    }
}
