//! A log that can not be written is lost, and nothing else: the journal goes on.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::home::{BINARY, Home};

/// A server that logs everything, its standard error as it is given.
fn serve(home: &Home, log: Stdio) -> Child {
    let mut child = home
        .command(BINARY)
        .args(["serve", "--listen", "127.0.0.1:0", "--json"])
        .env("HOLDSHORT_LOG", "trace")
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let _started: Value = serde_json::from_str(&line).expect("it starts");
    child
}

fn goes_on(home: &Home, mut child: Child) {
    for _ in 0..20 {
        assert_eq!(home.json(&["freeze", "--reason", "a look"])["frozen"], true);
        assert_eq!(home.json(&["unfreeze"])["frozen"], false);
    }
    let report = home.json(&["audit", "verify"]);
    assert_eq!((&report["intact"], report["events"].as_u64()), (&Value::Bool(true), Some(40)));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_log_on_a_full_disk() {
    let home = Home::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let child = serve(&home, full.into());
    goes_on(&home, child);
}

#[test]
fn a_log_whose_reader_has_gone() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let child = serve(&home, writer.into());
    goes_on(&home, child);
}

/// The pipe is full long before the last request.
#[test]
fn a_log_that_nobody_reads() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let child = serve(&home, writer.into());
    goes_on(&home, child);
    drop(reader);
}
