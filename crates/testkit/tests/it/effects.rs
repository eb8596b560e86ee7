//! The sandbox enforces the effect on which a gate based its decision. Tests an attack on `pair`, and commands that
//! need more than their effect allows.

use std::fs;
use std::path::Path;
use std::process::Command;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use crate::play::{command, done, last_told, one, play, write};

/// Runs git in a folder as the person would, outside of the sandbox.
fn git(folder: &Path, arguments: &[&str]) {
    let ran = Command::new("git")
        .args(["-c", "user.name=p", "-c", "user.email=p@example.org"])
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .output();
    assert!(ran.unwrap().status.code().is_some());
}

fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Without approval, a grant for `touch` and five harmless-looking texts run no code, and they leave nothing that the
/// person's own git would run. An earlier version of Holdshort failed here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_and_five_texts_run_nothing() {
    let config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = touch pwned;\n\
                  \tpager = touch pwned;\n[diff]\n\texternal = touch pwned;\n[alias]\n\tst = !touch pwned\n";
    let texts = [
        ("x/HEAD", "ref: refs/heads/main\n"),
        ("x/config", config),
        ("x/objects/info/packs", "\n"),
        ("x/run.sh", "touch pwned\ncp x/config .git/config\n"),
        ("x/refs/heads/main", "\n"),
    ];
    let lines = [
        "touch x/index",
        "git status --short",
        "git diff",
        "git log --oneline -1",
        "git --git-dir=x diff",
        "git --bare log -1",
        "cd x && git --bare diff",
        "cd x && git status",
        "git -C x diff --ext-diff",
        "git diff --no-index --ext-diff a.txt x/HEAD",
        "touch .git/hooks/post-checkout x/hooks",
        "touch a && sh x/run.sh",
        "git -c core.fsmonitor='touch pwned;' status",
    ];
    let model = ScriptedModel::start().await;
    let mut steps = vec![one(command("touch first"))];
    steps.extend(texts.map(|(path, text)| one(write(path, text))));
    steps.extend(lines.map(|line| one(command(line))));
    steps.push(one(("finish", json!({ "summary": "I looked around." }))));
    model.script("pair", steps);
    let server = TestServer::setup().model(&model).start().await;
    let workspace = server.workspace();
    fs::write(workspace.join("a.txt"), "a\n").unwrap();
    git(&workspace, &["init", "-q", "."]);
    git(&workspace, &["add", "a.txt"]);
    git(&workspace, &["commit", "-qm", "one"]);
    let before = fs::read(workspace.join(".git/config")).unwrap();

    let run = server.start_run("pair", "Look around.").await;
    let mut asked = Vec::new();
    loop {
        let at = server.wait_status(&run, &["waiting", "completed", "failed"]).await;
        if at["status"] != "waiting" {
            assert_eq!(at["status"], "completed", "{at:#}");
            break;
        }
        for interrupt in server.open(&run).await {
            let title = interrupt["title"].as_str().unwrap().to_owned();
            let option = match title.as_str() {
                "run_command: touch first (changes 1 file)" => "approve_session",
                title if title.starts_with("write_file") => "approve",
                _ if interrupt["kind"] == "continuation" => "continue",
                // Every other request is rejected, because nothing may run without the person's approval.
                _ => "reject",
            };
            let line = interrupt["payload"]["command"].as_str().unwrap_or(&title).to_owned();
            let changes = interrupt["payload"]["trial"]["changes"].to_string();
            asked.push((line, interrupt["risk"]["reasons"].to_string(), changes));
            server.choose(&interrupt, option).await;
        }
    }
    // The card warns when the texts together form a git repository.
    let asked_of = |what: &str| asked.iter().find(|(line, ..)| line == what);
    let last_text = asked_of("write_file: x/refs/heads/main").unwrap();
    assert!(last_text.1.contains("bare_repository"), "{last_text:?}");
    // Before a command takes effect, its card shows the code that the command would run, or the git settings that it
    // would write.
    for (line, shows) in [
        ("touch a && sh x/run.sh", r#""path":".git/config""#),
        ("touch a && sh x/run.sh", r#""path":"pwned""#),
        ("touch .git/hooks/post-checkout x/hooks", r#""path":".git/hooks/post-checkout""#),
        ("git -c core.fsmonitor='touch pwned;' status", r#""path":"pwned""#),
    ] {
        let (_, reasons, changes) = asked_of(line).unwrap_or_else(|| panic!("{line}: {asked:#?}"));
        assert!(changes.contains(shows), "{line}: {changes}");
        assert!(!shows.contains(".git/") || reasons.contains("guarded_path"), "{line}: {reasons}");
    }
    // The trials of calls that needed no approval changed nothing.
    let tried = server.events_of(&run, "tool_tried").await;
    let changing = tried.iter().filter(|event| event["data"]["changed"] != 0).count();
    let of_commands =
        asked.iter().filter(|(line, ..)| line == "touch first" || lines.contains(&&**line)).count();
    assert!(changing <= of_commands + 1, "{changing} tries changed something: {asked:#?}");
    // The person later runs these git commands.
    for arguments in [&["status"][..], &["diff"], &["log", "-1"], &["checkout", "-q", "-b", "other"]] {
        git(&workspace, arguments);
    }
    let found = files(&workspace);
    assert!(!found.iter().any(|path| path.ends_with("pwned")), "{found:#?}");
    assert_eq!(fs::read(workspace.join(".git/config")).unwrap(), before);
    assert!(!workspace.join(".git/hooks/post-checkout").exists());
}

/// An agent of `pair` runs a script with a harmless name. The script configures the person's git so that git would run
/// a program. The request shows and explains the changed lines of `.git/config`, and offers no grant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_attack_on_pair_ends_with_a_card_that_shows_what_git_would_obey() {
    let model = ScriptedModel::start().await;
    let line = "sh tools/tidy.sh src";
    model.script("pair", [one(command(line)), one(("finish", json!({ "summary": "Tidied up." })))]);
    let server = TestServer::setup().model(&model).start().await;
    let workspace = server.workspace();
    git(&workspace, &["init", "-q", "."]);
    for folder in ["tools", "src"] {
        fs::create_dir(workspace.join(folder)).unwrap();
    }
    let script = "echo tidied > $1/a.txt\nprintf '[core]\\n\\tfsmonitor = touch pwned;\\n' >> .git/config\n";
    fs::write(workspace.join("tools/tidy.sh"), script).unwrap();
    let before = fs::read(workspace.join(".git/config")).unwrap();
    let run = server.start_run("pair", "Tidy up src/ with tools/tidy.sh.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["title"], "run_command: sh tools/tidy.sh src (changes 2 files)");
    let trial = &asked["payload"]["trial"];
    let changes = trial["changes"].as_array().unwrap();
    let told: Vec<_> = changes.iter().map(|it| json!([it["does"], it["path"], it["outside"]])).collect();
    let expected = [json!(["created", "src/a.txt", null]), json!(["changed", ".git/config", true])];
    assert_eq!(told, expected, "{trial:#}");
    let added: Vec<_> = changes[1]["diff"]["hunks"][0]["lines"].as_array().unwrap().iter().collect();
    let added: Vec<_> =
        added.into_iter().filter(|line| line["op"] == "+").map(|line| &line["text"]).collect();
    assert_eq!(added, [&json!("[core]"), &json!("\tfsmonitor = touch pwned;")]);
    assert_eq!(trial["outside"], 1);
    let words = trial["git"].to_string();
    assert!(words.contains("configuration changed") && words.contains("fsmonitor"), "{words}");
    let reasons = asked["risk"]["reasons"].to_string();
    assert!(reasons.contains("guarded_path") && asked["risk"]["level"] == "high", "{:#}", asked["risk"]);
    let offered = asked["options"].as_array().unwrap();
    assert!(offered.iter().all(|option| option["id"] != "approve_session"), "{offered:#?}");
    server.choose(&asked, "reject").await;
    server.wait_status(&run, &["completed", "failed"]).await;
    git(&workspace, &["status"]);
    assert!(!workspace.join("pwned").exists());
    assert_eq!(fs::read(workspace.join(".git/config")).unwrap(), before);
}

/// Returns the effect of each command of the run that started.
async fn effects(server: &TestServer, run: &str) -> Vec<Value> {
    let started = server.events_of(run, "tool_started").await;
    started.iter().map(|event| event["data"]["effect"].clone()).collect()
}

const FREE: &str = "
name: solo
agents: {solo: {instructions: Work., tools: [run_command]}}
phases: [{id: work, kind: one_shot, agent: solo}]
gates:
  rules:
    - {tools: [run_command], commands: ['sh tool.sh', 'git status *'], do: allow}
";

/// A command that a rule allowed may not change git's settings. When the agent repeats the call, a person is asked, and
/// an approved call may change the settings.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_meets_a_wall_is_asked_about_when_it_is_made_again() {
    let line = "sh tool.sh";
    let (model, server) = play(FREE, [one(command(line)), one(command(line)), done()]).await;
    let workspace = server.workspace();
    git(&workspace, &["init", "-q", "."]);
    fs::write(workspace.join("tool.sh"), "echo x > out && git config core.pager less\n").unwrap();
    let run = server.start_run("solo", "Configure.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["risk"]["reasons"][0]["code"], "confined", "{asked:#}");
    assert_eq!(asked["payload"]["effect"], "guarded");
    assert_eq!(asked["payload"]["scripts"][0]["path"], "tool.sh");
    let config = || fs::read_to_string(workspace.join(".git/config")).unwrap();
    assert!(workspace.join("out").exists() && !config().contains("pager"));
    assert!(last_told(&model).contains("make the same call again"), "{}", last_told(&model));
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(config().contains("pager = less"));
    assert_eq!(effects(&server, &run).await, [json!("workspace"), json!("guarded")]);
}

const PLACES: &str = "
name: solo
agents: {solo: {instructions: Work., tools: [run_command]}}
phases: [{id: work, kind: one_shot, agent: solo}]
gates:
  rules:
    - {tools: [run_command], commands: ['sh *'], paths: ['docs/**'], do: allow}
";

/// If the sandbox denies something without any output, the repeated call also asks a person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wall_in_silence_is_asked_about_when_it_is_made_again() {
    let line = "sh docs/w.sh";
    let (model, server) = play(PLACES, [one(command(line)), one(command(line)), done()]).await;
    let workspace = server.workspace();
    fs::create_dir(workspace.join("docs")).unwrap();
    fs::write(workspace.join("docs/w.sh"), "touch newfile 2>/dev/null\n").unwrap();
    let run = server.start_run("solo", "Write.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["risk"]["reasons"][0]["code"], "confined", "{asked:#}");
    assert!(last_told(&model).contains("may have denied an operation"), "{}", last_told(&model));
    assert!(!workspace.join("newfile").exists());
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(workspace.join("newfile").exists());
}

/// An approval is bound to the content of the script. If the script changes before the start, nothing runs, and a
/// person is asked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_changed_is_asked_about_anew() {
    let rules = FREE.replace("'sh tool.sh', ", "");
    let (_model, server) = play(&rules, [one(command("sh tool.sh")), done()]).await;
    let script = server.workspace().join("tool.sh");
    fs::write(&script, "echo one >> count.txt\n").unwrap();
    let run = server.start_run("solo", "Run it.").await;
    let shown = server.wait_one(&run).await;
    assert_eq!(shown["payload"]["scripts"], json!([{"path": "tool.sh", "text": "echo one >> count.txt\n"}]));
    fs::write(&script, "echo two >> count.txt\n").unwrap();
    server.choose(&shown, "approve").await;
    let anew = server.wait_one(&run).await;
    assert_ne!(anew["id"], shown["id"]);
    assert_ne!(anew["action_digest"], shown["action_digest"]);
    assert_eq!(server.lines("count.txt"), 0);
    server.choose(&anew, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_to_string(server.workspace().join("count.txt")).unwrap(), "two\n");
}

/// A rule has allowed reads of a path, and an approved call replaces that path with a link. The allowed reads are
/// checked again, and a forbidden file is not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_made_by_an_approved_call_leads_no_released_read_astray() {
    let workflow = "
name: solo
agents: {solo: {instructions: Work., tools: [run_command, read_file]}}
phases: [{id: work, kind: one_shot, agent: solo}]
gates:
  rules:
    - {paths: [secrets/**], do: forbid}
    - {tools: [read_file], paths: [src/**], do: allow}
    - {tools: [run_command], commands: ['cat *'], paths: [src/**], do: allow}
";
    let link = command("ln -sf ../secrets/key src/a");
    let reads = [link, ("read_file", json!({ "path": "src/a" })), command("cat src/a")];
    let (model, server) = play(workflow, [Scripted::calls(reads), done()]).await;
    for (folder, name, text) in [("secrets", "key", "the key"), ("src", "a", "harmless")] {
        fs::create_dir(server.workspace().join(folder)).unwrap();
        fs::write(server.workspace().join(folder).join(name), text).unwrap();
    }
    let run = server.start_run("solo", "Read it.").await;
    server.wait_status(&run, &["waiting"]).await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["payload"]["call_id"], "call_1");
    assert_eq!(server.events_of(&run, "tool_authorised").await.len(), 2, "both reads are released");
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    let ends = server.events_of(&run, "tool_finished").await;
    let ends: Vec<_> = ends.iter().map(|event| (&event["data"]["call"], &event["data"]["end"])).collect();
    let end = |call: &str, end: &str| (json!(call), json!(end));
    let expected = [end("call_1", "done"), end("call_2", "refused"), end("call_3", "refused")];
    assert_eq!(ends, expected.each_ref().map(|(call, end)| (call, end)));
    assert!(!last_told(&model).contains("the key"), "{}", last_told(&model));
}

/// A script that a person approved leaves nothing that makes the person's own git run `pwned`. Each row is one attempt.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_script_leaves_nothing_that_git_runs() {
    let evil = "mkdir -p evil/objects evil/refs/heads && echo 'ref: refs/heads/main' > evil/HEAD && \
                printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch pwned;\\n' > evil/config\n";
    let scripts = [
        // The workspace itself becomes a git repository.
        "mkdir objects refs; echo 'ref: refs/heads/x' > HEAD; echo ../evil > .git/commondir\n",
        // The parent directory of a git repository is moved and created again.
        "mv sub o2; mkdir -p sub/.git/objects sub/.git/refs; cp evil/HEAD evil/config sub/.git/\n",
        // A link, or the target of a link, is replaced.
        "rm .git/hooks; mkdir .git/hooks; printf '#!/bin/sh\\ntouch pwned\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/*\n",
        "printf '#!/bin/sh\\ntouch pwned\\n' > githooks/pre-commit; chmod +x githooks/pre-commit\n",
        // This file name is too long to be extended, and sorts before all other files.
        "touch \"$(printf '!%.0s' $(seq 239)).code-workspace\"; echo ../evil > .git/commondir\n",
    ];
    let line = "sh run.sh";
    let rules = FREE.replace("'sh tool.sh', ", "");
    for script in scripts {
        let (_model, server) = play(&rules, [one(command(line)), done()]).await;
        let workspace = server.workspace();
        for folder in [".", "sub"] {
            git(&workspace, &["init", "-q", folder]);
        }
        fs::remove_dir_all(workspace.join(".git/hooks")).unwrap();
        fs::create_dir(workspace.join("githooks")).unwrap();
        std::os::unix::fs::symlink("../githooks", workspace.join(".git/hooks")).unwrap();
        fs::write(workspace.join("run.sh"), format!("{evil}{script}")).unwrap();
        let run = server.start_run("solo", "Run it.").await;
        let asked = server.wait_one(&run).await;
        assert_eq!(asked["payload"]["effect"], "workspace", "{asked:#}");
        server.choose(&asked, "approve").await;
        server.wait_status(&run, &["completed"]).await;
        for folder in [workspace.clone(), workspace.join("sub")] {
            for arguments in [&["status"][..], &["commit", "-q", "--allow-empty", "-m", "one"]] {
                if folder.exists() {
                    git(&folder, arguments);
                }
            }
        }
        let found = files(&workspace);
        assert!(found.iter().any(|path| path.contains("/evil/")), "the script ran: {found:#?}");
        assert!(!found.iter().any(|path| path.ends_with("pwned")), "{script}: {found:#?}");
    }
}
