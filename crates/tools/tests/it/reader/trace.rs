//! Compares the programs that a line started, according to strace, with the programs that the reader named.

use holdshort_command::Command;

use super::Line;

/// Options of the program `timeout` that starts each command line. They separate the lines in a trace, because no line
/// contains them.
pub(super) const EACH: &str = "--kill-after=7 --signal=KILL";

/// Returns a started program that is named in no part of its command line.
pub(super) fn foreign(trace: &str, shell: &str, lines: &[Line]) -> Option<String> {
    // No program in these lines may be started through a file descriptor.
    if trace.lines().any(|call| call.split(' ').nth(1).is_some_and(|call| call.starts_with("execveat("))) {
        return Some("started a program by its handle".to_owned());
    }
    let mut line = None;
    let mut rest = lines.iter();
    let mut before: Option<&Line> = None;
    for call in trace.lines().filter_map(|call| call.split_once("execve(\"")) {
        let (path, arguments) = call.1.split_once('"')?;
        let program = path.rsplit('/').next().unwrap_or(path);
        if program == "timeout" && arguments.contains("\"--kill-after=7\"") {
            // The shell tries each folder of PATH, so a failed call precedes a successful one. Only the successful call
            // starts a line.
            if !call.1.contains("= -1") {
                before = line;
                line = rest.next();
            }
            continue;
        }
        // A background process of the previous line may start a program while this line runs.
        let named = [line, before].into_iter().flatten().any(|line| is_named(program, shell, &line.command));
        if line.is_some() && !named {
            return Some(format!("started {program}"));
        }
    }
    None
}

fn is_named(program: &str, shell: &str, command: &Command) -> bool {
    // For substitutions and for commands of `find`, the guesses contain the program names.
    let parts = command.parts.iter().chain(&command.guesses);
    let mut named = parts.map(|part| part.program.as_str());
    program == shell
        || named.any(|named| {
            named.rsplit('/').next() == Some(program)
                || HELPERS.iter().any(|(of, helpers)| *of == named && helpers.contains(&program))
                || (named == "git" && program.starts_with("git"))
        })
}

/// Programs that scripts start to unpack a file, before they search or show its content.
const UNPACKS: &[&str] = &[
    "sh", "dash", "bash", "gzip", "bzip2", "xz", "zstd", "grep", "egrep", "fgrep", "sed", "cat", "less",
    "more", "mktemp", "rm", "lesspipe", "bzcat", "zcat", "xzcat", "zstdcat",
];

/// Programs, each with the other programs that it starts because it is a script or unpacks archives.
const HELPERS: &[(&str, &[&str])] = &[
    (
        "man",
        &[
            "apropos", "cat", "col", "dash", "groff", "grotty", "gzip", "less", "locale", "nroff", "preconv",
            "sh", "tbl", "troff", "whatis",
        ],
    ),
    // `git submodule` is a script that includes the script `git-sh-setup`.
    ("git", &["sed", "basename", "uname", "gettext", "envsubst"]),
    ("dpkg", &["dpkg-query", "dpkg-deb", "dpkg-split"]),
    ("diff3", &["diff"]),
    ("egrep", &["sh", "dash", "grep"]),
    ("fgrep", &["sh", "dash", "grep"]),
    ("zcat", &["sh", "dash", "gzip"]),
    ("gunzip", &["sh", "dash", "gzip"]),
    ("bzcat", &["bzip2"]),
    ("xzcat", &["xz"]),
    ("zgrep", UNPACKS),
    ("zegrep", &["sh", "dash", "zgrep", "grep", "gzip", "sed"]),
    ("zfgrep", &["sh", "dash", "zgrep", "grep", "gzip", "sed"]),
    ("bzgrep", UNPACKS),
    ("xzgrep", UNPACKS),
    ("zstdgrep", UNPACKS),
    ("zless", UNPACKS),
    ("zmore", UNPACKS),
    ("xzless", UNPACKS),
    ("which", &["sh", "dash", "which.debianutils"]),
    ("tar", &["gzip", "bzip2", "xz", "zstd", "sh"]),
    ("locale", &["locale"]),
    ("shasum", &["perl"]),
    ("fdfind", &["fd"]),
    ("cal", &["ncal"]),
    ("sh", &["dash"]),
    ("python3", &["python3.12", "python3.11", "python3.13"]),
    ("node", &["nodejs"]),
];
