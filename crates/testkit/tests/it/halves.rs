//! A server that is aborted between two paths of a changeset, or after a commit to the journal. After the restart,
//! either all or none of the approved changes are in the workspace, and the command ran once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, aborting};
use reqwest::Method;
use serde_json::json;

use crate::aborts::play_each;
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

/// Command line that changes 48 paths in total: 28 created files, 12 changed files (of 40 written files), 4 deleted
/// files, a directory, a link, a mode, and a directory that becomes empty.
pub(crate) const LINE: &str = "mkdir made && for i in $(seq 28); do echo new > made/$i; done && \
                    for i in $(seq 12); do echo new >> kept$i; done && rm -r gone && ln -s kept1 link && chmod 700 kept13";
const PATHS: usize = 28 + 12 + 4 + 1 + 1 + 1 + 1;

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

fn differ(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> usize {
    let names: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    names.into_iter().filter(|name| one.get(*name) != other.get(*name)).count()
}

/// Returns the expected tree of files before the command and after the command, computed without a server.
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

/// Plays the scenario with one abort of the server, and approves the command when a person is asked. Returns true if
/// the abort happened.
async fn play_with(stop: Stop, before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> bool {
    let what = format!("{stop:?}");
    let (variable, n) = match stop {
        Stop::InChangeset(paths) => (ABORT_IN_CHANGESET, paths),
        Stop::AfterEvent(event) => (ABORT_AFTER, event),
    };
    let model = ScriptedModel::start().await;
    model.script("solo", vec![one(command(LINE)), done()]);
    let setup = TestServer::setup().program(aborting()).workflow("solo", WORKFLOW).model(&model);
    let mut server = setup.env(variable, &n.to_string()).stopped();
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
            match stop {
                // Check that the abort happened at the right path.
                Stop::InChangeset(paths) => assert_eq!(differ(before, &stands), paths, "{what}"),
                // An abort after an event happens before or after the whole commit of the changeset.
                Stop::AfterEvent(_) => {
                    let changed = differ(before, &stands);
                    assert!(changed == 0 || changed == PATHS, "{what}: {changed} paths");
                }
            }
            server.change(|setup| setup.env(variable, "0"));
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
    let count = |kind: &str| story.iter().filter(|line| *line == kind).count();
    // The crash interrupts a running trial or commit. The trial starts again, because it had no effect. The commit
    // continues with its next path.
    for (kind, lost) in [("trial_started", "trial_lost"), ("tool_started", "tool_lost")] {
        assert_eq!(count(kind) - count(lost), 1, "{what}: {kind}: {story:#?}");
        assert!(count(lost) <= 1, "{what}: {story:#?}");
    }
    for (kind, times) in [("tool_tried", 1), ("tool_finished", 1), ("unknown_outcome", 0)] {
        assert_eq!(count(kind), times, "{what}: {kind}: {story:#?}");
    }
    let ended = server.events_of(&run, "tool_finished").await;
    assert_eq!(ended[0]["data"]["end"], "done", "{what}: {ended:#?}");
    // The agent received one result for its one call.
    assert_eq!(
        model.requests().last().map(|last| last.texts().join("\n").matches("exit code 0").count()),
        Some(1),
        "{what}"
    );
    aborted
}

/// Point of the scenario at which the server is aborted.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// The server is aborted during the commit of the changeset, after this number of paths.
    InChangeset(usize),
    /// The server is aborted after the journal commit with this number. A journal commit contains one or several
    /// events.
    AfterEvent(usize),
}

/// Plays the scenario once for each point at which the server is aborted. Returns the number of points that were
/// reached.
async fn play_all(stops: impl Iterator<Item = Stop>) -> usize {
    let (before, after) = wanted();
    play_each(stops, async |stop| play_with(stop, &before, &after).await).await
}

/// If the server is aborted during a commit, the restarted server completes the commit. This test aborts after the
/// first path, after the last path, and after one path of each kind. The next test plays every stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_between_two_files_is_carried_on() {
    let stops = [1, 5, 19, 36, PATHS];
    assert_eq!(play_all(stops.into_iter().map(Stop::InChangeset)).await, stops.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_every_stop_of_a_commit() {
    assert_eq!(play_all((1..=PATHS).map(Stop::InChangeset)).await, PATHS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_after_any_event_is_carried_on() {
    const ENDLESS: usize = 100;
    let commits = play_all((1..ENDLESS).map(Stop::AfterEvent)).await;
    println!("aborted after each of {commits} commits");
    assert!((7..ENDLESS - 1).contains(&commits), "the run has {commits} commits");
}
