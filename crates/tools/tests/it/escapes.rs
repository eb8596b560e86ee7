//! Trials of commands that try to deceive the trial, and trials in unusual workspaces. A test that needs another user
//! or separate mounts starts the test program again.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use holdshort_tools::{CommandTrialOutcome, Committed, Layers, sandbox};
use rustix::fs::XattrFlags;

use crate::bench::{Bench, PROGRAM, names};
use crate::programs::play;
use crate::tree::tree;
use crate::trial::{complete_trial, tried};

const AGAIN: &str = "HOLDSHORT_TEST_AGAIN";
const AS_ANOTHER: &str = "exec setpriv --reuid 1000 --regid 1000 --clear-groups";

/// Runs the shell line `line` and then the test `test` again in a new process. Returns false in the new process.
fn again(test: &str, line: &str, folder: &Path) -> bool {
    if std::env::var_os(AGAIN).is_some() {
        return false;
    }
    assert!(
        rustix::process::geteuid().is_root(),
        "these tests make mounts and other users: run them as root"
    );
    let ran = Command::new("unshare")
        .args(["--mount", "sh", "-ec", &format!("{line} \"$@\""), "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(AGAIN, folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    true
}

/// Returns the bench that the first process has prepared for the new process.
fn prepared() -> Bench {
    Bench::over(Path::new(&std::env::var_os(AGAIN).unwrap()))
}

fn left_behind() -> Vec<String> {
    let mut left = names(&std::env::temp_dir());
    left.retain(|name| name.starts_with("holdshort-"));
    left
}

#[tokio::test]
async fn marks_of_an_overlay_are_not_made_by_a_command() {
    let python = "import os, ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.renameat2(-100, b'a', -100, b'moved', 4)\n\
        for name in ('user.overlay.opaque', 'trusted.overlay.opaque', 'user.overlay.whiteout'):\n\
        \x20   try: os.setxattr('d', name, b'y'); print('made', name)\n    except OSError: pass\n";
    for layers in [Layers::Overlay, Layers::Copy] {
        let bench = Bench::with(|settings| settings.layers = layers);
        for path in ["a", "d/x", "w", "trick.py"] {
            bench.put(path, python);
        }
        let kept =
            complete_trial(&bench, &bench.tools, "mknod v c 0 0; mknod d/x c 0 0; python3 trick.py").await;
        assert!(!kept.trial.text.contains("made"), "{}", kept.trial.text);
        // In a copy, the device that marks a deletion in an overlay can replace a file. The device is reported and not
        // kept.
        let expected: &[&str] = if layers == Layers::Copy { &["-a", "+moved"] } else { &[] };
        assert_eq!(kept.marked_paths(), expected);
        assert_eq!(kept.trial.codes.is_empty(), expected.is_empty());
    }
}

/// A command in a trial reaches its writes only at their path in the workspace, and never in the layer of the trial.
/// The table of mounts names the layer's scratch folder, but the command finds nothing at this path. For an overlay,
/// the table names no folder.
#[tokio::test]
async fn a_layer_is_out_of_its_commands_sight() {
    let line = "echo x > marker; find / $PWD /tmp /dev /etc /opt /usr -xdev -name marker 2> /dev/null; echo mounts:; \
                cat /proc/self/mountinfo; echo beside:; \
                for at in $(grep -o '/[^ ]*/holdshort-[A-Za-z0-9]*' /proc/self/mountinfo | sort -u); do \
                for it in $at $at/layer $at/layer/upper; do if [ -e $it ]; then echo there: $it; else echo none; fi; done; done";
    for layers in [Layers::Overlay, Layers::Copy] {
        let bench = Bench::with(|settings| settings.layers = layers);
        let kept = complete_trial(&bench, &bench.tools, line).await;
        assert_eq!(kept.trial.over, layers);
        let (found, rest) = kept.trial.text.split_once("mounts:\n").unwrap();
        let (mounts, beside) = rest.split_once("beside:\n").unwrap();
        let at = bench.at("marker").display().to_string();
        assert!(!found.is_empty() && found.lines().all(|path| path == at), "{at}: {found}");
        assert!(layers == Layers::Copy || !mounts.contains("/layer"), "{mounts}");
        assert_eq!(beside.lines().filter(|line| *line == "none").count(), 3, "{mounts}{beside}");
        assert!(!beside.contains("there:"), "{mounts}{beside}");
    }
}

/// Overlay attributes that a person or another overlay made in a workspace do not hide a file.
#[tokio::test]
async fn marks_of_an_overlay_in_a_workspace_hide_nothing() {
    let bench = Bench::new();
    bench.put("d/x", "x");
    for name in ["user.overlay.opaque", "user.overlay.whiteout", "trusted.overlay.opaque"] {
        let _ = rustix::fs::setxattr(bench.at("d"), name, b"y", XattrFlags::empty());
    }
    let kept = complete_trial(&bench, &bench.tools, "cat d/x; echo y > d/y").await;
    assert_eq!((kept.marked_paths(), kept.trial.text.as_str()), (vec!["+d/y".to_owned()], "x\nexit code 0"));
}

#[tokio::test]
async fn what_is_too_much_is_stopped_and_nothing_happens() {
    let bench = Bench::with(|settings| settings.write_bytes = 100_000_000);
    bench.put("a", "a");
    let table = [
        ("rm a; mkdir m; cd m; seq 100001 | xargs touch", "100000 files, directories and links"),
        ("rm a; truncate -s 200M big", "`big`, a file of more than 128 MiB"),
        ("rm a; for n in $(seq 9); do truncate -s 120M big$n; done", "larger than 1024 MiB in total"),
        (
            "python3 -c \"import os\nfor n in range(400): os.mkdir('d' * 14); os.chdir('d' * 14)\"",
            "longer than 4095 bytes",
        ),
        (
            "rm a; head -c 300000000 /dev/zero > big; sync; sleep 600",
            "the command wrote more bytes than allowed",
        ),
        ("rm a; yes", "bytes of output"),
    ];
    for (line, why) in table {
        let before = tree(&bench.at(""));
        match tried(&bench.tools, line).await {
            CommandTrialOutcome::Stopped { text, .. } => {
                assert!(text.contains(why) && text.contains("nothing has changed"), "{line}: {text}");
            }
            other => panic!("{line}: {other:?}"),
        }
        assert_eq!(tree(&bench.at("")), before, "{line}");
    }
}

#[tokio::test]
async fn there_is_no_trial_and_it_is_said_why() {
    let network = Bench::with(|settings| settings.network = true);
    let none = Bench::with(|settings| settings.layers = Layers::None);
    let unconfined = Bench::with(|settings| settings.sandbox_program = "/bin/false".into());
    let large = Bench::with(|settings| settings.layers = Layers::Copy);
    fs::File::create(large.at("large")).unwrap().set_len(1 << 30).unwrap();
    let table = [
        (network, "reach the network"),
        (none, "switched off"),
        (unconfined, "confine"),
        (large, "more than 256 MiB to copy"),
    ];
    for (bench, expected) in table {
        match tried(&bench.tools, "touch x").await {
            CommandTrialOutcome::Impossible { why } => assert!(why.contains(expected), "{why}"),
            other => panic!("{expected}: {other:?}"),
        }
        assert!(!bench.at("x").exists());
    }
}

#[tokio::test]
async fn a_file_with_another_name_is_told() {
    let bench = Bench::new();
    bench.put("a", "a");
    fs::hard_link(bench.at("a"), bench.at("b")).unwrap();
    bench.put("c", "c");
    for (line, told) in [("echo x >> a", true), ("rm a", false), ("ln c d", true), ("echo x > c", false)] {
        let kept = complete_trial(&bench, &bench.tools, line).await;
        assert_eq!(kept.trial.codes.contains(&"hard_link".to_owned()), told, "{line}");
    }
}

#[tokio::test]
async fn what_others_change_meanwhile_makes_it_void() {
    let bench = Bench::new();
    bench.put("a", "a");
    bench.put("b", "b");
    let at = bench.at("");
    let call =
        crate::bench::call("run_command", serde_json::json!({"command": "echo x >> a; echo; sleep 0.2"}));
    let mine = |_: &str| {
        fs::write(at.join("a"), "mine").unwrap();
        fs::write(at.join("b"), "mine").unwrap();
    };
    match bench.tools.try_command(&call, &[], mine).await {
        CommandTrialOutcome::Changed { paths } => assert_eq!(paths, ["a"]),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_workspace_in_memory_is_as_any() {
    let bench = Bench::beneath(Path::new("/dev/shm"));
    bench.put("d/x", "x");
    let kept = complete_trial(&bench, &bench.tools, "rm -r d; mkdir d; echo z > d/z").await;
    assert_eq!(
        (kept.trial.over, kept.marked_paths()),
        (Layers::Overlay, vec!["-d/x".to_owned(), "+d/z".to_owned()])
    );
    assert_eq!(kept.commit(&bench.tools), Committed::Done);
}

/// Trials in a workspace with mounts. Each table row has the mounts, with `$W` as the workspace, and the kind of the
/// trial's layer or the reason why nothing is kept.
#[tokio::test]
async fn mounts_in_a_workspace_and_below_it() {
    // The kernel refuses an overlay over an overlay that is itself over an overlay.
    let twice = "cd $W/..; mkdir m u k v l; mount -t overlay o -o lowerdir=workspace,upperdir=u,workdir=k m; \
                 mount -t overlay o -o lowerdir=m,upperdir=v,workdir=l workspace";
    let rows = [
        ("mount -t tmpfs none $W/d; touch $W/d/x", Ok(Layers::Copy)),
        (twice, Ok(Layers::Copy)),
        (
            "cd $W/..; mkdir u k; mount -t overlay o -o lowerdir=workspace,upperdir=u,workdir=k workspace",
            Ok(Layers::Overlay),
        ),
        ("mount --bind $W $W; mount -o remount,bind,ro $W", Err("read-only file system")),
    ];
    let test = "escapes::mounts_in_a_workspace_and_below_it";
    for (mounts, _) in rows {
        let bench = Bench::new();
        bench.put("d/y", "y");
        fs::write(bench.root.path().join("home/mounts"), mounts).unwrap();
        let line = format!("W={}; ({mounts});", bench.at("").display());
        if !again(test, &line, bench.root.path()) {
            break;
        }
    }
    if std::env::var_os(AGAIN).is_none() {
        return;
    }
    let bench = prepared();
    let mounts = fs::read_to_string(bench.root.path().join("home/mounts")).unwrap();
    let (_, expected) = rows.into_iter().find(|(row, _)| *row == mounts).unwrap();
    match (tried(&bench.tools, "echo x > new; cat d/*").await, expected) {
        (CommandTrialOutcome::Yielded(trial), Ok(over)) => {
            assert_eq!((trial.over, trial.changeset.changes().len()), (over, 1));
        }
        (CommandTrialOutcome::Stopped { text, .. }, Err(why)) => assert!(text.contains(why), "{text}"),
        (other, _) => panic!("{mounts}: {other:?}"),
    }
}

/// A trial works as another user than root. In a user namespace, an overlay uses other attributes, and the mode of its
/// folders denies their owner.
#[tokio::test]
async fn programs_of_another_user_than_root() {
    let folder = tempfile::tempdir().unwrap();
    if again("escapes::programs_of_another_user_than_root", AS_ANOTHER, folder.path()) {
        return;
    }
    let before = left_behind();
    assert_eq!(sandbox::level(Path::new(PROGRAM), false), holdshort_core::tool::SandboxLevel::Full);
    for seed in 100..110 {
        play(seed, Layers::Overlay).await;
        play(seed, Layers::Copy).await;
    }
    let bench = Bench::new();
    bench.put("d/x", "x");
    let kept = complete_trial(&bench, &bench.tools, "mkdir closed; touch closed/x; chmod 400 closed").await;
    assert_eq!(kept.marked_paths(), ["+closed", "+closed/x"]);
    drop(kept);
    // `sleep` does not read the exit status of `true`, whose counters only root may read then.
    let kept = complete_trial(&bench, &bench.tools, "sh -c 'true & exec sleep 1'; echo x > after").await;
    assert_eq!(kept.marked_paths(), ["+after"]);
    drop(kept);
    let mut now = left_behind();
    now.retain(|name| !before.contains(name) && is_own(&std::env::temp_dir().join(name)));
    assert_eq!(now, Vec::<String>::new());
}

fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.uid() == rustix::process::geteuid().as_raw())
}

#[tokio::test]
async fn a_workspace_of_another_owner_is_copied() {
    let bench = Bench::new();
    bench.put("d/x", "x");
    let all = fs::Permissions::from_mode(0o777);
    for path in ["", "workspace"] {
        fs::set_permissions(bench.root.path().join(path), all.clone()).unwrap();
    }
    if again("escapes::a_workspace_of_another_owner_is_copied", AS_ANOTHER, bench.root.path()) {
        return;
    }
    let bench = prepared();
    let kept = complete_trial(&bench, &bench.tools, "echo x > new").await;
    assert_eq!((kept.trial.over, kept.marked_paths()), (Layers::Copy, vec!["+new".to_owned()]));
    assert_eq!(kept.commit(&bench.tools), Committed::Done);
    assert_eq!(
        fs::read_dir(bench.at(""))
            .unwrap()
            .filter(|it| it.as_ref().unwrap().file_name() == OsStr::new("new"))
            .count(),
        1
    );
}
