//! The documents of the pack: their commands run, and their examples are valid.

use holdshort_cli::pack::Pack;
use holdshort_coach::Coach;
use holdshort_testkit::documents::{check_examples, run_commands};
use holdshort_tools::catalogue;

/// Documents of the pack whose commands and examples are tested.
const DOCUMENTS: &[&str] = &["packs/coach/docs/guide.md", "packs/coach/workflows/coach/README.md"];

#[tokio::test]
async fn commands_in_the_documents_run() {
    run_commands(DOCUMENTS).await;
}

#[test]
fn examples_in_the_documents_are_valid() {
    check_examples(DOCUMENTS, &catalogue(&[Coach.tools()]));
}
