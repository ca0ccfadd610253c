//! Folders: the hub's own, which no run may see, and those of the operator in which agents may work.

use std::path::{Component, Path, PathBuf};

use crate::config::Config;
use crate::error::HubError;
use crate::hub::Hub;

/// Where runs have their folders.
pub(crate) fn run_folder(config: &Config) -> PathBuf {
    if let Some(folder) = &config.runs.folder {
        return absolute(folder);
    }
    let data = absolute(&config.data);
    let mut name = data.file_name().unwrap_or_default().to_os_string();
    name.push("-runs");
    data.with_file_name(name)
}

pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where a path leads, if it is there.
pub(crate) fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| absolute(path))
}

/// What no run may see: data, attachments, folders of other runs, and the socket of the operator.
pub(crate) fn own_folders(config: &Config) -> Vec<PathBuf> {
    let mut folders = vec![real(&config.data), real(&run_folder(config))];
    let attachments = config.attachments_url.as_deref().map(|url| url.strip_prefix("file://").unwrap_or(url));
    folders.extend(attachments.filter(|url| !url.contains("://")).map(|path| real(Path::new(path))));
    folders.extend(config.admin_socket.as_deref().and_then(Path::parent).map(real));
    folders
}

/// The folder that a workspace's path leads to, if agents may work there; else what is wrong with the path.
pub(crate) fn find_workspace(config: &Config, path: &Path) -> Result<PathBuf, &'static str> {
    const NOT_ALLOWED: &str = "must be in a folder that the operator allows (STOA_WORKSPACES)";
    // Before the disk is asked, which would tell what is elsewhere.
    let leads_up = path.components().any(|part| part == Component::ParentDir);
    if leads_up || !config.runs.workspaces.iter().any(|allowed| path.starts_with(allowed)) {
        return Err(NOT_ALLOWED);
    }
    let found = std::fs::canonicalize(path).map_err(|_| "does not exist, or the hub cannot open it")?;
    // A link in an allowed folder may lead out of it.
    if !config.runs.workspaces.iter().any(|allowed| found.starts_with(real(allowed))) {
        return Err(NOT_ALLOWED);
    }
    // What is shown or passed on as text must be the same folder.
    if found.to_str().is_none() {
        return Err("has a name that is no text");
    }
    if !found.is_dir() {
        return Err("is not a folder");
    }
    if own_folders(config).iter().any(|own| own.starts_with(&found) || found.starts_with(own)) {
        return Err("has files of the hub");
    }
    Ok(found)
}

impl Hub {
    /// Whether agents may work in a folder. `field` is where the path was given.
    pub(crate) async fn check_workspace(&self, field: &str, path: &str) -> Result<(), HubError> {
        let (hub, path) = (self.clone(), PathBuf::from(path));
        let found = tokio::task::spawn_blocking(move || find_workspace(hub.config(), &path)).await;
        match found.map_err(HubError::internal)? {
            Ok(_) => Ok(()),
            Err(fault) => Err(HubError::invalid_field(field, fault)),
        }
    }
}
