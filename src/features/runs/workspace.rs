//! Workspaces: where the program of a run works, if not in its own empty folder.

use std::path::{Path, PathBuf};

use stoa_model::agents::{AgentView, WorkspaceKind};
use stoa_model::dispatch::ForeignReach;
use stoa_model::runs::RunWorkspace;

use super::begin::Job;
use super::occupation::{Occupied, Use};
use super::repository::{self, Copy};
use super::store::RunRow;
use crate::hub::Hub;
use crate::hub::folders::find_workspace;

/// What the owner has chosen.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) kind: WorkspaceKind,
    pub(super) path: String,
    may_write: bool,
    /// What an earlier attempt of this run left.
    pub(super) earlier: Option<RunWorkspace>,
}

/// Why a workspace cannot be used, in words that follow "The workspace cannot be used: it".
#[derive(Debug)]
pub(super) struct Fault(pub(super) String);

impl From<&str> for Fault {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// What a run has changed.
pub(super) struct Changes {
    pub(super) workspace: RunWorkspace,
    /// What is missing in it.
    pub(super) note: Option<String>,
}

impl Changes {
    pub(super) fn none(wanted: &Wanted) -> Self {
        Self { workspace: wanted.as_left(), note: None }
    }
}

/// A workspace that is ready for a program. Nobody else changes it until this is dropped.
pub(super) struct Place {
    ground: Ground,
    _occupied: Occupied,
}

enum Ground {
    Folder {
        path: PathBuf,
        may_write: bool,
        /// Settings of git that other programs obey: who writes them has others run something.
        guarded: Option<PathBuf>,
    },
    Copy(Copy),
}

impl Wanted {
    /// None if the program works in the run's own folder.
    pub(super) fn of(run: &RunRow, agent: &AgentView, earlier: Option<RunWorkspace>) -> Option<Self> {
        let workspace = agent.harness.as_ref()?.workspace.clone()?;
        if workspace.kind == WorkspaceKind::Empty {
            return None;
        }
        let path = workspace.path?;
        let may_write = !run.is_foreign || agent.foreign_reach == ForeignReach::Agent;
        let earlier = earlier.filter(|earlier| earlier.kind == workspace.kind && earlier.path == path);
        Some(Self { kind: workspace.kind, path, may_write, earlier })
    }

    /// Makes it ready. The run's own folder must be there.
    pub(super) async fn prepare(&self, hub: &Hub, job: &Job) -> Result<Place, Fault> {
        let changes_it = self.kind == WorkspaceKind::Folder && self.may_write;
        let mut path = self.find(hub).await?;
        let occupied = loop {
            let wanted = Use { path: path.clone(), changes_it };
            let occupied = Occupied::wait(hub, wanted).await;
            // A run that could change folders above it may have put a link there while this one waited. Now none can.
            let now = self.find(hub).await?;
            if now == path {
                break occupied;
            }
            path = now;
        };
        let ground = match self.kind {
            WorkspaceKind::Git => Ground::Copy(repository::copy(hub, job, self, path).await?),
            WorkspaceKind::Empty | WorkspaceKind::Folder => {
                let looked = path.clone();
                let found = tokio::task::spawn_blocking(move || settings_of_git(&looked)).await;
                let guarded = found.map_err(|error| Fault(error.to_string()))??;
                Ground::Folder { path, may_write: self.may_write, guarded }
            }
        };
        Ok(Place { ground, _occupied: occupied })
    }

    async fn find(&self, hub: &Hub) -> Result<PathBuf, Fault> {
        let (hub, path) = (hub.clone(), PathBuf::from(&self.path));
        let found = tokio::task::spawn_blocking(move || find_workspace(hub.config(), &path)).await;
        Ok(found.map_err(|error| Fault(error.to_string()))??)
    }

    /// What earlier attempts of the run left, which is still there if this one adds nothing.
    pub(super) fn as_left(&self) -> RunWorkspace {
        self.earlier.clone().unwrap_or_else(|| self.unchanged())
    }

    /// What is stored of one without changes.
    pub(super) fn unchanged(&self) -> RunWorkspace {
        RunWorkspace {
            kind: self.kind,
            path: self.path.clone(),
            branch: None,
            base_commit: None,
            commit: None,
            files: 0,
            insertions: 0,
            deletions: 0,
            patch: None,
            truncated: false,
        }
    }
}

/// The folder with the settings of a repository, which a run must not change. Links would lead to other places.
fn settings_of_git(path: &Path) -> Result<Option<PathBuf>, Fault> {
    let is_inside = path.components().any(|part| part.as_os_str() == ".git");
    if is_inside || (path.join("HEAD").exists() && path.join("objects").exists()) {
        return Err("has the files of git itself. Choose the repository, with the kind git".into());
    }
    let git = path.join(".git");
    match git.symlink_metadata() {
        Ok(found) if found.is_dir() => Ok(Some(git)),
        Ok(_) => Err("has a .git that is not a folder".into()),
        Err(_) => Ok(None),
    }
}

impl Place {
    /// Where the program starts.
    pub(super) fn folder(&self) -> &Path {
        match &self.ground {
            Ground::Folder { path, .. } => path,
            Ground::Copy(copy) => &copy.folder,
        }
    }

    pub(super) fn writable(&self) -> Option<&Path> {
        match &self.ground {
            Ground::Folder { path, may_write, .. } => may_write.then_some(path),
            // It lies in the run's own folder.
            Ground::Copy(_) => None,
        }
    }

    pub(super) fn readable(&self) -> Option<&Path> {
        match &self.ground {
            Ground::Folder { path, may_write: false, .. } => Some(path),
            Ground::Folder { guarded, .. } => guarded.as_deref(),
            Ground::Copy(copy) => Some(&copy.objects),
        }
    }

    /// What the run has changed, after its last process has ended.
    pub(super) async fn collect(&self, hub: &Hub, job: &Job, wanted: &Wanted) -> Result<Changes, Fault> {
        match &self.ground {
            Ground::Folder { .. } => Ok(Changes::none(wanted)),
            Ground::Copy(copy) => repository::collect(hub, job, wanted, copy).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_git_are_guarded_or_the_folder_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path();
        assert_eq!(settings_of_git(path).unwrap(), None);
        std::fs::create_dir(path.join(".git")).unwrap();
        assert_eq!(settings_of_git(path).unwrap(), Some(path.join(".git")));
        assert!(settings_of_git(&path.join(".git")).is_err());
        std::fs::remove_dir(path.join(".git")).unwrap();
        for leads_away in ["/etc", "/nowhere"] {
            std::os::unix::fs::symlink(leads_away, path.join(".git")).unwrap();
            assert!(settings_of_git(path).is_err());
            std::fs::remove_file(path.join(".git")).unwrap();
        }
        std::fs::write(path.join(".git"), "gitdir: .bare").unwrap();
        assert!(settings_of_git(path).is_err());
        std::fs::remove_file(path.join(".git")).unwrap();
        std::fs::write(path.join("HEAD"), "").unwrap();
        std::fs::create_dir(path.join("objects")).unwrap();
        assert!(settings_of_git(path).is_err(), "a bare repository");
    }
}
