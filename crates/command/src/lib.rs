//! Parses a command line as the shell would. Finds the programs that the line runs, the files that it reads and writes,
//! and the hosts that it connects to.
//!
//! PURE. The parser knows the grammar of the shell, but expands nothing, executes nothing, and reads no file. If it is
//! uncertain what a line means, the line is called *opaque*. A person is always asked about an opaque line, and no
//! grant can allow it (fail closed). The gates (`core/src/gate`) decide if a line may run. The table lists the files of
//! this crate in the order in which they process a line:
//!
//! | question | file |
//! |---|---|
//! | which words and redirections does the line contain? | `shell.rs`, `blank.rs` |
//! | does a line with the shell's own grammar (loops, conditions) only read? | `script/` |
//! | which words of a simple command does a rule compare? | `part.rs` |
//! | which programs does the line run, also through other programs? | this file, `launch.rs`, `programs.rs`, `aliases.rs`, `other_spellings.rs` |
//! | does a program with these options only read? | `reads.rs`, `options.rs`, `grammars.rs`, `awk.rs`, `sed.rs`; the rows are in `tables/` |
//! | can the line run a different command than its words say? | `clear.rs`, `written_and_run.rs` |
//! | does an allowing rule cover the line? | `covers.rs` |
//! | which files does the line name, execute or reach, and in which folder? | `working_directory.rs`, `named_paths.rs`, `scripts.rs`, `reach.rs`; `pattern.rs` for patterns |
//! | does the line write files that the user's own tools execute? | `own_tools.rs`; the names are in `guarded/names.rs` |
//! | which words of the line does a grant remember? | `shape.rs` |
//! | which class of effect does the line have? | `class.rs`; the rows are in `tables/classes.rs` |
//! | does a trial of the line show what the line does in a person's shell? | `untriable.rs` |
//! | which test results are in the output of a command? | `closing.rs` |

#![warn(clippy::wildcard_enum_match_arm)]

mod aliases;
mod awk;
mod blank;
mod class;
mod clear;
mod closing;
mod covers;
mod grammars;
pub mod guarded;
mod launch;
mod limits;
mod named_paths;
mod options;
mod other_spellings;
mod own_tools;
mod part;
mod pattern;
mod programs;
mod reach;
mod reads;
mod script;
mod scripts;
mod sed;
mod shape;
mod shell;
pub mod tables;
mod untriable;
mod working_directory;
mod wrappers;
mod written_and_run;

pub use blank::is_blank;
pub use class::Class;
pub use closing::summarize_test_runs;
pub use named_paths::NamedPaths;
pub use pattern::{Pattern, word_matches};
pub use reach::Reach;
pub use shell::Expansion;
pub use working_directory::normal;

use self::launch::Launched;
use self::reads::TableVerdict;
use self::shell::{Redirect, ShellWord, Token};
use self::working_directory::Folders;

/// A command line after parsing. The gates use it to decide if a tool call needs an approval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// All simple commands of the command line, in order. Commands after `&&` and `|` are included, and also the
    /// commands inside `sh -c` and the like.
    pub parts: Vec<Part>,
    /// Commands that the command line possibly runs in addition to `parts`. Only rules with the action ask or forbid
    /// are compared with them.
    pub guesses: Vec<Part>,
    /// Reason why it is uncertain what the command line means. `None` if its meaning is certain.
    pub opaque: Option<&'static str>,
    /// True if all commands of the command line only read, and the line is opaque only because the shell computes some
    /// of its words. Rules and grants cannot be compared with such words.
    pub computes_and_reads: bool,
    /// Reason why the line may run another command than its words suggest: an alias, code, or an unknown option. A
    /// person is asked about such a line if a rule forbids commands or paths, and before deployments.
    pub unclear: Option<&'static str>,
    /// True if the line has an option of a program that no table contains. The value of the option may be a program to
    /// run, so a person is asked about the line if a rule forbids commands or paths. A grant can still allow the line,
    /// because grants for such programs require the same words.
    pub unknown_option: bool,
    /// True if one of the words of the command line begins with a home folder (`~`, `~name`), whose path only the shell
    /// knows.
    pub names_home: bool,
}

/// One simple command of a command line: a program with its arguments and redirections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Name of the program without its folder if it is a program of the system. Any other program keeps its path as it
    /// is in the command line, because `./test` is not the program `test`.
    pub program: String,
    /// Arguments of the command: the words after the program name.
    pub arguments: Vec<String>,
    /// True if output of the command is redirected into a file.
    pub redirected: bool,
    /// Files of all redirections of the command, for input and output.
    pub files: Vec<String>,
    /// Files in `files` that the command reads as standard input.
    pub inputs: Vec<String>,
    /// Files in `files` to which output of the command is appended.
    pub appended: Vec<String>,
    /// Possible results of each argument of the command when the shell expands its file patterns.
    pub expansions: Vec<Expansion>,
    /// Folders in which the command possibly runs, relative to the working directory of the tool call. The empty string
    /// is the working directory itself. An empty list means that the folder is unknown.
    pub folders: Vec<String>,
}

pub fn parse(line: &str) -> Command {
    let command = Command::default();
    let mut reading = Reading { command, guessing: false, lines: 0, folders: Folders::default() };
    if line.len() > limits::LINE_BYTES {
        reading.opaque("it is too long");
    } else {
        reading.line(line, 0);
        reading.guess_texts();
    }
    let mut command = reading.command;
    if command.parts.is_empty() {
        command.opaque.get_or_insert("it contains no command");
    }
    command.computes_and_reads =
        command.opaque.is_some() && line.len() <= limits::LINE_BYTES && script::reads(line);
    let parts = || command.parts.iter().chain(&command.guesses);
    let runs_its_own = || command.runs_what_it_writes().then_some("it runs a file that it writes itself");
    command.unclear = parts().find_map(Part::unclear).or_else(runs_its_own);
    command.unknown_option = parts().any(Part::has_unknown_options);
    command
}

/// Returns true if a command that consists of these words only reads. The words may contain shell patterns and
/// variables.
pub(crate) fn reads_alone(words: Vec<ShellWord>) -> bool {
    let command = Command::default();
    let mut reading = Reading { command, guessing: false, lines: 0, folders: Folders::default() };
    reading.simple(Simple { words, ..Simple::default() }, 0);
    let Command { opaque, parts, .. } = reading.command;
    opaque.is_none() && !parts.is_empty() && parts.iter().all(Part::is_read_only)
}

const CONNECTS: &str = "it opens a connection";
const TOO_DEEP: &str = "it is nested too deep";

/// Folders of system programs, to which an agent cannot write.
const SYSTEM_FOLDERS: [&str; 6] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"];

const KEYWORDS: [&str; 18] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "coproc", "!", "{", "}",
];

struct Reading {
    command: Command,
    /// True while the parser reads a command that the command line may run, but not certainly.
    guessing: bool,
    lines: usize,
    folders: Folders,
}

impl Reading {
    fn opaque(&mut self, why: &'static str) {
        self.command.opaque.get_or_insert(why);
    }

    fn push(&mut self, part: Part) {
        let list = if self.guessing { &mut self.command.guesses } else { &mut self.command.parts };
        if list.len() < limits::PARTS {
            list.push(part);
        } else {
            self.opaque("it contains too many commands");
        }
    }

    fn line(&mut self, line: &str, depth: u8) {
        self.lines += 1;
        if self.lines > limits::LINES {
            return self.opaque("it contains too many commands");
        }
        let found = shell::tokenise(line);
        if let Some(why) = found.opaque {
            self.opaque(why);
        }
        self.command.names_home |= found.home;
        let mut simple = Simple::default();
        let mut tokens = found.list.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => simple.words.push(word),
                Token::Separator(separator) => {
                    let before = self.command.parts.len();
                    self.simple(std::mem::take(&mut simple), depth);
                    let moved = self.command.parts.get(before).filter(|_| !self.guessing);
                    self.folders.after(moved, separator);
                }
                // The word after `<(` begins a separate command.
                Token::Redirect(redirect) => match tokens.next_if(|next| matches!(next, Token::Word(_))) {
                    Some(Token::Word(target)) => {
                        if ["/dev/tcp/", "/dev/udp/"].iter().any(|net| target.text.starts_with(net)) {
                            self.opaque(CONNECTS);
                        }
                        simple.redirected |= redirect != Redirect::Reads && target.text != "/dev/null";
                        match redirect {
                            Redirect::Reads => simple.inputs.push(target.text.clone()),
                            Redirect::Appends => simple.appended.push(target.text.clone()),
                            Redirect::Writes => {}
                        }
                        simple.files.push(target.text);
                    }
                    Some(Token::Separator(_) | Token::Redirect(_)) | None => {
                        self.opaque("a redirection without a target");
                    }
                },
            }
        }
        self.simple(simple, depth);
        for hidden in found.hidden {
            self.guess_line(&hidden, depth);
        }
    }

    fn simple(&mut self, simple: Simple, depth: u8) {
        let mut words = simple.words.as_slice();
        while let Some((first, rest)) = words.split_first() {
            if is_assignment(&first.text) {
                // `PATH=… git` and `LD_PRELOAD=… ls` can run a different program than their words say.
                self.opaque("it sets variables for a program");
            } else if KEYWORDS.contains(&first.text.as_str()) {
                self.opaque("it uses shell syntax that is not analyzed");
                if names_what_follows(&first.text, rest) {
                    words = rest.get(1..).unwrap_or_default();
                    continue;
                }
            } else {
                break;
            }
            words = rest;
        }
        let Some((first, rest)) = words.split_first() else {
            if simple.redirected {
                let Simple { redirected, files, inputs, appended, .. } = simple;
                let folders = self.folders.now().to_vec();
                self.push(Part { redirected, files, inputs, appended, folders, ..Part::default() });
            }
            return;
        };
        let written = first.text.as_str();
        if written == "[[" {
            self.opaque("it uses shell syntax that is not analyzed");
        } else if written != "[" && written.contains(['*', '?', '[', '~', '=', '$']) {
            self.opaque("the program is not a plain name");
        }
        let arguments: Vec<String> = rest.iter().map(|word| word.text.clone()).collect();
        let expansions = rest.iter().map(|word| word.expansion).collect();
        let base = written.rsplit('/').next().unwrap_or(written);
        let of_system = written
            .strip_suffix(base)
            .is_none_or(|folder| folder.is_empty() || SYSTEM_FOLDERS.contains(&folder.trim_end_matches('/')));
        let program = if of_system { base } else { written }.to_owned();
        let part = Part {
            program,
            arguments,
            redirected: simple.redirected,
            files: simple.files.clone(),
            inputs: simple.inputs.clone(),
            appended: simple.appended.clone(),
            expansions,
            folders: self.folders.now().to_vec(),
        };
        if !of_system {
            if depth >= limits::NESTED_LINES {
                return self.opaque(TOO_DEEP);
            }
            // A rule that forbids `sudo` also forbids `./sudo`.
            let words = std::iter::once(ShellWord::plain(base)).chain(rest.iter().cloned()).collect();
            let named = Simple { words, ..simple.clone() };
            self.guess(|reading| reading.simple(named, depth + 1));
        }
        if let Some(sub) = base.strip_prefix("git-") {
            // `/usr/lib/git-core/git-push` is `git push`.
            let command = [ShellWord::plain("git"), ShellWord::plain(sub)];
            self.guess_words(command.into_iter().chain(rest.iter().cloned()).collect(), depth);
        }
        for words in aliases::find_aliases(&part) {
            self.guess_words(words.iter().map(|word| ShellWord::plain(word)).collect(), depth);
        }
        if part.subcommand().is_some_and(|sub| sub.contains(['*', '?', '['])) {
            self.opaque("the subcommand is a pattern");
        }
        if programs::with_subcommands(&part.program)
            .is_some_and(|known| known.after_options(&part.arguments).is_none() && !part.tells_version())
        {
            self.opaque("an option before the subcommand is not known");
            self.guess_suffixes(&part, depth);
        }
        if part.program == "time"
            && rest.first().is_some_and(|word| word.quoted && word.text.starts_with('-'))
        {
            // With a quoted option, bash runs a program named `time` instead of its keyword `time`.
            self.opaque("a quoted word is not an option of `time`");
        }
        if programs::changes_the_shell(&part.program, &part.arguments) {
            self.opaque("it changes the shell in which the rest of the line runs");
            self.guess_later(&part, depth);
        }
        if working_directory::leads_anywhere(&part) {
            self.opaque("the working directory of the rest of the line is unknown");
        }
        let inner = find_inner_command(&part);
        self.push(part.clone());
        if depth >= limits::NESTED_LINES && !matches!(inner, InnerCommand::None) {
            return self.opaque(TOO_DEEP);
        }
        match inner {
            InnerCommand::None => {}
            InnerCommand::Words(from) => {
                let words = rest.get(from..).unwrap_or_default().to_vec();
                self.simple(Simple { words, ..simple }, depth + 1);
            }
            InnerCommand::Line => {
                // A nested shell does not change the folder of its parent shell.
                let folders = self.folders.clone();
                self.folders.begin_anew();
                self.line(&part.arguments[1], depth + 1);
                self.folders = folders;
            }
            InnerCommand::Readers(starts) => {
                for from in starts {
                    self.guess_words(rest.get(from..).unwrap_or_default().to_vec(), depth);
                }
            }
            InnerCommand::Perhaps(Some(from)) => {
                self.guess_words(rest.get(from..).unwrap_or_default().to_vec(), depth);
            }
            InnerCommand::Perhaps(None) => self.guess_suffixes(&part, depth),
            InnerCommand::Unsure => {
                self.opaque("it runs a program that it builds itself");
                self.guess_suffixes(&part, depth);
            }
        }
    }

    fn guess(&mut self, read: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.guessing, true);
        read(self);
        self.guessing = before;
    }

    fn guess_line(&mut self, line: &str, depth: u8) {
        if depth < limits::NESTED_LINES {
            self.guess(|reading| reading.line(line, depth + 1));
        } else {
            self.opaque(TOO_DEEP);
        }
    }

    /// Adds a command that the command line may run. Words that cannot be parsed are ignored, and do not make the line
    /// opaque.
    fn guess_words(&mut self, words: Vec<ShellWord>, depth: u8) {
        if depth >= limits::NESTED_LINES {
            return self.opaque(TOO_DEEP);
        }
        let opaque = self.command.opaque;
        self.guess(|reading| reading.simple(Simple { words, ..Simple::default() }, depth + 1));
        self.command.opaque = opaque;
    }

    /// Adds commands that may be in texts of the command line, if the line runs code. Such a text is written into a
    /// script, piped to a program, or quoted within code. Texts that cannot be parsed do not make the line opaque.
    fn guess_texts(&mut self) {
        let (opaque, lines) = (self.command.opaque, self.lines);
        for text in self.command.texts_that_may_run() {
            self.guess_line(&text, 1);
        }
        (self.command.opaque, self.lines) = (opaque, lines);
    }

    /// Adds commands that the shell runs later, as in `trap 'rm x' EXIT` and `alias ls='rm x'`.
    fn guess_later(&mut self, part: &Part, depth: u8) {
        if programs::runs_later(&part.program) {
            for word in part.arguments.iter().take(limits::GUESSED_STARTS) {
                self.guess_line(word, depth);
                if let Some((_, line)) = word.split_once('=') {
                    self.guess_line(line, depth);
                }
            }
        }
    }

    /// Adds the commands that may begin at each argument of a command. An argument may also be a complete command line.
    fn guess_suffixes(&mut self, part: &Part, depth: u8) {
        if part.arguments.len() > limits::GUESSED_STARTS {
            self.opaque("it contains too many words");
        }
        for (i, word) in part.arguments.iter().enumerate().take(limits::GUESSED_STARTS) {
            let end = part.arguments.len().min(i + limits::GUESSED_WORDS);
            let base = word.rsplit('/').next().unwrap_or(word).to_owned();
            self.guess(|reading| {
                if word.contains('/') {
                    reading.push(part.with(word.clone(), i + 1..end.max(i + 1)));
                }
                reading.push(part.with(base, i + 1..end.max(i + 1)));
                reading.push(part.with(part.program.clone(), i..end));
            });
            if word.contains([' ', '\t', '\n', ';', '&', '|']) {
                self.guess_line(word, depth);
                // `--checkpoint-action=exec=rm x`
                let values = word.match_indices('=').take(limits::GUESSED_VALUES);
                for (at, _) in values.filter(|_| word.starts_with('-')) {
                    self.guess_line(&word[at + 1..], depth);
                }
            }
        }
        if programs::is_shell(&part.program) {
            // `sh <<< 'rm x'`
            part.inputs.iter().for_each(|text| self.guess_line(text, depth));
        }
        if matches!(part.program.as_str(), "eval" | "watch" | "parallel") {
            self.guess_line(&part.arguments.join(" "), depth);
        }
    }
}

#[derive(Clone, Default)]
struct Simple {
    words: Vec<ShellWord>,
    redirected: bool,
    files: Vec<String>,
    inputs: Vec<String>,
    appended: Vec<String>,
}

/// The command that a wrapper such as `sudo` or `xargs` runs.
enum InnerCommand {
    None,
    /// The command that the wrapper runs begins at the argument with this index.
    Words(usize),
    /// The wrapper runs several commands that only read. Each begins at the argument with one of these indexes, and
    /// ends with the last word.
    Readers(Vec<usize>),
    /// The wrapper may run a command that begins at the argument with this index, or at an unknown argument if the
    /// index is `None`. The first word of this command may instead be the name of a package.
    Perhaps(Option<usize>),
    /// The second argument of the wrapper is a command line.
    Line,
    /// It cannot be determined which command the wrapper runs.
    Unsure,
}

fn find_inner_command(part: &Part) -> InnerCommand {
    let words: Vec<&str> = part.arguments.iter().map(String::as_str).collect();
    let is_option = |word: &str| word.starts_with('-');
    if let Some(at) = wrappers::program_at(part) {
        return InnerCommand::Words(at);
    }
    match part.program.as_str() {
        _ if matches!(words.as_slice(), ["--version" | "--help"]) => InnerCommand::None,
        "command" if matches!(words.first(), Some(&"-v" | &"-V")) => InnerCommand::None,
        "time" if words.first() == Some(&"-p") => InnerCommand::Words(1),
        "nohup" | "command" | "exec" | "builtin" | "time" | "setsid" | "env" | "nice" | "ionice" | "sudo"
        | "doas" | "chronic" | "unbuffer" | "fakeroot" | "strace" | "ltrace" => match words.first() {
            None => InnerCommand::None,
            // An option may take a value. Therefore the first word of the command is uncertain.
            Some(first) if is_option(first) || is_assignment(first) => InnerCommand::Unsure,
            Some(_) => InnerCommand::Words(0),
        },
        "timeout" => match words.first() {
            Some(first) if !is_option(first) && !part.expands(0) => InnerCommand::Words(1),
            Some(_) | None => InnerCommand::Unsure,
        },
        // `xargs` adds arguments from standard input. They are harmless if the program only reads with any arguments.
        "xargs" => match grammars::xargs_options(&words).map(|at| (at, words.get(at))) {
            Some((at, Some(program))) if programs::only_reads(program) => InnerCommand::Words(at),
            Some(_) | None => InnerCommand::Unsure,
        },
        program if tables::runs::WRAPS.contains(&program) => InnerCommand::Unsure,
        program if program.starts_with("ld-linux") || program.starts_with("ld.so") => InnerCommand::Unsure,
        program if programs::is_shell(program) => match words.as_slice() {
            // Shells other than these have different grammars.
            ["-c", _] if matches!(program, "sh" | "bash" | "dash") => InnerCommand::Line,
            ["--version"] => InnerCommand::None,
            // If there is a script name, the shell runs this script. Otherwise it reads commands from standard input.
            [script, ..] if !script.starts_with(['-', '+']) && !programs::is_device(script) => {
                InnerCommand::None
            }
            [..] => InnerCommand::Unsure,
        },
        // These version managers run programs. The following subcommands of them do not.
        "mise" | "asdf" | "pyenv" | "rbenv" | "nodenv" => match words.first() {
            Some(
                &"versions" | &"version" | &"ls" | &"list" | &"current" | &"which" | &"where" | &"whence",
            ) => InnerCommand::None,
            Some(_) | None => InnerCommand::Unsure,
        },
        "find" if part.table_verdict() == TableVerdict::Reads => match grammars::executed(&words) {
            starts if starts.is_empty() => InnerCommand::None,
            starts => InnerCommand::Readers(starts),
        },
        _ if part.table_verdict() == TableVerdict::Reads => InnerCommand::None,
        program if programs::runs_arguments(program, &part.arguments) => InnerCommand::Unsure,
        // An unknown option may name a program to run.
        _ if part.table_verdict() == TableVerdict::Unknown && holds_a_line(&words) => {
            InnerCommand::Perhaps(None)
        }
        _ if launch::may_become_a_launcher(part) => InnerCommand::Unsure,
        _ => match launch::launched(part) {
            Launched::No => InnerCommand::None,
            Launched::At(from) => InnerCommand::Perhaps(Some(from)),
            Launched::Somewhere => InnerCommand::Perhaps(None),
        },
    }
}

/// Returns true if a word may be a complete command line.
fn holds_a_line(words: &[&str]) -> bool {
    words.iter().any(|word| word.contains(' '))
}

/// Returns true if the shell keyword is followed by a name that the command line defines, as in `function f {` and
/// `coproc NAME {`.
fn names_what_follows(keyword: &str, rest: &[ShellWord]) -> bool {
    keyword == "function" || (keyword == "coproc" && rest.get(1).is_some_and(|word| word.text == "{"))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        let name = name.strip_suffix('+').unwrap_or(name);
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

impl Command {
    /// Returns true if the command is known to change nothing.
    pub fn is_read_only(&self) -> bool {
        match self.opaque {
            None => self.parts.iter().all(Part::is_read_only),
            Some(_) => self.computes_and_reads,
        }
    }
}
