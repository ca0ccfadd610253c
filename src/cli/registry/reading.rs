//! Documents as a hub would load them, with all that there is to say about them.

use std::path::Path;

use serde_json::{Value, json};
use stoa_registry::{Audience, Finding, Registry, files};

/// What is in a file or a folder.
#[derive(Default)]
pub(super) struct Reading {
    /// How many files were looked at.
    pub(super) documents: usize,
    /// One for each audience, as far as its documents are valid together.
    pub(super) registries: Vec<Registry>,
    pub(super) faults: Vec<Finding>,
    pub(super) warnings: Vec<Finding>,
}

impl Reading {
    /// Reads for one audience, as a hub does, or for each that is found.
    pub(super) fn of(path: &Path, audience: Option<Audience>) -> Self {
        let mut reading = Self::default();
        let files = match files::list(path) {
            Ok(files) => files,
            Err(fault) => {
                reading.faults.push(fault);
                return reading;
            }
        };
        let is_folder = path.is_dir();
        let about_folder =
            |message: String| Finding { file: Some(path.display().to_string()), pointer: String::new(), message };
        let mut documents = Vec::new();
        for file in files {
            reading.documents += 1;
            match files::read_document(&file) {
                Ok(document) => documents.push((file.display().to_string(), document)),
                Err(faults) => reading.faults.extend(faults),
            }
        }
        if reading.documents == 0 {
            reading.warnings.push(about_folder("there are no documents (*.json) in the folder".to_owned()));
        } else if reading.faults.is_empty()
            && let Some(audience) = audience.filter(|_| is_folder)
            && !documents.iter().any(|(_, document)| document.audience() == audience)
        {
            reading.warnings.push(about_folder(format!("the folder has no document for {audience}")));
        }
        for wanted in Audience::ALL.into_iter().filter(|wanted| audience.is_none_or(|only| only == *wanted)) {
            // A file that is named must be for the audience that is; in a folder the others are somebody else's.
            let is_taken = |found: Audience| found == wanted || (audience.is_some() && !is_folder);
            let (taken, rest): (Vec<_>, Vec<_>) =
                documents.into_iter().partition(|(_, document)| is_taken(document.audience()));
            documents = rest;
            if taken.is_empty() {
                continue;
            }
            let warnings: Vec<_> = taken.iter().flat_map(|(_, document)| document.warnings().to_vec()).collect();
            match Registry::new(wanted, taken) {
                Ok(registry) => {
                    reading.warnings.extend_from_slice(registry.warnings());
                    reading.registries.push(registry);
                }
                Err(faults) => {
                    reading.faults.extend(faults);
                    reading.warnings.extend(warnings);
                }
            }
        }
        reading
    }
}

pub(super) fn findings_as_json(findings: &[Finding]) -> Value {
    findings
        .iter()
        .map(|finding| json!({"file": finding.file, "pointer": finding.pointer, "message": finding.message}))
        .collect()
}
