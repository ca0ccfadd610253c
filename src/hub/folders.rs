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

/// Where a repository has its own files: in `.git`, or in the folder itself if it is bare. Links and worktrees lead to other places, which
/// the operator may not have meant, so they are none.
pub(crate) fn find_repository(path: &Path) -> Option<PathBuf> {
    let inner = path.join(".git");
    let repository = if inner.symlink_metadata().is_ok() { inner } else { path.to_owned() };
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_one = is_folder(&repository) && is_folder(&repository.join("objects")) && repository.join("HEAD").exists();
    is_one.then_some(repository)
}

/// Repositories among the allowed folders and what is in them, to choose from.
pub(crate) fn list_repositories(config: &Config) -> Vec<String> {
    const MAX_LOOKED_AT: usize = 1000;
    const MAX_LISTED: usize = 100;
    let allowed = config.runs.workspaces.iter();
    let inside = allowed.clone().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let candidates = allowed.cloned().chain(inside.map(|entry| entry.path())).take(MAX_LOOKED_AT);
    let found = candidates.filter(|path| path.is_dir() && find_repository(path).is_some());
    let mut names: Vec<String> = found.filter_map(|path| path.to_str().map(str::to_owned)).take(MAX_LISTED).collect();
    names.sort();
    names
}

impl Hub {
    /// Whether agents may work in a folder, or in copies of the repository there. `field` is where the path was given.
    pub(crate) async fn check_workspace(&self, field: &str, path: &str, is_git: bool) -> Result<(), HubError> {
        let (hub, path) = (self.clone(), PathBuf::from(path));
        let checked = tokio::task::spawn_blocking(move || {
            let found = find_workspace(hub.config(), &path)?;
            if is_git && find_repository(&found).is_none() { Err("is not a git repository") } else { Ok(()) }
        });
        match checked.await.map_err(HubError::internal)? {
            Ok(()) => Ok(()),
            Err(fault) => Err(HubError::invalid_field(field, fault)),
        }
    }
}
