//! Trials, over the real binary. A command without changes needs no approval, and approved changes are exactly those
//! that were shown. After a crash the workspace contains either all of the changes or none.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, real};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::play::{command, done, last_told, one, play, write};

/// Workflow whose commands need no approval if they change nothing, or only caches.
const TRYING: &str = "
name: solo
agents:
  solo:
    instructions: Work.
    tools: [read_file, write_file, edit_file, run_command, ask_human]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  trial: on
  rules:
    - {tools: [read_file, ask_human], do: allow}
    - {tools: [run_command], commands: [\"git push *\"], do: forbid}
    - {tools: [run_command], changes: ignored, do: allow}
    - {tools: [run_command], changes: [\"src/**\"], do: allow}
";

fn paths(interrupt: &Value) -> Vec<String> {
    let changes = interrupt["payload"]["trial"]["changes"].as_array().cloned().unwrap_or_default();
    changes
        .iter()
        .map(|it| format!("{} {}", it["does"].as_str().unwrap(), it["path"].as_str().unwrap()))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_nothing_or_only_what_a_rule_names_asks_nobody() {
    let lines = [
        "sh -c 'echo tests: 41 passed'",
        "mkdir -p target && echo x > target/cache",
        "mkdir -p src && echo 'fn main() {}' > src/main.rs",
        "echo out > out.txt",
    ];
    let mut steps: Vec<_> = lines.iter().map(|line| one(command(line))).collect();
    steps.push(done());
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fs::write(workspace.join(".gitignore"), "target/\n").unwrap();
    fs::create_dir(workspace.join(".git")).unwrap();
    let run = server.start_run("solo", "Do it.").await;
    server.wait_status(&run, &["waiting"]).await;
    let open = server.open(&run).await;
    assert_eq!(open.len(), 1, "{open:#?}");
    let told = || open[0]["risk"].to_string();
    assert!(!workspace.join("target").exists() && workspace.join("src/main.rs").exists(), "{}", told());
    assert_eq!(open[0]["title"], "run_command: echo out > out.txt (changes 1 file)");
    assert_eq!(paths(&open[0]), ["created out.txt"]);
    let diff = &open[0]["payload"]["trial"]["changes"][0]["diff"];
    assert_eq!(diff["hunks"][0]["lines"], json!([{ "op": "+", "text": "out" }]));
    assert!(!workspace.join("out.txt").exists(), "nothing has happened yet");
    server.choose(&open[0], "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_to_string(workspace.join("out.txt")).unwrap(), "out\n");
    let told = last_told(&model);
    assert!(told.contains("exit code 0"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_sees_deletions_first_and_a_refusal_leaves_everything() {
    let line = "rm old.txt && echo new > a.txt && chmod 600 kept.txt && ln -s a.txt link && sh -c 'exit 3'";
    let (model, server) = play(TRYING, [one(command(line)), done()]).await;
    let workspace = server.workspace();
    for name in ["old.txt", "kept.txt"] {
        fs::write(workspace.join(name), name).unwrap();
    }
    let run = server.start_run("solo", "Do it.").await;
    server.wait_status(&run, &["waiting"]).await;
    let open = server.open(&run).await;
    assert_eq!(paths(&open[0]), ["deleted old.txt", "created a.txt", "mode kept.txt", "created link"]);
    let trial = &open[0]["payload"]["trial"];
    assert_eq!((&trial["exit_code"], &trial["deleted"], &trial["files"]), (&json!(3), &json!(1), &json!(3)));
    assert_eq!(open[0]["risk"]["level"], "high");
    server.choose(&open[0], "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(workspace.join("old.txt").exists() && !workspace.join("a.txt").exists());
    assert!(last_told(&model).contains("refused"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_command_would_do_to_the_persons_own_tools_is_on_the_card() {
    let line = "sh -c 'git config core.pager \"touch pwned\"'";
    let (_model, server) = play(TRYING, [one(command(line)), done()]).await;
    let workspace = server.workspace();
    let made = std::process::Command::new("git").args(["init", "-q", "."]).current_dir(&workspace).status();
    assert!(made.unwrap().success());
    let before = fs::read(workspace.join(".git/config")).unwrap();
    let run = server.start_run("solo", "Do it.").await;
    server.wait_status(&run, &["waiting"]).await;
    let open = server.open(&run).await;
    assert_eq!(paths(&open[0]), ["changed .git/config"]);
    assert!(open[0]["risk"]["reasons"].to_string().contains("guarded_path"), "{:#}", open[0]);
    server.choose(&open[0], "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read(workspace.join(".git/config")).unwrap(), before);
}

/// A server that is killed at several moments applies either all of a changeset or nothing of it, and asks nothing
/// about an unknown outcome.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_leaves_no_half_of_a_change() {
    let line = "for i in $(seq 40); do echo new > file$i.txt; done";
    let (_model, mut server) = play(TRYING, [one(command(line)), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    server.wait_status(&run, &["running", "waiting"]).await;
    server.kill();
    server.restart().await;
    server.wait_status(&run, &["waiting"]).await;
    server.restart().await;
    let open = server.open(&run).await;
    assert_eq!(open.len(), 1);
    assert!(!server.workspace().join("file1.txt").exists());
    server.choose(&open[0], "approve").await;
    server.kill();
    server.restart().await;
    server.wait_status(&run, &["completed"]).await;
    let written = (1..=40).filter(|i| {
        fs::read_to_string(server.workspace().join(format!("file{i}.txt"))).is_ok_and(|text| text == "new\n")
    });
    assert_eq!(written.count(), 40);
}

/// A person keeps only some of a command's changes. Over HTTP the decision lists paths, and in a browser the person
/// uses the form of the page without scripts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_what_a_command_did_a_person_keeps_some() {
    let lines = [
        "rm old.txt && echo a > a.txt && mkdir sub && echo b > sub/b.txt",
        "echo c > c.txt && echo d > 'd d.txt '",
    ];
    let (model, server) = play(TRYING, [one(command(lines[0])), one(command(lines[1])), done()]).await;
    let workspace = server.workspace();
    fs::write(workspace.join("old.txt"), "old").unwrap();
    let run = server.start_run("solo", "Do it.").await;
    let first = server.wait_one(&run).await;
    for (edit, says) in [
        (json!(["a.txt", "x"]), "`x` is not one"),
        (json!({}), "must be the list"),
        (json!([]), "nothing to keep"),
    ] {
        let refused = server.decide(&first, &json!({ "option": "keep_some", "edit": edit })).await;
        assert_eq!(refused.refusal(), (422, "invalid_request"), "{edit}");
        assert_eq!(refused.body["errors"][0]["pointer"], "/edit", "{edit}: {:#}", refused.body);
        assert!(
            refused.body["errors"][0]["message"].to_string().contains(says),
            "{edit}: {:#}",
            refused.body
        );
    }
    let decided = server.decide(&first, &json!({ "option": "keep_some", "edit": ["sub/b.txt"] })).await.ok();
    assert_eq!(
        (&decided["resolution"]["outcome"], &decided["resolution"]["edit"]),
        (&json!("approved"), &json!(["sub/b.txt"]))
    );

    let second = server.wait_one(&run).await;
    assert_eq!(fs::read_to_string(workspace.join("sub/b.txt")).unwrap(), "b\n");
    assert!(workspace.join("old.txt").exists() && !workspace.join("a.txt").exists());
    let told = last_told(&model);
    assert!(told.contains("kept only some of the changes of this call. Dropped: a.txt, old.txt"), "{told}");

    let link = server
        .post(&format!("/v1/interrupts/{}/links", second["id"].as_str().unwrap()), &json!({}))
        .await
        .ok();
    let link = link["url"].as_str().unwrap().strip_prefix(server.base()).unwrap().to_owned();
    let page = server.request(Method::GET, &link).send().await.unwrap().text().await.unwrap();
    assert!(
        page.contains("Approve some of the changes") && page.contains("c.txt\nd d.txt </textarea>"),
        "{page}"
    );
    let send = async |form: &[(&str, &str)]| {
        let typed = Url::parse_with_params("http://form", form).unwrap();
        let request = server
            .request(Method::POST, &link)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(typed.query().unwrap_or_default().to_owned());
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    // `approve` releases every path, so it is refused together with a list of paths to keep.
    for keep in ["c.txt", ""] {
        let (status, page) = send(&[("option", "approve"), ("keep", keep), ("confirm", "yes")]).await;
        assert!(status == 422 && page.contains("this option applies to all paths"), "{page}");
    }
    let (status, page) = send(&[("option", "keep_some"), ("keep", "c.txt\r\nx"), ("confirm", "yes")]).await;
    assert!(
        status == 422
            && page.contains("<code>x</code> is not one of the parts")
            && page.contains("x</textarea>"),
        "{page}"
    );
    let (status, page) = send(&[("option", "keep_some"), ("keep", "c.txt\r\n"), ("confirm", "yes")]).await;
    assert_eq!(status, 200, "{page}");
    server.wait_status(&run, &["completed"]).await;
    assert!(workspace.join("c.txt").exists() && !workspace.join("d d.txt ").exists());
}

/// A person approves or drops a git commit of a command as a whole. Each file can be approved separately from the
/// commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_is_one_part_of_what_is_kept() {
    let git = "git -c user.name=one -c user.email=one@example.invalid";
    let commit = |file: &str| format!("echo {file} > {file} && git add {file} && {git} commit -qm {file}");
    let lines = [commit("a.txt"), commit("b.txt")];
    let (model, server) = play(TRYING, [one(command(&lines[0])), one(command(&lines[1])), done()]).await;
    let workspace = server.workspace();
    let made = std::process::Command::new("git").args(["init", "-q", "."]).current_dir(&workspace).status();
    assert!(made.unwrap().success());
    let commits = || fs::read_dir(workspace.join(".git/refs/heads")).unwrap().count();
    let run = server.start_run("solo", "Do it.").await;
    let first = server.wait_one(&run).await;
    assert_eq!(first["payload"]["trial"]["keep"], json!({ "parts": ["a.txt", ".git"], "not_shown": 0 }));
    server.decide(&first, &json!({ "option": "keep_some", "edit": ["a.txt"] })).await.ok();
    let second = server.wait_one(&run).await;
    assert!(workspace.join("a.txt").exists() && commits() == 0);
    let told = last_told(&model);
    assert!(told.contains("Dropped: .git"), "{told}");

    server.decide(&second, &json!({ "option": "keep_some", "edit": [".git"] })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert!(!workspace.join("b.txt").exists() && commits() == 1);
    let whole = std::process::Command::new("git").args(["fsck", "--strict"]).current_dir(&workspace).output();
    assert!(whole.unwrap().status.success());
}

fn change<'a>(interrupt: &'a Value, path: &str) -> &'a Value {
    let changes = interrupt["payload"]["trial"]["changes"].as_array().unwrap();
    changes.iter().find(|change| change["path"] == path).unwrap_or_else(|| panic!("{path}: {changes:#?}"))
}

/// Wherever a person decides, a changed file that the task does not mention is marked. Its change needs an approval,
/// and can be approved like any other change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_task_does_not_name_is_marked() {
    let line = "mkdir -p lib && echo 1 > lib/a.rs && echo 2 > lib2.rs && echo 3 > b.txt";
    let calls = [one(command(line)), one(write("lib/c.rs", "c")), one(write("c.rs", "c")), done()];
    let (_model, server) = play(TRYING, calls).await;
    let workspace = server.workspace();
    let run = server.start_run("solo", "Tidy up `lib/`.").await;
    let asked = server.wait_one(&run).await;
    let marks = ["lib/a.rs", "lib2.rs", "b.txt"].map(|path| change(&asked, path)["outside"].clone());
    assert_eq!(marks, [Value::Null, json!(true), json!(true)]);
    assert_eq!(asked["payload"]["trial"]["outside"], 2);

    let shown = server.client_command().args(["show", asked["id"].as_str().unwrap()]).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let told = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = page(&server, &asked).await;
    for words in ["2 outside what the task names", "created, 2 bytes, outside what the task names"] {
        assert!(page.contains(words), "{words}: {page}");
        assert!(told.contains(words), "{words}: {told}");
    }
    server.choose(&asked, "approve").await;

    let named = server.wait_one(&run).await;
    assert_eq!((&named["payload"]["path"], &named["payload"]["outside"]), (&json!("lib/c.rs"), &Value::Null));
    server.choose(&named, "approve").await;
    let other = server.wait_one(&run).await;
    assert_eq!((&other["payload"]["path"], &other["payload"]["outside"]), (&json!("c.rs"), &json!(true)));
    assert!(self::page(&server, &other).await.contains("outside what the task names"));
    server.choose(&other, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(workspace.join("c.rs").exists() && workspace.join("b.txt").exists());
}

/// Returns the decision page of an interrupt, as a browser without scripts opens it.
async fn page(server: &TestServer, interrupt: &Value) -> String {
    let path = format!("/v1/interrupts/{}/links", interrupt["id"].as_str().unwrap());
    let link = server.post(&path, &json!({})).await.ok();
    let link = link["url"].as_str().unwrap().strip_prefix(server.base()).unwrap().to_owned();
    server.request(Method::GET, &link).send().await.unwrap().text().await.unwrap().replace("&#x2f;", "/")
}

/// A rule allows changes below `src`. If a file there has a second hard link, its change needs an approval anyway, and
/// the write replaces the file instead of writing through the link.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_another_name_asks_whatever_the_rules_allow() {
    let lines = ["echo new > src/free.rs", "echo new >> src/linked.rs"];
    let (_model, server) = play(TRYING, [one(command(lines[0])), one(command(lines[1])), done()]).await;
    let (linked, other) =
        (server.workspace().join("src/linked.rs"), server.data().parent().unwrap().join("other.rs"));
    fs::create_dir(server.workspace().join("src")).unwrap();
    fs::write(&linked, "precious\n").unwrap();
    fs::hard_link(&linked, &other).unwrap();
    let run = server.start_run("solo", "Do it.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(fs::read_to_string(server.workspace().join("src/free.rs")).unwrap(), "new\n");
    assert_eq!(asked["payload"]["command"], lines[1]);
    assert_eq!(paths(&asked), ["changed src/linked.rs"]);
    let reasons = asked["risk"]["reasons"].as_array().unwrap();
    let reason = reasons.iter().find(|reason| reason["code"] == "hard_link");
    let text = &reason.unwrap_or_else(|| panic!("{reasons:#?}"))["text"];
    assert!(text.to_string().contains("more than one hard link"), "{text}");
    let offered = asked["options"].as_array().unwrap();
    assert!(offered.iter().all(|option| option["id"] != "approve_session"), "{offered:#?}");
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    let contents = (fs::read_to_string(&linked).unwrap(), fs::read_to_string(&other).unwrap());
    assert_eq!(contents, ("precious\nnew\n".to_owned(), "precious\n".to_owned()));
}

/// Wrapper that starts the server on a workspace for which the kernel refuses an overlay, because two overlays are
/// already stacked.
const REFUSED: &str = r#"#!/bin/sh
if [ "$1" != serve ]; then exec "$REAL" "$@"; fi
exec unshare --mount sh -ec '
  cd "$TMPDIR/.."; mkdir m u k v l
  mount -t overlay o -o lowerdir=workspace,upperdir=u,workdir=k m
  mount -t overlay o -o lowerdir=m,upperdir=v,workdir=l workspace
  exec "$REAL" "$@"' sh "$@"
"#;

/// If the kernel refuses the overlay, the command is tried on a copy. If there is no room for a copy, the command is
/// not tried. The request shows which of these happened. This test needs root, as the tests of the sandbox do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_an_overlay_is_refused_a_copy_is_tried_or_the_card_says_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("holdshort");
    fs::write(&program, REFUSED).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for large in [false, true] {
        let model = ScriptedModel::start().await;
        model.script("solo", [one(command("echo x > out.txt")), done()]);
        let setup = TestServer::setup().workflow("solo", TRYING).model(&model);
        let real = real().display().to_string();
        let mut server = setup.program(program.clone()).env("REAL", &real).stopped();
        if large {
            fs::File::create(server.workspace().join("large")).unwrap().set_len(1 << 30).unwrap();
        }
        server.start().await;
        let run = server.start_run("solo", "Do it.").await;
        let asked = server.wait_one(&run).await;
        let payload = &asked["payload"];
        if large {
            let why = payload["untried"].as_str().unwrap_or_else(|| panic!("{payload:#}"));
            assert!(why.contains(", and ") && why.contains("more than 256 MiB to copy"), "{why}");
            assert_eq!(payload["trial"], Value::Null);
            assert!(asked["risk"]["reasons"].to_string().contains("untried"), "{asked:#}");
        } else {
            assert_eq!((&payload["trial"]["over"], &payload["untried"]), (&json!("copy"), &Value::Null));
            assert_eq!(paths(&asked), ["created out.txt"]);
        }
        server.choose(&asked, "approve").await;
        server.wait_status(&run, &["completed"]).await;
    }
}

/// If a command writes a file larger than the limit, none of its changes are committed, and the reason has a code.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_to_keep_changes_nothing_and_is_told() {
    let line = format!("echo small > small.txt; truncate -s {} large", (128 << 20) + 1);
    let (model, server) = play(TRYING, [one(command(&line)), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    server.wait_status(&run, &["completed"]).await;
    let told = last_told(&model);
    assert!(told.contains("not kept: the command changed `large`, a file of more than 128 MiB"), "{told}");
    assert!(told.contains("It ran only in a trial, so nothing has changed."), "{told}");
    let tried = server.events_of(&run, "tool_tried").await;
    assert_eq!(tried[0]["data"]["changed"], 0);
    let content = &tried[0]["data"]["content"]["data"];
    let (data, card) = (&content["data"], &content["card"]);
    assert_eq!((&data["not_kept"], &card["not_kept"]), (&json!("file_too_large"), &json!("file_too_large")));
    assert_eq!(fs::read_dir(server.workspace()).unwrap().count(), 0);
}
