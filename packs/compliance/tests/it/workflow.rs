//! The shipped compliance workflow: the files of its folder, and a rehearsal script that plays to its end.

use std::path::Path;

use holdshort_cli::pack::Pack;
use holdshort_compliance::Compliance;
use holdshort_testkit::shipped;

#[test]
fn the_texts_are_the_folder() {
    for workflow in Compliance.workflows() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows");
        shipped::hold(workflow, &folder, Compliance.tools());
    }
}

#[tokio::test]
async fn the_script_plays() {
    for workflow in Compliance.workflows() {
        shipped::play(workflow).await;
    }
}
