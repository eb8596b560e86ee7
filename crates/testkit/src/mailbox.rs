//! A real SMTP server on this machine (npm `smtp-server`) that keeps the mails which it receives. Each received mail is
//! parsed by npm `mailparser`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

use crate::server::eventually;

/// A running SMTP server that keeps the mails which it receives. It stops when it is dropped.
#[derive(Debug)]
pub struct Mailbox {
    child: Child,
    stdin: ChildStdin,
    port: u64,
    mails: Arc<Mutex<Vec<Value>>>,
}

/// Encryption of the connections to the SMTP server of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpSecurity {
    /// Unencrypted SMTP.
    Clear,
    /// SMTP without encryption that switches to TLS with STARTTLS.
    Starttls,
    /// TLS from the first byte.
    Tls,
}

/// User name for an SMTP server at which senders must authenticate.
pub const USER: &str = "holdshort";
pub const PASSWORD: &str = "pass-of-the-mail-server";

impl Mailbox {
    /// Starts an SMTP server. If it uses TLS, its certificate is for `localhost`. The command-line tests trust this
    /// certificate.
    pub fn start(speaks: SmtpSecurity, wants_user: bool) -> Self {
        let mut options = json!({"implicit": speaks == SmtpSecurity::Tls});
        if speaks != SmtpSecurity::Clear {
            options["certificate"] = tls("certificate.pem").into();
            options["key"] = tls("key.pem").into();
        }
        if wants_user {
            options["user"] = USER.into();
            options["password"] = PASSWORD.into();
        }
        Self::run("smtp.js", &options)
    }

    /// Starts an SMTP server that violates the protocol and accepts no mail. `how` is `injects` or `endless`, as
    /// described in `webhooks/hostile-smtp.js`.
    pub fn hostile(how: &str) -> Self {
        let (certificate, key) = (tls("certificate.pem"), tls("key.pem"));
        Self::run("hostile-smtp.js", &json!({"how": how, "certificate": certificate, "key": key}))
    }

    fn run(script: &str, options: &Value) -> Self {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/webhooks"));
        assert!(folder.join("node_modules/smtp-server").exists(), "run `npm ci` in {}", folder.display());
        let mut child = Command::new("node")
            .arg(folder.join(script))
            .arg(options.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node starts");
        let stdin = child.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let first = lines.next().expect("a line").expect("text");
        let told: Value = serde_json::from_str(&first).expect("JSON");
        let mails: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = mails.clone();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mail = serde_json::from_str(&line).expect("JSON of a mail");
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
            }
        });
        Self { child, stdin, port: told["port"].as_u64().expect("a port"), mails }
    }

    /// Returns the address of the SMTP server as `localhost:PORT`. Its certificate is valid for the name `localhost`.
    pub fn server(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// Makes the SMTP server reject the next recipients with these SMTP codes: one code for each recipient.
    pub fn refuse(&mut self, codes: &[u16]) {
        for code in codes {
            writeln!(self.stdin, "{code}").expect("it listens");
        }
        self.stdin.flush().expect("it listens");
    }

    /// Returns all mails that the SMTP server has received so far, in the order of arrival.
    pub fn mails(&self) -> Vec<Value> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the SMTP server has received at least `n` mails.
    pub async fn wait_for(&self, n: usize) -> Vec<Value> {
        eventually(&format!("{n} mails"), async || {
            let mails = self.mails();
            (mails.len() >= n).then_some(mails)
        })
        .await
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the path of a file for TLS: the certificate authority of the tests, or the certificate or key for
/// `localhost`.
pub fn tls(name: &str) -> String {
    format!("{}/../holdshort/tests/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}
