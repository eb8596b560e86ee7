//! Generates command lines from the tables of known programs, mixed with words that an attacker might use.

use holdshort_command::tables::{self, Row};

/// A random number generator (xorshift64*) that yields the same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let value = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(value).unwrap_or(0) % sides
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.roll(items.len())]
    }
}

/// Operands of generated commands: existing names, patterns that match existing names, and other texts.
const OPERANDS: &[&str] = &[
    "f",
    "g",
    "src",
    "src/a",
    "src/b",
    ".",
    "sub",
    "bare.git",
    "new",
    "HEAD",
    "HEAD:f",
    "main",
    "x",
    "1",
    "+1",
    "5",
    "W",
    "*",
    "?",
    "-*",
    "s*",
    "src/*",
    "./*",
    "[f-g]",
    "f*",
    "--*",
    "'*'",
    "-",
    "--",
    "/dev/null",
    "'a b'",
    "''",
    "a.b",
    "+%F",
    "a:b",
    "'s/a/b/'",
    "'w W'",
    "'1,2p'",
    "'s/a/b/w W'",
    "1e",
    "p",
    "'%G?'",
    "'%h'",
    "'touch W'",
    "';'",
    "'{}'",
    "+",
    "!",
    "'('",
    "')'",
    "arch.tar",
    "arch.tar.gz",
    "'a[$(touch W)]'",
    "=",
    "-eq",
    "-f",
    "-d",
    "]",
    "%s",
    "%n",
    "aux",
    "touch",
];

/// Options with which at least one program writes, runs a program or uses the network.
const DANGEROUS: &[&str] = &[
    "-o",
    "-o W",
    "-oW",
    "--output=W",
    "--output W",
    "--outp=W",
    "-i",
    "-i.bak",
    "--in-place",
    "-delete",
    "-exec touch W ';'",
    "-execdir touch W ';'",
    "-fprint W",
    "-fls W",
    "-fprintf W x",
    "-ok touch W ';'",
    "--filter='touch W'",
    "--compress-program='touch W'",
    "-T .",
    "--pre ./run",
    "--hostname-bin ./run",
    "-x touch",
    "-X touch",
    "--exec touch",
    "-O./run",
    "--open-files-in-pager=./run",
    "--ext-diff",
    "--textconv",
    "-c core.pager=./run",
    "-C sub",
    "--git-dir=bare.git",
    "--exec-path=.",
    "--to-command='touch W'",
    "--checkpoint-action=exec='touch W'",
    "--checkpoint=1",
    "-I ./run",
    "-z",
    "-Z",
    "-r",
    "-R",
    "-v x",
    "-s",
    "-f f",
    "-F",
    "-e",
    "-w",
    "--files0-from=f",
    "--no-index",
    "-D",
    "-m y",
    "-a",
    "--add",
    "--set=1",
    "--show-signature",
    "--config-env=a=b",
    "--help",
    "--version",
    "-P",
    "-p",
    "--unheard-of",
    "--sort=x",
    "-n",
    "-l",
    "-u",
    "-d",
    "-t",
    "-5",
    "-0",
    "--to-stdout",
    "-S 1",
    "--strip-program=./run",
    "--pager=./run",
    "-tf",
    "tf",
    "-tvf",
    "xf",
    "cf W",
];

/// Programs for generated commands that the tables of known programs do not contain.
const PROGRAMS: &[&str] = &[
    "find",
    "sed",
    "test",
    "[",
    "printf",
    "set",
    "cd",
    "xargs",
    "tar",
    "unzip",
    "time",
    "timeout 2",
    "nice",
    "env",
    "command",
    "command -v",
    "touch",
    "cp",
    "mv",
    "rm",
    "mkdir",
    "tee",
    "awk",
    "./run",
    "python3",
    "git",
    "git --no-pager",
    "sh -c",
    "bash -c",
    "eval",
    "exec",
    "builtin",
    "nohup",
    "split",
    "csplit",
    "mktemp",
    "dd",
    "install",
    "ln -s",
    "read",
    "export",
    "xxd",
    "sort",
    "uniq",
    "tree",
    "date",
    "git branch",
    "git tag",
    "git config",
    "git stash",
    "git log",
    "git diff",
    "git show",
    "git grep",
    "git status",
    "git remote",
    "git reflog",
    "git cat-file",
    "git blame",
    "sed -n",
    "find .",
    "find src",
    "git init",
    "git add",
    "git commit -m",
];

/// Text between two commands of a generated line, or around one command.
const BETWEEN: &[&str] = &[
    " && ",
    " || ",
    "; ",
    " | ",
    " |& ",
    " & ",
    "\n",
    "&&",
    ";",
    "|",
    " > ",
    " >> ",
    " 2> ",
    " &> ",
    " >| ",
    " < ",
    " <> ",
    " 2>&1 | ",
    " > /dev/null; ",
    " >/dev/null 2>&1 && ",
    " << ",
    " <<< ",
    " # ",
    "\\\n",
    "\r\n",
    "\t",
    "; ; ",
    " 1>&2 ",
    " >&W",
    "&>W ",
    " >&- ",
];

/// Texts that replace a word of a generated command.
const HIDDEN: &[&str] = &[
    "$(touch W)",
    "`touch W`",
    "$X",
    "${IFS}",
    "$'\\x41'",
    "\"$(touch W)\"",
    "{a,b}",
    "~",
    "<(touch W)",
    "$((1))",
];

/// Shell grammar around generated commands. `@` stands for a command, `%` for a word.
const GRAMMAR: &[&str] = &[
    "for x in % %; do @; done",
    "for x in % $(@); do @ \"$x\"; done",
    "for x in src/* %; do @ $x; done",
    "for x in *; do @ \"$x\"; done",
    "if @; then @; else @; fi",
    "if [ -f \"%\" ]; then @; fi",
    "while read -r x; do @ \"$x\"; break; done < f",
    "ls | while read -r x y; do @ $x; done",
    "case % in %) @;; *) @;; esac",
    "(@; @)",
    "{ @; @; }",
    "! @",
    "x=$(@); @ $x",
    "x=$(@); @ \"$x\"",
    "x=%; @ \"src/$x\"",
    "echo \"$(@)\"",
    "echo $(@) | @",
    "@ $(@)",
    "@ <(@) <(@)",
    "[[ -f % ]] && @",
    "[[ $x == % ]] || @",
    "i=0; while [ $i -lt 2 ]; do @; i=$((i + 1)); done",
    "x=$(wc -l < f); echo $((x + 1)); @ $x",
    "@ <<EOF\n%\n$(@)\nEOF",
    "@ <<< \"%\"",
    "find % -exec @ {} \\;",
    "find . -exec @ {} +",
    "nice -n 5 @",
    "timeout -k 1 2 @",
    "env LC_ALL=C @",
    "env -i @",
    "stdbuf -oL @",
    "LC_ALL=C @",
    "git -C % @",
    "@ | tee % /dev/null",
    "sh -c 'for x in *; do @; done'",
];

pub(super) struct Lines {
    dice: Dice,
    rows: Vec<&'static Row>,
}

impl Lines {
    pub(super) fn new(seed: u64) -> Self {
        Self { dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1), rows: tables::all().collect() }
    }

    pub(super) fn next_line(&mut self) -> String {
        if self.dice.one_in(6) {
            return self.grammar();
        }
        let mut line = self.command();
        while self.dice.one_in(3) {
            line.push_str(self.dice.pick::<&str>(BETWEEN));
            line.push_str(&if self.dice.one_in(4) { self.random_word() } else { self.command() });
        }
        if self.dice.one_in(25) {
            line = format!("{} '{line}'", self.dice.pick(&["sh -c", "bash -c", "eval", "dash -c"]));
        }
        if self.dice.one_in(60) {
            line = format!("{} {line}", self.dice.pick(&["A=1", "PATH=.", "!", "{", "(", "exec", "if"]));
        }
        line
    }

    fn grammar(&mut self) -> String {
        let form = *self.dice.pick(GRAMMAR);
        let mut line = String::new();
        for c in form.chars() {
            match c {
                '@' => line.push_str(&self.command()),
                '%' => line.push_str(&self.random_word()),
                c => line.push(c),
            }
        }
        line
    }

    fn command(&mut self) -> String {
        let mut words = Vec::new();
        if self.dice.one_in(2) {
            words.push((*self.dice.pick(PROGRAMS)).to_owned());
            for _ in 0..self.dice.roll(4) {
                let word = if self.dice.one_in(3) { self.dangerous() } else { self.random_word() };
                words.push(word);
            }
        } else {
            let row = *self.dice.pick(&self.rows);
            words.push((*self.dice.pick(row.programs)).to_owned());
            if self.dice.one_in(40) {
                words.push(self.dangerous());
            }
            words.extend(Some(row.subcommand.to_owned()).filter(|sub| !sub.is_empty()));
            let options: Vec<&str> = row.options().collect();
            for _ in 0..self.dice.roll(4) {
                let word = match self.dice.roll(12) {
                    0 => self.dangerous(),
                    1..=5 if !options.is_empty() => self.option(&options),
                    _ => self.random_word(),
                };
                words.push(word);
            }
        }
        words.join(" ")
    }

    fn dangerous(&mut self) -> String {
        let word = (*self.dice.pick(DANGEROUS)).to_owned();
        self.disguise(word)
    }

    fn random_word(&mut self) -> String {
        if self.dice.one_in(30) {
            return (*self.dice.pick(HIDDEN)).to_owned();
        }
        let word = (*self.dice.pick(OPERANDS)).to_owned();
        self.disguise(word)
    }

    /// Returns one option of `options` with a value, in one of the possible notations, sometimes shortened or combined.
    fn option(&mut self, options: &[&str]) -> String {
        let spec = *self.dice.pick(options);
        let name = spec.trim_end_matches([':', '?']);
        let name = if name == "-#" { "-3" } else { name };
        let value = *self.dice.pick(OPERANDS);
        let mut word = name.to_owned();
        if self.dice.one_in(15) && name.len() > 4 {
            word.truncate(name.len() - 1);
        }
        if name.len() == 2 && self.dice.one_in(6) {
            let other = *self.dice.pick(options);
            word.push_str(other.trim_start_matches('-').get(..1).unwrap_or_default());
        }
        if spec.ends_with([':', '?']) || self.dice.one_in(20) {
            word.push_str(match (name.starts_with("--"), self.dice.roll(3)) {
                (true, 0 | 1) => "=",
                (false, 0) => "",
                (..) => " ",
            });
            word.push_str(value);
        }
        self.disguise(word)
    }

    /// Returns a word of a command with the same meaning for a shell, sometimes quoted in another way.
    fn disguise(&mut self, word: String) -> String {
        if !self.dice.one_in(12) || word.contains(['\'', '"', '*', '?', '[', ' ', '\\']) || word.len() < 2 {
            return word;
        }
        let at = 1 + self.dice.roll(word.len() - 1);
        let Some((before, after)) = word.split_at_checked(at) else { return word };
        match self.dice.roll(5) {
            0 => format!("{before}''{after}"),
            1 => format!("{before}\\{after}"),
            2 => format!("'{before}'{after}"),
            3 => format!("\"{before}{after}\""),
            _ => format!("{before}\\\n{after}"),
        }
    }
}
