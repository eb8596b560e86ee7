//! Reading a command line: which programs would run, and whether it writes.
//!
//! A reader of the shell's grammar, not a shell: it expands nothing and runs nothing. What it can not
//! understand for certain is *opaque*, and an opaque command always asks, without a grant (fail closed).

use crate::tool::Category;

/// A command line as gates see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Every simple command in it, in order, through `&&`, `|`, `sh -c` and the like.
    pub parts: Vec<Part>,
    /// Why the line can not be understood for certain.
    pub opaque: Option<&'static str>,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The base name of the program, without its folder.
    pub program: String,
    /// The words after it.
    pub arguments: Vec<String>,
    /// Whether its output goes into a file.
    pub redirected: bool,
}

/// Parses a command line.
pub fn parse(line: &str) -> Command {
    let mut command = Command { parts: Vec::new(), opaque: None };
    read(line, &mut command, 0);
    if command.parts.is_empty() && command.opaque.is_none() {
        command.opaque = Some("it holds no command");
    }
    command
}

/// How deep `sh -c 'sh -c …'` is followed.
const MAX_DEPTH: u8 = 4;

fn read(line: &str, command: &mut Command, depth: u8) {
    let tokens = match tokenise(line) {
        Ok(tokens) => tokens,
        Err(why) => {
            command.opaque = Some(why);
            return;
        }
    };
    let mut words = Vec::new();
    let mut redirected = false;
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) => words.push(word),
            Token::Separator => {
                finish(std::mem::take(&mut words), std::mem::take(&mut redirected), command, depth);
            }
            Token::Redirect { writes } => match tokens.next() {
                Some(Token::Word(target)) => redirected |= writes && target != "/dev/null",
                Some(Token::Separator | Token::Redirect { .. }) | None => {
                    command.opaque = Some("a redirection without a target");
                }
            },
        }
    }
    finish(words, redirected, command, depth);
}

fn finish(words: Vec<String>, redirected: bool, command: &mut Command, depth: u8) {
    let mut words = words.into_iter().peekable();
    while words.peek().is_some_and(|word| is_assignment(word)) {
        words.next();
        // `PATH=… git` or `LD_PRELOAD=… ls` runs something else than its name says.
        command.opaque.get_or_insert("it sets variables for a program");
    }
    let words: Vec<String> = words.collect();
    let Some((program, arguments)) = words.split_first() else {
        if redirected {
            command.parts.push(Part { program: String::new(), arguments: Vec::new(), redirected });
        }
        return;
    };
    const GRAMMAR: [&str; 16] = [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
        "function", "!", "[[",
    ];
    if GRAMMAR.contains(&program.as_str()) {
        command.opaque = Some("it uses the shell's own grammar");
        return;
    }
    if program.contains(['*', '?', '[', '~']) {
        command.opaque = Some("the program is a pattern");
        return;
    }
    let program = program.rsplit('/').next().unwrap_or(program).to_owned();
    match inner(&program, arguments) {
        Inner::None => {}
        Inner::Words(rest) => {
            command.parts.push(Part { program, arguments: arguments.to_vec(), redirected });
            finish(rest.to_vec(), redirected, command, depth);
            return;
        }
        Inner::Line(line) if depth < MAX_DEPTH => {
            command.parts.push(Part { program, arguments: arguments.to_vec(), redirected });
            read(line, command, depth + 1);
            return;
        }
        Inner::Line(_) | Inner::Opaque => command.opaque = Some("it runs what it builds itself"),
    }
    let part = Part { program, arguments: arguments.to_vec(), redirected };
    if part.subcommand().is_some_and(|sub| sub.contains(['*', '?', '['])) {
        command.opaque = Some("the subcommand is a pattern");
    }
    command.parts.push(part);
}

/// The command that a command runs.
enum Inner<'a> {
    None,
    Words(&'a [String]),
    Line(&'a str),
    Opaque,
}

fn inner<'a>(program: &str, arguments: &'a [String]) -> Inner<'a> {
    let after_options = |skip: usize| {
        let start = arguments.iter().position(|word| !word.starts_with('-')).unwrap_or(arguments.len());
        arguments.get(start + skip..).unwrap_or_default()
    };
    match program {
        "nohup" | "command" | "exec" | "builtin" | "time" | "setsid" | "stdbuf" => {
            Inner::Words(after_options(0))
        }
        "timeout" => Inner::Words(after_options(1)),
        "env" | "nice" | "ionice" | "sudo" | "doas" | "xargs" | "chroot" | "unshare" | "flock" | "watch"
        | "parallel" | "su"
            if arguments.is_empty() =>
        {
            Inner::None
        }
        // Their options take values: what they run can not be told apart for certain.
        "env" | "nice" | "ionice" | "sudo" | "doas" | "chroot" | "unshare" | "flock" | "watch" | "xargs"
        | "parallel" | "su" => match arguments.first() {
            Some(first) if !first.starts_with('-') && !is_assignment(first) && program != "su" => {
                Inner::Words(arguments)
            }
            Some(_) | None => Inner::Opaque,
        },
        "sh" | "bash" | "dash" | "zsh" | "ksh" => match arguments {
            [flag, line] if flag == "-c" => Inner::Line(line),
            [flag, ..] if flag.starts_with('-') && flag.contains('c') => Inner::Opaque,
            [] => Inner::Opaque,
            [..] => Inner::None,
        },
        "eval" | "source" | "." | "trap" | "alias" => Inner::Opaque,
        "find" | "fd" => {
            let runs = ["-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X"];
            if arguments.iter().any(|word| runs.contains(&word.as_str())) {
                Inner::Opaque
            } else {
                Inner::None
            }
        }
        _ => Inner::None,
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Separator,
    Redirect { writes: bool },
}

fn tokenise(line: &str) -> Result<Vec<Token>, &'static str> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => text.push(c),
                        None => return Err("a quote is not closed"),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('"') => break,
                        Some('$' | '`') => return Err("it expands variables or commands"),
                        Some('\\') => match chars.next() {
                            Some('\n') => {}
                            Some(c @ ('"' | '\\' | '$' | '`')) => text.push(c),
                            Some(c) => text.extend(['\\', c]),
                            None => return Err("a quote is not closed"),
                        },
                        Some(c) => text.push(c),
                        None => return Err("a quote is not closed"),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') => {}
                Some(c) => word.get_or_insert_default().push(c),
                None => return Err("it ends in a backslash"),
            },
            '$' | '`' => return Err("it expands variables or commands"),
            '(' | ')' | '{' | '}' => return Err("it uses the shell's own grammar"),
            '#' if word.is_none() => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            ' ' | '\t' => tokens.extend(word.take().map(Token::Word)),
            '\n' | ';' => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::Separator);
            }
            '|' => {
                tokens.extend(word.take().map(Token::Word));
                chars.next_if(|c| matches!(c, '|' | '&'));
                tokens.push(Token::Separator);
            }
            '&' => {
                tokens.extend(word.take().map(Token::Word));
                if chars.next_if_eq(&'&').is_some() || !matches!(chars.peek(), Some('>')) {
                    tokens.push(Token::Separator);
                }
            }
            '>' | '<' => {
                // `2>` : the digits are the descriptor, not a word.
                match word.take() {
                    Some(digits) if digits.chars().all(|c| c.is_ascii_digit()) => {}
                    other => tokens.extend(other.map(Token::Word)),
                }
                if c == '<' {
                    match chars.peek() {
                        Some('<' | '(') => return Err("it uses the shell's own grammar"),
                        Some('>') => {
                            chars.next();
                            tokens.push(Token::Redirect { writes: true });
                        }
                        Some(_) | None => tokens.push(Token::Redirect { writes: false }),
                    }
                    continue;
                }
                if chars.peek() == Some(&'(') {
                    return Err("it uses the shell's own grammar");
                }
                chars.next_if(|c| matches!(c, '>' | '|'));
                if chars.next_if_eq(&'&').is_some() {
                    let mut target = String::new();
                    while let Some(c) = chars.next_if(|c| c.is_ascii_digit() || *c == '-') {
                        target.push(c);
                    }
                    if target.is_empty() {
                        tokens.push(Token::Redirect { writes: true });
                    }
                    // `2>&1` joins two streams and writes nothing by itself.
                    continue;
                }
                tokens.push(Token::Redirect { writes: true });
            }
            c if c.is_control() => return Err("it holds a control character"),
            c => word.get_or_insert_default().push(c),
        }
    }
    tokens.extend(word.take().map(Token::Word));
    Ok(tokens)
}

/// Programs whose first word is a command of their own, with the options before it that take a value.
const WITH_SUBCOMMANDS: [(&str, &[&str]); 22] = [
    ("git", &["-C", "-c", "--git-dir", "--work-tree", "--namespace"]),
    ("cargo", &["--color", "--config", "-Z", "--manifest-path"]),
    ("npm", &["--prefix"]),
    ("pnpm", &["-C", "--dir"]),
    ("yarn", &["--cwd"]),
    ("pip", &[]),
    ("pip3", &[]),
    ("uv", &[]),
    ("poetry", &[]),
    ("docker", &["-H", "--host", "--context"]),
    ("podman", &[]),
    ("kubectl", &["-n", "--namespace", "--context", "--kubeconfig"]),
    ("helm", &["-n", "--namespace"]),
    ("terraform", &[]),
    ("go", &[]),
    ("apt", &["-o"]),
    ("apt-get", &["-o"]),
    ("systemctl", &[]),
    ("gh", &["-R", "--repo"]),
    ("aws", &["--profile", "--region"]),
    ("gcloud", &["--project"]),
    ("rustup", &[]),
];

const INTERPRETERS: [&str; 12] =
    ["python", "python3", "node", "deno", "ruby", "perl", "php", "lua", "sh", "bash", "dash", "zsh"];

const READ_ONLY: [&str; 34] = [
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "pwd",
    "echo",
    "printf",
    "true",
    "false",
    "test",
    "[",
    "stat",
    "file",
    "which",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "uniq",
    "cut",
    "tr",
    "diff",
    "cmp",
    "sha256sum",
    "md5sum",
    "du",
    "df",
    "date",
    "tree",
];

const READ_ONLY_GIT: [&str; 9] =
    ["status", "log", "diff", "show", "blame", "rev-parse", "ls-files", "describe", "shortlog"];

const WEB: [&str; 11] =
    ["curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "telnet", "ftp", "xdg-open"];

impl Part {
    /// The command within the program: `push` of `git -C x push`, `-m unittest` of `python3 -m unittest`.
    pub fn subcommand(&self) -> Option<String> {
        if INTERPRETERS.contains(&self.program.as_str()) {
            return match self.arguments.as_slice() {
                [flag, module, ..] if flag == "-m" => Some(format!("-m {module}")),
                [script, ..] if !script.starts_with('-') => Some(script.clone()),
                [..] => None,
            };
        }
        let (_, valued) = WITH_SUBCOMMANDS.iter().find(|(program, _)| *program == self.program)?;
        self.after_options(valued).first().cloned()
    }

    /// The words from the subcommand on, without the program's own options before it.
    fn after_options(&self, valued: &[&str]) -> &[String] {
        let mut rest = self.arguments.as_slice();
        while let Some((first, more)) = rest.split_first() {
            if !first.starts_with('-') {
                break;
            }
            rest = if valued.contains(&first.as_str()) { more.get(1..).unwrap_or_default() } else { more };
        }
        rest
    }

    /// The words that a pattern is compared with: program, then subcommand and what follows.
    fn words(&self) -> impl Iterator<Item = &str> {
        let rest = match WITH_SUBCOMMANDS.iter().find(|(program, _)| *program == self.program) {
            Some((_, valued)) => self.after_options(valued),
            None => &self.arguments,
        };
        std::iter::once(self.program.as_str()).chain(rest.iter().map(String::as_str))
    }

    /// Whether `pattern` covers this command. Words must be equal; `*` within a word stands for any
    /// characters, and a last `*` word for any further words, none included.
    pub fn matches(&self, pattern: &str) -> bool {
        let pattern: Vec<&str> = pattern.split_whitespace().collect();
        let words: Vec<&str> = self.words().collect();
        let (fixed, open) = match pattern.split_last() {
            Some((&"*", fixed)) => (fixed, true),
            Some(_) | None => (pattern.as_slice(), false),
        };
        if words.len() < fixed.len() || (!open && words.len() > fixed.len()) {
            return false;
        }
        fixed.iter().zip(&words).all(|(pattern, word)| word_matches(pattern, word))
    }

    /// Known to change nothing. Everything else counts as writing.
    pub fn is_read_only(&self) -> bool {
        if self.redirected {
            return false;
        }
        match self.program.as_str() {
            "find" | "fd" => {
                !self.arguments.iter().any(|word| word.starts_with("-delete") || word.starts_with("-f"))
            }
            "git" => {
                // `git -c alias.x=!cmd`, `--output=` and `--ext-diff` make a reader write or run.
                let risky = |word: &String| {
                    word == "-c"
                        || word.starts_with("--output")
                        || word.starts_with("--ext")
                        || word == "--no-index"
                };
                self.subcommand().is_some_and(|sub| READ_ONLY_GIT.contains(&sub.as_str()))
                    && !self.arguments.iter().any(risky)
            }
            "rg" => !self.arguments.iter().any(|word| word.starts_with("--pre")),
            "date" => !self.arguments.iter().any(|word| word.starts_with("-s") || word.starts_with("--set")),
            "tree" => !self.arguments.iter().any(|word| word.starts_with("-o")),
            // `uniq in out` writes its second argument.
            "uniq" => self.arguments.iter().filter(|word| !word.starts_with('-')).count() < 2,
            program => READ_ONLY.contains(&program),
        }
    }

    /// Code given on the line itself: nothing about it can be remembered by its name.
    pub fn is_inline_code(&self) -> bool {
        INTERPRETERS.contains(&self.program.as_str())
            && self.subcommand().is_none()
            && !self.arguments.iter().all(|word| matches!(word.as_str(), "--version" | "-V" | "--help"))
    }

    fn category(&self) -> Category {
        let sub = self.subcommand();
        let sub = sub.as_deref().unwrap_or_default();
        let program = self.program.as_str();
        let installs = match program {
            "pip" | "pip3" | "uv" | "npm" | "pnpm" | "yarn" | "apt" | "apt-get" | "cargo" | "gem" | "go"
            | "brew" | "poetry" | "rustup" | "conda" => {
                matches!(
                    sub,
                    "install" | "add" | "i" | "ci" | "upgrade" | "update" | "sync" | "get" | "toolchain"
                ) || self.arguments.iter().any(|word| word == "install")
            }
            "dpkg" | "rpm" | "dnf" | "yum" | "pacman" | "apk" | "snap" => true,
            _ => sub == "-m pip" && self.arguments.iter().any(|word| word == "install"),
        };
        if installs {
            Category::Install
        } else if WEB.contains(&program)
            || (program == "git" && matches!(sub, "push" | "pull" | "fetch" | "clone" | "ls-remote"))
        {
            Category::Web
        } else if INTERPRETERS.contains(&program) || self.arguments.is_empty() && program.contains('.') {
            Category::CodeExec
        } else if self.is_read_only() {
            Category::ReadOnly
        } else {
            Category::Bash
        }
    }
}

impl Command {
    /// The gravest category among its parts; an opaque command may do anything.
    pub fn category(&self) -> Category {
        if self.opaque.is_some() {
            return Category::CodeExec;
        }
        self.parts
            .iter()
            .map(Part::category)
            .max_by_key(|category| gravity(*category))
            .unwrap_or(Category::CodeExec)
    }

    /// Known to change nothing.
    pub fn is_read_only(&self) -> bool {
        self.opaque.is_none() && self.parts.iter().all(Part::is_read_only)
    }
}

fn gravity(category: Category) -> u8 {
    match category {
        Category::ReadOnly => 0,
        Category::FileWrite => 1,
        Category::Bash => 2,
        Category::CodeExec => 3,
        Category::Web => 4,
        Category::Install => 5,
    }
}

fn word_matches(pattern: &str, word: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = word.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}
