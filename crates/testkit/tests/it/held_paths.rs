//! Rules about paths and changes apply to every name of a path: with a dot, through a link, or found by a search of a
//! parent directory.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::play::{command, done, last_told, one, play, write};

const HELD: &str = "
name: solo
agents:
  solo:
    instructions: Work.
    tools: [read_file, list_directory, search_codebase, write_file, edit_file, run_command]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  trial: on
  rules:
    - {changes: ['ci/**'], do: forbid}
    - {paths: ['secrets/**'], do: forbid}
    - {paths: ['vault/**', '**/*.key'], do: ask}
    - {tools: [write_file, edit_file], changes: ['src/**', '.gitignore', 'fx/**'], do: allow}
    - {tools: [run_command], do: allow}
    - {tools: [read_file, list_directory, search_codebase], do: allow}
";

fn codes(interrupt: &Value) -> Vec<String> {
    let reasons = interrupt["risk"]["reasons"].as_array().unwrap();
    reasons.iter().map(|reason| reason["code"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_of_a_path_passes_a_rule() {
    let bare = "mkdir -p t/objects t/refs; echo 'ref: refs/heads/x' > t/HEAD; echo '[core]' > t/config";
    let edit = json!({ "path": "fx/config", "old": "[core]", "new": "[core] fsmonitor = x" });
    let calls = [
        write("./ci/deploy.yml", "x"),
        write("c8/deploy.yml", "x"),
        write("src/a.txt", "x"),
        write("src/out/a.txt", "x"),
        write(".gitignore", "*"),
        write("src/AGENTS.md", "Obey."),
        write("fx/notes.txt", "x"),
        ("edit_file", edit),
        command(bare),
        command("ln -s /etc/passwd log"),
        command("touch done.txt"),
    ];
    let mut steps: Vec<_> = calls.into_iter().map(one).collect();
    steps.push(done());
    let (_model, server) = play(HELD, steps).await;
    let workspace = server.workspace();
    for folder in ["ci", "src", "docs", "fx/objects", "fx/refs"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    fs::write(workspace.join("fx/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(workspace.join("fx/config"), "[core]\n").unwrap();
    symlink("ci", workspace.join("c8")).unwrap();
    symlink("../docs", workspace.join("src/out")).unwrap();

    let run = server.start_run("solo", "Go around the rules.").await;
    let mut asked = Vec::new();
    loop {
        let at = server.wait_status(&run, &["waiting", "completed", "failed"]).await;
        if at["status"] != "waiting" {
            assert_eq!(at["status"], "completed", "{at:#}");
            break;
        }
        for interrupt in server.open(&run).await {
            asked.push((interrupt["title"].as_str().unwrap().to_owned(), codes(&interrupt)));
            server.choose(&interrupt, "reject").await;
        }
    }
    let asked: Vec<_> = asked.iter().map(|(title, codes)| (title.as_str(), codes.join(" "))).collect();
    let expected = [
        ("write_file: src/out/a.txt", "default"),
        ("write_file: .gitignore", "ignores_changed"),
        ("write_file: src/AGENTS.md", "guarded_path"),
        ("edit_file: fx/config", "bare_repository"),
    ];
    assert_eq!(asked[..4], expected.map(|(title, codes)| (title, codes.to_owned())));
    let of_commands: Vec<_> = asked[4..].iter().map(|(_, codes)| codes.as_str()).collect();
    assert_eq!(of_commands, ["bare_repository", "link_out rule"], "{asked:?}");
    let finished = server.events_of(&run, "tool_finished").await;
    let forbidden = finished.iter().filter(|event| event["data"]["code"] == "forbidden").count();
    assert_eq!(forbidden, 2, "{finished:#?}");
    let is_there = |path: &str| workspace.join(path).exists();
    assert!(is_there("src/a.txt") && is_there("fx/notes.txt") && is_there("done.txt"));
    let absent = ["ci/deploy.yml", "docs/a.txt", ".gitignore", "src/AGENTS.md", "t", "log"];
    assert!(!absent.iter().any(|path| is_there(path)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_and_a_listing_leave_out_what_rules_hold_back() {
    let search = |path: Value| ("search_codebase", json!({ "pattern": "needle", "path": path }));
    let steps = [
        one(search(json!("."))),
        one(("list_directory", json!({ "path": "src" }))),
        one(search(json!("vault"))),
        one(search(json!("secrets"))),
        done(),
    ];
    let (model, server) = play(HELD, steps).await;
    let workspace = server.workspace();
    for path in ["secrets/a", "vault/b", "src/c.key", "src/d.txt"] {
        fs::create_dir_all(workspace.join(path).parent().unwrap()).unwrap();
        fs::write(workspace.join(path), format!("needle in {path}\n")).unwrap();
    }
    let run = server.start_run("solo", "Look for it.").await;
    let card = server.wait_one(&run).await;
    assert_eq!(codes(&card), ["rule"], "{card:#}");
    server.choose(&card, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    let told = last_told(&model);
    let shows = |text: &str| told.contains(text);
    assert!(shows("src/d.txt:1: needle in src/d.txt"), "{told}");
    assert!(shows("vault/b:1: needle in vault/b"), "{told}");
    assert!(shows("(3 paths are left out: a rule forbids reading there or requires approval)"), "{told}");
    assert!(shows("d.txt\n(1 path is left out"), "{told}");
    assert!(!shows("needle in secrets/a") && !shows("needle in src/c.key"), "{told}");
    let finished = server.events_of(&run, "tool_finished").await;
    assert_eq!(finished.last().unwrap()["data"]["code"], "forbidden", "{finished:#?}");
}
