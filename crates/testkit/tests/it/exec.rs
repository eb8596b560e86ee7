//! `holdshort exec`, over the real binary: it writes exactly the approved changes, once, or nothing at all.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use holdshort_testkit::server::real;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use crate::foreign_trials::Coder;

const ASKING: &str = "rules: []\n";

/// An agent with an installed hook.
struct Hooked {
    coder: Coder,
    config: PathBuf,
}

impl Hooked {
    async fn new() -> Self {
        let coder = Coder::new(ASKING).await;
        let hooks = coder.server.data().join("hooks");
        fs::create_dir_all(&hooks).expect("it can be created");
        let (config, key_file) = (hooks.join("claude.json"), hooks.join("claude.key"));
        let found = fs::metadata(&coder.folder).expect("it exists");
        let content = json!({
            "cli": "claude", "server": coder.server.base(), "key_file": key_file, "root": coder.folder,
            "root_identity": {"device": found.dev(), "inode": found.ino()}, "timeout_ms": 600_000,
            "program": real(), "protected": [coder.folder.join(".claude/settings.json")],
        });
        for (file, text) in [(&config, content.to_string()), (&key_file, coder.key.clone())] {
            fs::write(file, text).expect("it can be written");
            fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("it is ours");
        }
        Self { coder, config }
    }

    fn command(&self, interrupt: &Value, secret: &str) -> Command {
        let id = interrupt["id"].as_str().expect("an id");
        let mut command = Command::new(real());
        let call = format!("{id}.{secret}");
        command.arg("exec").arg("--config").arg(&self.config).arg(call).current_dir("/");
        command.stdin(Stdio::null());
        command
    }

    async fn exec(&self, interrupt: &Value, secret: &str) -> Ran {
        let mut command = self.command(interrupt, secret);
        let output = tokio::task::spawn_blocking(move || command.output()).await.expect("it runs");
        Ran::new(output.expect("it starts"))
    }

    async fn approved(&self, command: &str) -> Value {
        let open = self.coder.ask(command).await;
        self.coder.server.choose(&open, "approve").await;
        open
    }

    async fn outcome(&self, interrupt: &Value) -> Value {
        let id = interrupt["id"].as_str().expect("an id");
        let shown = self.coder.server.get(&format!("/v1/interrupts/{id}")).await.ok();
        shown["approval"]["exec"]["outcome"].clone()
    }
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

const SECRET: &str = "one secret of a call";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_released_changes_are_written_once_with_the_output_and_the_code() {
    let hooked = Hooked::new().await;
    hooked.coder.put("a.txt", "one\n");
    hooked.coder.put("gone.txt", "x");
    let line = "echo two >> a.txt; rm gone.txt; mkdir d; echo new > d/b.txt; chmod 755 d/b.txt; echo done; \
                echo oops >&2; exit 3";
    let call = hooked.approved(line).await;
    let ran = hooked.exec(&call, SECRET).await;
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(3), "done\n", "oops\n"));
    let files = hooked.coder.files();
    assert_eq!(files.get("a.txt").map(String::as_str), Some("one\ntwo\n"));
    assert!(!files.contains_key("gone.txt"), "{files:?}");
    let made = hooked.coder.folder.join("d/b.txt");
    assert_eq!(fs::read_to_string(&made).expect("it is made"), "new\n");
    assert_eq!(fs::metadata(&made).expect("it is made").permissions().mode() & 0o777, 0o755);
    assert_eq!(hooked.outcome(&call).await, "done");

    let again = hooked.exec(&call, SECRET).await;
    assert_eq!((again.code, again.out.as_str()), (Some(1), ""));
    assert!(again.err.contains("[approval_used]"), "{again:?}");
    assert_eq!(hooked.coder.files(), files);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_not_released_changes_nothing() {
    let mut hooked = Hooked::new().await;
    let before = hooked.coder.files();
    let open = hooked.coder.ask("echo x > a.txt").await;
    let ran = hooked.exec(&open, SECRET).await;
    assert!(ran.code == Some(1) && ran.err.contains("nothing was changed"), "{ran:?}");
    hooked.coder.server.choose(&open, "approve").await;
    let ran = hooked.exec(&open, "another").await;
    assert!(ran.code == Some(1) && ran.err.contains("[exec_denied]"), "{ran:?}");

    let raw = hooked.coder.ask("cd x").await;
    hooked.coder.server.choose(&raw, "approve").await;
    let ran = hooked.exec(&raw, SECRET).await;
    assert!(ran.code == Some(1) && ran.err.contains("nothing was changed"), "{ran:?}");

    let mut nonsense = Command::new(real());
    nonsense.args(["exec", "--config"]).arg(&hooked.config).arg("rm -rf /");
    let ran = Ran::new(nonsense.output().expect("it starts"));
    assert!(ran.code == Some(2) && ran.err.contains("not the token of an approved call"), "{ran:?}");

    // A copy of the configuration that the agent can write.
    let copied = hooked.coder.folder.join("hooks/claude.json");
    fs::create_dir(copied.parent().unwrap()).unwrap();
    fs::copy(&hooked.config, &copied).unwrap();
    let installed = std::mem::replace(&mut hooked.config, copied);
    let ran = hooked.exec(&open, SECRET).await;
    assert!(ran.code == Some(2) && ran.err.contains("nothing was changed"), "{ran:?}");
    fs::remove_dir_all(hooked.config.parent().unwrap()).unwrap();
    hooked.config = installed;

    let settings = hooked.approved("mkdir .claude; echo '{}' > .claude/settings.json").await;
    let ran = hooked.exec(&settings, SECRET).await;
    assert!(ran.code == Some(1) && ran.err.contains(".claude/settings.json"), "{ran:?}");

    hooked.coder.server.kill();
    let ran = hooked.exec(&open, SECRET).await;
    assert!(ran.code == Some(1) && ran.err.contains("nothing was changed"), "{ran:?}");
    assert_eq!(hooked.coder.files(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_the_files_or_of_the_folder_stops_it_before_the_first_write() {
    let hooked = Hooked::new().await;
    hooked.coder.put("a.txt", "one\n");
    let call = hooked.approved("echo two >> a.txt; echo new > b.txt").await;
    hooked.coder.put("a.txt", "other\n");
    let before = hooked.coder.files();
    let ran = hooked.exec(&call, SECRET).await;
    assert!(ran.code == Some(1) && ran.err.contains("[trial_void]"), "{ran:?}");
    assert_eq!(hooked.coder.files(), before);
    // The approval was not used, so the call succeeds after the file has its earlier content.
    hooked.coder.put("a.txt", "one\n");
    assert_eq!(hooked.exec(&call, SECRET).await.code, Some(0));

    let call = hooked.approved("echo x > c.txt").await;
    let moved = hooked.coder.folder.with_extension("moved");
    fs::rename(&hooked.coder.folder, &moved).expect("it can be renamed");
    fs::create_dir(&hooked.coder.folder).expect("it is new");
    let ran = hooked.exec(&call, SECRET).await;
    assert!(ran.code == Some(1) && ran.err.contains("was replaced"), "{ran:?}");
    assert!(hooked.coder.files().is_empty() && !moved.join("c.txt").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_dropped_is_said() {
    let hooked = Hooked::new().await;
    let open = hooked.coder.ask("echo 1 > a; echo 2 > b; echo done").await;
    hooked.coder.server.decide(&open, &json!({"option": "keep_some", "edit": ["a"]})).await.ok();
    let ran = hooked.exec(&open, SECRET).await;
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "done\n"));
    assert!(ran.err.contains("These were dropped: `b`"), "{ran:?}");
    assert_eq!(hooked.coder.files().into_keys().collect::<Vec<_>>(), ["a"]);
}

/// Proxy that delays the first request for approved content, and reports this request. All other requests pass.
struct HoldingProxy {
    address: SocketAddr,
    held: oneshot::Receiver<()>,
}

impl HoldingProxy {
    async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let (say, held) = oneshot::channel();
        tokio::spawn(async move {
            let say = Arc::new(Mutex::new(Some(say)));
            while let Ok((client, _)) = listener.accept().await {
                let upstream = TcpStream::connect(server).await.expect("the server listens");
                tokio::spawn(pass(client, upstream, (address, server), say.clone()));
            }
        });
        Self { address, held }
    }
}

async fn pass(
    client: TcpStream,
    server: TcpStream,
    (own, theirs): (SocketAddr, SocketAddr),
    say: Arc<Mutex<Option<oneshot::Sender<()>>>>,
) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut chunk = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = from_client.read(&mut chunk).await {
        let text = String::from_utf8_lossy(&chunk[..read]).replace(&own.to_string(), &theirs.to_string());
        if text.contains("/bodies/") {
            if let Some(say) = say.lock().expect("no panic").take() {
                say.send(()).expect("the test waits");
            }
            std::future::pending::<()>().await;
        }
        to_server.write_all(text.as_bytes()).await.expect("the server listens");
    }
}

/// The program is killed after it has used the approval and before it writes. The approval is used up, nothing is
/// written, and the outcome is shown as unknown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_between_the_use_and_the_write_is_an_unknown_outcome() {
    let hooked = Hooked::new().await;
    let call = hooked.approved("echo 1 > a.txt").await;
    let server = hooked.coder.server.base().strip_prefix("http://").expect("an address");
    let proxy = HoldingProxy::start(server.parse().expect("an address")).await;
    let text = fs::read_to_string(&hooked.config).expect("it exists");
    let through = text.replace(server, &proxy.address.to_string());
    fs::write(&hooked.config, through).expect("it can be written");

    let mut child = hooked.command(&call, SECRET).spawn().expect("it starts");
    proxy.held.await.expect("it asks for the content");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    fs::write(&hooked.config, text).expect("it can be written");
    assert!(hooked.coder.files().is_empty());
    assert_eq!(hooked.outcome(&call).await, "unknown");
    let again = hooked.exec(&call, SECRET).await;
    assert!(again.code == Some(1) && again.err.contains("[approval_used]"), "{again:?}");
    assert!(hooked.coder.files().is_empty());
}
