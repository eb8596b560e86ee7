//! Limits of what a sandboxed command can reach. These tests fail on a host without Landlock and namespaces.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use holdshort_core::tool::SandboxLevel;
use holdshort_tools::sandbox;

use crate::bench::{Bench, PROGRAM};

/// Runs a command line in the sandbox. Returns true if it prints `reached`, which means that it reached something
/// forbidden.
async fn reaches(bench: &Bench, line: &str) -> bool {
    let (text, data) = bench.command(line).await;
    assert_eq!(data["sandbox"], "full", "this host cannot confine commands");
    text.contains("reached")
}

#[test]
fn this_host_reaches_the_full_level() {
    for network in [false, true] {
        assert_eq!(sandbox::level(Path::new(PROGRAM), network), SandboxLevel::Full);
    }
    assert_eq!(sandbox::level(Path::new("/bin/true"), false), SandboxLevel::None);
    assert_eq!(sandbox::level(Path::new("/nowhere"), false), SandboxLevel::None);
}

#[tokio::test]
async fn the_data_folder_and_the_home_folder_are_not_read() {
    let bench = Bench::new();
    for folder in ["data", "home"] {
        let secret = bench.root.path().join(folder).join("secret");
        fs::write(&secret, "reached").unwrap();
        assert!(!reaches(&bench, &format!("cat '{}'", secret.display())).await, "{folder}");
        // A link that the command creates does not give access either.
        assert!(!reaches(&bench, &format!("ln -sfn '{}' l; cat l", secret.display())).await, "{folder}");
    }
    let real_home = std::env::home_dir().unwrap();
    assert!(!reaches(&bench, &format!("ls -a '{}' && echo reached", real_home.display())).await);
}

#[tokio::test]
async fn only_the_workspace_and_a_private_folder_are_written() {
    let bench = Bench::new();
    let outside = bench.root.path().join("outside");
    for place in ["/usr/x-holdshort", "/etc/x-holdshort", "/x-holdshort"] {
        assert!(!reaches(&bench, &format!("echo x > {place} && echo reached")).await, "{place}");
        assert!(!Path::new(place).exists(), "{place}");
    }
    // A command may write to paths below /tmp, but the writes go only to its private folder.
    bench.command(&format!("echo x > '{}'", outside.display())).await;
    assert!(!outside.exists());
    let (text, _) = bench
        .command("echo 1 > here && echo 2 > \"$TMPDIR/x-holdshort\" && echo 3 > \"$HOME/x\" && echo 4 > /tmp/y-holdshort && cat here")
        .await;
    assert_eq!(text, "1\nexit code 0");
    assert_eq!(bench.content("here"), "1\n");
    assert!(!Path::new("/tmp/y-holdshort").exists());
    // The next command has a different private folder.
    assert!(!reaches(&bench, "[ -e /tmp/y-holdshort ] && echo reached").await);
}

#[tokio::test]
async fn secrets_of_the_system_are_not_read() {
    let bench = Bench::new();
    for line in [
        "cat /etc/shadow && echo reached",
        "cat /proc/1/environ && echo reached",
        "ls / && echo reached",
        "ls /run /var/run && echo reached",
        "ls /dev/sd* /dev/vd* /dev/nvme* /dev/mem 2>/dev/null | grep -q . && echo reached",
    ] {
        assert!(!reaches(&bench, line).await, "{line}");
    }
    assert_eq!(bench.command("head -c 4 /etc/passwd && ls /etc >/dev/null").await.0, "root\nexit code 0");
}

#[tokio::test]
async fn other_processes_are_not_seen() {
    let bench = Bench::new();
    let server = std::process::id();
    assert!(
        !reaches(
            &bench,
            &format!("[ -e /proc/{server}/cmdline ] && grep -q it /proc/{server}/cmdline && echo reached")
        )
        .await
    );
    let (text, _) = bench.command("ls /proc | grep -c '^[0-9]'").await;
    let count: usize = text.lines().next().unwrap().parse().unwrap();
    assert!(count < 8, "{text}");
}

#[tokio::test]
async fn the_environment_is_not_inherited() {
    let bench = Bench::new();
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok(), "this test needs a variable to look for");
    let (text, _) = bench.command("env | cut -d= -f1 | grep -v -e '^_$' | sort | tr '\\n' ' '").await;
    let allowed = [
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_KEY_1",
        "GIT_CONFIG_VALUE_0",
        "GIT_CONFIG_VALUE_1",
        "HOME",
        "JAVA_HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "OLDPWD",
        "PATH",
        "PWD",
        "SHLVL",
        "TERM",
        "TMPDIR",
        "TZ",
    ];
    for name in text.lines().next().unwrap().split_whitespace() {
        assert!(allowed.contains(&name), "{name}");
    }
    assert!(text.contains("TERM TMPDIR"));
}

#[tokio::test]
async fn capabilities_are_given_up() {
    let bench = Bench::new();
    let (text, _) =
        bench.command("grep -e CapBnd -e CapEff -e NoNewPrivs -e Seccomp: /proc/self/status").await;
    // CAP_SYS_ADMIN, CAP_NET_ADMIN, CAP_SYS_PTRACE, CAP_MKNOD.
    let dangerous = 1 << 21 | 1 << 12 | 1 << 19 | 1 << 27_u64;
    let mut fields = text.lines().filter_map(|line| line.split_once(":\t"));
    for name in ["CapEff", "CapBnd"] {
        let (found, value) = fields.next().unwrap();
        assert_eq!(found, name);
        // Without root the bounding set does not matter, since no program can gain capabilities.
        assert_eq!(u64::from_str_radix(value, 16).unwrap() & dangerous, 0, "{name}");
    }
    assert_eq!(fields.next(), Some(("NoNewPrivs", "1")));
    assert_eq!(fields.next(), Some(("Seccomp", "2")));
}

/// Returns a command line that sends data to a server on this machine.
fn knock(port: u16) -> String {
    format!("timeout 5 bash -c 'echo knock > /dev/tcp/127.0.0.1/{port}' && echo reached")
}

#[tokio::test]
async fn the_network_is_closed_unless_opened() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    assert!(!reaches(&Bench::new(), &knock(port)).await);
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "somebody came through");
    let open = Bench::with(|settings| settings.network = true);
    assert!(reaches(&open, &knock(port)).await);
    assert!(server.accept().is_ok());
}

#[tokio::test]
async fn a_program_can_talk_to_itself() {
    if !Path::new("/usr/bin/python3").exists() {
        return;
    }
    let bench = Bench::new();
    bench.put(
        "talk.py",
        "import socket\n\
         s = socket.create_server(('127.0.0.1', 0))\n\
         c = socket.create_connection(s.getsockname())\n\
         s.accept()[0].sendall(b'hello')\n\
         print(c.recv(5).decode())\n",
    );
    assert_eq!(bench.command("/usr/bin/python3 talk.py").await.0, "hello\nexit code 0");
}

#[tokio::test]
async fn sockets_with_a_name_are_not_reached() {
    if !Path::new("/usr/bin/python3").exists() {
        return;
    }
    let bench = Bench::new();
    let path = bench.root.path().join("service");
    let _service = std::os::unix::net::UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    bench.put(
        "knock.py",
        format!(
            "import socket\nsocket.socket(socket.AF_UNIX).connect('{}')\nprint('reached')\n",
            path.display()
        ),
    );
    bench.put("vsock.py", "import socket\nsocket.socket(40, socket.SOCK_STREAM)\nprint('reached')\n");
    assert!(!reaches(&bench, "/usr/bin/python3 knock.py").await);
    assert!(!reaches(&bench, "/usr/bin/python3 vsock.py").await);
}

#[tokio::test]
async fn toolchains_in_the_home_folder_work_and_nothing_else_there_does() {
    let mut home = None;
    let bench = Bench::with(|settings| {
        let folder = settings.home.clone().unwrap();
        settings.path = format!(
            "{0}/.pyenv/shims:{0}/.local/bin:{0}:relative:{1}:/tmp:/etc:/proc/self:{2}",
            folder.display(),
            settings.data_dir.display(),
            settings.path
        );
        home = Some(folder);
    });
    let home = home.unwrap();
    let program = |path: &str, body: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    program(".pyenv/shims/tool", "exec \"$PYENV_ROOT/versions/3/bin/tool\"");
    program(".pyenv/versions/3/bin/tool", "echo the tool");
    program(".local/bin/other", "echo the other");
    program(".local/share/keyring", "echo reached");
    program("secret", "echo reached");
    assert_eq!(bench.command("tool && other").await.0, "the tool\nthe other\nexit code 0");
    assert!(
        !reaches(
            &bench,
            &format!("cat {0}/secret; {0}/secret; secret; cat {0}/.local/share/keyring", home.display())
        )
        .await
    );
    assert!(!reaches(&bench, &format!("echo x > {}/.pyenv/shims/new && echo reached", home.display())).await);
    let real = fs::canonicalize(&home).unwrap();
    assert_eq!(
        bench.command("echo $PATH").await.0,
        format!("{0}/.pyenv/shims:{0}/.local/bin:/usr/local/bin:/usr/bin:/bin\nexit code 0", real.display())
    );
}
