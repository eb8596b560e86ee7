//! Tests of `audit head` and `audit verify`, with and without a server.

use std::fs;

use holdshort_testkit::home::Home;
use serde_json::json;

#[test]
fn a_head_that_was_noted_shows_whether_the_journal_goes_on_from_there() {
    let home = Home::new();
    let ran = home.run(&["audit", "head"]);
    assert_eq!((ran.code, ran.err.contains("no server uses")), (2, true), "{ran:?}");
    assert!(!home.data().exists(), "nothing is made where nothing is");

    let serving = home.serve(&[]);
    home.json(&["freeze", "--reason", "a look"]);
    let printed = home.run(&["audit", "head"]).out;
    let noted = printed.trim_end();
    let json = home.json(&["audit", "head"]);
    assert_eq!((&json["head"], &json["events"]), (&json!(noted), &json!(1)));
    home.json(&["unfreeze"]);
    let told = home.run(&["audit", "verify", "--against", noted]);
    assert_eq!(
        (told.code, told.out.contains(&format!("continues from the head {noted}: "))),
        (0, true),
        "{told:?}"
    );
    assert_eq!(serving.stop().0, 0);

    // Without a server, the folder is read directly. A file may contain heads that were noted at different times.
    let later = home.run(&["audit", "head"]).out;
    let heads = home.path().join("heads.txt");
    fs::write(&heads, format!("2026-11-01 {printed}\n{json}\n{later}")).unwrap();
    let heads = heads.to_str().unwrap();
    let report = home.json(&["audit", "verify", "--against", heads]);
    let holds = |head: &str| json!({"head": head, "holds": true});
    let whole = format!("1:{}", json["hash"].as_str().unwrap());
    assert_eq!(report["against"], json!([holds(noted), holds(&whole), holds(later.trim_end())]));
    assert_eq!(
        (&report["intact"], &report["events"], &report["head"]),
        (&json!(true), &json!(2), &json!(later.trim_end()))
    );

    // The folder is reset to its state before the last event, including the head file. Only a head that was noted later
    // reveals the loss.
    let data = home.data();
    let serving = home.serve(&[]);
    home.json(&["freeze", "--reason", "a look"]);
    let latest = home.run(&["audit", "head"]).out;
    let names = ["holdshort.db", "holdshort.head"];
    let before = names.map(|name| fs::read(data.join(name)).unwrap());
    assert_eq!(serving.stop().0, 0);
    drop(before);
    let database = rusqlite::Connection::open(data.join("holdshort.db")).unwrap();
    database.execute("DELETE FROM appends WHERE position = 3", []).unwrap();
    drop(database);
    let (code, ran) = (1, home.run(&["audit", "verify"]));
    assert_eq!(
        (ran.code, ran.out.contains("the database has 2 events, but 3 were written")),
        (code, true),
        "{ran:?}"
    );
    let ran = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((ran.code, ran.err.contains("holdshort.head")), (2, true), "{ran:?}");
    fs::remove_file(data.join("holdshort.head")).unwrap();
    assert_eq!(home.run(&["audit", "verify"]).code, 0);
    let ran = home.run(&["audit", "verify", "--against", latest.trim_end()]);
    assert_eq!(
        (ran.code, ran.out.contains("the journal has 2 events, but the noted head is 3:")),
        (1, true),
        "{ran:?}"
    );
}

/// An emptied or deleted journal is reported as damaged, and not as an old version or an empty folder.
#[test]
fn a_journal_that_was_emptied_or_taken_away_is_said_to_be_gone() {
    let home = Home::new();
    let serving = home.serve(&[]);
    home.json(&["freeze", "--reason", "a look"]);
    assert_eq!(serving.stop().0, 0);
    let database = home.data().join("holdshort.db");
    fs::write(&database, "").unwrap();
    let ran = home.run(&["audit", "verify"]);
    let said = "the database has 0 events, but 1 was written";
    assert_eq!((ran.code, ran.err.contains(said)), (2, true), "{ran:?}");
    fs::remove_file(database).unwrap();
    let ran = home.run(&["audit", "verify"]);
    assert_eq!((ran.code, ran.err.contains("holdshort.db is missing")), (2, true), "{ran:?}");
}

#[test]
fn what_is_no_head_is_said_to_be_none() {
    let home = Home::new();
    let file = home.path().join("heads.txt");
    let file = file.to_str().unwrap();
    let head = format!("1:{}", "a".repeat(24));
    let many = format!("{head}\n").repeat(101);
    for (text, said) in [
        (&*format!("{head}\nnone\n"), "line 2: not the head of a journal"),
        ("\n", "contains no head"),
        (&*many, "contains 101 heads; at most 100"),
    ] {
        fs::write(file, text).unwrap();
        let ran = home.run(&["audit", "verify", "--against", file]);
        assert_eq!((ran.code, ran.err.contains(said)), (2, true), "{ran:?}");
    }
    let ran = home.run(&["audit", "verify", "--against", "12"]);
    assert_eq!((ran.code, ran.err.contains("--against 12: not the head of a journal")), (2, true), "{ran:?}");
}

#[test]
fn the_events_of_the_journal_are_a_table_for_others() {
    let home = Home::new();
    let serving = home.serve(&[]);
    home.json(&["freeze", "--reason", "=HYPERLINK(\"x\"), a look"]);
    home.json(&["unfreeze"]);
    let out = home.path().join("events.csv");
    let out = out.to_str().unwrap();
    let told = home.run(&["audit", "export", "--format", "csv", "--type", "frozen", "--out", out]);
    assert_eq!((told.code, told.out.contains("1 event in")), (0, true), "{told:?}");
    let table = fs::read_to_string(out).unwrap();
    let lines: Vec<&str> = table.split("\r\n").collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (3, "at,stream,seq,type,actor,role,via,interrupt,option,outcome,data")
    );
    assert!(lines[1].contains(",sys,1,frozen,operator,operator,cli,,,,\"{"), "{table}");
    assert!(lines[1].contains("=HYPERLINK") && !lines[1].contains(",=HYPERLINK"), "{table}");
    let again = home.run(&["audit", "export", "--out", out]);
    assert_eq!(again.code, 2, "nothing that is there is written over: {again:?}");
    assert!(again.err.contains("already exists") && again.err.contains("name another file"), "{again:?}");
    let told = home.run(&["audit", "export", "--actor", "operator"]);
    let types: Vec<_> = told
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].clone())
        .collect();
    assert_eq!(types, [json!("unfrozen"), json!("frozen")], "{told:?}");
    let wrong = home.run(&["audit", "export", "--from", "yesterday"]);
    assert!(wrong.code == 2 && wrong.err.contains("from"), "{wrong:?}");
    let wrong = home.run(&["audit", "export", "--type", "nonsense"]);
    assert!(wrong.code == 2 && wrong.out.is_empty(), "{wrong:?}");
    assert!(wrong.err.contains("known: ") && wrong.err.contains("run_started"), "{wrong:?}");
    assert_eq!(serving.stop().0, 0);
}

/// A reader that closes the pipe, such as `| head -1`, is not an error.
#[test]
fn an_export_that_nobody_reads_on_ends_quietly() {
    let home = Home::new();
    let serving = home.serve(&[]);
    // The output is larger than the buffer of a pipe.
    let reason = "x".repeat(1_900);
    for n in 0..48 {
        let name = format!("agent-{n}");
        assert_eq!(home.run(&["freeze", "--agent", &name, "--reason", &reason]).code, 0);
    }
    let shell = "set -o pipefail; holdshort audit export | head -1";
    let output = home.command("bash").args(["-c", shell]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    assert_eq!(serving.stop().0, 0);
}
