//! A command does only what its effect allows, because the sandbox denies everything else. These tests fail on a host
//! without Landlock and namespaces.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use holdshort_core::tool::{CommandEffect, Outcome, SandboxLevel};
use holdshort_tools::sandbox;
use serde_json::json;

use crate::bench::{Bench, PROGRAM, call};

fn bench() -> Bench {
    assert_eq!(
        sandbox::level(Path::new(PROGRAM), false),
        SandboxLevel::Full,
        "this host cannot confine commands"
    );
    Bench::new()
}

fn writes(places: &[&str]) -> CommandEffect {
    CommandEffect::Writes { places: places.iter().map(|place| (*place).to_owned()).collect() }
}

/// Makes a repository as Git does, and two repositories inside it: one with a `.git` folder, and a bare one.
fn repositories(bench: &Bench) {
    for folder in [".git", "sub/.git", "store"] {
        bench.put(&format!("{folder}/HEAD"), "ref: refs/heads/main\n");
        bench.put(&format!("{folder}/config"), "[core]\n");
        bench.put(&format!("{folder}/hooks/pre-commit.sample"), "#!/bin/sh\n");
        bench.put(&format!("{folder}/info/exclude"), "");
        bench.put(&format!("{folder}/objects/info/packs"), "");
        bench.put(&format!("{folder}/refs/heads/main"), "");
    }
}

/// Each effect can write only to the paths that it names. A table row has the effect, the command line, a path, and
/// true if the path exists afterwards.
#[tokio::test]
async fn each_effect_writes_what_it_says_and_nothing_else() {
    let reads = CommandEffect::Reads;
    let (docs, file, all) = (writes(&["docs"]), writes(&["a.txt"]), writes(&["."]));
    let (workspace, guarded) = (CommandEffect::Workspace, CommandEffect::Guarded);
    let table = [
        (&reads, "echo x > new", "new", false),
        (&reads, "rm a.txt; test -e a.txt && exit 1", "a.txt", true),
        (&reads, "mkdir d", "d", false),
        (&docs, "echo x > docs/new", "docs/new", true),
        (&docs, "echo x > new", "new", false),
        (&docs, "mv docs/b.txt .", "docs/b.txt", true),
        (&file, "echo x >> a.txt && cp a.txt docs/new", "docs/new", false),
        (&all, "echo x > new", "new", true),
        (&all, "echo x > .git/hooks/post-checkout", ".git/hooks/post-checkout", false),
        (&workspace, "echo x > docs/deep && mkdir -p e/f && echo x > e/f/g", "e/f/g", true),
        (&workspace, "echo x > .git/index", ".git/index", true),
        (&workspace, "echo x > .git/hooks/post-checkout", ".git/hooks/post-checkout", false),
        (&workspace, "echo x > sub/.git/hooks/post-checkout", "sub/.git/hooks/post-checkout", false),
        (&workspace, "echo x > store/hooks/post-receive", "store/hooks/post-receive", false),
        (&workspace, "mv .git/hooks .git/h; mv .git g; mv sub/.git sub/g", ".git/hooks", true),
        (
            &workspace,
            "rm -rf .git/config; mkdir .git/config.lock; mv .git/config.lock .git/config",
            ".git/config",
            true,
        ),
        (&workspace, "echo x > .git/config.worktree", ".git/config.worktree", false),
        (&workspace, "mkdir -p .git/modules/a && echo x > .git/modules/a/config", ".git/modules", false),
        (&workspace, "mkdir -p n/.git && echo x > n/.git/config", "n/.git", false),
        (&workspace, "echo 'gitdir: ../store' > docs/.git", "docs/.git", false),
        (
            &workspace,
            "mkdir -p b/objects b/refs && cp .git/HEAD b/ && echo '[core]' > b/config",
            "b/HEAD",
            false,
        ),
        (&workspace, "echo x > .envrc", ".envrc", false),
        (&workspace, "mkdir -p .vscode && echo '{}' > .vscode/tasks.json", ".vscode", false),
        (&workspace, "mkdir .husky && echo x > .husky/pre-commit", ".husky", false),
        (&workspace, "echo x >> .profile", ".profile", false),
        (&guarded, "echo x > .git/hooks/post-checkout", ".git/hooks/post-checkout", true),
        (&guarded, "mkdir -p n/.git && echo x > n/.git/config", "n/.git/config", true),
        (&guarded, "echo x > .envrc", ".envrc", true),
    ];
    for (effect, line, path, is_there) in table {
        let bench = bench();
        repositories(&bench);
        bench.put("a.txt", "a\n");
        bench.put("docs/b.txt", "b\n");
        let outcome = bench.command_as(line, effect).await;
        assert_eq!(bench.at(path).exists(), is_there, "{effect:?}: {line}: {outcome:?}");
        assert_eq!(bench.content(".git/config"), "[core]\n", "{effect:?}: {line}");
    }
}

#[tokio::test]
async fn what_only_reads_executes_nothing_of_the_workspace_and_has_no_network() {
    let bench = Bench::with(|settings| settings.network = true);
    bench.put("tool", "#!/bin/sh\necho reached\n");
    fs::set_permissions(bench.at("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = |outcome: &Outcome| matches!(outcome, Outcome::Done { text, .. } | Outcome::Confined { text, .. } if text.contains("reached"));
    let run = bench.command_as("./tool", &CommandEffect::Reads).await;
    assert!(!said(&run) && matches!(run, Outcome::Confined { .. }), "{run:?}");
    assert!(said(&bench.command_as("./tool", &CommandEffect::Workspace).await));
    let network = "test \"$(wc -l < /proc/net/dev)\" -gt 3 && echo reached";
    assert!(!said(&bench.command_as(network, &CommandEffect::Reads).await));
    // A read-only command may still read the workspace.
    assert!(said(&bench.command_as("cat tool", &CommandEffect::Reads).await));
}

#[tokio::test]
async fn a_program_of_the_workspace_is_no_known_program() {
    let bench = Bench::with(|settings| settings.path = "/usr/bin:/bin".to_owned());
    bench.put("bin/ls", "#!/bin/sh\necho reached\n");
    fs::set_permissions(bench.at("bin/ls"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bench.at("bin").display());
    let tools = bench.tools_with(|settings| settings.path = path);
    let ls = call("run_command", json!({"command": "ls"}));
    let Outcome::Done { text, .. } = tools.run(&ls, &[], Some(&CommandEffect::Reads), |_| {}).await else {
        panic!()
    };
    assert_eq!(text, "bin\nexit code 0");
}

#[tokio::test]
async fn a_wall_is_told_in_words() {
    let bench = bench();
    repositories(&bench);
    let told = |outcome: Outcome| match outcome {
        Outcome::Confined { text, data } | Outcome::SetAside { text, data } => (text, data),
        other => panic!("{other:?}"),
    };
    let (text, data) = told(bench.command_as("touch x", &CommandEffect::Reads).await);
    assert!(text.contains("allowed as read-only"), "{text}");
    assert_eq!(data["effect"], "reads");
    let (text, _) = told(bench.command_as("echo x > y", &writes(&["sub"])).await);
    assert!(text.contains("only to certain paths"), "{text}");
    let (text, data) = told(bench.command_as("echo x > .envrc", &CommandEffect::Workspace).await);
    assert!(text.contains("`.envrc` was set aside (renamed to `set-aside-1`"), "{text}");
    assert_eq!(data["held_back"], json!([".envrc"]));
    assert_eq!(bench.content("set-aside-1"), "x\n");
    // A denied write to a guarded path is explained in the same way for every effect, whatever the language of the host
    // is.
    let (text, _) = told(bench.command_as("echo x > sub/.envrc", &writes(&["sub"])).await);
    assert!(text.contains("configuration, hooks, start-up files"), "{text}");
    // A command that fails for a different reason was not denied anything.
    for line in ["grep -q nothing store/config", "cat missing", "false"] {
        let outcome = bench.command_as(line, &CommandEffect::Reads).await;
        assert!(matches!(outcome, Outcome::Done { .. }), "{line}: {outcome:?}");
    }
}

/// A denial by the sandbox is reported even if the command prints no message, or if its exit code hides the denial.
/// Ordinary failures are not reported as denials.
#[tokio::test]
async fn a_wall_in_silence_is_told() {
    let bench = bench();
    bench.put("docs/a", "");
    bench.put("log", "cp: Read-only file system\nchmod: Operation not permitted\n");
    let docs = writes(&["docs"]);
    let (reads, workspace) = (CommandEffect::Reads, CommandEffect::Workspace);
    let perhaps = Some("may have denied an operation");
    let certain = Some("make the same call again");
    let table = [
        (&docs, "touch newfile 2>/dev/null", perhaps),
        (&docs, "(touch newfile) 2>&1 | cat >/dev/null; exit 3", perhaps),
        (&docs, "python3 -c \"open('newfile','w')\" >/dev/null 2>&1", perhaps),
        (&docs, "touch newfile || true", certain),
        (&docs, "touch docs/new", None),
        (&docs, "echo 2 tests failed; exit 1", None),
        (&reads, "grep -q nothing log", None),
        (&reads, "test -f missing", None),
        (&reads, "cat log", None),
        (&workspace, "grep -q nothing log", None),
        (&workspace, "false", None),
    ];
    for (effect, line, told) in table {
        match (bench.command_as(line, effect).await, told) {
            (Outcome::Confined { text, .. }, Some(words)) => assert!(text.contains(words), "{line}: {text}"),
            (Outcome::Done { .. }, None) => {}
            (outcome, told) => panic!("{effect:?}: {line}: {told:?}: {outcome:?}"),
        }
    }
}

/// A denial by the filter of system calls is reported with the system's message, and with a note that a retry fails
/// too.
#[tokio::test]
async fn a_refused_mode_is_told() {
    let bench = bench();
    bench.put("f", "");
    for line in ["chmod u+s f", "chmod u+s f || true", "mknod d c 1 3"] {
        match bench.command_as(line, &CommandEffect::Workspace).await {
            Outcome::Done { text, data } => {
                assert!(text.contains("Commands may not set set-user-id"), "{line}: {text}");
                let refused = data["refused"][0].as_str().unwrap();
                assert!(refused.contains("not permitted") || refused.contains("denied"), "{line}: {data}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
}

/// A path that a command may write must not be a link to another folder.
#[tokio::test]
async fn a_place_that_leads_elsewhere_is_none() {
    let bench = bench();
    repositories(&bench);
    fs::create_dir(bench.at("real")).unwrap();
    symlink("real", bench.at("link")).unwrap();
    let outcome = bench.command_as("echo x > real/y", &writes(&["link"])).await;
    assert!(matches!(outcome, Outcome::Failed { .. }), "{outcome:?}");
    assert!(!bench.at("real/y").exists());
}

#[tokio::test]
async fn what_git_does_every_day_goes_on() {
    let bench = bench();
    bench.put("a.txt", "a\n");
    let git = "git -c user.name=a -c user.email=a@b.c";
    let line = format!("git init -q . && {git} add . && {git} commit -qm one");
    let outcome = bench.command_as(&line, &CommandEffect::Guarded).await;
    assert!(matches!(&outcome, Outcome::Done { data, .. } if data["exit_code"] == 0), "{outcome:?}");
    let line = format!(
        "echo b >> a.txt && {git} commit -qam two && git checkout -q -b other && git stash list && git branch -v && \
         git merge -q - && git tag v1 && git reset -q --hard HEAD^ && git status --short"
    );
    for effect in [CommandEffect::Workspace, writes(&["."])] {
        let outcome = bench.command_as(&line.replace("other", &format!("b{}", line.len())), &effect).await;
        let ended = matches!(&outcome, Outcome::Done { data, .. } if data["exit_code"] == 0);
        assert!(ended, "{effect:?}: {outcome:?}");
        bench.command_as("git checkout -q - && git tag -d v1 && git branch -D $(git branch --format='%(refname:short)' | grep ^b)", &CommandEffect::Workspace).await;
    }
    for line in ["git status --short", "git log --oneline -1", "git diff", "git show --stat"] {
        let outcome = bench.command_as(line, &CommandEffect::Reads).await;
        assert!(
            matches!(&outcome, Outcome::Done { data, .. } if data["exit_code"] == 0),
            "{line}: {outcome:?}"
        );
    }
    // The git configuration belongs to the person, so the command must not change it.
    let outcome =
        bench.command_as("git config core.fsmonitor 'touch pwned'", &CommandEffect::Workspace).await;
    assert!(matches!(outcome, Outcome::Confined { .. }), "{outcome:?}");
}

/// A command cannot give a file permissions or a type with an effect beyond the command.
#[tokio::test]
async fn no_file_gets_rights_that_reach_further() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let bench = Bench::beneath(folder);
    // In their private folder commands may create sockets, as docs/sandbox.md says.
    let may_make_sockets = folder.starts_with("/tmp");
    for line in [
        "cp /bin/true x && chmod u+s x",
        "cp /bin/true x && chmod 2755 x",
        "touch x && chmod 000 x",
        "python3 -c \"import os; os.open('x', os.O_CREAT | os.O_WRONLY, 0o4755)\"",
        "python3 -c \"import os; os.mkdir('x', 0)\"",
        "umask 777; touch x",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('x')\"",
        "mknod x c 1 3",
        "install -m 4755 /bin/true x",
        "touch x; python3 -c \"import os, struct; os.setxattr('x', 'system.posix_acl_access', struct.pack('<IHHIHHIHHI', 2, 1, 0, 2**32-1, 4, 0, 2**32-1, 32, 0, 2**32-1))\"",
    ] {
        if may_make_sockets && line.contains("AF_UNIX") {
            continue;
        }
        let _ = fs::remove_file(bench.at("x"));
        let outcome = bench.command_as(line, &CommandEffect::Workspace).await;
        if let Ok(found) = fs::symlink_metadata(bench.at("x")) {
            assert_eq!(found.mode() & 0o6400, 0o400, "{line}: {outcome:?}");
            assert!(found.is_file(), "{line}: {outcome:?}");
        }
    }
    // Ordinary modes are allowed.
    let outcome = bench
        .command_as("touch y && chmod 755 y && chmod go-rwx y && mkdir -m 700 d && cp -p y d/ && tar cf t d && tar xf t", &CommandEffect::Workspace)
        .await;
    assert!(matches!(&outcome, Outcome::Done { data, .. } if data["exit_code"] == 0), "{outcome:?}");
}

#[tokio::test]
async fn a_command_writes_so_much_and_no_more() {
    let bench = Bench::with(|settings| settings.write_bytes = 64 * 1024 * 1024);
    let line =
        "i=0; while [ $i -lt 400 ]; do head -c 8388608 /dev/zero > \"f$i\"; sync \"f$i\"; i=$((i+1)); done";
    let Outcome::Done { text, .. } = bench.command_as(line, &CommandEffect::Workspace).await else {
        panic!()
    };
    assert!(text.contains("wrote more bytes than allowed"), "{text}");
    // Counts the bytes of children whose parent does not wait for them, and of a process whose counters are unreadable.
    let unwaited = "import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nfor i in range(400):\n  if \
                    os.fork() == 0:\n    f = os.open('g%d' % i, os.O_CREAT | os.O_WRONLY)\n    os.write(f, b'0' * 8388608)\n    \
                    os.fsync(f)\n    os._exit(0)\n  \
                    try: os.wait()\n  except ChildProcessError: pass\n";
    bench.put("unwaited.py", unwaited);
    let outcome = bench.command_as("python3 unwaited.py", &CommandEffect::Workspace).await;
    assert!(matches!(&outcome, Outcome::Done { text, .. } if text.contains("wrote more")), "{outcome:?}");
    let line = "fallocate -l 1G big; stat -c %s big";
    let outcome = bench.command_as(line, &CommandEffect::Workspace).await;
    assert!(!matches!(&outcome, Outcome::Done { text, .. } if text.contains("1073741824")), "{outcome:?}");
}

/// The filter denies system calls with a second set of numbers (x32), which a kernel may accept.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_under_other_numbers_are_refused() {
    let bench = bench();
    let line = "python3 -c \"import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall(0x40000000 | 39), ctypes.get_errno())\"";
    let outcome = bench.command_as(line, &CommandEffect::Workspace).await;
    // The error is not ENOSYS, which a kernel without the second set of numbers would return.
    assert!(matches!(&outcome, Outcome::Done { text, .. } if text.starts_with("-1 1\n")), "{outcome:?}");
}

/// The approval of a command is bound to the existing scripts in the command line. A call with a script that cannot be
/// bound needs an approval.
#[tokio::test]
async fn nothing_is_run_unbound_in_silence() {
    let bench = bench();
    bench.put("deploy.sh", "echo one\n");
    bench.put("app/__main__.py", "print(1)\n");
    bench.put("server.js", "1\n");
    bench.put("tests/a.py", "1\n");
    for path in ["x.mk", "sub/x.mk", "sub/Cargo.toml", "sub/build.rs", "sub/setup.py", "a.jar"] {
        bench.put(path, "1\n");
    }
    bench.put(".git/x.sh", "echo one\n");
    symlink(bench.at("deploy.sh"), bench.at("run.sh")).unwrap();
    let table = [
        ("sh deploy.sh", Some("deploy.sh"), false),
        ("sh < deploy.sh", Some("deploy.sh"), false),
        ("python3 app", Some("app/__main__.py"), false),
        ("node server", Some("server.js"), false),
        ("python3 -m unittest tests", None, false),
        ("sh run.sh", None, true),
        ("sh .git/x.sh", None, true),
        ("sh dep*.sh", None, true),
        ("sh ~/a.sh", None, true),
        ("python3 tests", None, true),
        ("cat dep*.sh .git/x.sh", None, false),
        ("make -C sub -f x.mk", Some("sub/x.mk"), false),
        ("make -f x.mk -C sub", Some("sub/x.mk"), false),
        ("just -d sub -f x.mk", Some("sub/x.mk"), false),
        ("python3 -mtests.a", Some("tests/a.py"), false),
        ("python3 -m unittest tests.a.Case.test_it", Some("tests/a.py"), false),
        ("pytest tests/a.py::test_it", Some("tests/a.py"), false),
        ("cargo run --manifest-path sub/Cargo.toml", Some("sub/Cargo.toml"), false),
        ("cargo run --manifest-path=sub/Cargo.toml", Some("sub/build.rs"), false),
        ("java -jar a.jar", Some("a.jar"), false),
        ("uv run tests/a.py", Some("tests/a.py"), false),
        ("jest server.js", Some("server.js"), false),
        ("ruby -r./deploy.sh server.js", Some("deploy.sh"), false),
        ("sed -fdeploy.sh a", Some("deploy.sh"), false),
        ("sed --file=deploy.sh a", Some("deploy.sh"), false),
        ("vim -S deploy.sh", Some("deploy.sh"), false),
        ("git rebase -x ./deploy.sh HEAD", Some("deploy.sh"), false),
        ("cmake -P deploy.sh", Some("deploy.sh"), false),
        ("no-such-program --config deploy.sh", Some("deploy.sh"), false),
        ("pip install ./sub", Some("sub/setup.py"), false),
        ("cat deploy.sh | sh", None, true),
        ("go run ./sub", None, true),
        ("pytest tests/*.py", None, true),
        ("pytest", None, false),
        ("cargo test", None, false),
        ("npm test", None, false),
        ("make", None, false),
        ("git commit -m deploy.sh", None, false),
    ];
    for (line, script, unbound) in table {
        let found = bench.ready("run_command", json!({ "command": line })).await;
        let is_bound =
            |path: &str| found.preconditions.iter().any(|it| it.path == path && it.sha256.is_some());
        assert!(script.is_none_or(is_bound), "{line}: {:?}", found.preconditions);
        assert_eq!(
            found.ask_because.contains(&"script_unbound".to_owned()),
            unbound,
            "{line}: {:?}",
            found.ask_because
        );
    }
}

/// The approval of a command is bound to the identity of the working directory and not to its name.
#[tokio::test]
async fn an_exchanged_folder_is_noticed() {
    let bench = bench();
    bench.put("sub/here", "");
    bench.put("other/there", "");
    let arguments = json!({"command": "ls", "cwd": "sub"});
    let shown = bench.ready("run_command", arguments.clone()).await.preconditions;
    assert!(shown.iter().any(|it| it.path == "sub/"), "{shown:?}");
    // The content of the folder may change.
    bench.put("sub/more", "");
    let run = || bench.run("run_command", arguments.clone(), &shown);
    assert!(matches!(run().await, Outcome::Done { .. }));
    fs::rename(bench.at("sub"), bench.at("gone")).unwrap();
    fs::rename(bench.at("other"), bench.at("sub")).unwrap();
    assert_eq!(run().await, Outcome::Changed { paths: vec!["sub/".to_owned()] });
}

/// The approval of a command is also bound to a folder that the command line enters with `cd`. A link to a folder
/// cannot be bound.
#[tokio::test]
async fn an_exchanged_folder_that_the_line_enters_is_noticed() {
    let bench = bench();
    for line in ["cd d1 && touch v", "git -C d1 add v", "env -C d1 touch v", "cd d1/e && touch v"] {
        bench.put("d1/e/here", "");
        bench.put("other/e/there", "");
        let arguments = json!({ "command": line });
        let found = bench.ready("run_command", arguments.clone()).await;
        assert!(!found.ask_because.contains(&"script_unbound".to_owned()), "{line}: {:?}", found.ask_because);
        fs::rename(bench.at("d1"), bench.at("gone")).unwrap();
        symlink("other", bench.at("d1")).unwrap();
        let outcome = bench.run("run_command", arguments.clone(), &found.preconditions).await;
        assert!(matches!(outcome, Outcome::Changed { .. }), "{line}: {outcome:?}");
        assert!(!bench.at("other/v").exists() && !bench.at("other/e/v").exists(), "{line}");
        let found = bench.ready("run_command", arguments).await;
        assert!(found.ask_because.contains(&"script_unbound".to_owned()), "{line}: {:?}", found.ask_because);
        fs::remove_file(bench.at("d1")).unwrap();
        fs::remove_dir_all(bench.at("gone")).unwrap();
    }
}

/// The approval of a command covers the content of the scripts that the command line names.
#[tokio::test]
async fn a_script_is_part_of_what_is_approved() {
    let bench = bench();
    bench.put("deploy.sh", "echo one\n");
    bench.put("sub/Makefile", "all:\n\techo one\n");
    for (arguments, script) in [
        (json!({"command": "sh deploy.sh"}), "deploy.sh"),
        (json!({"command": "./deploy.sh --now"}), "deploy.sh"),
        (json!({"command": "make all", "cwd": "sub"}), "sub/Makefile"),
        (json!({"command": "cd sub && make"}), "sub/Makefile"),
    ] {
        let found = bench.ready("run_command", arguments.clone()).await;
        let bound = found.preconditions.iter().find(|it| it.path == script);
        assert!(bound.is_some_and(|it| it.sha256.is_some()), "{arguments}: {:?}", found.preconditions);
        let scripts = found.card["scripts"].as_array().unwrap();
        assert!(
            scripts.iter().any(|it| it["path"] == script && it["text"].as_str().unwrap().contains("one"))
        );
        let before = bench.content(script);
        bench.put(script, "echo two\n");
        let outcome = bench.run("run_command", arguments.clone(), &found.preconditions).await;
        assert_eq!(outcome, Outcome::Changed { paths: vec![script.to_owned()] }, "{arguments}");
        bench.put(script, before);
    }
}
