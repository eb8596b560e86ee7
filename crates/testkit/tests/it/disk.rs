//! A full disk causes a typed error and no partial writes. Work continues when the disk has space again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::json;

use crate::play::{SOLO, count, done, one};

/// Small file system that is unmounted on drop.
struct Small(tempfile::TempDir);

impl Small {
    /// Mounts a small file system. Returns `None` if this user lacks the permission to mount.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=3m", "holdshort-test"]).arg(folder.path());
        mount.output().is_ok_and(|output| output.status.success()).then(|| Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Fills the remaining space of the small file system with a file. Returns the path of that file.
    fn fill(&self) -> PathBuf {
        let filler = self.path().join("filler");
        let mut size = 1 << 20;
        let mut held = Vec::new();
        while size >= 512 {
            let before = held.len();
            held.resize(before + size, 0);
            if fs::write(&filler, &held).is_err() {
                held.truncate(before);
                size /= 2;
            }
        }
        // The write is larger than the free space, so a partial write uses up all of that space.
        drop(fs::write(&filler, vec![0; held.len() + 4096]));
        filler
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(self.path()).output());
    }
}

#[tokio::test]
async fn a_full_disk_is_told_and_tears_nothing() {
    let Some(small) = Small::mount() else {
        eprintln!("not tested here: this user may not mount a file system");
        return;
    };
    let data = small.path().join("data");
    fs::create_dir(&data).unwrap();
    let model = ScriptedModel::start().await;
    model.script("solo", [one(count("one")), done()]);
    let mut server = TestServer::setup().workflow("solo", SOLO).model(&model).data(&data).start().await;
    let run = server.start_run("solo", "count").await;
    let shown = server.wait_one(&run).await;
    let before = server.events(&run).await;

    let filler = small.fill();
    let mut refused = None;
    // The last pages of the log may still have room, so the first appends may succeed.
    for _ in 0..200 {
        let answer =
            server.post(&format!("/v1/runs/{run}/messages"), &json!({"text": "x".repeat(2000)})).await;
        if answer.status != 200 && answer.status != 202 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("the disk is full");
    assert_eq!(refused.refusal(), (507, "disk_full"), "{refused:#?}");
    let full = server.events(&run).await;
    assert_eq!(full[..before.len()], before);
    let decided = server.decide(&shown, &json!({"option": "approve"})).await;
    assert_eq!(decided.refusal(), (507, "disk_full"));
    let ready = server.get("/readyz").await;
    assert_eq!(ready.refusal(), (503, "store_failed"));
    assert!(ready.body["detail"].as_str().unwrap().contains("the disk is full"), "{ready:#?}");
    assert_eq!((server.lines("count.txt"), server.wait_one(&run).await), (0, shown.clone()));

    fs::remove_file(filler).unwrap();
    eventually("it is ready", async || (server.get("/readyz").await.status == 200).then_some(())).await;
    server.choose(&shown, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
    server.restart().await;
    server.events(&run).await;
    server.kill();
}
