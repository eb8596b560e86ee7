//! Layers of runs are removed one day after the last event of an ended run.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, eventually};

use super::ClockedServer;
use crate::play::{command, done, one, write};
use crate::run_layers::{TRYING, fill};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_layer_of_a_run_is_removed_a_day_after_its_end() {
    let model = ScriptedModel::start().await;
    let setup = TestServer::setup().workflow("solo", TRYING).model(&model);
    let mut office = ClockedServer::open("2026-06-01T12:00:00Z", setup).await;
    fill(&office.server.workspace());
    let build = one(command("mkdir -p out && echo 1 > out/a"));
    model.script("solo", [build.clone(), done()]);
    let ended = office.server.start_run("solo", "Build it.").await;
    office.server.wait_status(&ended, &["completed"]).await;
    model.script("solo", [build, one(write("b.txt", "")), done()]);
    let waits = office.server.start_run("solo", "Build it, and ask.").await;
    office.server.wait_one(&waits).await;

    let layers = office.server.data().join("layers");
    let is_there = |run: &str| layers.join(run).join("files/out/a").exists();
    let unknown = layers.join("run_00000000000000000000000000");
    for (now, keeps_ended) in [("2026-06-02T11:50:00Z", true), ("2026-06-02T12:10:00Z", false)] {
        std::fs::create_dir_all(&unknown).unwrap();
        office.back_at(now).await;
        let look = async || (!unknown.exists() && is_there(&ended) == keeps_ended).then_some(());
        eventually(now, look).await;
        assert!(is_there(&waits), "{now}: the run has not ended");
    }
}
