//! PostgreSQL server for tests, which is deleted afterwards. The server runs Debian's binaries on a free port of
//! loopback, and ends with the process that started it. With `fsync` on, the server is as durable as in production.
//!
//! `keeper.sh` starts and stops the server, and ends the server when the pipe from this process breaks, even after a
//! SIGKILL. Use this server only for tests: every client that can reach its port is the superuser.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result, bail, ensure};

/// Directory in which Debian keeps one directory per major version.
const VERSIONS: &str = "/usr/lib/postgresql";
/// Maximum number of attempts to start PostgreSQL. Another process can take the free port before the server listens.
const ATTEMPTS: usize = 3;

/// A running PostgreSQL server for tests. On drop, the server stops and its data is removed.
#[derive(Debug)]
pub struct Server {
    binaries: PathBuf,
    folder: PathBuf,
    port: u16,
    keeper: Mutex<Keeper>,
    databases: AtomicU32,
}

/// Process that starts and stops the PostgreSQL server, and the pipes to this process.
#[derive(Debug)]
struct Keeper {
    child: Child,
    /// Pipe for orders to the keeper process. `None` only while the keeper is being dropped.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// Returns the PostgreSQL server that all tests of a process share.
pub fn shared() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(|| match Server::start() {
        Ok(server) => server,
        Err(error) => panic!("PostgreSQL for the tests cannot be started: {error:#}"),
    })
}

impl Server {
    /// Starts a PostgreSQL server, and blocks until the server accepts connections.
    pub fn start() -> Result<Self> {
        let binaries = newest(Path::new(VERSIONS))?;
        let mut failure = None;
        for _ in 0..ATTEMPTS {
            match Self::start_on(&binaries, free_port()?) {
                Ok(server) => return Ok(server),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.context("not tried")?)
    }

    fn start_on(binaries: &Path, port: u16) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("holdshort-testpg-{}-{port}", std::process::id()));
        let mut keeper = Keeper::start(binaries, &folder, port)?;
        keeper.expect("up")?;
        let keeper = Mutex::new(keeper);
        Ok(Self { binaries: binaries.to_owned(), folder, port, keeper, databases: AtomicU32::new(0) })
    }

    /// Creates an empty database in the PostgreSQL server and returns its URL.
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        if let Err(error) = self.run("createdb", &[&name]) {
            panic!("a database for the tests cannot be created: {error:#}");
        }
        self.url(&name)
    }

    /// Returns the URL of the database with this name in the PostgreSQL server. The database `postgres` always exists.
    pub fn url(&self, database: &str) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs one of PostgreSQL's own programs against the test server, as the superuser. Returns the program's output.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let output = Command::new(self.binaries.join(program))
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", "postgres")
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("{program} did not start"))?;
        ensure!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Stops the PostgreSQL server as an operator would: open connections are closed, and committed data is kept.
    pub fn stop(&self) -> Result<()> {
        self.order("stop", "down")
    }

    /// Stops the PostgreSQL server as a power cut would. The next start recovers the committed data.
    pub fn crash(&self) -> Result<()> {
        self.order("crash", "down")
    }

    /// Starts a stopped PostgreSQL server again, on the same port and with the same data.
    pub fn start_again(&self) -> Result<()> {
        self.order("start", "up")
    }

    /// Returns the directory that contains the data and the log of the PostgreSQL server.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn order(&self, order: &str, answer: &str) -> Result<()> {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(keeper.orders.as_mut().context("it is being dropped")?, "{order}")?;
        keeper.expect(answer)
    }
}

impl Keeper {
    fn start(binaries: &Path, folder: &Path, port: u16) -> Result<Self> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", include_str!("keeper.sh"), "holdshort-testpg"])
            .args([binaries, folder])
            .arg(port.to_string())
            // PostgreSQL runs as a different user, which needs access to the working directory.
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C in a terminal must reach only the tests. When the tests end, the broken pipe ends the keeper.
            .process_group(0)
            .spawn()
            .context("/bin/sh did not start")?;
        let orders = child.stdin.take();
        let answers = child.stdout.take().context("the standard output of the keeper is not piped")?;
        Ok(Self { child, orders, answers: BufReader::new(answers) })
    }

    /// Reads the next line of the keeper process, which controls PostgreSQL. Returns an error if the line is not
    /// `answer`.
    fn expect(&mut self, answer: &str) -> Result<()> {
        let mut said = String::new();
        self.answers.read_line(&mut said)?;
        if said.trim_end() == answer {
            return Ok(());
        }
        while self.answers.read_line(&mut said)? > 0 {}
        bail!("PostgreSQL is not {answer}: {said}")
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.orders.take());
        // If waiting for the keeper fails, nothing needs to be done: the keeper ends by itself.
        let _status = self.child.wait();
    }
}

fn newest(versions: &Path) -> Result<PathBuf> {
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    let folders = std::fs::read_dir(versions).into_iter().flatten().flatten().map(|entry| entry.path());
    let with_server = folders.filter(|folder| folder.join("bin/postgres").is_file());
    let newest = with_server.filter_map(|folder| Some((number(&folder)?, folder))).max();
    let (_, folder) = newest.with_context(|| {
        format!("PostgreSQL is not installed below {}: run apt-get install postgresql", versions.display())
    })?;
    Ok(folder.join("bin"))
}

fn free_port() -> Result<u16> {
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port of the loopback interface is free")?;
    Ok(listener.local_addr()?.port())
}
