//! Wall clocks that are wrong, jump, or are set forward and back, over the real binary. The binary's wall clock comes
//! from libfaketime, and a test sets it while the server runs. The monotonic clock is real.

mod back;
mod deadlines;
mod jumps;
mod layers;
mod nights;
mod skew;

use std::path::PathBuf;

use holdshort_core::time::Timestamp;
use holdshort_engine::{Clock, SystemClock};
use holdshort_testkit::server::{Answer, Setup, TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::issued;

/// Path of libfaketime in Debian, relative to the library directory of the machine's architecture.
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

fn library() -> PathBuf {
    let mut folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let found = folders.find_map(|folder| Some(folder.path().join(LIBRARY)).filter(|path| path.is_file()));
    found.expect("no libfaketime to test with: apt-get install libfaketime")
}

/// Wall clock of one server. A file stores the clock's offset from the machine's clock.
struct WallClock {
    folder: TempDir,
    ahead_ms: i64,
}

impl WallClock {
    fn at(now: &str) -> Self {
        let mut clock = Self::ahead(0);
        clock.set(now);
        clock
    }

    /// Creates a wall clock that is this many seconds ahead of the machine's clock.
    fn ahead(seconds: i64) -> Self {
        let mut clock = Self { folder: tempfile::tempdir().expect("a temporary folder"), ahead_ms: 0 };
        clock.put(seconds);
        clock
    }

    fn set(&mut self, now: &str) {
        let ms = at(now).as_millis() - SystemClock.now().as_millis();
        self.put(ms.div_euclid(1_000) + 1);
    }

    fn put(&mut self, seconds: i64) {
        self.ahead_ms = seconds * 1_000;
        // libfaketime could read a half-written file, so the test writes a second file and renames it.
        let next = self.folder.path().join("next");
        std::fs::write(&next, format!("{seconds:+}s\n")).expect("written");
        std::fs::rename(&next, self.file()).expect("renamed");
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().as_millis() + self.ahead_ms)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("clock")
    }

    fn apply_to(&self, setup: Setup) -> Setup {
        let (library, file) = (library(), self.file());
        setup
            .env("LD_PRELOAD", library.to_str().expect("text"))
            .env("FAKETIME_TIMESTAMP_FILE", file.to_str().expect("text"))
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

/// A server with one data folder and a settable clock. A test kills the server and restarts it with a different
/// wall-clock time.
struct ClockedServer {
    clock: WallClock,
    server: TestServer,
}

impl ClockedServer {
    async fn open(now: &str, setup: Setup) -> Self {
        let clock = WallClock::at(now);
        let mut server = clock.apply_to(setup).stopped();
        issued::trust_issuer(&server);
        server.start().await;
        Self { clock, server }
    }

    /// Kills the server, sets its wall clock, starts it again, and waits until the server has handled all due
    /// deadlines.
    async fn back_at(&mut self, now: &str) {
        self.server.kill();
        self.clock.set(now);
        self.server.start().await;
        // The server handles all due deadlines together and the latest one last, so when this question has expired, all
        // other deadlines are handled.
        let last = self.ask(&json!({"kind": "question", "title": "Is it time?", "expires_in_ms": 300})).await;
        self.settled(&last).await;
    }

    async fn ask(&self, body: &Value) -> Value {
        self.server.post("/v1/interrupts", body).await.ok()
    }

    async fn now(&self, asked: &Value) -> Value {
        self.server.interrupt(asked["id"].as_str().expect("an id")).await
    }

    async fn settled(&self, asked: &Value) {
        let look = async || (self.now(asked).await["status"] != "open").then_some(());
        eventually("it is no longer open", look).await;
    }

    async fn snooze(&self, who: &str, asked: &Value, until: &str) {
        self.send_as(who, Method::POST, &path(asked, "/snooze"), &json!({ "until": until })).await.ok();
    }

    /// Sends a request of a person to the server, authenticated with a token of the issuer.
    async fn send_as(&self, who: &str, method: Method, path: &str, body: &Value) -> Answer {
        let now = self.clock.now().as_millis() / 1_000;
        let token = issued::token(who, &[], now);
        self.with_token(&token, method, path, body).await
    }

    async fn with_token(&self, token: &str, method: Method, path: &str, body: &Value) -> Answer {
        let client = holdshort_http::plain().no_proxy().build().expect("a client");
        let request = client.request(method, format!("{}{path}", self.server.base())).bearer_auth(token);
        self.server.send(request.json(body)).await
    }

    /// Returns the events of an interrupt except decisions, each with its timestamp rounded down to the minute.
    async fn happened(&self, asked: &Value) -> Vec<String> {
        happened(&self.server, asked).await.iter().map(|(at, what)| format!("{} {what}", &at[..16])).collect()
    }

    fn assert_verified(&self) {
        let mut command = self.server.client_command();
        let output = command.args(["audit", "verify"]).output().expect("it runs");
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains("No change was detected"), "{said}{errors}");
    }
}

fn path(asked: &Value, verb: &str) -> String {
    format!("/v1/interrupts/{}{verb}", text(&asked["id"]))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the reminders, the escalations and the end of an interrupt, each with its timestamp.
async fn happened(server: &TestServer, asked: &Value) -> Vec<(String, String)> {
    let told = |event: &Value| {
        let data = &event["data"];
        let to: Vec<&str> = data["to"].as_array().into_iter().flatten().map(text).collect();
        match text(&event["type"]) {
            "interrupt_reminded" if data["cause"] == "snoozed" => Some(format!("wakes {}", to.join(" "))),
            "interrupt_reminded" => Some(format!("reminds {}", to.join(" "))),
            "interrupt_escalated" => Some(format!("asks {}", to.join(" "))),
            "interrupt_resolved" => Some(format!("ends {}", text(&data["outcome"]))),
            _ => None,
        }
    };
    let events = server.events(text(&asked["run"])).await;
    events.iter().filter_map(|event| Some((text(&event["at"]).to_owned(), told(event)?))).collect()
}
