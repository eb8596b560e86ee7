//! The documents keep their word: every `sh` block runs against a real server, every YAML example is valid.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdshort_core::system::people::{Deciders, People};
use holdshort_testkit::server::{TestServer, real};

/// Documents with commands or examples that people copy.
const DOCUMENTS: &[&str] = &[
    "README.md",
    "docs/workflows.md",
    "docs/sandbox.md",
    "docs/external-agents.md",
    "docs/browser.md",
    "docs/events.md",
    "docs/nodes.md",
    "docs/guides/channels.md",
    "docs/guides/chat.md",
    "docs/guides/coach.md",
    "docs/guides/copilot.md",
    "docs/guides/gates.md",
    "docs/guides/keys.md",
    "docs/guides/people.md",
    "docs/guides/plans.md",
    "docs/guides/questions.md",
    "docs/guides/sessions.md",
    "docs/guides/long-sessions.md",
    "docs/reference/edges/codelab.md",
    "docs/reference/edges/mars.md",
    "docs/reference/receipts.md",
    "workflows/coach/README.md",
    "workflows/codelab/README.md",
    "workflows/copilot/README.md",
    "workflows/pair/README.md",
    "workflows/research/README.md",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// The JSON of one part of a page.
pub(crate) fn json_of(page: &str, part: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(root().join(page)).expect(page);
    let from = text.find(part).unwrap_or_else(|| panic!("no part `{part}`"));
    let rest = &text[from + part.len()..];
    let part = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    let blocks = part.split("```json\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.map(|block| serde_json::from_str(block).expect(block)).collect()
}

/// The blocks of one language, with their line.
fn blocks(document: &str, language: &str) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(root().join(document)).expect(document);
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut inside = None;
    for (number, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), inside) {
            (Some(_), Some(_)) => inside = None,
            (Some(named), None) => {
                inside = Some(named == language);
                if named == language {
                    found.push((number + 1, String::new()));
                }
            }
            (None, Some(true)) => {
                if let Some((_, block)) = found.last_mut() {
                    block.push_str(line);
                    block.push('\n');
                }
            }
            (None, Some(false) | None) => {}
        }
    }
    found
}

#[tokio::test]
async fn commands_in_the_documents_run() {
    let server = TestServer::setup().start().await;
    let bin = real().parent().expect("a folder").to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut ran = 0;
    for document in DOCUMENTS {
        for (line, block) in blocks(document, "sh") {
            let folder = tempfile::tempdir().expect("a folder");
            let output = Command::new("sh")
                .args(["-e", "-c", &block])
                .current_dir(root())
                .env_clear()
                .env("PATH", &path)
                .env("HOME", folder.path())
                .env("TMPDIR", folder.path())
                .env("HOLDSHORT_URL", server.base())
                .env("HOLDSHORT_SERVER", server.base())
                .env("HOLDSHORT_TOKEN", server.token())
                .env("HOLDSHORT_AGENT_TOKEN", server.agent_token())
                .stdin(Stdio::null())
                .output()
                .expect("sh");
            // 4: left waiting, as it must where nobody sits at a terminal.
            let ok = matches!(output.status.code(), Some(0 | 4));
            assert!(
                ok,
                "{document}:{line}: {}\n{block}\n{}{}",
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            ran += 1;
        }
    }
    assert!(ran >= 3, "only {ran} blocks ran");
}

#[test]
fn examples_in_the_documents_are_valid() {
    let mut checked = 0;
    for document in DOCUMENTS {
        // Those whom an example of the same page names.
        let mut deciders = Deciders::local();
        for (line, block) in blocks(document, "yaml") {
            let problems = if block.starts_with("people:") {
                let read = holdshort_workflow::people_file::parse(document, &block);
                read.map(|people| deciders = People::listed(&people).deciders()).err()
            } else if block.starts_with("channels:") {
                holdshort_workflow::channels_file::parse(document, &block).err()
            } else if block.starts_with("name:") {
                let catalogue = holdshort_tools::catalogue();
                holdshort_workflow::parse_for(document, &block, &catalogue, &deciders).err()
            } else {
                holdshort_workflow::rehearsal::parse(document, &block).err()
            };
            assert!(problems.is_none(), "{document}:{line}: {problems:#?}");
            checked += 1;
        }
    }
    assert!(checked >= 2, "only {checked} examples were checked");
}

/// The timeline of a run names each of its events in words.
#[test]
fn every_event_of_a_run_has_a_label_in_the_browser() {
    let texts = std::fs::read_to_string(root().join("ui/src/texts/en-later.ts")).expect("the words");
    let [of_runs, ..] = holdshort_core::event::types();
    assert!(of_runs.len() > 80, "{of_runs:?}");
    let missing: Vec<_> =
        of_runs.into_iter().filter(|kind| !texts.contains(&format!("\"run.event.{kind}\": "))).collect();
    assert!(missing.is_empty(), "no `run.event.…` for {missing:?}");
}
