//! `holdshort hook run` with the real agents, while something is broken: the server, the installation, or the hook.
//! Every failure stops the command, except for the rows of [`Failure::needs_second_line`].

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use holdshort_testkit::coding_agent::{AgentHome, AgentHook, CodingAgent, SecondLine};
use holdshort_testkit::server::real;
use serde_json::{Value, json};

use super::Outcome::{self, Ran, Stopped};
use super::play;

/// Milliseconds after which the hook believes that the coding agent stops waiting for it.
const TIME_OUT_MS: u64 = 4_000;

/// Response to the hook by a server that is not a working Holdshort server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// Connections of the hook to the server are refused.
    Absent,
    /// The server accepts the connection of the hook, and never responds.
    Silent,
    /// The connection to the hook breaks in the middle of the response.
    Cut,
    /// The server responds with this status line with headers, and this body.
    Responds(&'static str, &'static str),
}

type Change = fn(&Installed);

/// Something that is broken when the hook runs, and its effect on the coding agent.
pub(super) struct Failure {
    pub(super) case: &'static str,
    server: Fault,
    change: Change,
    /// Part of the text that the coding agent gives to the model after the failure.
    text: &'static str,
    /// For each coding agent, true if the hook cannot answer, so that only the agent's own prompt or sandbox stops the
    /// command.
    pub(super) needs_second_line: [bool; 3],
}

const fn server(case: &'static str, server: Fault, text: &'static str) -> Failure {
    Failure { case, server, change: |_| {}, text, needs_second_line: [false; 3] }
}

const fn installation(case: &'static str, change: Change, text: &'static str) -> Failure {
    Failure { case, server: Fault::Absent, change, text, needs_second_line: [false; 3] }
}

const fn hook(case: &'static str, change: Change, needs_second_line: [bool; 3]) -> Failure {
    Failure { case, server: Fault::Absent, change, text: "", needs_second_line }
}

const JSON: &str = "Content-Type: application/problem+json";
const HTML: &str = "<!doctype html><title>Sign in</title>";

pub(super) const FAILURES: &[Failure] = &[
    server("no server", Fault::Absent, "no server answers"),
    server("the server never answers", Fault::Silent, "holdshort"),
    server("the connection breaks", Fault::Cut, "holdshort"),
    server("401", Fault::Responds("401 Unauthorized", "{}"), "401"),
    server("403", Fault::Responds("403 Forbidden", "{}"), "403"),
    server("404", Fault::Responds("404 Not Found", "{}"), "404"),
    server(
        "429, `Retry-After: 60`",
        Fault::Responds("429 Too Many Requests\r\nRetry-After: 60", "{}"),
        "429",
    ),
    server("500", Fault::Responds("500 Internal Server Error", "{}"), "500"),
    server("503", Fault::Responds("503 Service Unavailable", ""), "503"),
    server("a page of HTML with 502", Fault::Responds("502 Bad Gateway", HTML), "502"),
    server("a page of HTML with 200", Fault::Responds("200 OK", HTML), "not one of a Holdshort server"),
    server("an empty answer", Fault::Responds("200 OK", ""), "not one of a Holdshort server"),
    server("another JSON document", Fault::Responds("200 OK", "[]"), "not one of a Holdshort server"),
    server(
        "a redirect",
        Fault::Responds("302 Found\r\nLocation: http://127.0.0.1:9/", ""),
        "not a Holdshort server",
    ),
    installation(
        "configuration missing",
        |installed| fs::remove_file(&installed.config).unwrap(),
        "holdshort",
    ),
    installation(
        "configuration not JSON",
        |installed| installed.write(&installed.config, "{"),
        "not a hook configuration",
    ),
    installation(
        "configuration readable by others",
        |installed| installed.share(&installed.config),
        "holdshort",
    ),
    installation("key missing", |installed| fs::remove_file(&installed.key).unwrap(), "the agent key"),
    installation("key readable by others", |installed| installed.share(&installed.key), "the agent key"),
    installation(
        "project replaced by another folder",
        |installed| {
            let project = installed.project();
            fs::rename(&project, project.with_extension("old")).unwrap();
            fs::create_dir(&project).unwrap();
        },
        "not the folder for which the hook was installed",
    ),
    hook("SIGTERM to the hook", |installed| installed.wrap("kill -TERM $! ; wait $!"), [false; 3]),
    // The script must not print "Killed", which no coding agent's own shell prints.
    hook(
        "SIGKILL to the hook",
        |installed| installed.wrap("exec 2> /dev/null ; kill -KILL $! ; wait $!"),
        [true; 3],
    ),
    hook("program missing", |installed| fs::remove_file(&installed.program).unwrap(), [true, true, false]),
];

pub(super) struct Installed {
    folder: PathBuf,
    config: PathBuf,
    key: PathBuf,
    pub(super) program: PathBuf,
}

impl Installed {
    /// Installs a hook for the server at this address. `key` is the text of an agent key.
    pub(super) fn new(home: &AgentHome, agent: CodingAgent, address: &str, key: &str) -> Self {
        let hooks = home.folder().join("data/hooks");
        fs::create_dir_all(&hooks).unwrap();
        fs::set_permissions(&hooks, Permissions::from_mode(0o700)).unwrap();
        let name = format!("{agent:?}").to_lowercase();
        let installed = Self {
            folder: home.folder().to_owned(),
            config: hooks.join(format!("{name}.json")),
            key: hooks.join(format!("{name}.key")),
            program: home.folder().join("hook"),
        };
        let root = fs::metadata(installed.project()).unwrap();
        let config = json!({
            "cli": name, "server": address, "key_file": installed.key, "root": installed.project(),
            "root_identity": {"device": root.dev(), "inode": root.ino()}, "timeout_ms": TIME_OUT_MS,
            "program": real(), "protected": [],
        });
        installed.write(&installed.config, &config.to_string());
        installed.write(&installed.key, key);
        let line = format!(
            "exec {} hook run {name} --config {} \"$@\"",
            real().display(),
            installed.config.display()
        );
        installed.write_program(&line);
        installed
    }

    /// Sets the milliseconds after which the hook believes that the coding agent stops waiting for it.
    pub(super) fn set_timeout(&self, timeout_ms: u64) {
        let mut config: Value = serde_json::from_slice(&fs::read(&self.config).unwrap()).unwrap();
        config["timeout_ms"] = timeout_ms.into();
        self.write(&self.config, &config.to_string());
    }

    fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    fn write(&self, path: &Path, text: &str) {
        assert!(path.starts_with(&self.folder));
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    }

    fn share(&self, path: &Path) {
        assert!(path.starts_with(&self.folder));
        fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    }

    fn write_program(&self, lines: &str) {
        fs::write(&self.program, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&self.program, Permissions::from_mode(0o755)).unwrap();
    }

    /// Replaces the hook by a script that starts the hook in the background, and then runs these lines. The exit code
    /// is the one of the hook.
    fn wrap(&self, lines: &str) {
        let text = fs::read_to_string(&self.program).unwrap();
        let start = text.lines().find_map(|line| line.strip_prefix("exec ")).unwrap();
        // A background process gets no standard input by itself.
        self.write_program(&format!(
            "cat > {0}/payload\n{start} < {0}/payload &\nsleep 1\n{lines}",
            self.folder.display()
        ));
    }
}

/// A server that a fault breaks, so that no hook gets a usable answer. The server stops on drop.
struct Broken {
    address: String,
    stopped: Arc<AtomicBool>,
}

impl Broken {
    fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stopped = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&stopped);
        if !matches!(fault, Fault::Absent) {
            thread::spawn(move || {
                let mut held = Vec::new();
                for socket in listener.incoming().map_while(Result::ok) {
                    if ends.load(Ordering::SeqCst) {
                        break;
                    }
                    held.extend(respond(socket, fault));
                }
            });
        }
        Self { address: format!("http://127.0.0.1:{port}"), stopped }
    }
}

impl Drop for Broken {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        drop(TcpStream::connect(self.address.trim_start_matches("http://")));
    }
}

/// Responds to one request of the hook according to the fault. Returns a connection that must stay open.
fn respond(mut socket: TcpStream, fault: Fault) -> Option<TcpStream> {
    socket.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut request = [0; 4096];
    if socket.read(&mut request).ok()? == 0 {
        return None;
    }
    match fault {
        Fault::Absent | Fault::Silent => Some(socket),
        Fault::Cut => {
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\": \"run_");
            None
        }
        Fault::Responds(status, body) => {
            let length = body.len();
            let text = format!(
                "HTTP/1.1 {status}\r\n{JSON}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = socket.write_all(text.as_bytes());
            None
        }
    }
}

/// Plays a failure with a coding agent. Returns the outcome, and the text that the model gets.
fn plays(agent: CodingAgent, failure: &Failure, line: SecondLine) -> (Outcome, String) {
    let broken = Broken::start(failure.server);
    let home = AgentHome::new(agent).second_line(line);
    let installed = Installed::new(&home, agent, &broken.address, "hs_key_0");
    (failure.change)(&installed);
    let home = home.gate(installed.program.display().to_string());
    let (outcome, run) = play(agent, &home);
    (outcome, run.results.concat())
}

fn check(agent: CodingAgent, failures: impl Iterator<Item = &'static Failure>) {
    let at = CodingAgent::ALL.iter().position(|one| *one == agent).unwrap();
    let mut wrong = Vec::new();
    for failure in failures {
        // Names the case if the agent does not end.
        eprintln!("{}", failure.case);
        let (alone, text) = plays(agent, failure, SecondLine::Off);
        let expected = if failure.needs_second_line[at] { Ran } else { Stopped };
        if alone != expected || (alone == Stopped && !text.contains(failure.text)) {
            wrong.push(format!("{}: {alone:?}, not {expected:?}: {text}", failure.case));
        }
        if alone == Ran && plays(agent, failure, SecondLine::On).0 != Stopped {
            wrong.push(format!("{}: the second line does not hold", failure.case));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", agent.title());
}

fn sample() -> impl Iterator<Item = &'static Failure> {
    FAILURES.iter().filter(|failure| ["no server", "a page of HTML with 200"].contains(&failure.case))
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_broken_server_stops_claude_code() {
    check(CodingAgent::Claude, sample());
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_broken_server_stops_codex() {
    check(CodingAgent::Codex, sample());
}

#[test]
#[ignore = "it starts programs that npm installs"]
fn campaign_a_broken_server_stops_gemini_cli() {
    check(CodingAgent::Gemini, sample());
}

#[test]
#[ignore = "it starts the agent for each failure"]
fn campaign_of_failures_with_claude_code() {
    check(CodingAgent::Claude, FAILURES.iter());
}

#[test]
#[ignore = "it starts the agent for each failure"]
fn campaign_of_failures_with_codex() {
    check(CodingAgent::Codex, FAILURES.iter());
}

#[test]
#[ignore = "it starts the agent for each failure"]
fn campaign_of_failures_with_gemini_cli() {
    check(CodingAgent::Gemini, FAILURES.iter());
}

/// An agent that stops waiting before the hook answers runs the command. Then only the agent's own prompt or sandbox
/// can stop the command.
#[test]
#[ignore = "it starts the agents twice"]
fn campaign_of_a_time_out_that_is_too_short() {
    for agent in CodingAgent::ALL {
        for (line, expected) in [(SecondLine::Off, Ran), (SecondLine::On, Stopped)] {
            let broken = Broken::start(Fault::Silent);
            let home = AgentHome::new(agent).second_line(line);
            let installed = Installed::new(&home, agent, &broken.address, "hs_key_0");
            let command = installed.program.display().to_string();
            let hook = AgentHook { event: agent.before_tool(), command, timeout: Some(1) };
            assert_eq!(play(agent, &home.hook(hook)).0, expected, "{} {line:?}", agent.title());
        }
    }
}
