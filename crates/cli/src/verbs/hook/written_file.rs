//! Comparison of a file that a tool has written with the approved content. A difference becomes an incident.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use holdshort_core::digest::Digest;
use holdshort_edges::hooks::Verdict;
use holdshort_http::secret_file;
use holdshort_protocol::{Code, Interrupt, InterruptStatus};
use serde_json::json;

use super::open_request::Asked;
use super::request::{self, Prepared};
use super::server::{Failure, persist};
use super::session::Session;
use super::state::Written;
use crate::limits::HOOK_FILE_READ_BYTES;

impl Session<'_> {
    pub(super) fn written(&self, prepared: &Prepared, asked: &Asked) -> Option<Written> {
        let (path, text) = prepared.after.as_ref()?;
        Some(Written {
            call_id: self.event.call_id.clone()?,
            interrupt: asked.interrupt.clone(),
            path: path.clone(),
            content: Digest::of_bytes(text.as_bytes()),
        })
    }

    /// Compares a file that a tool has written with the approved content. A difference becomes an incident.
    pub(super) async fn compare(&self) -> anyhow::Result<Verdict> {
        let Some(id) = &self.event.call_id else { return Ok(Verdict::NoOpinion) };
        let written = self.state.update(|state| {
            let at = state.written.iter().position(|written| written.call_id == *id)?;
            Some(state.written.remove(at))
        })?;
        let Some(written) = written else { return Ok(Verdict::NoOpinion) };
        let found = content(&written.path);
        if found == Some(written.content) {
            return Ok(Verdict::NoOpinion);
        }
        let shown = written.path.display();
        let facts = request::origin(self.cli, self.event, &self.root);
        let details = json!({
            "approved_in": written.interrupt,
            "approved_sha256": written.content,
            "found_sha256": found.map_or_else(|| "no readable file".to_owned(), String::from),
        });
        let run = self.run().await?;
        let ask = request::for_incident(&written.path, facts, &details, &run);
        let key = format!("hook-{}", Digest::of_json(&json!([self.name, "incident", id])));
        let end = self.end_of_patience();
        let opened = || self.server.post::<Interrupt>("/v1/interrupts", &key, &ask, Duration::ZERO);
        let incident = persist(end, opened).await?;
        self.state.update(|state| state.incidents.push(incident.id.clone()))?;
        let page = self.server.page(&incident.id);
        Ok(Verdict::Tell { text: format!("{shown} is not what was approved. A person decides at {page}.") })
    }

    /// Denies further calls after a person has ended the session because of an incident.
    pub(super) async fn ended_by_incident(&self) -> anyhow::Result<Option<Verdict>> {
        for incident in self.state.update(|state| state.incidents.clone())? {
            let path = format!("/v1/interrupts/{incident}");
            let found =
                persist(self.end_of_patience(), || self.server.get::<Interrupt>(&path, Duration::ZERO)).await;
            let resolved = match found {
                Ok(Interrupt { status: InterruptStatus::Open, .. }) => continue,
                Ok(interrupt) => interrupt.resolution,
                Err(Failure::Refused(problem)) if problem.code == Code::NotFound => None,
                Err(failure) => return Err(failure.into()),
            };
            if resolved.is_some_and(|resolved| resolved.option.as_deref() == Some("abort")) {
                let reason =
                    "A person ended this session after a file differed from what was approved. Stop.";
                return Ok(Some(Verdict::Deny { reason: reason.to_owned() }));
            }
            self.state.update(|state| state.incidents.retain(|other| *other != incident))?;
        }
        Ok(None)
    }
}

/// Returns the digest of a file. `None`: there is no such file, or it is too large.
fn content(path: &Path) -> Option<Digest> {
    let bytes = secret_file::bounded(File::open(path).ok()?, HOOK_FILE_READ_BYTES).ok()?;
    Some(Digest::of_bytes(&bytes))
}
