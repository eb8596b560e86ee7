//! The files that a compliance run writes: the released report as text and as a page, its findings, and a summary.

use std::path::Path;

use anyhow::{Context as _, ensure};
use holdshort_cli::kit::folder::{self, SUMMARY, put};
use holdshort_cli::kit::{Client, REHEARSAL};
use holdshort_core::digest::Digest;
use holdshort_presentation::Document;
use holdshort_protocol::{Event, Run};
use serde_json::{Value, json};

use crate::casework::as_file;

/// Name of the tool whose result is the compliance report.
const TOOL: &str = "case_review";
const TEXT: &str = "report.md";
const PAGE: &str = "report.html";
const FINDINGS: &str = "findings.json";
const NAMES: [&str; 4] = [TEXT, PAGE, FINDINGS, SUMMARY];

/// Returns an error if the output folder contains a file with the name of a result that no run has written. Such a file
/// is never overwritten.
pub(super) fn check(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    let own = folder::find_unmanaged_files(folder, &NAMES).map_err(|error| format!("{shown}: {error}"))?;
    if own.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{shown} contains {}, which no earlier run wrote: move it away, or choose another folder with \
         --output-dir DIR",
        own.join(", ")
    ))
}

/// The released report of a compliance run, read from the journal.
#[derive(Debug, Default)]
struct Released {
    call: String,
    text: Option<String>,
    details: Value,
    /// Digest of the report's text that the reviewer was shown. `None` if the report was released without a review.
    held: Option<String>,
    digest: Option<String>,
    edited: bool,
    interrupt: String,
    by: Value,
    at: Value,
}

/// Writes the files of the compliance report. Returns the file names.
pub(super) async fn save(client: &Client, run: &Run, folder: &Path) -> anyhow::Result<Vec<String>> {
    check(folder).map_err(anyhow::Error::msg)?;
    let released = read(client, run).await?;
    let text = released.text.as_deref().filter(|text| !text.is_empty()).context("the run has no report")?;
    let digest = Digest::of_bytes(text.as_bytes()).to_string();
    // If the report was reviewed, the written text must be the released text. If the reviewer did not edit it, it must
    // also be the text that the reviewer saw.
    if let Some(shown) = &released.held {
        ensure!(
            released.digest.as_ref() == Some(&digest),
            "the text of the report differs from the released text"
        );
        ensure!(
            released.edited || *shown == digest,
            "the text of the report differs from the text that the reviewer saw"
        );
    }
    let findings = as_file(&released.details);
    let page = Document {
        title: "Compliance report".to_owned(),
        byline: format!("{TEXT}, SHA-256 {digest}"),
        text: without_title(text).to_owned(),
        is_rehearsal: run.config.model.as_deref() == Some(REHEARSAL),
    };
    let written: Vec<String> = NAMES.map(str::to_owned).to_vec();
    folder::clear(folder, &NAMES, &written)?;
    // The summary is written first. It lists the files of this run, even if the write of a later file fails.
    let summary = summary(run, &released, &digest, &findings, &written);
    put(folder, SUMMARY, &format!("{}\n", serde_json::to_string_pretty(&summary)?))?;
    for (name, text) in [(TEXT, text), (FINDINGS, &findings), (PAGE, &page.html())] {
        put(folder, name, text)?;
    }
    Ok(written)
}

/// Removes the title from the report's text, because the page has its own title.
fn without_title(text: &str) -> &str {
    text.strip_prefix("# Compliance report\n").unwrap_or(text)
}

async fn read(client: &Client, run: &Run) -> anyhow::Result<Released> {
    let mut released = Released::default();
    client.each_event(&run.id, |event| released.event(event)).await?;
    Ok(released)
}

impl Released {
    fn event(&mut self, event: &Event) {
        let data = &event.data;
        let text = |key: &str| data[key].as_str().unwrap_or_default().to_owned();
        let is_ours = !self.call.is_empty() && text("call") == self.call;
        match &*event.kind {
            "call_made" if data["tool"] == TOOL => self.call = text("call"),
            "result_held" if is_ours => self.held = Some(text("digest")),
            "interrupt_opened" if data["about"]["call"] == *self.call && data["kind"] == "review" => {
                self.interrupt = text("interrupt");
            }
            "decision_made" if text("interrupt") == self.interrupt => {
                self.by = event.actor.id.clone().into();
                self.at = event.at.clone().into();
            }
            "output_released" if is_ours => {
                self.digest = Some(text("digest"));
                self.edited = data["edited"] == true;
            }
            "tool_finished" if is_ours && data["end"] == "done" => {
                self.text = data["content"]["text"].as_str().map(str::to_owned);
                self.details = data["content"]["data"]["report"]["details"].clone();
            }
            _ => {}
        }
    }
}

fn summary(run: &Run, released: &Released, digest: &str, findings: &str, files: &[String]) -> Value {
    let details = &released.details;
    let count = details["findings"].as_array().map_or(0, Vec::len);
    let rest =
        details["not_listed"].as_object().into_iter().flatten().filter_map(|(_, count)| count.as_u64());
    let held = released.held.is_some();
    json!({
        "execution_id": run.id,
        "workflow": run.workflow,
        "status": run.status,
        "as_of": details["as_of"],
        "risk_percent": details["risk_percent"],
        "gravity": details["gravity"],
        "findings": count as u64 + rest.sum::<u64>(),
        "held_because": details["held_because"],
        "released": {
            "held_back": held,
            "interrupt": held.then_some(&released.interrupt),
            "by": released.by,
            "at": released.at,
            "edited": released.edited,
        },
        "report_sha256": digest,
        "findings_sha256": Digest::of_bytes(findings.as_bytes()).to_string(),
        "rehearsal": run.config.model.as_deref() == Some(REHEARSAL),
        "total_tokens": run.usage.as_ref().map(|usage| usage.input_tokens + usage.output_tokens),
        "files_generated": files,
    })
}
