//! Tried commands, over the real binary: gates that ask about the changes of a trial, and changes that happen after a
//! person was asked and before the approval.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use crate::play::{command, done, last_told, one, play};
use crate::stopping::{is_gone, runs};

/// Returns a workflow with one agent that runs commands, with `trial: on` and the given gates.
fn gated(gates: &str) -> String {
    format!(
        "
name: solo
agents: {{solo: {{instructions: Work., tools: [run_command]}}}}
phases: [{{id: work, kind: one_shot, agent: solo}}]
gates:
  trial: on
{gates}"
    )
}

fn content(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

fn reasons(interrupt: &Value) -> Vec<String> {
    let reasons = interrupt["risk"]["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| reason["code"].as_str().unwrap().to_owned()).collect()
}

fn commands(interrupts: &[Value]) -> Vec<&str> {
    interrupts.iter().map(|it| it["payload"]["command"].as_str().unwrap()).collect()
}

/// Two commands that write the same file were both tried and approved. The second command is tried again, and a person
/// is asked again, because the first command changed the file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_commands_that_write_one_file_the_later_is_tried_and_asked_about_again() {
    let lines = ["echo one >> count.txt", "echo two >> count.txt"];
    let calls = Scripted::calls(lines.map(command));
    let (_model, server) = play(&gated(""), [calls, done()]).await;
    let workspace = server.workspace();
    let run = server.start_run("solo", "Count.").await;
    let open = server.wait_open(&run, 2).await;
    assert_eq!(commands(&open), lines);
    for card in &open {
        assert_eq!(card["payload"]["trial"]["changes"][0]["does"], "created", "{card:#}");
    }
    assert_eq!(content(&workspace, "count.txt"), "");
    // The second command is approved first, but waits for the first command.
    for card in [&open[1], &open[0]] {
        server.choose(card, "approve").await;
    }
    let anew = server.wait_one(&run).await;
    assert_eq!(anew["payload"]["command"], lines[1]);
    assert_ne!(anew["action_digest"], open[1]["action_digest"]);
    let change = &anew["payload"]["trial"]["changes"][0];
    assert_eq!((&change["path"], &change["does"]), (&json!("count.txt"), &json!("changed")));
    assert_eq!(content(&workspace, "count.txt"), "one\n");
    server.choose(&anew, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(content(&workspace, "count.txt"), "one\ntwo\n");
    assert_eq!(server.events_of(&run, "tool_tried").await.len(), 3);
    assert_eq!(server.events_of(&run, "tool_started").await.len(), 2);
}

/// Two commands write different files. The second is tried again after the first. Its changes still equal the approved
/// ones, so the approval stays valid.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_commands_that_write_two_files_both_stay_released() {
    let calls = Scripted::calls([command("echo one > one.txt"), command("echo two > two.txt")]);
    let (_model, server) = play(&gated(""), [calls, done()]).await;
    let run = server.start_run("solo", "Write.").await;
    for card in server.wait_open(&run, 2).await {
        server.choose(&card, "approve").await;
    }
    server.wait_status(&run, &["completed"]).await;
    // The page of a decided call shows the result, and no longer says that nothing has happened.
    for opened in server.events_of(&run, "interrupt_opened").await {
        let id = opened["data"]["interrupt"].as_str().unwrap();
        let page = server.request(Method::GET, &format!("/v1/receipts/{id}/page"));
        let page = page.send().await.unwrap().text().await.unwrap();
        assert!(page.contains("The call was carried out.") && !page.contains("happened yet"), "{page}");
        let shown = server.client_command().args(["show", id]).output().unwrap();
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(shown.contains("echo") && !shown.contains("happened yet"), "{shown}");
    }
    let workspace = server.workspace();
    let written = ["one.txt", "two.txt"].map(|name| content(&workspace, name));
    assert_eq!(written, ["one\n", "two\n"]);
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 2);
}

const PARALLEL: &str = "
name: solo
agents:
  planner: {instructions: Plan.}
  solo: {instructions: Work., tools: [run_command]}
phases:
  - {id: plan, kind: planning, agents: {planner: planner}}
  - {id: work, kind: control, agent: solo}
gates:
  trial: on
  plan: show
";

/// Two parallel steps write the same file. The command of the second step is tried again, and a person is asked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_steps_that_write_one_file_the_later_is_tried_and_asked_about_again() {
    let model = ScriptedModel::start().await;
    let subtask = |id: &str| json!({ "id": id, "description": format!("do {id}"), "depends_on": [] });
    let plan = json!({ "subtasks": [subtask("a"), subtask("b")] });
    model.script("planner", [Scripted::text(plan.to_string())]);
    model.script("solo", [one(command("echo x >> count.txt")), done()]);
    let server = TestServer::setup().workflow("solo", PARALLEL).model(&model).start().await;
    let run = server.start_run("solo", "Count.").await;
    for card in server.wait_open(&run, 2).await {
        server.choose(&card, "approve").await;
    }
    let anew = server.wait_one(&run).await;
    assert_eq!(anew["payload"]["trial"]["changes"][0]["does"], "changed", "{anew:#}");
    assert_eq!(server.lines("count.txt"), 1);
    server.choose(&anew, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 2);
}

/// If a person changed a file before the approval, nothing of the approved change is committed, and the person's text
/// stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_writes_before_the_release_stands() {
    let (_model, server) =
        play(&gated(""), [one(command("echo b > b.txt && echo agent >> notes.txt")), done()]).await;
    let workspace = server.workspace();
    fs::write(workspace.join("notes.txt"), "old\n").unwrap();
    let run = server.start_run("solo", "Note it.").await;
    let card = server.wait_one(&run).await;
    fs::write(workspace.join("notes.txt"), "by hand\n").unwrap();
    server.choose(&card, "approve").await;

    let anew = server.wait_one(&run).await;
    assert_ne!((&anew["id"], &anew["action_digest"]), (&card["id"], &card["action_digest"]));
    assert_eq!(content(&workspace, "notes.txt"), "by hand\n");
    assert!(!workspace.join("b.txt").exists());
    let changes = anew["payload"]["trial"]["changes"].to_string();
    assert!(changes.contains("by hand") && !changes.contains("\"old\""), "{changes}");
    server.choose(&anew, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(content(&workspace, "notes.txt"), "by hand\nagent\n");
    assert_eq!(content(&workspace, "b.txt"), "b\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_asks_about_deletions() {
    let rules = "  rules:
    - {tools: [run_command], deletes: 1, do: ask, reason: look at what goes}
    - {tools: [run_command], changes: ['**'], deletes: 9, do: allow}
";
    let lines = ["echo x > free.txt", "echo y > new.txt && rm old.txt"];
    let (_model, server) =
        play(&gated(rules), [one(command(lines[0])), one(command(lines[1])), done()]).await;
    let workspace = server.workspace();
    fs::write(workspace.join("old.txt"), "old").unwrap();
    let run = server.start_run("solo", "Tidy.").await;
    let asked = server.wait_one(&run).await;
    assert!(workspace.join("free.txt").exists());
    assert_eq!(asked["payload"]["command"], lines[1]);
    let of_rule = json!({ "source": "workflow", "code": "rule", "rule": 0, "text": "look at what goes" });
    assert!(asked["risk"]["reasons"].as_array().unwrap().contains(&of_rule), "{:#}", asked["risk"]);
    assert!(workspace.join("old.txt").exists() && !workspace.join("new.txt").exists());
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(!workspace.join("old.txt").exists() && workspace.join("new.txt").exists());
}

const ANYTHING: &str = "  rules: [{tools: [run_command], changes: ['**'], deletes: 9, do: allow}]\n";

/// The checkpoint `before_execution` asks a person before a command runs. With `trial: true`, the checkpoint asks about
/// the trial, even if the trial changed nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_execution_asks_before_the_trial_or_about_it() {
    for (mandatory, is_tried) in [("before_execution", false), ("{before_execution: {trial: true}}", true)] {
        let workflow = gated(&format!("  mandatory: [{mandatory}]\n{ANYTHING}"));
        let lines = ["echo x > out.txt", "sh -c 'echo nothing'"];
        let (_model, server) =
            play(&workflow, [one(command(lines[0])), one(command(lines[1])), done()]).await;
        let run = server.start_run("solo", "Run it.").await;
        for line in lines {
            let asked = server.wait_one(&run).await;
            assert_eq!(asked["payload"]["command"], line, "{mandatory}");
            assert_eq!(asked["position"], "before_execution", "{mandatory}");
            assert_eq!(asked["payload"]["trial"].is_object(), is_tried, "{mandatory}: {asked:#}");
            let tried = server.events_of(&run, "trial_started").await;
            assert_eq!(tried.is_empty(), !is_tried, "{mandatory}");
            server.choose(&asked, "approve").await;
        }
        server.wait_status(&run, &["completed"]).await;
        assert!(server.workspace().join("out.txt").exists());
    }
}

/// The checkpoint `before_file_edit` asks a person, whatever the rules allow. A command without changes is not an edit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_file_edit_asks_about_what_a_trial_changed() {
    let workflow = gated(&format!("  mandatory: [before_file_edit]\n{ANYTHING}"));
    let lines = ["sh -c 'echo nothing'", "sh -c 'echo x > out.txt'"];
    let (model, server) = play(&workflow, [one(command(lines[0])), one(command(lines[1])), done()]).await;
    let run = server.start_run("solo", "Edit.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["payload"]["command"], lines[1]);
    assert_eq!(asked["position"], "before_file_edit");
    assert!(reasons(&asked).contains(&"before_file_edit".to_owned()), "{:#}", asked["risk"]);
    assert_eq!(asked["payload"]["trial"]["changes"][0]["path"], "out.txt");
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(content(&server.workspace(), "out.txt"), "x\n");
    assert!(last_told(&model).contains("nothing\nexit code 0"));
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 1);
}

/// Command that changes different files in each run. The first and second run write in `src`, the third run deletes
/// there, and the fourth run also writes elsewhere.
const CHANGING: &str = "n=$(cat src/log | wc -l)
echo done >> src/log
[ $n = 2 ] && rm src/old
[ $n = 3 ] && echo x > outside.txt
true
";

/// A grant *for this session* covers commands of the same form that change only the same directory and delete nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_covers_changes_in_the_same_place_and_no_deletion() {
    let mut script = vec![one(command("sh tool.sh")); 5];
    script.push(done());
    let (_model, server) = play(&gated(""), script).await;
    let workspace = server.workspace();
    fs::create_dir(workspace.join("src")).unwrap();
    for (name, content) in [("tool.sh", CHANGING), ("src/log", ""), ("src/old", "old")] {
        fs::write(workspace.join(name), content).unwrap();
    }
    let run = server.start_run("solo", "Do it.").await;
    let first = server.wait_one(&run).await;
    let offered = first["options"].as_array().unwrap().iter().find(|it| it["id"] == "approve_session");
    let offered =
        offered.unwrap_or_else(|| panic!("no grant: {first:#}")).to_string() + &first["payload"].to_string();
    assert!(offered.contains("`src`") && offered.contains("delet"), "{offered}");
    server.choose(&first, "approve_session").await;

    // The grant covers the second run. The third run deletes a file, so it asks.
    let deletes = server.wait_one(&run).await;
    assert_eq!(server.lines("src/log"), 2);
    assert_eq!(deletes["payload"]["trial"]["deleted"], 1, "{deletes:#}");
    server.choose(&deletes, "approve").await;
    let leaves = server.wait_one(&run).await;
    assert_eq!(server.lines("src/log"), 3);
    let paths = leaves["payload"]["trial"]["changes"].to_string();
    assert!(paths.contains("outside.txt"), "{paths}");
    server.choose(&leaves, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("src/log"), 5, "the fifth one is covered again");
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 3);
}

/// An edited command is tried again, and its new card shows the new changes. The changes of the original command are
/// dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_is_edited_on_its_card_is_tried_again() {
    let (model, server) = play(&gated(""), [one(command("echo agent > agent.txt")), done()]).await;
    let workspace = server.workspace();
    let run = server.start_run("solo", "Write.").await;
    let card = server.wait_one(&run).await;
    let edit = json!({ "option": "edit", "edit": { "command": "echo person > person.txt" } });
    server.decide(&card, &edit).await.ok();
    let anew = server.wait_one(&run).await;
    assert_eq!(anew["payload"]["command"], "echo person > person.txt");
    assert_eq!(anew["payload"]["trial"]["changes"][0]["path"], "person.txt", "{anew:#}");
    assert_eq!(fs::read_dir(&workspace).unwrap().count(), 0, "nothing has happened yet");
    server.choose(&anew, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(workspace.join("person.txt").exists() && !workspace.join("agent.txt").exists());
    assert!(last_told(&model).contains("A person edited this call"), "{}", last_told(&model));
}

/// The person's text becomes the result that the agent reads, and the change is dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_gives_the_result_of_a_tried_command_instead() {
    let (model, server) = play(&gated(""), [one(command("echo x > out.txt")), done()]).await;
    let run = server.start_run("solo", "Write.").await;
    let card = server.wait_one(&run).await;
    server.decide(&card, &json!({ "option": "respond", "text": "it is written elsewhere" })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_dir(server.workspace()).unwrap().count(), 0);
    assert!(last_told(&model).contains("it is written elsewhere"), "{}", last_told(&model));
    assert_eq!(server.events_of(&run, "tool_started").await, [] as [Value; 0]);
}

/// Paths that do not fit on a decision page are counted next to the option that approves them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_page_counts_what_it_has_not_shown() {
    let line = "for i in $(seq 507); do echo x > f$i.txt; done";
    let (_model, server) = play(&gated(""), [one(command(line)), done()]).await;
    let run = server.start_run("solo", "Write.").await;
    let card = server.wait_one(&run).await;
    let path = format!("/v1/interrupts/{}/links", card["id"].as_str().unwrap());
    let made = server.post(&path, &json!({})).await.ok();
    let place = made["url"].as_str().unwrap().strip_prefix(server.base()).unwrap().to_owned();
    let page = server.request(Method::GET, &place).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("I allow what this page does not show."), "{page}");
    assert!(page.contains("Not shown here: 7 more paths."), "{page}");
}

/// The card names the limit that a trial reached. Each row contains the arguments, the text about the limit, and
/// whether the limit stopped the command.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_that_a_trial_meets_is_named_on_its_card_and_to_its_agent() {
    let table = [
        (json!({ "command": "echo x > out.txt; sleep 600", "timeout_s": 1 }), "killed after 1 s", true),
        (
            json!({ "command": "echo x > out.txt; for i in $(seq 600); do sleep 600 & done; wait" }),
            "killed: too many processes (more than 512)",
            true,
        ),
        (
            json!({ "command": "python3 -c 'bytearray(80 << 30)'" }),
            "the limit of 64 GiB of address space per process",
            false,
        ),
    ];
    let calls = table.iter().map(|(arguments, ..)| one(("run_command", arguments.clone())));
    let (model, server) = play(&gated(""), calls.chain([done()]).collect::<Vec<_>>()).await;
    let run = server.start_run("solo", "Do it.").await;
    for (arguments, words, is_stopped) in &table {
        let asked = server.wait_one(&run).await;
        let trial = &asked["payload"]["trial"];
        assert!(trial["output"].as_str().unwrap().contains(words), "{arguments}: {trial:#}");
        assert_eq!((trial["stopped"] == true, &trial["changes"]), (*is_stopped, &json!([])), "{arguments}");
        let tried = server.events_of(&run, "tool_tried").await;
        let last = &tried.last().unwrap()["data"];
        assert!(last["content"]["text"].as_str().unwrap().contains(words), "{arguments}: {last:#}");
        server.choose(&asked, "approve").await;
    }
    server.wait_status(&run, &["completed"]).await;
    for (_, words, _) in table {
        assert!(last_told(&model).contains(words), "{words}: {}", last_told(&model));
    }
    assert_eq!(fs::read_dir(server.workspace()).unwrap().count(), 0);
}

/// Returns the scratch directories of commands in the server's temporary directory.
fn scratch(server: &TestServer) -> BTreeSet<String> {
    let entries = fs::read_dir(server.data().parent().unwrap().join("tmp")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("holdshort-")).collect()
}

/// A trial leaves no files behind when it ends, reaches a limit, or is stopped. If its server is killed, the next start
/// removes the files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_trial_is_left_behind() {
    let waits = "echo x > out.txt; sleep 86413";
    let calls = [
        one(command("mkdir -p d/e; echo x > d/e/f; chmod 000 d")),
        one(("run_command", json!({ "command": waits, "timeout_s": 1 }))),
        one(command(waits)),
        one(command("echo x > out.txt; sleep 86414")),
        done(),
    ];
    let (_model, mut server) = play(&gated(""), calls).await;
    let run = server.start_run("solo", "Do it.").await;
    for _ in 0..2 {
        let asked = server.wait_one(&run).await;
        assert_eq!(scratch(&server), BTreeSet::new(), "{asked:#}");
        server.choose(&asked, "reject").await;
    }
    runs("86413").await;
    assert_eq!(scratch(&server).len(), 1);
    server.post(&format!("/v1/runs/{run}/calls/call_3/stop"), &json!({})).await.ok();
    runs("86414").await;
    let of_the_last = scratch(&server);
    assert_eq!(of_the_last.len(), 1, "only of the one that runs");

    server.kill();
    is_gone("86414").await;
    server.start().await;
    runs("86414").await;
    let now = scratch(&server);
    assert!(now.is_disjoint(&of_the_last), "{of_the_last:?} {now:?}");
    server.post(&format!("/v1/runs/{run}/calls/call_4/stop"), &json!({})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(scratch(&server), BTreeSet::new());
    assert_eq!(fs::read_dir(server.workspace()).unwrap().count(), 0);
}
