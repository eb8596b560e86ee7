//! The scripts of the shipped workflows play to their end, no matter what the tools return.

use holdshort_workflow::shipped;

#[tokio::test]
async fn every_shipped_script_plays() {
    for workflow in shipped() {
        holdshort_testkit::shipped::play(workflow).await;
    }
}
