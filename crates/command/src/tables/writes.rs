//! Rows of common programs that write, for grants. Each row lists the options that have a value, and tells which values
//! do not change what a call does, such as a message or a count.
//!
//! A grant records the options that the row selects. For a program without a row, a grant records the options as they
//! are in the line. For the programs in [`OPERANDS`], a grant records at most the leading operands, because the others
//! are files or texts. For all other programs, it records all operands.

use super::{Row, git, row};

/// Rows of programs that write, in the same format as the rows for programs that only read. A `*` after an option means
/// that its value does not change what the command does.
const ROWS: &[Row] = &[
    row(&["rm"], "-f -r -R -d -v -i -I --force --recursive --dir --verbose"),
    row(
        &["cp", "mv"],
        "-a -r -R -f -p -v -n -u -i -L -P -d -l -s -T -t: --archive --recursive --force --verbose --no-clobber --update? \
         --target-directory: --no-target-directory --preserve?",
    ),
    row(&["mkdir"], "-p -v -m: --parents --verbose --mode:"),
    row(&["rmdir"], "-p -v --parents --verbose"),
    row(&["touch"], "-a -c -m -d* -t* -r* --no-create --date* --reference*"),
    row(&["ln"], "-s -f -n -r -v -T -t: --symbolic --force --no-dereference --relative --verbose"),
    row(&["chmod", "chown", "chgrp"], "-R -v -c -f -h --recursive --verbose --changes --silent"),
    row(&["tee"], "-a --append"),
    row(&["sort"], "-o: -u -n -r -k: -t: --output: --unique --numeric-sort --reverse"),
    row(&["sed", "gsed"], "-i? -E -n -r -s -z -e* --in-place?"),
    row(&["make", "gmake"], "-j* -s -k -B -n -q --silent"),
    row(
        &["pytest"],
        "-x -v -vv -q -s -l -k* -m* -n* --maxfail* --tb* --lf --ff --verbose --quiet --exitfirst --last-failed \
         --failed-first --durations* --color*",
    ),
    git(
        "commit",
        &[
            "-m* -a -s -q -v -n --message* --all --signoff --quiet --verbose --amend --no-edit --no-verify --allow-empty",
        ],
    ),
    git("add", &["-A -u -p -v -n -N -f --all --update --patch --verbose --force --intent-to-add"]),
    git("checkout", &["-b* -B* -q -f --quiet --force --detach --orphan* --ours --theirs"]),
    git("switch", &["-c* -C* -q -f --create* --quiet --force --detach --discard-changes"]),
    git("branch", &["-d -D -f -m -M --delete --force --move"]),
    git("tag", &["-a -d -f -m* --annotate --delete --force --message*"]),
    git("restore", &["-S -W -q -s* --staged --worktree --quiet --source*"]),
    git("rm", &["-r -f -q -n --cached --force --quiet"]),
    git("mv", &["-f -k -n -v --force --verbose"]),
    git(
        "stash push",
        &["-m* -u -a -k -S -q --message* --include-untracked --all --keep-index --staged --quiet"],
    ),
    cargo("build", CARGO),
    cargo("check", CARGO),
    cargo("test", CARGO),
    cargo("clippy", CARGO),
    cargo("bench", CARGO),
    // A grant remembers the values that select the program to run.
    cargo(
        "run",
        "-p: --package: --bin: --example: -r --release --profile: --all-features --features: -F: \
         --no-default-features --target: -q --quiet -v --verbose --locked --offline --frozen -j* --jobs*",
    ),
    cargo("doc", CARGO),
    cargo("fmt", "--all --check -p* --package*"),
];

/// Programs and subcommands whose operands are files, texts or names of tests. The number of each counts the leading
/// operands that do change what the command does, such as the mode in `chmod 600 a`.
const OPERANDS: &[(&[&str], usize)] = &[
    (&["rm", "cp", "mv", "mkdir", "rmdir", "touch", "ln", "tee", "truncate", "unlink"], 0),
    (&["chmod", "chown", "chgrp"], 1),
    (&["sort"], 0),
    (&["git add", "git commit", "git rm", "git mv"], 0),
    (&["pytest", "unittest"], 0),
    (
        &[
            "cargo build",
            "cargo check",
            "cargo test",
            "cargo clippy",
            "cargo bench",
            "cargo doc",
            "cargo fmt",
        ],
        0,
    ),
    (&["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz"], 0),
];

/// Returns the number of leading operands that a grant records for a program with its subcommand. Returns `None` if the
/// grant records all operands.
pub(crate) fn told_words(name: &str) -> Option<usize> {
    OPERANDS.iter().find(|(names, _)| names.contains(&name)).map(|(_, told)| *told)
}

const CARGO: &str = "-p* --package* --exclude* --workspace --all --lib --bin* --bins --example* --examples --test* --tests \
     --bench* --benches --all-targets --doc -r --release --profile: --all-features --features: -F: --no-default-features \
     --target: -q --quiet -v --verbose -vv --message-format* --color* --locked --offline --frozen -j* --jobs* \
     --keep-going --no-fail-fast --no-run --no-deps";

const fn cargo(subcommand: &'static str, options: &'static str) -> Row {
    Row { subcommand, ..row(&["cargo"], options) }
}

/// Returns the row of a program or subcommand that writes, and the number of words that name the subcommand.
pub(crate) fn find_row(program: &str, words: &[String]) -> Option<(&'static Row, usize)> {
    super::longest(&ROWS.iter(), program, words)
}
