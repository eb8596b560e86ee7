//! Guarded files, which a person's tools run automatically: a command cannot change them, even indirectly. These tests
//! fail on a host without Landlock and namespaces.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::tool::{CommandEffect, Outcome, SandboxLevel};
use holdshort_tools::sandbox;
use serde_json::{Value, json};

use crate::bench::{Bench, PROGRAM, names, until};

const WORKSPACE: CommandEffect = CommandEffect::Workspace;

/// Makes a workspace in a repository of the person with guarded files in and below it, and links to guarded files.
fn bench() -> Bench {
    let held = sandbox::level(Path::new(PROGRAM), false);
    assert_eq!(held, SandboxLevel::Full, "this host cannot confine commands");
    let bench = Bench::new();
    for folder in [".git", "sub/.git", "store"] {
        bench.put(&format!("{folder}/HEAD"), "ref: refs/heads/main\n");
        bench.put(&format!("{folder}/config"), "[core]\n");
        bench.put(&format!("{folder}/info/exclude"), "");
        bench.put(&format!("{folder}/objects/info/packs"), "");
        bench.put(&format!("{folder}/refs/heads/main"), "");
    }
    bench.put("githooks/pre-commit", "person\n");
    symlink("../githooks", bench.at(".git/hooks")).unwrap();
    bench.put("cfg/env", "person\n");
    symlink("cfg/env", bench.at(".envrc")).unwrap();
    bench.put("pkg/.vscode/tasks.json", "person\n");
    bench.put("src/a.txt", "a\n");
    bench
}

/// Returns every path of the workspace with a guarded name and content that no person wrote.
fn evil(bench: &Bench) -> Vec<String> {
    fn through(folder: &Path, from: &Path, found: &mut Vec<String>) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|it| it.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() && !path.is_symlink() {
                through(&path, from, found);
            }
            let inside = path.strip_prefix(from).unwrap().to_string_lossy().into_owned();
            let is_evil = fs::read_to_string(&path).is_ok_and(|text| text.contains("evil"));
            if is_evil && holdshort_command::guarded::guards(inside.split('/')).is_some() {
                found.push(inside);
            }
        }
    }
    let mut found = Vec::new();
    through(&bench.at(""), &bench.at(""), &mut found);
    found
}

/// Returns the data of the outcome of a command that created guarded paths.
fn confined(outcome: Outcome) -> Value {
    match outcome {
        Outcome::SetAside { data, .. } => data,
        other => panic!("{other:?}"),
    }
}

/// Guarded paths that a command creates in any way are renamed. Each table row has the command line, and the reported
/// paths.
#[tokio::test]
async fn no_path_around_the_guard_leaves_anything_live() {
    let table: [(&str, &[&str]); 16] = [
        // Guarded paths are found even inside a folder that looks like a bare repository, including the workspace
        // itself.
        (
            "mkdir objects refs; echo 'ref: refs/heads/x' > HEAD; echo ../evil > .git/commondir; \
             mkdir -p app/.vscode; echo evil > app/.vscode/tasks.json",
            &["HEAD", ".git/commondir", "app/.vscode"],
        ),
        (
            "mkdir -p x/objects x/refs x/proj/.git; echo evil > x/HEAD; echo evil > x/proj/.git/config; \
             echo evil > x/proj/.envrc",
            &["x/HEAD", "x/proj/.envrc", "x/proj/.git"],
        ),
        // A parent folder is moved away, and a new folder is created at its path.
        ("mv pkg old; mkdir -p pkg/.vscode; echo evil > pkg/.vscode/tasks.json", &["pkg/.vscode"]),
        (
            "mv sub o2; mkdir -p sub/.git; echo evil > sub/.git/config; echo evil > sub/.envrc",
            &["sub/.envrc", "sub/.git"],
        ),
        // Guarded links, and the targets of guarded links.
        ("rm .envrc; echo evil > .envrc", &[".envrc"]),
        ("rm .git/hooks; mkdir .git/hooks; echo evil > .git/hooks/pre-commit", &[".git/hooks"]),
        ("mv cfg cfg2; mkdir cfg; echo evil > cfg/env", &[".envrc"]),
        ("rm .envrc; echo evil > src/env; ln -s src/env .envrc", &[".envrc"]),
        // A path with almost the maximum length does not prevent other paths from being set aside.
        (
            "touch \"$(printf '!%.0s' $(seq 239)).code-workspace\"; echo evil > src/.envrc; echo ../evil > .git/commondir",
            &["src/.envrc", ".git/commondir"],
        ),
        // A path longer than the kernel accepts.
        (
            "name=$(printf 'n%.0s' $(seq 200)); for i in $(seq 25); do mkdir $name; cd $name; done; \
             echo evil > .envrc; cd $OLDPWD; echo evil > .envrc",
            &[".envrc"],
        ),
        // A folder that refers git to a repository in a different folder is a repository too.
        ("mkdir s2 evil; echo evil > s2/HEAD; echo ../evil > s2/commondir", &["s2/HEAD", "s2/commondir"]),
        ("mkdir -p a/.GIT; echo evil > a/.GIT/config", &["a/.GIT"]),
        // A repository that was set aside is no longer a repository under its new name.
        (
            "mkdir -p n/.git/objects n/.git/refs; echo evil > n/.git/HEAD; echo evil > n/.git/config",
            &["n/.git"],
        ),
        // Guarded paths inside a folder that is itself set aside.
        ("mkdir -p .idea/p/.git; echo evil > .idea/p/.git/config; echo evil > .idea/p/.envrc", &[".idea"]),
        // A guarded path in a read-only folder.
        ("mkdir d; echo evil > d/.envrc; chmod 500 d", &["d/.envrc"]),
        (
            "mkdir -p .git/refs/heads/.vscode; echo evil > .git/refs/heads/.vscode/tasks.json",
            &[".git/refs/heads/.vscode"],
        ),
    ];
    for (line, told) in table {
        let bench = bench();
        let data = confined(bench.command_as(line, &WORKSPACE).await);
        let paths: Vec<&str> =
            data["held_back"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        for path in told {
            assert!(paths.iter().any(|found| found.ends_with(path)), "{line}: {path} of {data:#}");
        }
        assert!(data.get("unguarded").is_none(), "{line}: {data:#}");
        assert_eq!(evil(&bench), Vec::<String>::new(), "{line}");
        let person = [bench.content("githooks/pre-commit"), bench.content(".git/config")];
        assert_eq!(person, ["person\n", "[core]\n"], "{line}");
        // After that, nothing is left for the next command to set aside.
        let next = bench.command_as("true", &WORKSPACE).await;
        assert!(matches!(next, Outcome::Done { .. }), "{line}: {next:?}");
    }
}

#[tokio::test]
async fn nothing_is_written_through_a_guarded_link() {
    let bench = bench();
    for line in
        ["echo evil > .envrc", "echo evil > cfg/env", "echo evil > githooks/pre-commit", "mv githooks g"]
    {
        let outcome = bench.command_as(line, &WORKSPACE).await;
        assert_eq!(
            (bench.content("cfg/env"), bench.content("githooks/pre-commit")),
            ("person\n".to_owned(), "person\n".to_owned()),
            "{line}: {outcome:?}"
        );
    }
}

/// A path inside a guarded folder is never writable, even if the command's effect names this path.
#[tokio::test]
async fn a_guarded_place_is_not_written() {
    for place in ["pkg/.vscode", "sub/.git/info", "store/info", "pkg/.vscode/tasks.json"] {
        let bench = bench();
        let effect = CommandEffect::Writes { places: vec![place.to_owned()] };
        let line = "echo evil > pkg/.vscode/tasks.json; echo evil > pkg/.vscode/new; echo evil > sub/.git/info/attributes; echo evil > store/info/attributes";
        bench.command_as(line, &effect).await;
        assert_eq!(bench.content("pkg/.vscode/tasks.json"), "person\n", "{place}");
        assert_eq!(evil(&bench), Vec::<String>::new(), "{place}");
    }
}

/// The second of two simultaneous commands starts only after the guarded paths that the first one created are renamed.
#[tokio::test]
async fn commands_that_write_take_turns() {
    let bench = bench();
    // The order does not matter: neither command finds a file that the other command created.
    let line = "mkdir busy && test ! -e src/.envrc && echo evil > src/.envrc && cat src/.envrc && rmdir busy";
    let (first, second) =
        tokio::join!(bench.command_as(line, &WORKSPACE), bench.command_as(line, &WORKSPACE));
    for outcome in [first, second] {
        let data = confined(outcome);
        assert_eq!((&data["exit_code"], &data["held_back"]), (&json!(0), &json!(["src/.envrc"])));
    }
    assert_eq!(evil(&bench), Vec::<String>::new());
}

/// A caller that stops waiting for its turn to run a command does not block later callers.
#[tokio::test]
async fn who_gives_up_waiting_holds_nobody_up() {
    let bench = bench();
    let long = bench.command_as("while ! test -e src/go; do :; done", &WORKSPACE);
    tokio::pin!(long);
    {
        let given_up = bench.command_as("touch src/late", &WORKSPACE);
        tokio::pin!(given_up);
        tokio::select! {
            biased;
            _ = &mut long => panic!("it ends when it is told to"),
            _ = &mut given_up => panic!("it is not its turn"),
            () = std::future::ready(()) => {}
        }
    }
    let reads = bench.command_as("cat src/a.txt", &CommandEffect::Reads).await;
    assert!(matches!(reads, Outcome::Done { .. }), "{reads:?}");
    bench.put("src/go", "");
    assert!(matches!(long.await, Outcome::Done { .. }));
    assert!(
        matches!(bench.command_as("test ! -e src/late", &WORKSPACE).await, Outcome::Done { data, .. } if data["exit_code"] == 0)
    );
}

/// If the stage that renames guarded paths is killed, these paths are reported as left. Until they are gone, every call
/// that may write needs an approval. The next start of a server renames them.
#[tokio::test]
async fn what_is_left_makes_every_writing_command_ask() {
    let bench = bench();
    let asks = async |line: &str| {
        let found = bench.ready("run_command", json!({ "command": line })).await;
        found.ask_because.contains(&"unguarded".to_owned())
    };
    assert!(!asks("touch x").await);
    let data = leave(&bench, "one", || ()).await;
    assert!(data["unguarded"].is_string(), "{data:#}");
    assert_eq!(evil(&bench), ["src/.envrc"]);
    assert!(asks("touch x").await);
    assert!(!asks("cat src/a.txt").await);
    fs::remove_file(bench.at("src/.envrc")).unwrap();
    assert!(!asks("touch x").await);
    leave(&bench, "two", || ()).await;
    assert!(asks("touch x").await);
    sandbox::clean_up();
    assert_eq!(evil(&bench), Vec::<String>::new());
    assert_eq!(bench.content("src/set-aside-1"), "evil\n");
    assert!(!asks("touch x").await);
}

/// An approved call that waits for its turn is checked again if the command before it left guarded paths, because the
/// workspace's identity has then changed.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_behind_what_is_left_does_not_run() {
    let bench = Arc::new(bench());
    let touch = json!({ "command": "touch src/late" });
    let shown = bench.ready("run_command", touch.clone()).await.preconditions;
    let (waits, waiting) = {
        let (bench, runtime) = (bench.clone(), tokio::runtime::Handle::current());
        let (told, waits) = tokio::sync::oneshot::channel();
        let start = move || {
            let waiting =
                runtime.spawn(async move { bench.run_as("run_command", touch, &shown, &WORKSPACE).await });
            std::thread::sleep(Duration::from_millis(200));
            assert!(!waiting.is_finished(), "another command has its turn");
            told.send(waiting).unwrap();
        };
        (start, waits)
    };
    leave(&bench, "before", waits).await;
    let outcome = waiting.await.unwrap().await.unwrap();
    assert_eq!(outcome, Outcome::Changed { paths: vec!["./".to_owned()] });
    assert!(!bench.at("src/late").exists());
}

/// Runs a command that creates the guarded path `src/.envrc`, calls the closure, and kills the stage that would rename
/// this path.
async fn leave(bench: &Bench, name: &str, meanwhile: impl FnOnce() + Send + 'static) -> Value {
    let marker = format!("{name}-{}", std::process::id());
    let line = format!("echo evil > src/.envrc; : {marker}; touch up-{marker}; sleep 1000");
    let at = bench.at(&format!("up-{marker}"));
    let killed = tokio::task::spawn_blocking(move || {
        until("the command runs", || at.exists());
        meanwhile();
        kill(&first_stage(&format!(": {marker}")));
    });
    let outcome = bench.command_as(&line, &WORKSPACE).await;
    killed.await.unwrap();
    confined(outcome)
}

/// Returns the process id of a command's first stage whose plan contains `text`.
fn first_stage(text: &str) -> String {
    let is_it = |arguments: Vec<&str>| matches!(arguments[..], [_, "sandbox-exec", "start", plan, ..] if plan.contains(text));
    let found = fs::read_dir("/proc").unwrap().flatten().find(|entry| {
        let line = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        is_it(line.split('\0').collect())
    });
    found.unwrap().file_name().into_string().unwrap()
}

fn kill(pid: &str) {
    assert!(std::process::Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

/// The result of a command names the first guarded paths that were renamed, and their total number.
#[tokio::test]
async fn what_is_set_aside_is_told_in_bounds() {
    let bench = bench();
    let line =
        "mkdir many; i=0; while [ $i -lt 300 ]; do echo evil > many/$i.code-workspace; i=$((i+1)); done";
    let data = confined(bench.command_as(line, &WORKSPACE).await);
    assert_eq!(data["held_back"].as_array().unwrap().len(), 20, "{data:#}");
    assert_eq!(data["held_back_count"], 300);
    assert_eq!(evil(&bench), Vec::<String>::new());
}

#[tokio::test]
async fn a_folder_whose_name_is_no_text_stops_nothing() {
    let bench = bench();
    let folder = bench.at("").join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join(".gitattributes"), "person\n").unwrap();
    let line = "cd caf*; echo evil > .gitattributes; echo evil > .envrc; true";
    let data = confined(bench.command_as(line, &WORKSPACE).await);
    assert_eq!(data["held_back"].as_array().unwrap().len(), 1, "{data:#}");
    assert_eq!(fs::read_to_string(folder.join(".gitattributes")).unwrap(), "person\n");
    assert_eq!(names(&folder), [".gitattributes", "set-aside-1"]);
}

/// An unreadable folder that existed before a command does not prevent the command from running.
#[tokio::test]
async fn an_unreadable_folder_of_before_stays_as_it_was() {
    let bench = bench();
    fs::create_dir(bench.at("closed")).unwrap();
    fs::set_permissions(bench.at("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let outcome = bench.command_as("touch x", &WORKSPACE).await;
    fs::set_permissions(bench.at("closed"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
}
