//! Options that make a program run a second program, or read instructions from a file. This deny-list is used in
//! addition to the lists of harmless options.
//!
//! A line with such an option is opaque, so neither a grant nor a rule can allow it. Rules that ask or forbid are also
//! compared with the value of the option. A program without a row may still write.

/// Programs, with options that make them run a second program or read instructions. A long option also matches if it is
/// abbreviated, and an option letter also matches among joined letters.
const ROWS: &[(&[&str], &[&str])] = &[
    (
        &["tar", "bsdtar", "gtar"],
        &[
            "-I",
            "-F",
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "--new-volume-script",
            "--info-script",
            "--rsh-command",
            "--rmt-command",
            "--files-from",
            "-T",
        ],
    ),
    (
        &["git"],
        &[
            "--exec",
            "--upload-pack",
            "--receive-pack",
            "--extcmd",
            "--open-files-in-pager",
            "--sendmail-cmd",
            "--to-cmd",
            "--cc-cmd",
            "--header-cmd",
            "--smtp-server",
        ],
    ),
    (&["cpio"], &["--rsh-command", "--to-stdout-command"]),
    (&["split"], &["--filter"]),
    (&["sort"], &["--compress-program"]),
    (&["install"], &["--strip-program"]),
    (&["zip"], &["-TT", "--unzip-command"]),
    (&["rsync"], &["--rsh", "-e", "--rsync-path"]),
    (&["ssh", "scp", "sftp"], &["-o", "-F", "-S", "-D", "-L", "-R", "-w", "-b"]),
    (&["wget"], &["--use-askpass", "--execute", "-e", "--config"]),
    (&["curl"], &["--config", "-K"]),
    (&["apt", "apt-get", "aptitude"], &["-o", "-c", "--option", "--config-file"]),
    (&["dpkg"], &["--pre-invoke", "--post-invoke", "--status-logger", "--command-fd"]),
    (&["man"], &["-P", "--pager", "-H", "--html", "-C", "--config-file", "-p", "--preprocessor"]),
    (
        &["file"],
        &["-m", "--magic-file", "-C", "--compile", "-z", "-Z", "--uncompress", "--uncompress-noreport"],
    ),
    (&["rg"], &["--pre", "--hostname-bin"]),
    (&["fd", "fdfind"], &["-x", "-X", "--exec", "--exec-batch"]),
    (&["cmake"], &["-P", "-E", "-C"]),
    (&["node", "nodejs"], &["-r", "--require", "--import", "--loader", "--experimental-loader"]),
    (&["make", "gmake"], &["--eval", "-E"]),
    (&["diff"], &["-l", "--paginate"]),
    (&["date"], &["--set"]),
    (&["bundle", "gem", "pip", "pip3"], &["--global-option", "--config-settings"]),
    (&["openssl"], &["-engine", "-provider"]),
];

/// Programs whose arguments or command files are code, such as editors, pagers and database shells.
pub(crate) const TAKES_CODE: &[&str] = &[
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "gsed",
    "ed",
    "red",
    "ex",
    "vi",
    "vim",
    "view",
    "rview",
    "rvim",
    "vimdiff",
    "gvim",
    "nvim",
    "emacs",
    "emacsclient",
    "nano",
    "pico",
    "joe",
    "micro",
    "less",
    "more",
    "most",
    "man",
    "psql",
    "mysql",
    "mariadb",
    "sqlite3",
    "redis-cli",
    "mongo",
    "mongosh",
    "dc",
    "bc",
    "m4",
    "gnuplot",
    "octave",
    "R",
    "jshell",
    "expect",
    "irb",
    "ghci",
    "guile",
    "sbcl",
    "clisp",
    "erl",
    "iex",
    "groovy",
    "scala",
    "maxima",
    "gp",
    "cscope",
    "mutt",
    "mail",
    "crontab",
    "xterm",
    "lldb",
    "gcore",
    "socat",
];

/// Returns true if one of the arguments is an option in the table of options with which a program runs a second
/// program.
pub(crate) fn runs_by_option(program: &str, arguments: &[String]) -> bool {
    let rows = || ROWS.iter().filter(|(programs, _)| programs.contains(&program));
    if program == "tar" && arguments.first().is_some_and(|word| is_old_bundle(word)) {
        return true;
    }
    // `-DCMAKE_BUILD_TYPE=Release` is not a bundle of letters.
    let is_one = |word: &str, option: &str| {
        is_option(word, option)
            && (program != "cmake" || option.starts_with("--") || word.starts_with(option))
    };
    rows().any(|(_, options)| arguments.iter().any(|word| options.iter().any(|option| is_one(word, option))))
}

/// Returns true if the first word of `tar` consists of option letters without a dash, as in `tar cIf`.
fn is_old_bundle(word: &str) -> bool {
    !word.starts_with('-') && word.contains(['I', 'F', 'T']) && word.chars().all(|c| c.is_ascii_alphabetic())
}

fn is_option(word: &str, option: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if option.starts_with("--") {
        return name.len() > 2 && name.starts_with("--") && option.starts_with(name);
    }
    match option.strip_prefix('-') {
        Some(letter) if letter.len() == 1 => {
            word.strip_prefix('-').is_some_and(|bundle| !bundle.starts_with('-') && bundle.contains(letter))
        }
        // A value may follow other letters in the same word: `-TTgit push`, `-rTT`.
        Some(letters) => word.starts_with('-') && word.contains(letters),
        None => false,
    }
}

/// Programs that run a second program, for which no table tells at which word it begins.
pub(crate) const WRAPS: &[&str] = &[
    "stdbuf",
    "chroot",
    "unshare",
    "flock",
    "watch",
    "parallel",
    "su",
    "busybox",
    "toybox",
    "script",
    "taskset",
    "chrt",
    "systemd-run",
    "pkexec",
    "run0",
    "runuser",
    "setpriv",
    "nsenter",
    "gosu",
    "su-exec",
    "entr",
    "watchexec",
    "firejail",
    "bwrap",
    "xvfb-run",
    "dbus-run-session",
    "rlwrap",
    "direnv",
    "nix",
    "nix-shell",
    "valgrind",
    "perf",
    "numactl",
    "eval",
    "source",
    ".",
    "prlimit",
    "setarch",
    "linux32",
    "linux64",
    "i386",
    "x86_64",
    "ssh-agent",
    "dbus-launch",
    "start-stop-daemon",
    "sg",
    "newgrp",
    "at",
    "batch",
    "faketime",
    "eatmydata",
    "catchsegv",
    "proxychains",
    "proxychains4",
    "torsocks",
    "cpulimit",
    "nodemon",
    "concurrently",
    "cgexec",
    "tini",
    "dumb-init",
    "gdb",
    "hyperfine",
    "heaptrack",
    "rr",
    "tmux",
    "screen",
    "capsh",
    "aa-exec",
    "choom",
    "coreutils",
    "ifne",
    "pee",
    "mispipe",
    "lckdo",
    "sem",
    "systemd-inhibit",
    "systemd-cat",
    "run-one",
    "torify",
    "tsocks",
    "trickle",
    "fakechroot",
    "proot",
    "runcon",
    "caffeinate",
    "wine",
    "mpirun",
    "mpiexec",
    "srun",
    "reflex",
];
