//! Tests of the documents: runs each `sh` block against a real server, and validates each YAML example.

use holdshort_testkit::documents::{check_examples, root, run_commands};

/// Documents with commands or examples for readers to copy.
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
    "docs/guides/copilot.md",
    "docs/guides/gates.md",
    "docs/guides/hooks.md",
    "docs/guides/keys.md",
    "docs/guides/mcp.md",
    "docs/guides/people.md",
    "docs/guides/plans.md",
    "docs/guides/questions.md",
    "docs/guides/sessions.md",
    "docs/guides/long-sessions.md",
    "docs/reference/edges/codelab.md",
    "docs/reference/edges/mars.md",
    "docs/reference/receipts.md",
    "workflows/codelab/README.md",
    "workflows/copilot/README.md",
    "workflows/pair/README.md",
    "workflows/research/README.md",
];

pub(crate) fn json_of(page: &str, part: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(root().join(page)).expect(page);
    let from = text.find(part).unwrap_or_else(|| panic!("no part `{part}`"));
    let rest = &text[from + part.len()..];
    let part = &rest[..rest.find("\n## ").unwrap_or(rest.len())];
    let blocks = part.split("```json\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.map(|block| serde_json::from_str(block).expect(block)).collect()
}

#[tokio::test]
async fn commands_in_the_documents_run() {
    let ran = run_commands(DOCUMENTS).await;
    assert!(ran >= 3, "only {ran} blocks ran");
}

#[test]
fn examples_in_the_documents_are_valid() {
    let checked = check_examples(DOCUMENTS, &holdshort_tools::catalogue(&[]));
    assert!(checked >= 2, "only {checked} examples were checked");
}

/// The timeline in the browser has a label for each type of event in a run.
#[test]
fn every_event_of_a_run_has_a_label_in_the_browser() {
    let texts = std::fs::read_to_string(root().join("ui/src/texts/en-timeline.ts")).expect("the words");
    let [of_runs, ..] = holdshort_core::event::types();
    assert!(of_runs.len() > 80, "{of_runs:?}");
    let missing: Vec<_> =
        of_runs.into_iter().filter(|kind| !texts.contains(&format!("\"run.event.{kind}\": "))).collect();
    assert!(missing.is_empty(), "no `run.event.…` for {missing:?}");
}
