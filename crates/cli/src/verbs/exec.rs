//! `exec`: writes the changes of an approved command of an external agent. The server has run the command as a trial,
//! and the changes of the trial were approved. The coding agent then runs a command line with `holdshort exec` instead
//! of the command.
//!
//! `holdshort exec` consumes the approval, writes the approved changes, prints the output of the trial, and exits with
//! the exit code of the trial. The command itself does not run again. If an error occurs before the approval is
//! consumed, all files stay unchanged. `exec` writes with the permissions of its caller, so the coding agent's own
//! sandbox still applies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use holdshort_core::changeset::{Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_core::id::InterruptId;
use holdshort_http::secret_file;
use holdshort_protocol::{
    ExecOutcome, Interrupt, Problem, ReleasedTrial, ReportExec, UseApproval, UsedApproval, header, plain,
};
use holdshort_tools::{Committed, Settings, Tools, Workspace};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use tempfile::SpooledTempFile;
use tokio::task::spawn_blocking;

use super::hook::config::{self, HookConfig, RootIdentity};
use super::hook::guard::Guard;
use super::hook::unsafe_places;
use crate::args::Exec;
use crate::exit::{Exit, usage};
use crate::limits::{EXEC_BODY_BYTES, EXEC_MEMORY_BYTES, EXEC_RESPONSE_BYTES, KEY_FILE_BYTES};

/// Time after which a request fails.
const REQUEST_TIME: Duration = Duration::from_mins(1);
/// Maximum number of attempts to consume the approval, if the connection breaks before the response arrives.
const ATTEMPTS: usize = 3;

/// Token of an approved call: the id of the call's interrupt and a secret, joined by a dot.
struct Call<'a> {
    interrupt: InterruptId,
    secret: &'a str,
}

impl<'a> Call<'a> {
    fn parse(text: &'a str) -> anyhow::Result<Self> {
        let parsed = text.split_once('.').and_then(|(id, secret)| Some((id.parse().ok()?, secret)));
        match parsed.filter(|(_, secret)| !secret.is_empty()) {
            Some((interrupt, secret)) => Ok(Self { interrupt, secret }),
            None => Err(usage(
                "the argument CALL is not the token of an approved call: run the original command instead",
            )),
        }
    }
}

pub(super) async fn exec(args: &Exec) -> anyhow::Result<Exit> {
    let call = Call::parse(&args.call)?;
    let config = config::read(&args.config)?;
    let data = data_of(&args.config, &config)?;
    let server = Server::new(&config)?;
    let root = Root::open(&config, &args.config, data)?;
    let nothing = "nothing was changed";
    let used = server.use_approval(&call).await.context(nothing)?;
    let Some(trial) = used.trial else {
        bail!("{nothing}: the server did not try this command, so there are no approved changes to write")
    };
    let (written, reason) = match server.write(&call.interrupt, &trial, root).await {
        Ok(()) => (ExecOutcome::Done, None),
        Err(NotWritten { outcome, why }) => (outcome, Some(why)),
    };
    let report = ReportExec { outcome: written, text: reason.clone() };
    if let Err(error) = server.report(&call.interrupt, &report).await {
        eprintln!("holdshort: the result could not be reported: {error:#}");
    }
    match reason {
        Some(why) => bail!("{why}"),
        None => print(&trial),
    }
}

/// Returns the data folder of an installed hook. Rejects a configuration that is not in the folder of the hooks, or that
/// the agent or other users can write.
fn data_of<'a>(file: &'a Path, config: &HookConfig) -> anyhow::Result<&'a Path> {
    let folder = file.parent().filter(|folder| folder.ends_with("hooks"));
    let is_named = file.is_absolute() && file.ends_with(format!("{}.json", config.cli.word()));
    let Some(data) = folder.and_then(Path::parent).filter(|_| is_named) else {
        return Err(usage(format!("{} is not the configuration of an installed hook", file.display())));
    };
    let open = unsafe_places::in_project(file, &config.root).or_else(|| unsafe_places::open_to_others(file));
    open.map_or(Ok(data), |why| Err(usage(format!("nothing was changed: {why}"))))
}

/// Folder in which the changes are written.
struct Root {
    tools: Tools,
    guard: Guard,
    identity: RootIdentity,
}

impl Root {
    /// Opens the folder that the configuration of the hook names. Rejects the folder if it was put in place of the
    /// original one after the hook was installed.
    fn open(config: &HookConfig, file: &Path, data: &Path) -> anyhow::Result<Self> {
        let shown = config.root.display();
        let identity = RootIdentity::of_folder(&config.root)
            .with_context(|| format!("nothing was changed: the folder {shown} cannot be read"))?;
        if identity != config.root_identity {
            bail!("nothing was changed: {shown} was replaced since the hook was installed; install it again");
        }
        let workspace = Workspace::open(&config.root, data).context("nothing was changed")?;
        let settings = Settings::new(config.program.clone(), data.to_owned());
        let guard = Guard::new(config, &[file]);
        Ok(Self { tools: Tools::new(workspace, settings), guard, identity })
    }
}

/// Reason why the approved changes were not written, or only some of them.
struct NotWritten {
    outcome: ExecOutcome,
    why: String,
}

impl NotWritten {
    fn nothing(why: impl Display) -> Self {
        Self { outcome: ExecOutcome::Nothing, why: format!("nothing was changed: {why}") }
    }

    fn from_committed(paths: &str, done: &[String]) -> Self {
        if done.is_empty() {
            return Self::nothing(format!("{paths}. Repeat the command, so that it is tried again"));
        }
        let done = named(done);
        Self {
            outcome: ExecOutcome::Halfway,
            why: format!("only some changes were written, at {done}: {paths}"),
        }
    }
}

/// Server that stores the approval of the call.
struct Server {
    http: Client,
    config: HookConfig,
    key: String,
}

impl Server {
    fn new(config: &HookConfig) -> anyhow::Result<Self> {
        let http = holdshort_http::client_to(&config.server)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(REQUEST_TIME)
            .build()?;
        let key = secret_file::read_text(&config.key_file, KEY_FILE_BYTES);
        let key =
            key.map_err(|error| usage(format!("the agent key {} {error}", config.key_file.display())))?;
        Ok(Self { http, config: config.clone(), key })
    }

    /// Uses the approval. Repeats a failed request with the same idempotency key, so that the approval is consumed at
    /// most once.
    async fn use_approval(&self, call: &Call<'_>) -> anyhow::Result<UsedApproval> {
        let path = format!("/v1/interrupts/{}", call.interrupt);
        let interrupt: Interrupt = self.send(self.request(Method::GET, &path)?).await?;
        let Some(approval) = interrupt.approval else { bail!("the call is not approved") };
        let body = UseApproval { digest: approval.digest, exec: Some(call.secret.to_owned()) };
        let key = new_key()?;
        let mut attempt = 1;
        loop {
            let request = self.request(Method::POST, &format!("{path}/consume"))?;
            let request = request.header(header::IDEMPOTENCY_KEY, &key).json(&body);
            match self.send(request).await {
                Err(error) if attempt < ATTEMPTS && error.is::<reqwest::Error>() => attempt += 1,
                answer => return answer,
            }
        }
    }

    /// Reads all new file contents, and then writes all changes. Before the first change, checks that each path is in
    /// the state that it had during the trial.
    async fn write(
        &self,
        interrupt: &InterruptId,
        trial: &ReleasedTrial,
        root: Root,
    ) -> Result<(), NotWritten> {
        let changeset: Changeset =
            serde_json::from_value(trial.changeset.clone()).map_err(NotWritten::nothing)?;
        let identity = format!("{}:{}", root.identity.device, root.identity.inode);
        if Path::new(&trial.folder) != self.config.root || trial.root != identity {
            return Err(NotWritten::nothing("the command was tried in another folder"));
        }
        let paths = changeset.changes().iter().map(|change| change.path.as_str());
        if let Some(why) = root.guard.refusal_of_changes(paths) {
            return Err(NotWritten::nothing(why));
        }
        let new = changeset.changes().iter().filter_map(|change| match change.after {
            Some(Entry::File { digest, .. }) => Some(digest),
            Some(Entry::Symlink { .. } | Entry::Folder { .. }) | None => None,
        });
        let wanted: BTreeSet<Digest> = new.collect();
        let mut bodies = BTreeMap::new();
        for digest in wanted {
            let body = self.body(interrupt, digest).await;
            bodies.insert(digest, body.map_err(|error| NotWritten::nothing(format!("{error:#}")))?);
        }
        // A commit reads the contents one after the other, in the thread that writes them.
        let bodies = std::sync::Mutex::new(bodies);
        let turn = root.tools.turn(&changeset).await;
        let committed = spawn_blocking(move || {
            let _turn = turn;
            let body = |digest: Digest| {
                let mut bodies = bodies.lock().map_err(|_| {
                    io::Error::other("another thread failed while it read the new contents of the files")
                })?;
                let file = bodies.get_mut(&digest).ok_or(io::ErrorKind::NotFound)?;
                let mut bytes = Vec::new();
                file.rewind()?;
                file.read_to_end(&mut bytes)?;
                Ok(bytes)
            };
            root.tools.commit(&changeset, body, false)
        });
        match committed
            .await
            .map_err(|error| NotWritten { outcome: ExecOutcome::Halfway, why: error.to_string() })?
        {
            Committed::Done => Ok(()),
            Committed::Conflict { paths, done } => {
                Err(NotWritten::from_committed(&format!("{} changed since the trial", named(&paths)), &done))
            }
            Committed::Failed { text, done } => Err(NotWritten::from_committed(&text, &done)),
        }
    }

    async fn body(&self, interrupt: &InterruptId, digest: Digest) -> anyhow::Result<SpooledTempFile> {
        let path = format!("/v1/interrupts/{interrupt}/bodies/{digest}");
        let mut response = checked(self.request(Method::GET, &path)?.send().await?).await?;
        let mut file = tempfile::spooled_tempfile(EXEC_MEMORY_BYTES);
        let mut read = 0;
        while let Some(chunk) = response.chunk().await? {
            read += chunk.len() as u64;
            if read > EXEC_BODY_BYTES {
                bail!("a released file is larger than {EXEC_BODY_BYTES} bytes");
            }
            file.write_all(&chunk)?;
        }
        Ok(file)
    }

    async fn report(&self, interrupt: &InterruptId, report: &ReportExec) -> anyhow::Result<()> {
        let request = self.request(Method::POST, &format!("/v1/interrupts/{interrupt}/exec"))?;
        checked(request.json(report).send().await?).await.map(drop)
    }

    fn request(&self, method: Method, path: &str) -> anyhow::Result<RequestBuilder> {
        Ok(self.http.request(method, self.config.server.join(path)?).bearer_auth(&self.key))
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> anyhow::Result<T> {
        let response = checked(request.send().await?).await?;
        Ok(serde_json::from_slice(&bounded(response).await?)?)
    }
}

/// Returns the response if it is successful. If the response is not successful, returns the reason that the server gave
/// as an error.
async fn checked(response: Response) -> anyhow::Result<Response> {
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status();
    match serde_json::from_slice::<Problem>(&bounded(response).await?) {
        Ok(problem) => {
            bail!("{} [{}]. {}", plain::line(&problem.detail), problem.code.as_str(), problem.code.fix())
        }
        Err(_) => bail!("the server answered {status}"),
    }
}

/// Returns the body of a response, or an error if the body exceeds its maximum size.
async fn bounded(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend(chunk);
        if body.len() > EXEC_RESPONSE_BYTES {
            bail!("the response of the server is larger than {EXEC_RESPONSE_BYTES} bytes");
        }
    }
    Ok(body)
}

/// Returns a random idempotency key for one attempt to consume the approval.
fn new_key() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(Digest::of_bytes(&bytes).to_string())
}

/// Prints the output of the trial. If the output cannot be written, for example to a closed pipe, the error is ignored,
/// because the changes are already written.
fn print(trial: &ReleasedTrial) -> anyhow::Result<Exit> {
    let decode = |text: &str| data_encoding::BASE64.decode(text.as_bytes());
    let (stdout, stderr) = (decode(&trial.stdout)?, decode(&trial.stderr)?);
    let _ = io::stdout().lock().write_all(&stdout);
    let _ = io::stdout().lock().flush();
    let _ = io::stderr().lock().write_all(&stderr);
    if !trial.dropped.is_empty() {
        let dropped = named(&trial.dropped);
        eprintln!("holdshort: the approver kept only some of the changes. These were dropped: {dropped}");
    }
    Ok(Exit::Captured(u8::try_from(trial.exit_code).unwrap_or(1)))
}

/// Lists the first few paths.
fn named(paths: &[String]) -> String {
    const NAMED: usize = 5;
    let mut named: Vec<String> =
        paths.iter().take(NAMED).map(|path| format!("`{}`", plain::line(path))).collect();
    if paths.len() > NAMED {
        named.push(format!("{} more", paths.len() - NAMED));
    }
    named.join(", ")
}
