//! Other programs that open the database of a running server, or that delete or lock the server's files.
//!
//! SQLite separates readers and the writer with POSIX locks. When a process closes any descriptor of a locked file, the
//! kernel drops all locks of that process on the file. Each test here therefore compares `/proc/locks` before and
//! after.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use holdshort_testkit::server::{Answer, TestServer, eventually};
use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::notifications::{ask, resolve};

const DATABASE: &str = "holdshort.db";
const LOG: &str = "holdshort.db-wal";
const INDEX: &str = "holdshort.db-shm";
const PIN: &str = "holdshort.head";

/// Longest time until `/readyz` must report a failure of the database.
const NOTICE: Duration = Duration::from_secs(3);

/// Returns the POSIX locks that the server holds on its database and on the index of its log, as listed in
/// `/proc/locks`.
///
/// Locks on the index change with every read, so only the lock that marks the index as used is included. The function
/// reads `/proc/locks` several times and merges the results, because Linux returns the list page by page and may skip a
/// lock while other processes lock and unlock. A lock that the server has lost is in none of the lists.
fn locks(server: &TestServer) -> BTreeSet<String> {
    /// Byte of the index that every process with an open connection locks.
    const IN_USE: &str = "128";
    const READS: usize = 5;
    let inode = |name| fs::metadata(server.data().join(name)).unwrap().ino().to_string();
    let (database, index) = (inode(DATABASE), inode(INDEX));
    let pid = server.pid().to_string();
    let listed: String = (0..READS).map(|_| fs::read_to_string("/proc/locks").unwrap()).collect();
    let lock = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX", _, kind, owner, file, first, ..] = fields[..] else { return None };
        let inode = file.rsplit(':').next()?;
        let name = match inode {
            _ if owner != pid => return None,
            _ if inode == database => DATABASE,
            _ if inode == index && first == IN_USE => INDEX,
            _ => return None,
        };
        Some(format!("{name} {kind} {first}"))
    };
    listed.lines().filter_map(lock).collect()
}

/// Opens the database of the server in a separate process, reads, and closes the database.
fn foreign_reader(data: &Path) -> Output {
    let read = "import sqlite3, sys\n\
                database = sqlite3.connect(sys.argv[1])\n\
                print(database.execute('SELECT max(position) FROM appends').fetchone()[0])\n\
                database.close()";
    Command::new("python3").args(["-c", read]).arg(data.join(DATABASE)).output().unwrap()
}

fn verb(server: &TestServer, arguments: &[&str]) -> Output {
    server.client_command().args(arguments).output().unwrap()
}

/// Opens `count` interrupts and decides every second interrupt. Returns the ids, each with the status that the server
/// acknowledged.
async fn acknowledge(server: &TestServer, count: usize) -> Vec<(String, &'static str)> {
    let mut acknowledged = Vec::new();
    for n in 0..count {
        let id = ask(server, json!({"title": format!("Send letter {n}?")})).await;
        if n % 2 == 0 {
            resolve(server, &id).await;
        }
        acknowledged.push((id, if n % 2 == 0 { "resolved" } else { "open" }));
    }
    acknowledged
}

async fn assert_kept(server: &TestServer, acknowledged: &[(String, &str)]) {
    for (id, status) in acknowledged {
        assert_eq!(server.interrupt(id).await["status"], *status, "{id}");
    }
}

async fn events(server: &TestServer) -> u64 {
    server.get("/v1/audit/head").await.ok()["events"].as_u64().unwrap()
}

/// Waits until the path `/readyz` of the server returns this HTTP status.
async fn wait_ready(server: &TestServer, status: u16) -> Answer {
    let asked = Instant::now();
    let answer = eventually(&format!("/readyz says {status}"), async || {
        let answer = server.get("/readyz").await;
        (answer.status == status).then_some(answer)
    })
    .await;
    assert!(asked.elapsed() < NOTICE, "{:?}", asked.elapsed());
    answer
}

fn detail(answer: &Answer) -> &str {
    answer.body["detail"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn an_audit_beside_a_foreign_reader_loses_nothing_that_was_acknowledged() {
    let mut server = TestServer::setup().without_model().start().await;
    let held = locks(&server);
    assert_eq!(held.len(), 2, "{held:?}");
    assert_eq!(verb(&server, &["audit", "verify"]).status.code(), Some(0));
    assert_eq!(locks(&server), held);
    assert!(foreign_reader(&server.data()).status.success());
    assert!(server.data().join(LOG).exists(), "the foreign reader took itself for the last one");
    let acknowledged = acknowledge(&server, 6).await;
    server.restart().await;
    assert_kept(&server, &acknowledged).await;
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// Returns every path of the server that supports `GET`. `interrupt` replaces each id in a path.
async fn readable_routes(server: &TestServer, interrupt: &str) -> Vec<String> {
    let document = server.get("/v1/openapi.json").await.ok();
    let paths = document["paths"].as_object().unwrap().iter();
    let read = paths.filter(|(_, methods)| methods.get("get").is_some()).map(|(path, _)| path.clone());
    // Streams do not end, and the tests poll `/readyz` separately.
    read.filter(|path| !path.ends_with("/stream") && !path.ends_with("/events") && path != "/v1/ws")
        .map(|path| {
            let mut filled = String::new();
            for part in path.split('/').filter(|part| !part.is_empty()) {
                filled.push('/');
                filled.push_str(if part.starts_with('{') { interrupt } else { part });
            }
            filled
        })
        .collect()
}

/// Returns the commands that open the journal or send requests to its server. `{n}` is replaced by a different number
/// for each command.
fn verbs(server: &TestServer, interrupt: &str) -> Vec<Vec<String>> {
    let within = |name: &str| server.workspace().join(name).display().to_string();
    let verbs = [
        vec!["audit", "verify"],
        vec!["audit", "head"],
        vec!["audit", "checkpoint"],
        vec!["backup", "{copy}"],
        vec!["export", "{export}"],
        vec!["import", "{export}"],
        vec!["rebuild"],
        vec!["doctor"],
        vec!["ready"],
        vec!["inbox"],
        vec!["show", interrupt],
        vec!["people", "list"],
    ];
    let fill =
        |word: &str| word.replace("{copy}", &within("copy-{n}")).replace("{export}", &within("export.jsonl"));
    verbs.iter().map(|words| words.iter().map(|word| fill(word)).collect()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_route_and_no_verb_drops_a_lock_of_the_database() {
    let server = TestServer::setup().without_model().start().await;
    let interrupt = ask(&server, json!({})).await;
    let held = locks(&server);
    assert_eq!(held.len(), 2, "{held:?}");
    for path in readable_routes(&server, &interrupt).await {
        let request = server.request(Method::GET, &path).header("accept", "application/json");
        let sent = tokio::time::timeout(Duration::from_secs(5), server.try_send(request)).await;
        assert_eq!(locks(&server), held, "GET {path}: {sent:?}");
    }
    for (n, arguments) in verbs(&server, &interrupt).iter().enumerate() {
        let arguments: Vec<String> =
            arguments.iter().map(|word| word.replace("{n}", &n.to_string())).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = verb(&server, &arguments);
        assert_eq!(locks(&server), held, "{arguments:?}: {output:?}");
        assert!(foreign_reader(&server.data()).status.success());
        assert!(server.data().join(LOG).exists(), "{arguments:?}");
    }
}

/// Function that deletes or replaces a file of the server's data folder.
type Displacement = fn(&Path);

#[tokio::test]
async fn a_server_whose_files_were_replaced_acknowledges_nothing_and_saves_what_it_holds() {
    let table: [(&str, Displacement); 4] = [
        (LOG, |data| fs::remove_file(data.join(LOG)).unwrap()),
        (INDEX, |data| fs::remove_file(data.join(INDEX)).unwrap()),
        (DATABASE, |data| fs::rename(data.join(DATABASE), data.join("moved.db")).unwrap()),
        (LOG, |data| {
            fs::rename(data.join(LOG), data.join("moved.log")).unwrap();
            fs::write(data.join(LOG), "").unwrap();
        }),
    ];
    for (name, displace) in table {
        let mut server = TestServer::setup().without_model().start().await;
        let acknowledged = acknowledge(&server, 4).await;
        let before = events(&server).await;
        displace(&server.data());
        let refused = server.post("/v1/interrupts", &json!({"kind": "review", "title": "One more?"})).await;
        assert_eq!(refused.refusal(), (503, "store_failed"), "{name}: {refused:#?}");
        let why = detail(&refused).to_owned();
        assert!(why.contains(name) && why.contains("it is unknown whether the write succeeded"), "{why}");

        // Reads still work, and the response of `/readyz` names the copy of the database.
        assert_kept(&server, &acknowledged).await;
        let rescued = server.data().join("holdshort.rescued-1");
        let ready = eventually("the copy is named", async || {
            let ready = server.get("/readyz").await;
            assert_eq!(ready.refusal(), (503, "store_failed"), "{ready:#?}");
            detail(&ready).contains("holdshort.rescued-1").then_some(ready)
        })
        .await;
        assert!(detail(&ready).contains(name), "{}", detail(&ready));
        let report = server.get("/v1/audit/verify").await.ok();
        assert!(report["intact"] == false && report.to_string().contains(name), "{report:#}");
        server.wait_for_log("holdshort.rescued-1").await;

        // The copy contains all acknowledged work.
        server.kill();
        let mut saved = TestServer::setup().without_model().data(&rescued).stopped();
        saved.start().await;
        assert_kept(&saved, &acknowledged).await;
        assert!(events(&saved).await >= before);
        assert_eq!(saved.get("/v1/audit/verify").await.ok()["intact"], true);
    }
}

/// A server whose log file was deleted also makes a copy of the database if it receives no requests.
#[tokio::test]
async fn an_idle_server_notices_that_its_log_was_deleted() {
    let server = TestServer::setup().without_model().start().await;
    acknowledge(&server, 2).await;
    fs::remove_file(server.data().join(LOG)).unwrap();
    let copy = server.data().join("holdshort.rescued-1").join(DATABASE);
    eventually("the copy is made", async || copy.exists().then_some(())).await;
}

#[tokio::test]
async fn a_copy_that_another_program_deleted_is_made_again() {
    let mut server = TestServer::setup().without_model().start().await;
    let acknowledged = acknowledge(&server, 2).await;
    fs::remove_file(server.data().join(LOG)).unwrap();
    let copy = server.data().join("holdshort.rescued-1");
    eventually("the copy is made", async || copy.join(DATABASE).exists().then_some(())).await;
    // The server reports the copy only when the copy is complete.
    eventually("the copy is named", async || {
        detail(&server.get("/readyz").await).contains("holdshort.rescued-1").then_some(())
    })
    .await;
    // In one step: while the folder is only partly deleted, the server makes the next copy under another name.
    let deleted = tempfile::tempdir().unwrap();
    fs::rename(&copy, deleted.path().join("copy")).unwrap();
    server.stop().await;
    let mut saved = TestServer::setup().without_model().data(&copy).stopped();
    saved.start().await;
    assert_kept(&saved, &acknowledged).await;
}

#[tokio::test]
async fn ready_is_refused_while_another_process_holds_the_write_lock() {
    let server = TestServer::setup().without_model().start().await;
    wait_ready(&server, 200).await;
    let other = Connection::open(server.data().join(DATABASE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Wait, because a write within the last second would already prove that the server can write.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let asked = Instant::now();
    let refused = server.get("/readyz").await;
    assert_eq!(refused.refusal(), (503, "store_failed"), "{refused:#?}");
    assert!(asked.elapsed() < NOTICE, "{:?}", asked.elapsed());
    assert!(detail(&refused).contains("another program"), "{}", detail(&refused));
    other.execute_batch("ROLLBACK").unwrap();
    wait_ready(&server, 200).await;
}

#[tokio::test]
async fn an_idle_server_writes_only_when_it_is_asked_whether_it_is_ready() {
    let server = TestServer::setup().without_model().start().await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let log = || fs::metadata(server.data().join(LOG)).unwrap().modified().unwrap();
    let (before, events_before) = (log(), events(&server).await);
    server.get("/healthz").await.ok();
    assert_eq!(log(), before);
    server.get("/readyz").await.ok();
    let probed = log();
    assert!(probed > before, "a probe writes");
    // A second probe within one second writes nothing.
    for _ in 0..5 {
        server.get("/readyz").await.ok();
    }
    assert_eq!((log(), events(&server).await), (probed, events_before));
}

/// Builds a library for `LD_PRELOAD` in which `fsync` and `fdatasync` fail while a certain file exists. Returns the
/// paths of the library and of that file.
fn failing_fsync(folder: &Path) -> (PathBuf, PathBuf) {
    let (source, library, switch) =
        (folder.join("fsync.c"), folder.join("fsync.so"), folder.join("fsync-fails"));
    let text = r#"
        #include <errno.h>
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static int fails(void) { const char *file = getenv("FSYNC_FAILS"); return file && access(file, F_OK) == 0; }
        int fsync(int fd) { if (fails()) { errno = EIO; return -1; } return syscall(SYS_fsync, fd); }
        int fdatasync(int fd) { if (fails()) { errno = EIO; return -1; } return syscall(SYS_fdatasync, fd); }
    "#;
    fs::write(&source, text).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.unwrap().success());
    (library, switch)
}

#[tokio::test]
async fn ready_is_refused_while_fsync_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (library, switch) = failing_fsync(folder.path());
    let server = TestServer::setup()
        .without_model()
        .env("LD_PRELOAD", library.to_str().unwrap())
        .env("FSYNC_FAILS", switch.to_str().unwrap())
        .start()
        .await;
    wait_ready(&server, 200).await;
    fs::write(&switch, "").unwrap();
    let refused = server.post("/v1/interrupts", &json!({"kind": "review", "title": "One more?"})).await;
    assert_eq!(refused.refusal(), (503, "store_failed"), "{refused:#?}");
    let ready = wait_ready(&server, 503).await;
    assert!(detail(&ready).contains("disk I/O error"), "{}", detail(&ready));
    fs::remove_file(&switch).unwrap();
    wait_ready(&server, 200).await;
    ask(&server, json!({})).await;
}

/// If acknowledged events are missing, the start is refused, and the message counts the lost events. The start succeeds
/// only with this exact number in `--accept-loss`, and every later audit reports the loss.
#[tokio::test]
async fn acknowledged_work_is_given_up_only_by_its_number_and_never_in_silence() {
    let mut server = TestServer::setup().without_model().start().await;
    acknowledge(&server, 2).await;
    // Another program deleted the log and left the database.
    server.kill();
    let written: Value = pinned(&server.data()).into();
    fs::remove_file(server.data().join(LOG)).unwrap();
    assert_eq!(server.try_start().await.unwrap_err().code(), Some(2));
    let said = server.stderr();
    let lost = said.split("--accept-loss ").nth(1).and_then(|rest| rest.split(['`', ' ']).next()).unwrap();
    let lost: u64 = lost.parse().unwrap();
    assert!(said.contains(&format!("{written} were written")) && lost > 0, "{said}");
    assert!(!said.contains("remove "), "{said}");

    server.change(|setup| setup.argument("--accept-loss").argument(&(lost + 1).to_string()));
    assert_eq!(server.try_start().await.unwrap_err().code(), Some(2));
    server.change(|_| {
        TestServer::setup().without_model().argument("--accept-loss").argument(&lost.to_string())
    });
    server.start().await;
    let told = format!("{lost} events");
    for _ in 0..2 {
        let report = server.get("/v1/audit/verify").await.ok();
        assert!(report["intact"] == false && report.to_string().contains(&told), "{report:#}");
        let doctor = verb(&server, &["doctor"]);
        let doctor = String::from_utf8_lossy(&doctor.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(doctor.contains(&told), "{doctor}");
        server.change(|_| TestServer::setup().without_model());
        server.restart().await;
    }
}

/// If the pin (the stored head) of a killed server was removed, every later audit reports this, even if the log exists.
#[tokio::test]
async fn a_start_without_the_pin_of_a_killed_server_is_told_by_every_audit() {
    let mut server = TestServer::setup().without_model().start().await;
    acknowledge(&server, 2).await;
    server.kill();
    fs::remove_file(server.data().join(PIN)).unwrap();
    for _ in 0..2 {
        server.start().await;
        let report = server.get("/v1/audit/verify").await.ok();
        assert!(report["intact"] == false && report.to_string().contains(PIN), "{report:#}");
        server.stop().await;
    }
}

/// Runs every command and requests every route while other programs constantly open and close the database. After each
/// one, the server is killed and restarted, and its data is compared with the acknowledged work. Takes minutes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_verbs_and_routes_beside_foreign_readers_and_kills() {
    let mut server = TestServer::setup().without_model().start().await;
    let data = server.data();
    let is_over = Arc::new(AtomicBool::new(false));
    let reading: Vec<_> = (0..2)
        .map(|_| {
            let (data, is_over) = (data.clone(), is_over.clone());
            thread::spawn(move || {
                let mut reads = 0;
                while !is_over.load(Ordering::Relaxed) {
                    foreign_reader(&data);
                    reads += 1;
                }
                reads
            })
        })
        .collect();
    let mut acknowledged = acknowledge(&server, 2).await;
    let interrupt = acknowledged[1].0.clone();
    let (routes, verbs) = (readable_routes(&server, &interrupt).await, verbs(&server, &interrupt));
    // `{n}` is replaced by the index of the command. Each command runs once.
    for n in 0..routes.len().max(verbs.len()) {
        if let Some(path) = routes.get(n) {
            let request = server.request(Method::GET, path).header("accept", "application/json");
            drop(tokio::time::timeout(Duration::from_secs(5), server.try_send(request)).await);
        }
        if let Some(arguments) = verbs.get(n) {
            let arguments: Vec<String> =
                arguments.iter().map(|word| word.replace("{n}", &n.to_string())).collect();
            server.client_command().args(arguments).output().unwrap();
        }
        acknowledged.extend(acknowledge(&server, 2).await);
        let before = events(&server).await;
        server.restart().await;
        assert_kept(&server, &acknowledged).await;
        assert!(events(&server).await >= before, "route {:?}, verb {:?}", routes.get(n), verbs.get(n));
    }
    is_over.store(true, Ordering::Relaxed);
    let reads: usize = reading.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(reads > 0);
    println!(
        "{} interrupts, {} routes, {} verbs, {reads} foreign reads",
        acknowledged.len(),
        routes.len(),
        verbs.len()
    );
    let report = server.get("/v1/audit/verify").await.ok();
    assert_eq!(report["intact"], true, "{report:#}");
}

/// Returns the number of events that the pin (the stored head of the journal) names.
fn pinned(data: &Path) -> u64 {
    let text = fs::read_to_string(data.join(PIN)).unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}
