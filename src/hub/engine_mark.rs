//! The mark in the data folder that names the engine of its hub.

use std::path::Path;

use stoa_db::Engine;

use super::StartError;

const ENGINE_FILE: &str = "engine";

/// Refuses a data folder that belongs to a hub on the other engine. Without its address, a hub on PostgreSQL would start with an
/// empty SQLite database.
pub(crate) fn require(data: &Path, engine: Engine) -> Result<(), StartError> {
    let Ok(found) = std::fs::read_to_string(data.join(ENGINE_FILE)) else { return Ok(()) };
    let found = found.trim().to_owned();
    if found == engine.name() {
        return Ok(());
    }
    let advice = match engine {
        Engine::Sqlite => "set STOA_DATABASE_URL",
        Engine::Postgres => "start it without STOA_DATABASE_URL, or move it with a backup",
    };
    Err(StartError::Engine { path: data.to_owned(), found, advice })
}

/// Notes in the data folder which engine its hub is on.
pub(crate) fn write(data: &Path, engine: Engine) -> std::io::Result<()> {
    let file = data.join(ENGINE_FILE);
    if file.exists() { Ok(()) } else { std::fs::write(file, format!("{}\n", engine.name())) }
}
