//! Invalid content in the database stops the start. The advice is about the database, not about the data folder.

use holdshort_testkit::model::ScriptedModel;

use super::{database, setup, sql};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_database_is_told_apart_from_a_broken_folder() {
    let url = database().await;
    let mut node = setup(&ScriptedModel::start().await).database(&url, "a").start().await;
    let token = node.token().to_owned();
    node.stop().await;
    let way_out = "DELETE FROM agreed WHERE name = 'tokens'";
    sql(&url, "UPDATE agreed SET value = 'one' WHERE name = 'tokens'").await;
    node.try_start().await.unwrap_err();
    assert!(node.stderr().contains(way_out), "{}", node.stderr());
    sql(&url, way_out).await;
    node.start().await;
    assert_eq!(node.token(), token);

    node.stop().await;
    sql(&url, "UPDATE meta SET value = -1 WHERE name = 'version'").await;
    node.try_start().await.unwrap_err();
    assert!(node.stderr().contains("Restore the database from a backup"), "{}", node.stderr());
}
