//! Runs widely used programs as trials, commits their changes and undoes them.

use std::process::Command;

use holdshort_tools::{Committed, git_words};

use crate::bench::{Bench, is_running};
use crate::tree::{differences, tree};
use crate::trial::{TriedCommand, complete_trial};

/// Fails if a program is not installed, because a skipped test proves nothing.
fn needs(program: &str) {
    let found =
        Command::new("sh").args(["-c", &format!("PATH={PATH} command -v {program}")]).output().unwrap();
    let install = match program {
        "npm" => "Node.js with npm, for all users of the machine",
        "pip3" => "python3-pip",
        "setsid" => "util-linux",
        "find" => "findutils",
        other => other,
    };
    assert!(found.status.success(), "there is no {program} in {PATH}: install {install}");
}

/// Number of changed paths above which a test commits a changeset as rarely as possible.
const MANY: usize = 1000;
/// Number of seconds that the test's daemon sleeps. The process of the daemon is recognised by this number.
const DAEMON: &str = "86431";
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Prepares a workspace with the shell line `prepare`, runs `line` in this workspace as a trial, and commits and undoes
/// the changes.
async fn played(program: &str, prepare: &str, line: &str) -> (Bench, TriedCommand) {
    needs(program);
    let bench = Bench::new();
    let home = bench.root.path().join("home");
    let prepared = Command::new("sh")
        .args(["-ec", prepare])
        .current_dir(bench.at(""))
        .env("HOME", home)
        .output()
        .unwrap();
    assert!(prepared.status.success(), "{prepare}: {prepared:?}");
    let before = tree(&bench.at(""));
    let kept = complete_trial(&bench, &bench.tools, line).await;
    assert!(!is_running(DAEMON), "{line}: what it left running is gone with its trial");
    assert_eq!(kept.trial.data["exit_code"], 0, "{line}: {}", kept.trial.text);
    assert_eq!(kept.commit(&bench.tools), Committed::Done, "{line}");
    let after = tree(&bench.at(""));
    assert_eq!(kept.undo(&bench.tools), Committed::Done, "{line}");
    assert_eq!(differences(&before, &tree(&bench.at(""))), [], "{line}");
    // Skipped for thousands of files, since each file is synced to disk.
    if kept.trial.changeset.changes().len() < MANY {
        assert_eq!(kept.commit(&bench.tools), Committed::Done, "{line}");
        assert_eq!(differences(&after, &tree(&bench.at(""))), [], "{line}");
    }
    (bench, kept)
}

fn git_summary(kept: &TriedCommand) -> Vec<String> {
    git_words(&kept.trial.changeset, |digest| kept.body(digest))
}

const REPOSITORY: &str = "git init -q -b main; git config user.name A; git config user.email a@b.c; \
                          echo one > a; git add .; git commit -qm one";

#[tokio::test]
async fn git_in_words() {
    let table: [(&str, &str, &[&str]); 6] = [
        ("", "git status; git log; git diff", &[]),
        (
            "",
            "echo two > a; git commit -qam 'Say two'",
            &[
                "`.git/COMMIT_EDITMSG` changed",
                "index changed",
                "commit made: Say two",
                "branch `main` moved",
                "git objects added: 3",
            ],
        ),
        ("", "git branch side", &["branch `side` made"]),
        ("git branch side", "git branch -qD side", &["branch `side` deleted"]),
        ("", "git switch -qc side", &["branch `side` checked out", "branch `side` made"]),
        (
            "",
            "git config core.pager less; echo true > .git/hooks/pre-commit",
            &["configuration changed: `+ pager = less`", "hook `pre-commit` made"],
        ),
    ];
    for (prepare, line, expected) in table {
        let (_, kept) = played("git", &format!("{REPOSITORY}; {prepare}"), line).await;
        let told = git_summary(&kept);
        for words in expected {
            assert!(told.contains(&(*words).to_owned()), "{line}: {told:?}");
        }
        let rest: Vec<_> = told.iter().filter(|told| !expected.contains(&told.as_str())).collect();
        assert!(
            rest.iter().all(|it| it.starts_with("index ") || it.starts_with("`.git/")),
            "{line}: {rest:?}"
        );
    }
}

#[tokio::test]
async fn a_rebase() {
    let prepare = format!(
        "{REPOSITORY}; git switch -qc side; echo s > s; git add .; git commit -qm side; git switch -q main; \
         echo m > m; git add .; git commit -qm m; git switch -q side"
    );
    let (bench, kept) = played("git", &prepare, "git rebase -q main").await;
    assert!(git_summary(&kept).contains(&"branch `side` moved".to_owned()), "{:?}", git_summary(&kept));
    let log = Command::new("git").args(["log", "--format=%s"]).current_dir(bench.at("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&log.stdout), "side\nm\none\n");
    let checked = Command::new("git").args(["fsck", "--strict"]).current_dir(bench.at("")).status().unwrap();
    assert!(checked.success());
}

/// Shell line that makes a Python wheel by hand: a zip file with one module and the metadata that pip reads.
const WHEEL: &str = "python3 -c \"
import zipfile
name = 'small-1.0.dist-info/'
with zipfile.ZipFile('small-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('small.py', 'said = 41')
    wheel.writestr(name + 'METADATA', 'Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\n')
    wheel.writestr(name + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(name + 'RECORD', 'small.py,,\\n' + ''.join(name + it + ',,\\n' for it in ('METADATA', 'WHEEL', 'RECORD')))
\"";

/// A test case: the program, the shell line that prepares the workspace, the line of the trial, a line that must
/// succeed after the commit, and the number of changed paths.
type Row<'a> = (&'a str, &'a str, &'a str, &'a str, usize);

#[tokio::test]
async fn builds_packages_databases_and_mass_edits() {
    let table: [Row; 9] = [
        (
            "make",
            "printf 'all: out\\nout: in\\n\\tcp in out\\n' > Makefile; echo x > in",
            "make",
            "cmp in out",
            1,
        ),
        (
            "npm",
            "mkdir lib; printf '{\"name\":\"lib\",\"version\":\"1.0.0\"}' > lib/package.json; \
             printf '{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"lib\":\"file:lib\"}}' > package.json",
            "npm install --offline --no-audit --no-fund",
            "test \"$(readlink node_modules/lib)\" = ../lib && test -e node_modules/.package-lock.json",
            0,
        ),
        (
            "pip3",
            WHEEL,
            "python3 -m pip install --no-index --no-cache-dir --target lib small-1.0-py3-none-any.whl",
            "PYTHONPATH=lib python3 -B -c 'import small; assert small.said == 41'; test -e lib/small-1.0.dist-info/INSTALLER",
            0,
        ),
        (
            "pip3",
            WHEEL,
            "python3 -m venv --system-site-packages --without-pip v && v/bin/python -m pip install --no-index --no-cache-dir \
             small-1.0-py3-none-any.whl",
            "test -e v/lib/python3*/site-packages/small.py && test -L v/bin/python",
            0,
        ),
        (
            "sqlite3",
            "sqlite3 a.db 'create table t(x); insert into t values(1)'",
            "sqlite3 a.db 'pragma journal_mode=wal; insert into t values(2); select count(*) from t'",
            "test \"$(sqlite3 a.db 'pragma integrity_check; select sum(x) from t' | tr '\\n' ' ')\" = 'ok 3 '",
            0,
        ),
        (
            "sed",
            "mkdir d; cd d; for n in $(seq 300); do echo old > $n; done",
            "sed -i s/old/new/ d/*",
            "test $(cat d/* | grep -cx new) = 300 && test $(ls d | wc -l) = 300",
            300,
        ),
        (
            "find",
            "mkdir -p d/e/f; for n in $(seq 300); do echo x > d/e/$n; done; touch stays",
            "find d -delete",
            "test ! -e d && test -e stays",
            303,
        ),
        (
            "python3",
            "echo hello > a",
            "python3 -c \"import mmap; f=open('a','r+b'); m=mmap.mmap(f.fileno(),0); m[0:1]=b'J'; f.close(); import os; os._exit(0)\"",
            "test \"$(cat a)\" = Jello",
            1,
        ),
        (
            "setsid",
            "true",
            "setsid sh -c 'echo x > left; sleep 86431; echo late > left' > /dev/null 2>&1 & until [ -s left ]; do :; done",
            "test \"$(cat left)\" = x",
            1,
        ),
    ];
    for row in table {
        hold(row).await;
    }
}

#[tokio::test]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_a_mass_edit() {
    let prepare = "mkdir d; cd d; for n in $(seq 5000); do echo old > $n; done";
    let after = "test $(cat d/* | grep -cx new) = 5000 && test $(ls d | wc -l) = 5000";
    hold(("sed", prepare, "sed -i s/old/new/ d/*", after, 5000)).await;
}

async fn hold((program, prepare, line, after, changed): Row<'_>) {
    let (bench, kept) = played(program, prepare, line).await;
    if kept.trial.changeset.changes().len() >= MANY {
        assert_eq!(kept.commit(&bench.tools), Committed::Done, "{line}");
    }
    let held = Command::new("sh").args(["-ec", after]).current_dir(bench.at("")).env("PATH", PATH).output();
    let held = held.unwrap();
    assert!(held.status.success(), "{line}: {after}: {held:?}");
    assert!(changed == 0 || kept.marked_paths().len() == changed, "{line}: {:?}", kept.marked_paths());
}

/// A crate is built in a trial with the toolchain of the person who runs the tests, if commands may read it.
#[tokio::test]
async fn a_crate_without_dependencies() {
    let cargo = std::path::PathBuf::from(env!("CARGO"));
    let bench = Bench::new();
    bench.put("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    bench.put("src/main.rs", "fn main() {}\n");
    bench.put(".gitignore", "target\n");
    // Git ignores nothing unless the workspace has a repository.
    std::fs::create_dir(bench.at(".git")).unwrap();
    let tools = bench.tools_with(|settings| {
        settings.path = format!("{}:{PATH}", cargo.parent().unwrap().display());
    });
    let line = "CARGO_HOME=$TMPDIR/cargo cargo build --offline 2>&1 && target/debug/small";
    let kept = complete_trial(&bench, &tools, line).await;
    assert_eq!(kept.trial.data["exit_code"], 0, "{}", kept.trial.text);
    let unignored: Vec<_> = kept.trial.changeset.changes().iter().filter(|change| !change.ignored).collect();
    assert_eq!(unignored.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["Cargo.lock"]);
    assert_eq!(kept.commit(&tools), Committed::Done);
    assert!(Command::new(bench.at("target/debug/small")).status().unwrap().success());
}
