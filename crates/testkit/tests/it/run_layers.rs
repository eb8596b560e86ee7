//! The layer of a run, over the real binary. A tried command may write files to ignored paths. These files are visible
//! to later commands of the run, and never to the person's own tools.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use crate::play::{command, done, last_told, one, play, read, write};

pub(crate) const TRYING: &str = "
name: solo
agents:
  solo:
    instructions: Work.
    tools: [read_file, list_directory, write_file, edit_file, run_command]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  trial: on
  rules:
    - {tools: [read_file, list_directory], do: allow}
    - {tools: [run_command], changes: ignored, do: allow}
";

const IGNORED: &str = "__pycache__/\nnode_modules/\n.venv/\n*.log\n.env\n*.sqlite\n/build/\n/out/\n";

/// Fills the workspace with a repository and ignored files, as after a day of work.
pub(crate) fn fill(workspace: &Path) {
    let made = std::process::Command::new("git").args(["init", "-q", "."]).current_dir(workspace).status();
    assert!(made.unwrap().success());
    for (path, content) in [
        (".gitignore", IGNORED),
        ("main.py", "print(1)\n"),
        (".env", "TOKEN=1\n"),
        ("local.sqlite", "rows\n"),
        ("node_modules/left/index.js", "module.exports = 1\n"),
        (".venv/bin/activate", "export VIRTUAL_ENV=here\n"),
    ] {
        let path = workspace.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// Returns every path below a directory except `.git`, with its content or link target.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(at) = ahead.pop() {
        for entry in fs::read_dir(at).unwrap().flatten().filter(|entry| entry.file_name() != ".git") {
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let kind = entry.file_type().unwrap();
            let content = if kind.is_dir() {
                "folder".to_owned()
            } else if kind.is_symlink() {
                fs::read_link(&path).unwrap().display().to_string()
            } else {
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
            };
            if kind.is_dir() {
                ahead.push(path);
            }
            found.insert(name, content);
        }
    }
    found
}

async fn titles(server: &TestServer, run: &str) -> Vec<String> {
    let open = server.open(run).await;
    open.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect()
}

/// A command writes code that the person's interpreter, shell and editor would run, and a link through which the person
/// would write. No approval is needed, and none of these files reaches the workspace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_command_writes_to_ignored_paths_reaches_the_workspace() {
    let lines = [
        "mkdir -p __pycache__ && printf pwned > __pycache__/main.cpython-312.pyc",
        "mkdir -p node_modules/.bin && printf '#!/bin/sh\\n' > node_modules/.bin/eslint && chmod +x node_modules/.bin/eslint",
        "mkdir -p node_modules/right && echo 'pwned()' > node_modules/right/index.js",
        "mkdir -p .venv/lib && echo 'import os' > .venv/lib/site.pth",
        "ln -s /tmp/outside app.log",
        "mkdir -p build/x/hooks build/x/objects build/x/refs && echo 'ref: refs/heads/main' > build/x/HEAD && \
         printf '[core]\\nfsmonitor = ./pwned\\n' > build/x/config",
    ];
    let mut steps: Vec<_> = lines.iter().map(|line| one(command(line))).collect();
    // Later commands of the run see all of these files.
    steps.push(one(command(
        "test -x node_modules/.bin/eslint && test -L app.log && cat build/x/HEAD > out.txt",
    )));
    steps.push(done());
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let before = tree(&workspace);
    let run = server.start_run("solo", "Do it.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["title"].as_str().unwrap().rsplit(" (").next(), Some("changes 1 file)"), "{asked:#}");
    assert_eq!(tree(&workspace), before);
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    let mut after = before.clone();
    after.insert("out.txt".to_owned(), "ref: refs/heads/main\n".to_owned());
    assert_eq!(tree(&workspace), after);
    let told = model.requests().iter().map(|it| it.texts().join("\n")).collect::<String>();
    assert!(told.contains("not written to the workspace: __pycache__/main.cpython-312.pyc"), "{told}");
    let tried = server.events_of(&run, "tool_tried").await;
    assert_eq!((&tried[0]["data"]["changed"], &tried[0]["data"]["layer"]["changed"]), (&json!(0), &json!(2)));
}

/// Changing or deleting an ignored file that existed before the run needs an approval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_an_ignored_file_that_is_there_asks() {
    let lines = [
        "rm -rf .env local.sqlite",
        "git clean -fdXq",
        "sh -c 'echo pwned >> node_modules/left/index.js'",
        "sh -c 'echo pwned > .venv/bin/activate'",
        "mv node_modules/left node_modules/right",
        "ln -sf /tmp/outside local.sqlite",
        "chmod 777 node_modules",
    ];
    let mut steps: Vec<_> = lines.iter().map(|line| one(command(line))).collect();
    steps.push(done());
    let (_model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let before = tree(&workspace);
    let run = server.start_run("solo", "Do it.").await;
    for line in lines {
        let asked = server.wait_one(&run).await;
        assert_eq!(asked["payload"]["command"], line);
        assert_ne!(asked["payload"]["trial"]["changes"], json!([]), "{asked:#}");
        server.choose(&asked, "reject").await;
    }
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(tree(&workspace), before);
}

/// The next command of the run finds the output of the build and the interpreter's cache, even after a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_run_of_a_build_asks_nobody_and_finds_the_cache_of_the_first() {
    let make = "make && cat build/log";
    let python =
        "python3 -c 'import sys; sys.path.insert(0, \"lib\"); import module' && ls lib/__pycache__ | wc -l";
    let lines = [make, make, python, python, "rm -r build && test ! -e build", "test -e build || echo gone"];
    let mut steps: Vec<_> = lines.iter().map(|line| one(command(line))).collect();
    steps.extend([one(read("lib/module.py")), done()]);
    let (model, mut server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    fs::create_dir(workspace.join("lib")).unwrap();
    fs::write(workspace.join("lib/module.py"), "x = 1\n").unwrap();
    let makefile = "all: build/app\nbuild/app: main.py\n\tmkdir -p build\n\tcp main.py build/app\n\techo built >> build/log\n";
    fs::write(workspace.join("Makefile"), makefile).unwrap();
    let before = tree(&workspace);
    let run = server.start_run("solo", "Do it.").await;
    server.restart().await;
    server.wait_status(&run, &["completed", "waiting"]).await;
    assert_eq!(titles(&server, &run).await, Vec::<String>::new());
    assert_eq!(tree(&workspace), before);
    let told = last_told(&model);
    let printed = |line: &str| told.matches(line).count();
    // The second `make` found nothing to do, and only the first `make` wrote the log.
    assert_eq!((printed("Nothing to be done"), printed("built\nbuilt")), (1, 0), "{told}");
    assert!(told.contains("gone"), "{told}");
}

/// A command changes the workspace and also ignored files. After the approval, changes of files that git does not
/// ignore go to the workspace, and the ignored files go to the layer. Later commands see the writes of file tools.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_changes_both_is_released_for_the_workspace() {
    let steps = [
        one(command("mkdir -p out && echo 1 > out/a && echo 2 > out/b && echo 3 > c.txt")),
        one(read("out/a")),
        one(("list_directory", json!({ "path": "out" }))),
        one(("edit_file", json!({ "path": "out/a", "old": "1", "new": "2" }))),
        one(write("out/a", "by the file tool\n")),
        one(command("cat out/a out/b")),
        done(),
    ];
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let run = server.start_run("solo", "Do it.").await;
    let asked = server.wait_one(&run).await;
    let trial = &asked["payload"]["trial"];
    let paths: Vec<&Value> = trial["changes"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
    assert_eq!(paths, [&json!("c.txt")]);
    assert_eq!(trial["layer"], json!({ "files": 2, "deleted": 0, "paths": ["out/a", "out/b"] }));
    server.choose(&asked, "approve").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["title"], "write_file: out/a");
    assert!(workspace.join("c.txt").exists() && !workspace.join("out").exists());
    let told = last_told(&model);
    assert!(
        told.contains("a\nb\n") && told.contains("is stored only for the commands of this run"),
        "{told}"
    );
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(fs::read_to_string(workspace.join("out/a")).unwrap(), "by the file tool\n");
    assert!(!workspace.join("out/b").exists());
    assert!(last_told(&model).contains("by the file tool\n2\n"), "{}", last_told(&model));
}

/// The layer of a run (its stored Git-ignored files) is a cache. If it is lost or was tampered with, the run continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_layer_that_is_lost_harms_nothing() {
    let line = "mkdir -p out && echo x >> out/a && cat out/a";
    let steps = [one(command(line)), one(write("b.txt", "")), one(command(line)), one(command(line)), done()];
    let (model, server) = play(TRYING, steps).await;
    fill(&server.workspace());
    let before = tree(&server.workspace());
    let run = server.start_run("solo", "Do it.").await;
    let asked = server.wait_one(&run).await;
    let layer = server.data().join("layers").join(&run);
    assert_eq!(fs::read_to_string(layer.join("files/out/a")).unwrap(), "x\n");
    fs::remove_dir_all(&layer).unwrap();
    symlink("/", layer.join("files")).unwrap_or_else(|_| {
        fs::create_dir_all(&layer).unwrap();
        symlink("/", layer.join("files")).unwrap();
    });
    server.choose(&asked, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(tree(&server.workspace()), before);
    assert!(!Path::new("/out").exists());
    assert!(last_told(&model).contains("x\n"), "{}", last_told(&model));
}

/// A merge of a run's Git-ignored files needs an approval, and applies exactly the approved changes. Files that already
/// are in the workspace stay there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_shows_a_card_and_lands_exactly_what_is_released() {
    let line = "mkdir -p out/deep build/.husky && echo 1 > out/a && echo 2 > out/deep/b && echo 3 > build/.husky/pre-commit";
    let (_model, server) = play(TRYING, [one(command(line)), done()]).await;
    let workspace = server.workspace();
    fill(&workspace);
    let before = tree(&workspace);
    let run = server.start_run("solo", "Build it.").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(tree(&workspace), before);

    let merge = async |body: Value| {
        let begun = server.post(&format!("/v1/runs/{run}/merge"), &body).await.ok();
        assert_eq!(
            (&begun["workflow"], &begun["input"]["task"]),
            (&json!("merge"), &json!("Merge: Build it."))
        );
        begun["id"].as_str().unwrap().to_owned()
    };
    let left = async || server.get(&format!("/v1/runs/{run}/layer")).await.ok();
    assert_eq!(left().await, json!({ "files": 3 }));
    let first = merge(json!({ "paths": ["out/deep/b"] })).await;
    let asked = server.wait_one(&first).await;
    let changes = asked["payload"]["trial"]["changes"].as_array().unwrap();
    let paths: Vec<_> = changes.iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["out", "out/deep", "out/deep/b"], "{asked:#}");
    assert_eq!(asked["risk"]["reasons"][0]["code"], "merge", "{asked:#}");
    assert_eq!(tree(&workspace), before);
    server.choose(&asked, "approve").await;
    server.wait_status(&first, &["completed"]).await;
    let mut after = before.clone();
    let merged = [("out", "folder"), ("out/deep", "folder"), ("out/deep/b", "2\n")];
    after.extend(merged.map(|(path, content)| (path.to_owned(), content.to_owned())));
    assert_eq!((tree(&workspace), left().await), (after.clone(), json!({ "files": 2 })));

    // The guard checks the remaining files like any other change, and the person rejects them here.
    let second = merge(json!({})).await;
    let asked = server.wait_one(&second).await;
    assert!(asked["risk"]["reasons"].to_string().contains("guarded_path"), "{asked:#}");
    let changes = asked["payload"]["trial"]["changes"].to_string();
    assert!(changes.contains("out/a") && !changes.contains("out/deep"), "{changes}");
    server.choose(&asked, "reject").await;
    server.wait_status(&second, &["completed", "failed"]).await;
    assert_eq!((tree(&workspace), left().await), (after, json!({ "files": 2 })));

    let third = merge(json!({ "paths": ["out/deep"] })).await;
    server.wait_status(&third, &["completed"]).await;
    let finished = server.events_of(&third, "tool_finished").await;
    assert_eq!(finished[0]["data"]["code"], "nothing_to_merge", "{finished:#?}");
}

/// A merge removes the merged paths from the run's layer, so that the run sees the person's later changes of these
/// files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_sees_what_becomes_of_a_merged_file() {
    let steps = [
        one(command("mkdir -p out && echo 1 > out/a && echo 2 > out/b")),
        one(write("b.txt", "")),
        one(command("cat out/a out/b")),
        done(),
    ];
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let run = server.start_run("solo", "Build it.").await;
    let open = server.wait_one(&run).await;
    let begun = server.post(&format!("/v1/runs/{run}/merge"), &json!({ "paths": ["out/a"] })).await.ok();
    let merge = begun["id"].as_str().unwrap();
    let card = server.wait_one(merge).await;
    server.choose(&card, "approve").await;
    server.wait_status(merge, &["completed"]).await;
    fs::write(workspace.join("out/a"), "by the person\n").unwrap();
    server.choose(&open, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(last_told(&model).contains("by the person\n2\n"), "{}", last_told(&model));
}

/// If the run changes a file while its merge waits for approval, the newer version of the file stays in the layer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_leaves_newer_files_to_the_run() {
    let steps = [
        one(command("mkdir -p out && echo 1 > out/a")),
        one(write("b.txt", "")),
        one(command("echo 2 > out/a")),
        one(write("c.txt", "")),
        one(command("cat out/a")),
        done(),
    ];
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let run = server.start_run("solo", "Build it.").await;
    let first = server.wait_one(&run).await;
    let begun = server.post(&format!("/v1/runs/{run}/merge"), &json!({})).await.ok();
    let merge = begun["id"].as_str().unwrap();
    let card = server.wait_one(merge).await;
    server.choose(&first, "reject").await;
    let second = server.wait_one(&run).await;
    server.choose(&card, "approve").await;
    server.wait_status(merge, &["completed"]).await;
    assert_eq!(fs::read_to_string(workspace.join("out/a")).unwrap(), "1\n");
    server.choose(&second, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(last_told(&model).contains("2\n"), "{}", last_told(&model));
}

/// While a command waits for approval, a person creates an ignored file. If the command wrote a file of the same name,
/// the run's layer does not store the command's file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_layer_takes_no_path_that_the_workspace_has_by_then() {
    let steps = [
        one(command(
            "mkdir -p out/deep && echo 1 > out/a && echo 2 > out/deep/b && echo 3 > out/c && echo 4 > d.txt",
        )),
        one(command("cat out/a out/deep out/c")),
        done(),
    ];
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let run = server.start_run("solo", "Build it.").await;
    let open = server.wait_one(&run).await;
    fs::create_dir(workspace.join("out")).unwrap();
    fs::write(workspace.join("out/a"), "by the person\n").unwrap();
    fs::write(workspace.join("out/deep"), "a file of the person\n").unwrap();
    server.choose(&open, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    let told = last_told(&model);
    assert!(told.contains("by the person\na file of the person\n3\n"), "{told}");
}

/// A link in the run's layer does not let any tool or command of the run write outside of the workspace.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tool_writes_through_a_link_of_the_layer() {
    const LINKS: &str = "ln -s ../outside/kept.txt app.log && ln -s ../outside away.log && ln -s .. up.log";
    let edit = |path: &str| ("edit_file", json!({ "path": path, "old": "mine", "new": "pwned" }));
    let calls = [
        command(LINKS),
        read("app.log"),
        read("away.log/kept.txt"),
        read("up.log/outside/kept.txt"),
        ("list_directory", json!({ "path": "away.log" })),
        command("cat app.log || true"),
        command("echo pwned >> app.log || true"),
        command("echo pwned > away.log/planted || true"),
        command("sed -i s/mine/pwned/ app.log || true"),
        command("cp main.py up.log/outside/planted || true"),
        write("app.log", "pwned\n"),
        write("away.log/planted", "pwned\n"),
        write("up.log/outside/planted", "pwned\n"),
        edit("app.log"),
        edit("away.log/kept.txt"),
    ];
    let mut steps: Vec<_> = calls.into_iter().map(one).collect();
    steps.push(done());
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let outside = workspace.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept.txt"), "mine: 4711\n").unwrap();
    let before = (tree(&workspace), tree(&outside));
    let run = server.start_run("solo", "Get out.").await;
    loop {
        let at = server.wait_status(&run, &["waiting", "completed"]).await;
        if at["status"] == "completed" {
            break;
        }
        for open in server.open(&run).await {
            // A file tool writes to the workspace, which contains no such link.
            server
                .choose(&open, if open["title"] == "write_file: app.log" { "approve" } else { "reject" })
                .await;
        }
    }
    assert_eq!(tree(&outside), before.1);
    let mut after = before.0;
    after.insert("app.log".to_owned(), "pwned\n".to_owned());
    assert_eq!(tree(&workspace), after);
    let told = last_told(&model);
    assert!(told.contains("not written to the workspace: app.log") && !told.contains("mine: 4711"), "{told}");
}

/// Creates a sparse file that uses up the maximum size of a run's layer.
fn fill_layer(layer: &Path, bytes: u64) {
    fs::create_dir_all(layer.join("files")).unwrap();
    fs::File::create(layer.join("files/large.log")).unwrap().set_len(bytes).unwrap();
}

/// If one layer or all layers together have reached their maximum size, a command needs an approval. Its ignored files
/// are approved like any other change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_asks_if_its_ignored_files_have_no_room() {
    const GIB: u64 = 1024 * 1024 * 1024;
    let lines = ["echo 1 > a.log", "echo 2 > b.log", "cat b.log && echo 3 > c.log"];
    let mut steps: Vec<_> = lines.iter().map(|line| one(command(line))).collect();
    steps.push(done());
    let (model, server) = play(TRYING, steps).await;
    let workspace = server.workspace();
    fill(&workspace);
    let before = tree(&workspace);
    let layers = server.data().join("layers");
    let other = layers.join("run_00000000000000000000000000");
    fill_layer(&other, 16 * GIB);
    let run = server.start_run("solo", "Build it.").await;
    let asked = async |line: &str| {
        let asked = server.wait_one(&run).await;
        let codes = asked["risk"]["reasons"].to_string();
        assert_eq!(asked["payload"]["command"], line);
        assert!(codes.contains("layer_full") && asked["payload"]["trial"]["files"] == 1, "{asked:#}");
        asked
    };
    let of_all = asked(lines[0]).await;
    // From here on, all layers together have room, but the layer of this run has none.
    fs::remove_dir_all(&other).unwrap();
    fill_layer(&layers.join(&run), 4 * GIB);
    server.choose(&of_all, "reject").await;
    let of_run = asked(lines[1]).await;
    assert_eq!(tree(&workspace), before);
    fs::remove_file(layers.join(&run).join("files/large.log")).unwrap();
    server.choose(&of_run, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    let mut after = before;
    after.insert("b.log".to_owned(), "2\n".to_owned());
    assert_eq!(tree(&workspace), after);
    assert!(last_told(&model).contains("not written to the workspace: c.log"), "{}", last_told(&model));
}

/// Erasing the content of a run deletes the run's stored Git-ignored files (its layer).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_layer_goes_with_the_content_of_its_run() {
    let (model, server) = play(TRYING, [one(command("mkdir -p out && echo 1 > out/a")), done()]).await;
    fill(&server.workspace());
    let layer = |run: &str| server.data().join("layers").join(run);
    let mut runs = Vec::new();
    for _ in 0..2 {
        let run = server.start_run("solo", "Build it.").await;
        server.wait_status(&run, &["completed"]).await;
        assert!(layer(&run).join("files/out/a").exists());
        runs.push(run);
    }
    drop(model);
    let gone = async |run: &str| {
        eventually("the layer is gone", async || (!layer(run).exists()).then_some(())).await;
    };
    server.post("/v1/erasures", &json!({ "run": runs[0] })).await.ok();
    gone(&runs[0]).await;
    assert!(layer(&runs[1]).exists(), "another run keeps its own");
    // The layer of a run that is already erased is also removed when it is found.
    fs::create_dir_all(layer(&runs[0]).join("files")).unwrap();
    server.post("/v1/erasures", &json!({ "run": runs[0] })).await.ok();
    gone(&runs[0]).await;
}
