//! A command whose changes are committed path by path, and a server that aborts between two of them, or after an event:
//! afterwards the workspace is wholly as it was or wholly as released, and the command ran once.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, aborting};
use reqwest::Method;
use serde_json::json;

use crate::demo::ABORT_AFTER;
use crate::play::{command, done, one};

pub(crate) const ABORT_IN_CHANGESET: &str = "HOLDSHORT_ABORT_IN_CHANGESET";

pub(crate) const WORKFLOW: &str = "
name: solo
agents:
  solo: {instructions: Work., tools: [run_command, write_file, edit_file]}
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  trial: on
";

/// 20 files are made, 12 changed, 4 deleted; with a folder, a link, a mode and an emptied folder there are 40 paths.
pub(crate) const LINE: &str = "mkdir made && for i in $(seq 20); do echo new > made/$i; done && \
                    for i in $(seq 12); do echo new >> kept$i; done && rm -r gone && ln -s kept1 link && chmod 700 kept13";
const PATHS: usize = 20 + 12 + 4 + 1 + 1 + 1 + 1;

pub(crate) fn fill(workspace: &Path) {
    for i in 1..=13 {
        fs::write(workspace.join(format!("kept{i}")), "old\n").unwrap();
        fs::set_permissions(workspace.join(format!("kept{i}")), fs::Permissions::from_mode(0o644)).unwrap();
    }
    fs::create_dir(workspace.join("gone")).unwrap();
    for i in 1..=4 {
        fs::write(workspace.join(format!("gone/{i}")), "old\n").unwrap();
    }
}

/// Each path with its mode and content.
pub(crate) fn tree(folder: &Path) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, tree: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stat = path.symlink_metadata().unwrap();
            let content = if stat.is_symlink() {
                format!("to {}", fs::read_link(&path).unwrap().display())
            } else if stat.is_dir() {
                walk(root, &path, tree);
                "a folder".to_owned()
            } else {
                fs::read_to_string(&path).unwrap()
            };
            let name = path.strip_prefix(root).unwrap().display().to_string();
            tree.insert(name, format!("{:o} {content}", stat.permissions().mode() & 0o777));
        }
    }
    let mut all = BTreeMap::new();
    walk(folder, folder, &mut all);
    all
}

/// In how many paths two trees differ.
fn differ(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> usize {
    let names: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).count()
}

/// What the command does where nothing stands between.
fn wanted() -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let before = tree(folder.path());
    let ran = std::process::Command::new("sh").args(["-c", LINE]).current_dir(folder.path()).status();
    assert!(ran.unwrap().success());
    let after = tree(folder.path());
    assert_eq!(differ(&before, &after), PATHS);
    (before, after)
}

/// Plays with one abort, released as soon as somebody is asked; `abort`: of which variable, after how many. Whether it came.
async fn play_with(
    abort: (&str, usize),
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> bool {
    let what = format!("{} = {}", abort.0, abort.1);
    let model = ScriptedModel::start().await;
    model.script("solo", vec![one(command(LINE)), done()]);
    let setup = TestServer::setup().program(aborting()).workflow("solo", WORKFLOW).model(&model);
    let mut server = setup.env(abort.0, &abort.1.to_string()).stopped();
    fill(&server.workspace());
    server.start().await;
    let (mut run, mut aborted) = (None::<String>, false);
    for _ in 0..2_000 {
        let answer = match &run {
            None => {
                let request = server.request(Method::POST, "/v1/runs").header("idempotency-key", "the run");
                server.try_send(request.json(&server.run_body("solo", "Do it."))).await
            }
            Some(run) => server.try_send(server.request(Method::GET, &format!("/v1/runs/{run}"))).await,
        };
        let Some(answer) = answer else {
            assert!(!aborted, "{what}: it ended again\n{}", server.stderr());
            server.wait_until_ended().await;
            aborted = true;
            let stands = tree(&server.workspace());
            if abort.0 == ABORT_IN_CHANGESET {
                // The abort came where it should.
                assert_eq!(differ(before, &stands), abort.1, "{what}");
            }
            server.change(|setup| setup.env(abort.0, "0"));
            server.start().await;
            continue;
        };
        let at = answer.ok();
        run.get_or_insert_with(|| at["id"].as_str().unwrap().to_owned());
        if ["completed", "failed", "cancelled"].iter().any(|status| at["status"] == **status) {
            assert_eq!(at["status"], "completed", "{what}: {at:#}");
            break;
        }
        for id in at["open_interrupts"].as_array().into_iter().flatten() {
            assert_eq!(
                differ(before, &tree(&server.workspace())),
                0,
                "{what}: nothing happens before the release"
            );
            let path = format!("/v1/interrupts/{}/decisions", id.as_str().unwrap());
            let decide = server.request(Method::POST, &path).json(&json!({ "option": "approve" }));
            drop(server.try_send(decide).await);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let run = run.expect("a run");
    let story = server.story(&run).await;
    assert_eq!(differ(after, &tree(&server.workspace())), 0, "{what}: {story:#?}");
    let kinds = |kind: &str| story.iter().filter(|line| line.contains(kind)).count();
    assert_eq!(kinds("tool_tried"), 1, "{what}: {story:#?}");
    assert_eq!(kinds("unknown_outcome"), 0, "{what}: {story:#?}");
    aborted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_between_two_files_is_carried_on() {
    let (before, after) = wanted();
    for changed in [1, 5, 17, PATHS] {
        assert!(play_with((ABORT_IN_CHANGESET, changed), &before, &after).await, "{changed} paths: no abort");
    }
}

/// All of them; a minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: CONTRIBUTING.md"]
async fn an_abort_between_any_two_files_and_after_any_event_is_carried_on() {
    let (before, after) = wanted();
    for changed in 1..=PATHS {
        assert!(play_with((ABORT_IN_CHANGESET, changed), &before, &after).await, "{changed} paths: no abort");
    }
    let mut events = 0;
    while play_with((ABORT_AFTER, events + 1), &before, &after).await {
        events += 1;
    }
    println!("aborted after each of {PATHS} paths and {events} commits");
    assert!(events > 6, "the run has {events} commits only");
}
