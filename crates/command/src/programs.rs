//! Programs that have subcommands, run another program, or take code as an argument.
//!
//! The functions of this module never cause a command to be allowed. The programs that only read are listed in the
//! tables (`tables`).

use crate::tables::{self, git, runs};
use crate::{Expansion, Part, sed};

/// A program that has subcommands: the first word after the program's options selects one of them.
pub(crate) struct WithSubcommands {
    names: &'static [&'static str],
    /// Options of the program before its subcommand that have no value. An option that is neither here nor in `valued`
    /// makes the command line opaque: its value may be the next word, so the subcommand is uncertain.
    flags: &'static [&'static str],
    /// Options of the program before its subcommand whose value is the next word.
    valued: &'static [&'static str],
    /// Subcommands of the program that have subcommands, as `compose` in `docker compose up` has. `*` stands for every
    /// subcommand.
    groups: &'static [&'static str],
}

const fn with(
    names: &'static [&'static str],
    flags: &'static [&'static str],
    valued: &'static [&'static str],
    groups: &'static [&'static str],
) -> WithSubcommands {
    WithSubcommands { names, flags, valued, groups }
}

const WITH_SUBCOMMANDS: [WithSubcommands; 22] = [
    with(
        &["git"],
        &[
            "--no-pager",
            "-P",
            "-p",
            "--paginate",
            "--bare",
            "--no-replace-objects",
            "--no-optional-locks",
            "--literal-pathspecs",
            "--glob-pathspecs",
            "--noglob-pathspecs",
            "--icase-pathspecs",
            "--no-advice",
            "--no-lazy-fetch",
        ],
        &["-C", "--git-dir", "--work-tree", "--namespace"],
        &["remote", "stash", "worktree", "submodule", "bisect", "notes", "reflog", "bundle"],
    ),
    with(&["cargo"], &["-v", "-q", "--locked", "--offline", "--frozen"], &["--color", "-C"], &[]),
    with(
        &["npm", "pnpm", "yarn", "bun"],
        &["-s", "--silent"],
        &["--prefix", "-C", "--dir", "--cwd", "-w", "--workspace"],
        &["run", "run-script", "exec", "x", "dlx", "workspace"],
    ),
    with(&["npx", "bunx", "uvx", "pipx"], &["-y", "--yes"], &[], &[]),
    with(&["pip", "pip3"], &["-q", "-v"], &[], &[]),
    with(
        &["uv"],
        &["-q", "-v", "--offline"],
        &["--directory", "--project"],
        &["run", "pip", "tool", "python"],
    ),
    with(&["poetry", "pipenv", "hatch", "conda"], &["-q", "-v"], &["-C"], &["run", "env", "self"]),
    with(
        &["docker", "podman"],
        &["-D"],
        &["-H", "--host", "--context", "-c", "--config", "-l", "--log-level"],
        &["compose", "container", "image", "volume", "network", "system", "builder", "buildx", "run", "exec"],
    ),
    with(
        &["kubectl"],
        &[],
        &["-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user", "-s", "--server"],
        &["config", "rollout", "create", "auth", "set", "exec"],
    ),
    with(&["helm"], &[], &["-n", "--namespace", "--kube-context", "--kubeconfig"], &["repo", "plugin"]),
    with(&["terraform", "tofu"], &[], &["-chdir"], &["state", "workspace"]),
    with(&["go"], &[], &["-C"], &["mod", "work", "tool", "run"]),
    with(&["apt", "apt-get"], &["-y", "-q", "-qq", "--yes", "--no-install-recommends"], &["-o"], &[]),
    with(&["systemctl"], &["--user", "--system", "--no-pager"], &["-H", "--host"], &[]),
    with(&["gh", "aws", "gcloud"], &[], &["-R", "--repo", "--profile", "--region", "--project"], &["*"]),
    with(&["rustup"], &["-v", "-q"], &[], &["toolchain", "target", "component", "override", "self"]),
    with(&["deno"], &["-q"], &[], &["run", "task"]),
    with(&["hg", "svn"], &["-q", "-v", "-y"], &[], &[]),
    with(&["dotnet"], &[], &[], &["tool", "nuget", "workload", "new"]),
    with(&["brew"], &["-q", "-v"], &[], &["services", "bundle"]),
    with(&["bundle"], &[], &[], &["exec", "config", "plugin"]),
    with(&["gem", "composer", "mix"], &[], &[], &[]),
];

pub(crate) fn with_subcommands(program: &str) -> Option<&'static WithSubcommands> {
    WITH_SUBCOMMANDS.iter().find(|each| each.names.contains(&program))
}

impl WithSubcommands {
    /// Returns the words of a command from the subcommand on. Returns `None` if an option before the subcommand is
    /// unknown.
    pub(crate) fn after_options<'a>(&self, arguments: &'a [String]) -> Option<&'a [String]> {
        let mut rest = arguments;
        while let Some((first, more)) = rest.split_first() {
            // `cargo +nightly test`
            let is_toolchain = first.starts_with('+') && self.names.contains(&"cargo");
            let is_help = matches!(first.as_str(), "--version" | "-V" | "--help" | "-h");
            let name = first.split_once('=').map(|(name, _)| name);
            if is_toolchain || is_help || self.flags.contains(&first.as_str()) {
                rest = more;
            } else if self.valued.contains(&first.as_str()) || self.is_harmless_setting(rest) {
                rest = more.get(1..)?;
            } else if name.is_some_and(|name| self.valued.contains(&name)) {
                rest = more;
            } else if first.starts_with('-') {
                return None;
            } else {
                break;
            }
        }
        Some(rest)
    }

    /// Returns the index of the subcommand among the arguments. Returns `None` if a word before the subcommand may
    /// change what the command does.
    pub(crate) fn after_harmless(&self, program: &str, arguments: &[String]) -> Option<usize> {
        let mut from = 0;
        while let Some(many) = self.harmless_words(program, arguments.get(from..).unwrap_or_default()) {
            from += many;
        }
        arguments.get(from).is_none_or(|word| !word.starts_with('-')).then_some(from)
    }

    /// Returns true if the words before a subcommand begin with `-c` and a setting that affects only the look of git's
    /// output.
    fn is_harmless_setting(&self, words: &[String]) -> bool {
        self.names.contains(&"git")
            && matches!(words, [option, setting, ..] if option == "-c" && git::only_shapes_output(setting))
    }

    /// Returns the number of words before a subcommand that form one option that does not change what the subcommand
    /// does. Returns `None` if the first word may change it.
    pub(crate) fn harmless_words(&self, program: &str, words: &[String]) -> Option<usize> {
        let word = words.first()?.as_str();
        match program {
            "git" if self.is_harmless_setting(words) => Some(2),
            "git" => git::BEFORE.contains(&word).then_some(1),
            "cargo" if word.starts_with('+') => Some(1),
            _ => self.flags.contains(&word).then_some(1),
        }
    }

    fn is_group(&self, subcommand: &str) -> bool {
        self.groups.iter().any(|group| *group == "*" || *group == subcommand)
    }
}

const BY_TARGET: [&str; 12] = [
    "make",
    "gmake",
    "just",
    "task",
    "rake",
    "ninja",
    "gradle",
    "./gradlew",
    "mvn",
    "./mvnw",
    "ant",
    "invoke",
];

const INTERPRETERS: [&str; 20] = [
    "python",
    "pypy",
    "node",
    "nodejs",
    "ruby",
    "perl",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "Rscript",
    "julia",
    "osascript",
    "tsx",
    "ts-node",
    "bats",
    "dart",
    "elixir",
    "racket",
    "raku",
];

const SHELLS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "yash", "ash", "fish", "rbash", "csh", "tcsh", "pwsh", "nu",
    "elvish", "xonsh",
];

/// Commands built into the shell that influence later commands: they change variables, functions, or the meaning of
/// program names.
const CHANGES_THE_SHELL: [&str; 26] = [
    "export",
    "declare",
    "typeset",
    "readonly",
    "local",
    "read",
    "unset",
    "hash",
    "enable",
    "shopt",
    "getopts",
    "mapfile",
    "readarray",
    "let",
    "pushd",
    "popd",
    "bind",
    "complete",
    "fc",
    "history",
    "ulimit",
    "umask",
    "alias",
    "unalias",
    "trap",
    "disown",
];

pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Returns the name of a program without its version: `python` for `python3.12`.
pub(crate) fn without_version(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// Returns true for build tools such as make, which run the targets that the command line names.
pub(crate) fn is_build_tool(program: &str) -> bool {
    BY_TARGET.contains(&program)
}

pub(crate) fn is_interpreter(program: &str) -> bool {
    let name = without_version(program);
    INTERPRETERS.contains(&program) || INTERPRETERS.contains(&name) || is_shell(program)
}

/// Returns true for programs that start packages and have an option with a command line as its value, such as `npx -c`.
pub(crate) fn launches_packages(program: &str) -> bool {
    matches!(program, "npx" | "npm" | "pnpm" | "yarn" | "bun" | "bunx")
}

/// Returns true for programs such as `echo`, which only read whatever their arguments are.
pub(crate) fn only_reads(program: &str) -> bool {
    program == "echo" || tables::of_program(program).is_some_and(|row| row.takes_any_name)
}

/// Returns true if the shell runs the arguments of this built-in command later, as with `trap`.
pub(crate) fn runs_later(program: &str) -> bool {
    matches!(program, "trap" | "alias" | "complete" | "bind" | "mapfile" | "readarray")
}

/// Returns true if a built-in command changes how the shell runs later commands. Returns false for `set` with options
/// that affect only errors and traces, such as `set -e`, `set +e` and `set -o pipefail`.
pub(crate) fn changes_the_shell(program: &str, arguments: &[String]) -> bool {
    let strict = |word: &String| {
        matches!(word.as_str(), "pipefail" | "errexit" | "nounset" | "xtrace")
            || word.strip_prefix(['-', '+']).is_some_and(|flags| flags.chars().all(|c| "euxo".contains(c)))
    };
    (CHANGES_THE_SHELL.contains(&program) && !shows_the_shell(program, arguments))
        || (program == "set" && !arguments.iter().all(strict))
        || (program == "printf"
            && arguments.iter().any(|word| word.starts_with("-v") || assigns_by_format(word)))
        || (matches!(program, "test" | "[")
            && arguments.iter().any(|word| matches!(word.as_str(), "-v" | "-R")))
}

/// Returns true if a built-in command only prints the state of the shell: `ulimit -n`, `alias`.
fn shows_the_shell(program: &str, arguments: &[String]) -> bool {
    match program {
        "alias" | "history" => arguments.is_empty(),
        "umask" => arguments.iter().all(|word| word == "-S"),
        "ulimit" => arguments.iter().all(|word| {
            word.strip_prefix('-').is_some_and(|letters| letters.chars().all(|c| c.is_ascii_alphabetic()))
        }),
        _ => false,
    }
}

/// Returns true if a `printf` format sets a variable, as `%n` and `%ln` do.
fn assigns_by_format(format: &str) -> bool {
    let mut rest = format.replace("%%", "");
    while let Some(at) = rest.find('%') {
        rest = rest.split_off(at + 1);
        let directive = rest.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        if directive.trim_start_matches(['h', 'j', 'l', 'L', 't', 'z']).starts_with('n') {
            return true;
        }
    }
    false
}

/// Returns true if an option or a subcommand makes the program run one of its arguments as a program.
pub(crate) fn runs_arguments(program: &str, arguments: &[String]) -> bool {
    let any = |test: &dyn Fn(&str) -> bool| arguments.iter().any(|word| test(word));
    match program {
        "find" => any(&|word| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir")),
        "git" => {
            let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let by_subcommand = words
                .windows(2)
                .any(|pair| matches!(pair, ["submodule", "foreach"] | ["bisect", "run"] | ["grep", "-O"]));
            by_subcommand
                || any(&|word| {
                    matches!(
                        word,
                        "filter-branch" | "for-each-repo" | "difftool" | "mergetool" | "merge-index"
                    )
                })
                || (words.contains(&"grep") && any(&|word| bundles(word, 'O')))
                || (words.contains(&"rebase") && any(&|word| bundles(word, 'x')))
                || runs::runs_by_option(program, arguments)
        }
        _ => runs::runs_by_option(program, arguments),
    }
}

fn bundles(word: &str, letter: char) -> bool {
    word.strip_prefix('-').is_some_and(|bundle| !bundle.starts_with('-') && bundle.contains(letter))
}

/// Returns true for programs such as `cp` and `rm`, which move, copy or delete files and never execute them.
fn only_moves_files(part: &Part) -> bool {
    match part.program.as_str() {
        "rm" | "cp" | "mv" | "mkdir" | "rmdir" | "touch" | "chmod" | "ln" => true,
        "git" => part.subcommand().is_some_and(|sub| matches!(sub.as_str(), "add" | "rm" | "mv" | "restore")),
        _ => false,
    }
}

impl Part {
    /// Returns the words that determine what the program does: `push` in `git -C x push`, `run build` in `npm run
    /// build`, `-m unittest` in `python3 -m unittest`, or the targets of `make`.
    pub fn subcommand(&self) -> Option<String> {
        let program = self.program.as_str();
        if is_interpreter(program) {
            return match self.arguments.as_slice() {
                [flag, module, sub, ..] if flag == "-m" && module == "pip" => Some(format!("-m pip {sub}")),
                [flag, module, ..] if flag == "-m" => Some(format!("-m {module}")),
                [script, ..] if !script.starts_with('-') => Some(script.clone()),
                [..] => None,
            };
        }
        if BY_TARGET.contains(&program) {
            let targets: Vec<&str> =
                self.arguments.iter().map(String::as_str).filter(|word| !is_build_flag(word)).collect();
            return (!targets.is_empty()).then(|| targets.join(" "));
        }
        let known = with_subcommands(program)?;
        match known.after_options(&self.arguments)? {
            [first, second, ..] if known.is_group(first) => Some(format!("{first} {second}")),
            [first, ..] => Some(first.clone()),
            [] => None,
        }
    }

    /// Returns true if the command executes code that is in the command line or comes from standard input. A grant
    /// cannot describe such code.
    pub fn is_inline_code(&self) -> bool {
        let program = self.program.as_str();
        if runs::TAKES_CODE.contains(&program) {
            return !self.is_read_only();
        }
        if !is_interpreter(program) {
            return false;
        }
        match self.arguments.first().map(String::as_str) {
            // The interpreter reads code from standard input.
            None | Some("-") => true,
            Some("-m") => self.arguments.len() < 2,
            Some(script) if !script.starts_with('-') => is_device(script),
            Some(_) => {
                !self.arguments.iter().all(|word| matches!(word.as_str(), "--version" | "-V" | "--help"))
            }
        }
    }

    /// Returns true if the command only reads, moves or deletes files, whatever their names are. Such a command
    /// executes none of its files.
    pub fn only_handles_files(&self) -> bool {
        self.is_read_only() || only_moves_files(self)
    }

    /// Returns true for `sed` if its script only edits text. Such a script runs no program and writes no other file.
    pub fn only_edits(&self) -> bool {
        matches!(self.program.as_str(), "sed" | "gsed")
            && self.expansion() != Expansion::Anything
            && sed::only_edits(self.words_and_expansions())
    }

    /// Returns true if the program and its subcommand are enough to describe the command in a grant.
    pub fn is_memorable(&self) -> bool {
        let rights = matches!(self.program.as_str(), "sudo" | "su" | "doas" | "pkexec" | "run0" | "");
        let elsewhere = self.program == "cd" && !self.stays_below();
        // `git config` writes settings with which later git commands run other programs.
        let configures = self.program == "git" && self.subcommand().as_deref() == Some("config");
        let unclear = match with_subcommands(&self.program) {
            // In `gh pr --repo x merge`, an option precedes the second subcommand. Therefore the second word is
            // not the subcommand.
            Some(known) => match known.after_options(&self.arguments) {
                Some([first, second, ..]) => known.is_group(first) && second.starts_with('-'),
                Some([_] | []) => false,
                None => true,
            },
            None => {
                BY_TARGET.contains(&self.program.as_str()) && self.arguments.iter().any(|word| is_order(word))
            }
        };
        !rights && !elsewhere && !configures && !unclear && !self.is_inline_code()
    }
}

/// Returns true if a word of a command changes how a build tool builds a target, such as `-f other.mk` or `SHELL=./x`.
pub(crate) fn is_order(word: &str) -> bool {
    !is_build_flag(word) && (word.starts_with('-') || word.contains('='))
}

fn is_build_flag(word: &str) -> bool {
    let jobs = word.strip_prefix("-j").is_some_and(|n| n.chars().all(|c| c.is_ascii_digit()));
    jobs || matches!(word, "-s" | "-k" | "-B" | "-n" | "-q" | "--silent")
}

/// Returns true for a path that names a device or a file descriptor: `/dev/stdin`, `/proc/self/fd/0`.
pub(crate) fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") || path.starts_with("/proc/")
}
