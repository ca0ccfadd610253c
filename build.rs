//! Puts the web page that `make web` has built into the binary. It never runs npm: without `web/dist` the binary has a page that
//! says how to get it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let dist = root.join("web/dist");
    let mut files = Vec::new();
    if dist.join("index.html").exists() {
        println!("cargo::rerun-if-changed=web/dist");
        list(&dist, &mut files)?;
    } else {
        // A path that is not there would count as changed each time.
        println!("cargo::rerun-if-changed=web");
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let variant = |extension: &str| {
            let path = PathBuf::from(format!("{}.{extension}", file.display()));
            if path.exists() { format!("Some(include_bytes!({path:?}))") } else { "None".to_owned() }
        };
        let name = file.strip_prefix(&dist).map_err(io::Error::other)?;
        let line = format!(
            "    File {{ path: {:?}, plain: include_bytes!({file:?}), brotli: {}, gzip: {} }},",
            format!("/{}", name.display()),
            variant("br"),
            variant("gz"),
        );
        writeln!(table, "{line}").map_err(io::Error::other)?;
    }
    table.push(']');
    let target = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("web.rs");
    fs::write(target, table)
}

/// All files below a folder but those that are other forms of them, and what is hidden: that is for those who built it.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_variant = path.extension().is_some_and(|extension| extension == "br" || extension == "gz");
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_hidden {
            continue;
        }
        if path.is_dir() {
            list(&path, files)?;
        } else if !is_variant {
            files.push(path);
        }
    }
    Ok(())
}
