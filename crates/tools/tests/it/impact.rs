//! The card of a command shows how many files the command would reach.

use std::fs;

use holdshort_tools::limits;
use serde_json::{Value, json};

use crate::bench::Bench;

async fn impact(bench: &Bench, line: &str) -> Value {
    bench.ready("run_command", json!({ "command": line })).await.card["impact"].clone()
}

fn filled() -> Bench {
    let bench = Bench::new();
    for n in 0..12 {
        bench.put(&format!("old_data/{}/{n}.csv", n % 3), "a\n");
    }
    bench.put("old_data/.hidden", "");
    bench.put("a.txt", "");
    bench.put("b.txt", "");
    bench.put("-dash", "");
    bench
}

#[tokio::test]
async fn files_beneath_the_paths_that_are_named() {
    let bench = filled();
    std::os::unix::fs::symlink(bench.at("old_data"), bench.at("link")).unwrap();
    let inside = format!("rm -r {}/old_data/1", fs::canonicalize(bench.at("")).unwrap().display());
    let files = |files: usize| json!({ "files": files });
    let most = |files: usize| json!({ "files": files, "at_most": true });
    let table = [
        ("rm -rf old_data", files(13)),
        ("rm -rf ./old_data/ a.txt", files(14)),
        ("rm -rf old_data old_data/1", files(13)),
        ("rm -rf old_data/1 old_data", files(13)),
        ("rm -rf old_data/*", files(12)),
        ("rm old_data/?/*1.csv", files(2)),
        ("rm *.txt", files(2)),
        ("rm -- -dash", files(1)),
        ("rm nothing", files(0)),
        // The command removes the link and not its target.
        ("rm -rf link", files(1)),
        (inside.as_str(), files(4)),
        ("ls && rm -r old_data/0 && rm a.txt", files(5)),
        ("chmod -R 700 old_data", files(13)),
        ("mv old_data a.txt elsewhere", files(14)),
        ("git rm -r old_data/2", files(4)),
        ("git clean -fd", most(16 + 1)),
        ("find old_data -name '*.csv' -delete", most(13)),
        ("sh -c 'rm -r old_data'", files(13)),
        ("chmod --reference=a.txt old_data", files(13)),
        ("rm a.txt b.txt; ./wipe.sh", json!({ "files": 2, "at_least": true })),
    ];
    for (line, expected) in table {
        assert_eq!(impact(&bench, line).await, expected, "{line}");
    }
}

/// If the number of files that a command affects is unknown, the card shows no number.
#[tokio::test]
async fn what_can_not_be_told_is_not_counted() {
    let bench = filled();
    for line in [
        "ls old_data",
        "make clean",
        "rm -rf $X",
        "rm -rf ../other",
        "rm -rf /etc/x",
        "cd old_data && rm -r 1",
        "find old_data -name x",
        "mv -t elsewhere a.txt",
        "rm -rf [ab]*",
        "git clean -fdx -e a.txt",
        "find -L old_data -delete",
    ] {
        assert_eq!(impact(&bench, line).await, Value::Null, "{line}");
    }
}

#[tokio::test]
async fn counting_ends() {
    let bench = Bench::new();
    for n in 0..=limits::IMPACT_ENTRIES {
        fs::write(bench.at(&format!("f{n}")), "").unwrap();
    }
    assert_eq!(
        impact(&bench, "rm -rf .").await,
        json!({ "files": limits::IMPACT_ENTRIES, "at_least": true })
    );
    assert_eq!(impact(&bench, "rm f*").await, json!({ "files": limits::IMPACT_ENTRIES, "at_least": true }));
    let bench = Bench::new();
    let deep = "d/".repeat(limits::IMPACT_DEPTH + 5);
    bench.put(&format!("{deep}f"), "");
    bench.put("d/g", "");
    assert_eq!(impact(&bench, "rm -rf d").await, json!({ "files": 1, "at_least": true }));
}
