//! Workspaces: where the program of a run works, if not in its own empty folder.

use std::path::{Path, PathBuf};

use stoa_model::agents::{AgentView, WorkspaceKind};
use stoa_model::dispatch::ForeignReach;
use stoa_model::runs::RunWorkspace;

use super::begin::Job;
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

/// A workspace that is ready for a program.
#[derive(Debug, Clone)]
pub(super) enum Place {
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
        let (hub_in, path) = (hub.clone(), PathBuf::from(&self.path));
        let found = tokio::task::spawn_blocking(move || find_workspace(hub_in.config(), &path)).await;
        let path = found.map_err(|error| Fault(error.to_string()))??;
        match self.kind {
            WorkspaceKind::Git => Ok(Place::Copy(repository::copy(hub, job, self, path).await?)),
            WorkspaceKind::Empty | WorkspaceKind::Folder => {
                let guarded = Some(path.join(".git")).filter(|git| git.symlink_metadata().is_ok());
                Ok(Place::Folder { path, may_write: self.may_write, guarded })
            }
        }
    }

    /// What is stored of one that has no changes of its own.
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

impl Place {
    /// Where the program starts.
    pub(super) fn folder(&self) -> &Path {
        match self {
            Place::Folder { path, .. } => path,
            Place::Copy(copy) => &copy.folder,
        }
    }

    pub(super) fn writable(&self) -> Option<&Path> {
        match self {
            Place::Folder { path, may_write, .. } => may_write.then_some(path),
            // It lies in the run's own folder.
            Place::Copy(_) => None,
        }
    }

    pub(super) fn readable(&self) -> Option<&Path> {
        match self {
            Place::Folder { path, may_write: false, .. } => Some(path),
            Place::Folder { guarded, .. } => guarded.as_deref(),
            Place::Copy(copy) => Some(&copy.objects),
        }
    }

    /// What the run has changed, after its last process has ended.
    pub(super) async fn collect(&self, hub: &Hub, job: &Job, wanted: &Wanted) -> Result<RunWorkspace, Fault> {
        match self {
            Place::Folder { .. } => Ok(wanted.unchanged()),
            Place::Copy(copy) => repository::collect(hub, job, wanted, copy).await,
        }
    }
}
