//! Checks the documentation: runs all `sh` blocks against a real server, and validates all YAML examples.
//!
//! Paths of documents are relative to the root of the repository.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use holdshort_core::people::{Deciders, People};
use holdshort_core::tool::Spec;

use crate::server::{TestServer, real};

/// Returns the root directory of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project")
}

/// Returns the code blocks of a document in a language, each with the number of the line at which it begins.
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

/// Runs the `sh` blocks of these documents, and returns how many blocks were run.
pub async fn run_commands(documents: &[&str]) -> usize {
    let server = TestServer::setup().start().await;
    let bin = real().parent().expect("a folder").to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut ran = 0;
    for document in documents {
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
            // Exit code 4 means that the run waits for a person, as expected without a terminal.
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
    ran
}

/// Parses the YAML examples of these documents, and returns how many examples there are. The examples may use the tools
/// in `catalogue`.
pub fn check_examples(documents: &[&str], catalogue: &[Spec]) -> usize {
    let mut checked = 0;
    for document in documents {
        // A people file in an example defines the people for all later examples of the document.
        let mut deciders = Deciders::local();
        for (line, block) in blocks(document, "yaml") {
            let problems = if block.starts_with("people:") {
                let read = holdshort_workflow::people_file::parse(document, &block);
                read.map(|people| deciders = People::listed(&people).deciders()).err()
            } else if block.starts_with("channels:") {
                holdshort_workflow::channels_file::parse(document, &block).err()
            } else if block.starts_with("name:") {
                holdshort_workflow::parse_for(document, &block, catalogue, &deciders).err()
            } else {
                holdshort_workflow::rehearsal::parse(document, &block).err()
            };
            assert!(problems.is_none(), "{document}:{line}: {problems:#?}");
            checked += 1;
        }
    }
    checked
}
