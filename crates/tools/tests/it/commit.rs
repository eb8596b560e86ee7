//! Commits of changesets: a commit that stops after any path can be resumed to its end, and never replaces an entry in
//! an unexpected state.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

use holdshort_tools::limits::CHANGED_FILE_BYTES;
use holdshort_tools::{CommandTrialOutcome, Committed};
use serde_json::json;

use crate::bench::{Bench, names};
use crate::traced::after_each;
use crate::tree::{differences, tree};
use crate::trial::{TriedCommand, complete_trial, tried};

/// Stops a commit after `stop_after` paths, as if the process were killed.
fn stopped(tried: &TriedCommand, bench: &Bench, stop_after: u64) -> thread::Result<Committed> {
    let stop = move |changed| assert!(changed < stop_after, "stopped");
    catch_unwind(AssertUnwindSafe(|| after_each(stop, || tried.commit(&bench.tools))))
}

/// Shell line whose trial contains every kind of change, and changes forty files.
const LINE: &str = "for n in $(seq 20); do echo new > new$n; echo more >> old$n; done; \
                    rm -r gone; rm -r swapped; echo file > swapped; rm file; mkdir file; echo x > file/x; \
                    ln -sf b link; rm linked; echo x > linked; chmod 700 mode; chmod 555 closed; echo x > closed/x";

fn filled() -> Bench {
    let bench = Bench::new();
    for n in 1..=20 {
        bench.put(&format!("old{n}"), "old\n");
    }
    for path in ["gone/a/b", "gone/c", "swapped/d", "file", "mode/x", "closed/y"] {
        bench.put(path, path);
    }
    symlink("a", bench.at("link")).unwrap();
    symlink("a", bench.at("linked")).unwrap();
    bench
}

fn resumed(kept: &TriedCommand, bench: &Bench) -> Committed {
    bench.tools.commit(&kept.trial.changeset, |digest| kept.body(digest), true)
}

#[tokio::test]
async fn a_commit_that_is_stopped_anywhere_is_rolled_forward() {
    let bench = filled();
    let tried = complete_trial(&bench, &bench.tools, LINE).await;
    assert_eq!(tried.commit(&bench.tools), Committed::Done);
    let whole = tree(&bench.at(""));
    let mut stops = 0;
    for stop_after in 1.. {
        let bench = filled();
        if let Ok(committed) = stopped(&tried, &bench, stop_after) {
            assert_eq!((committed, tree(&bench.at(""))), (Committed::Done, whole.clone()));
            break;
        }
        stops = stop_after;
        assert_ne!(tree(&bench.at("")), whole, "{stop_after}");
        // A kill may also leave a half-written temporary file.
        if (1..=20).any(|n| fs::read(bench.at(&format!("old{n}"))).unwrap() == b"old\n") {
            bench.put(".holdshort-1-0.tmp", "half");
        }
        // A path in any state other than `before` and `after` would be a conflict.
        assert_eq!(resumed(&tried, &bench), Committed::Done, "{stop_after}");
        assert_eq!(differences(&whole, &tree(&bench.at(""))), [], "{stop_after}");
        // Resuming twice has the same result.
        assert_eq!(resumed(&tried, &bench), Committed::Done, "{stop_after}");
        assert_eq!(differences(&whole, &tree(&bench.at(""))), [], "{stop_after}");
    }
    assert!(stops > 40, "{stops}");
}

#[tokio::test]
async fn a_commit_that_goes_on_takes_nobody_elses_change() {
    let bench = filled();
    let tried = complete_trial(&bench, &bench.tools, LINE).await;
    stopped(&tried, &bench, 25).unwrap_err();
    bench.put("old9", "mine");
    let before = tree(&bench.at(""));
    let paths = vec!["old9".to_owned()];
    assert_eq!(resumed(&tried, &bench), Committed::Conflict { paths, done: Vec::new() });
    assert_eq!(tree(&bench.at("")), before);
}

/// The commit does not follow a link that replaces a folder during the commit.
#[tokio::test]
async fn a_link_put_in_the_way_leads_nowhere() {
    let bench = Bench::new();
    bench.put("z/1", "one");
    let kept = complete_trial(&bench, &bench.tools, "echo x > a; echo x > z/1; echo x > z/2").await;
    let elsewhere = bench.root.path().join("home");
    fs::write(elsewhere.join("1"), "one").unwrap();
    let swap = Mutex::new(Some([bench.at("z"), elsewhere.clone()]));
    let exchange = move |_| {
        if let Some([folder, elsewhere]) = swap.lock().unwrap().take() {
            fs::rename(&folder, folder.with_file_name("moved")).unwrap();
            symlink(elsewhere, folder).unwrap();
        }
    };
    let committed = after_each(exchange, || kept.commit(&bench.tools));
    let done = vec!["a".to_owned()];
    assert_eq!(committed, Committed::Conflict { paths: vec!["z/1".to_owned()], done });
    assert_eq!(names(&elsewhere), ["1"]);
    assert_eq!(fs::read_to_string(elsewhere.join("1")).unwrap(), "one");
}

/// A file of the maximum size is committed and undone. The change of a file that is one byte larger is discarded.
#[tokio::test]
async fn a_file_at_the_limit_is_committed_and_undone_and_a_larger_one_changes_nothing() {
    let bench = Bench::new();
    bench.put("large", "small\n");
    let before = tree(&bench.at(""));
    let grow = |bytes: u64| {
        format!("truncate -s {bytes} large && printf end | dd of=large bs=1 conv=notrunc status=none")
    };
    let largest = complete_trial(&bench, &bench.tools, &grow(CHANGED_FILE_BYTES)).await;
    assert_eq!(largest.marked_paths(), ["~large"]);
    assert_eq!(largest.commit(&bench.tools), Committed::Done);
    let mut begins = [0; 4];
    let mut file = fs::File::open(bench.at("large")).unwrap();
    io::Read::read_exact(&mut file, &mut begins).unwrap();
    assert_eq!((file.metadata().unwrap().len(), &begins), (CHANGED_FILE_BYTES, b"endl"));
    assert_eq!(largest.undo(&bench.tools), Committed::Done);
    assert_eq!(tree(&bench.at("")), before);
    match tried(&bench.tools, &grow(CHANGED_FILE_BYTES + 1)).await {
        CommandTrialOutcome::Stopped { text, data } => {
            assert!(
                text.contains("not kept: the command changed `large`, a file of more than 128 MiB"),
                "{text}"
            );
            assert_eq!((&data["not_kept"], &data["exit_code"]), (&json!("file_too_large"), &json!(0)));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(tree(&bench.at("")), before);
}
