use std::path::PathBuf;

use serde::Deserialize;

use super::service;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupParams {
    path: PathBuf,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("backup.create", |hub, actor, params: BackupParams| async move {
        service::back_up(&hub, &actor, params.path).await
    });
}
