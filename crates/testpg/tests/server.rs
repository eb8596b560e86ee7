//! The server for tests responds, keeps committed data, and leaves nothing behind when its process ends.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use holdshort_testpg::Server;

fn ask(server: &Server, url: &str, sql: &str) -> String {
    server
        .run("psql", &["--dbname", url, "--no-psqlrc", "--tuples-only", "--no-align", "--command", sql])
        .unwrap()
}

#[test]
fn it_is_durable_and_comes_back_on_its_port_with_its_data() {
    let server = Server::start().unwrap();
    let (url, other) = (server.database(), server.database());
    assert_ne!(url, other);
    assert_eq!(ask(&server, &url, "SHOW fsync"), "on\n");
    ask(&server, &url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)");
    server.stop().unwrap();
    server.run("psql", &["--command", "SELECT 1"]).unwrap_err();
    server.start_again().unwrap();
    server.crash().unwrap();
    server.start_again().unwrap();
    assert_eq!(ask(&server, &url, "SELECT n FROM kept"), "7\n");
    let folder = server.folder().to_owned();
    drop(server);
    assert!(!folder.exists());
}

/// Acts as the test process that is killed while its PostgreSQL server runs.
#[test]
#[ignore = "started by the next test"]
fn victim() {
    let server = Server::start().unwrap();
    eprintln!("folder={}", server.folder().display());
    eprintln!("url={}", server.url("postgres"));
    std::thread::sleep(Duration::from_mins(10));
}

#[test]
fn it_ends_when_its_process_is_killed() {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--ignored", "--nocapture"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(victim.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut said = |name: &str| lines.find_map(|line| line.strip_prefix(name).map(str::to_owned)).unwrap();
    let (folder, url) = (said("folder="), said("url="));
    let answers = || Command::new("psql").args(["--dbname", &url, "-c", "SELECT 1"]).output().unwrap().status;
    assert!(answers().success());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let patience = Instant::now() + Duration::from_secs(30);
    while std::path::Path::new(&folder).exists() {
        assert!(Instant::now() < patience, "{folder} is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!answers().success());
}
