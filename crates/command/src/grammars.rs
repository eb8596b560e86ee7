//! Programs that only read but whose options are too complex for the tables, such as `find`.
//!
//! A form of a command that this file does not accept is treated as writing.

use crate::reads::TableVerdict;
use crate::shell::{COMPUTED, Expansion};
use crate::tables::{self, Row, one_by_one, part_of_a_grammar};
use crate::{InnerCommand, Part, awk, find_inner_command, limits, options, programs};

/// Returns true if the command only reads, according to a grammar in this file. Returns `None` if this file has no
/// grammar for the program.
pub(crate) fn reads(part: &Part) -> Option<bool> {
    let words: Vec<&str> = part.arguments.iter().map(String::as_str).collect();
    let plain = part.expansion() == Expansion::None;
    Some(match part.program.as_str() {
        "test" | "[" => plain && tests(&part.program, &words),
        // Only the first argument, which is the format, could become an option.
        "printf" => !part.expands(0) && !programs::changes_the_shell("printf", &part.arguments),
        // `echo` has only options that affect how it prints.
        "echo" => true,
        "awk" | "gawk" | "mawk" | "nawk" => awk::only_prints(part.words_and_expansions()),
        "set" => plain && !programs::changes_the_shell("set", &part.arguments),
        "cd" => matches!(words.as_slice(), [folder] if plain && names_a_folder(folder)),
        "find" => finds(part) && (0..words.len()).all(|at| becomes_no_predicate(part, at)),
        "sed" | "gsed" => {
            let in_place = |word: &&str| word.starts_with("-i") || word.starts_with("--i");
            part.only_edits() && !words.iter().any(in_place)
        }
        "tar" => plain && (lists_archive(part) || shows_archive(part)),
        "unzip" => {
            plain
                && options::read(&UNZIP, &part.arguments, &part.expansions).is_some_and(|given| {
                    given.options.iter().any(|(name, _)| !matches!(name.as_str(), "-q" | "-qq" | "-1" | "-C"))
                })
        }
        "command" if matches!(words.first(), Some(&"-v" | &"-V")) => true,
        // The command of `xargs` is checked as a separate part of the line. The arguments that `xargs` adds are
        // unknown.
        "xargs" => {
            let options = xargs_options(&words).unwrap_or_default();
            (0..=options).all(|at| !part.expands(at))
                && xargs_program(&words).is_some_and(programs::only_reads)
        }
        "command" | "time" | "timeout" | "nice" | "ionice" | "stdbuf" | "env" if !words.is_empty() => {
            matches!(find_inner_command(part), InnerCommand::Words(_))
        }
        "sh" | "bash" | "dash" => plain && matches!(find_inner_command(part), InnerCommand::Line),
        _ => return tables::first_words::reads(part),
    })
}

const UNZIP: Row = one_by_one(&["unzip"], "-l -lv -ql -qql -v -Z -Z1 -t -q -qq -p -1 -C");

/// Returns the program that follows the options of `xargs`. Returns `None` if an option is unknown.
pub(crate) fn xargs_program<'w>(words: &[&'w str]) -> Option<&'w str> {
    words.get(xargs_options(words)?).copied()
}

/// Returns the number of words after `xargs` that are options of `xargs` itself. Returns `None` if an option is
/// unknown.
pub(crate) fn xargs_options(words: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
        let number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        let valued = |rest: &str, word: Option<&&str>| match rest {
            "" => word.map(|_| 2),
            rest => number(rest).then_some(1),
        };
        at += match *word {
            "-0" | "-r" | "-t" | "-x" | "-i" | "-I{}" | "--null" | "--no-run-if-empty" | "--exit" => 1,
            "-I" => 2,
            word => match word.get(..2)? {
                "-d" if word.len() == 2 => words.get(at + 1).map(|_| 2)?,
                "-n" | "-L" | "-P" | "-s" => {
                    valued(&word[2..], words.get(at + 1).filter(|word| number(word)))?
                }
                _ => return None,
            },
        };
    }
    Some(at)
}

/// Returns true if the command `test` only checks files and texts. Returns false for `-v` and `-R`, and for a word with
/// a bracket or a backquote, because some shells run code in the brackets of an operand.
fn tests(program: &str, words: &[&str]) -> bool {
    const KNOWN: [&str; 38] = [
        "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-G",
        "-L", "-N", "-O", "-S", "-n", "-z", "-o", "-nt", "-ot", "-ef", "-eq", "-ne", "-lt", "-le", "-gt",
        "-ge", "=", "==", "!=", "<", ">",
    ];
    let words = match (program, words.split_last()) {
        ("[", Some((&"]", words))) => words,
        ("[", _) => return false,
        (_, _) => words,
    };
    let is_number = |word: &str| word.trim_start_matches('-').chars().all(|c| c.is_ascii_digit());
    words.iter().all(|word| {
        KNOWN.contains(word) || !word.starts_with('-') && !word.contains(['[', '`']) || is_number(word)
    })
}

/// Returns true if an argument of `cd` is the path of a folder other than `-` (the previous folder) or a home folder.
/// Changing to such a folder is harmless: the files in it could also be read by their full paths.
fn names_a_folder(folder: &str) -> bool {
    !folder.is_empty() && !folder.starts_with(['-', '~'])
}

/// Returns true if a file pattern cannot expand to a predicate of find. For example, the pattern in `find . -name *.rs`
/// contains a dot, and no predicate does. If several files match, find reports an error.
fn becomes_no_predicate(part: &Part, at: usize) -> bool {
    part.expansions.get(at) != Some(&Expansion::Anything)
        || part.arguments[at].contains('.') && !part.arguments[at].contains(['[', COMPUTED])
}

/// Returns true if `find PATHS EXPRESSION` consists only of tests, actions that print, and programs that only read.
fn finds(part: &Part) -> bool {
    const ALONE: &str = "-H -L -P -a -and -o -or -not ! ( ) , -daystart -depth -d -follow -mount -xdev -noleaf -true \
         -false -empty -executable -readable -writable -nouser -nogroup -print -print0 -ls -prune -quit \
         -ignore_readdir_race -noignore_readdir_race -nowarn -warn -xautofs";
    const VALUED: &str = "-name -iname -path -wholename -ipath -iwholename -regex -iregex -regextype -type -xtype -size \
         -perm -user -group -uid -gid -links -inum -samefile -newer -anewer -cnewer -amin -cmin -mmin -atime -ctime \
         -mtime -used -maxdepth -mindepth -fstype -lname -ilname -printf";
    let has = |list: &str, word: &str| list.split_whitespace().any(|each| each == word);
    let words: Vec<&str> = part.arguments.iter().map(String::as_str).collect();
    if executed(&words).len() > limits::GUESSED_STARTS {
        return false;
    }
    let mut words = words.iter().enumerate();
    let mut expression = false;
    while let Some((at, word)) = words.next() {
        let newer = word
            .strip_prefix("-newer")
            .is_some_and(|kinds| kinds.len() == 2 && kinds.chars().all(|c| "aBcmt".contains(c)));
        if has(ALONE, word) {
            expression |= !matches!(*word, "-H" | "-L" | "-P");
        } else if has(VALUED, word) || newer {
            expression = true;
            // If the computed value is empty, find uses the next word as the value.
            if words.next().is_some_and(|(_, value)| value.chars().all(|c| c == COMPUTED)) {
                return false;
            }
        } else if EXECUTES.contains(word) {
            expression = true;
            let Some(end) = execution_end(&part.arguments, at + 1) else { return false };
            if !executes_a_reader(part, at + 1, end) {
                return false;
            }
            words.nth(end - at - 1);
        } else if word.starts_with('-') || expression {
            return false;
        }
    }
    true
}

const EXECUTES: [&str; 2] = ["-exec", "-execdir"];

/// Returns the index of the `;` or `+` at which a command in the arguments of find ends.
fn execution_end(words: &[String], from: usize) -> Option<usize> {
    let words = words.iter().map(String::as_str).enumerate().skip(from);
    let mut before = "";
    for (at, word) in words {
        if word == ";" || (word == "+" && before == "{}") {
            return (at > from).then_some(at);
        }
        before = word;
    }
    None
}

/// Returns true if `find -exec` runs a program that only reads, whatever path replaces `{}`. This path begins with a
/// path in the command line, so it cannot look like an option.
fn executes_a_reader(part: &Part, from: usize, end: usize) -> bool {
    let mut run = part.with(part.arguments[from].clone(), from + 1..end);
    run.expansions.resize(run.arguments.len(), Expansion::None);
    for (word, expansion) in run.arguments.iter().zip(&mut run.expansions) {
        if word.contains("{}") {
            let is_operand = word.starts_with("{}") || !word.starts_with('-');
            *expansion = (*expansion).max(if is_operand { Expansion::Operands } else { Expansion::Anything });
        }
    }
    let has_rows = tables::of_program(&run.program).is_some()
        || matches!(run.program.as_str(), "echo" | "sed" | "awk" | "test" | "[");
    has_rows
        && !part.expands(from)
        && run.table_verdict() == TableVerdict::Reads
        && matches!(find_inner_command(&run), InnerCommand::None)
}

/// Returns the indexes of the arguments of `find` that name programs for `find` to run.
pub(crate) fn executed(words: &[&str]) -> Vec<usize> {
    let starts = words.iter().enumerate().filter(|(_, word)| EXECUTES.contains(word));
    starts.map(|(at, _)| at + 1).collect()
}

/// Returns true for commands such as `tar xOf x f`, which print a file of the archive and write no file.
fn shows_archive(part: &Part) -> bool {
    const TAR: Row = part_of_a_grammar(
        &["tar"],
        "-x -O -v -f: -z -j -J --extract --get --to-stdout --verbose --file: --gzip --bzip2 --xz --zstd",
    );
    let mut words = part.arguments.clone();
    if let Some(first) = words.first_mut().filter(|first| !first.starts_with('-')) {
        let is_bundle = first.ends_with('f') && first.chars().all(|c| "xOvzjJf".contains(c));
        if !is_bundle || first.matches('f').count() > 1 {
            return false;
        }
        *first = format!("-{first}");
    }
    options::read(&TAR, &words, &[]).is_some_and(|given| {
        let has = |names: [&str; 3]| given.options.iter().any(|(name, _)| names.contains(&name.as_str()));
        let mut files = given.options.iter().filter(|(name, _)| matches!(name.as_str(), "-f" | "--file"));
        let file = files.next().and_then(|(_, value)| *value);
        has(["-x", "--extract", "--get"])
            && has(["-O", "--to-stdout", "-O"])
            && files.next().is_none()
            && file.is_some_and(|file| !file.contains(':'))
    })
}

/// Returns true for commands such as `tar tf x` and `tar -tvzf x`, which list an archive. Returns false if the
/// archive's name contains a colon, because the archive is then on another machine.
fn lists_archive(part: &Part) -> bool {
    const TAR: Row = part_of_a_grammar(
        &["tar"],
        "-t -v -f: -z -j -J --list --verbose --file: --gzip --bzip2 --xz --zstd --numeric-owner --full-time",
    );
    let mut words = part.arguments.clone();
    if let Some(first) = words.first_mut().filter(|first| !first.starts_with('-')) {
        // Without a dash, `f` must be the last letter. The forms with and without a dash then have the same meaning.
        if !first.ends_with('f')
            || !first.chars().all(|c| "tvzjJf".contains(c))
            || first.matches('f').count() > 1
        {
            return false;
        }
        *first = format!("-{first}");
    }
    options::read(&TAR, &words, &[]).is_some_and(|given| {
        let is = |short: &str, long: &str| {
            given.options.iter().filter(|(name, _)| name == short || name == long).collect::<Vec<_>>()
        };
        let files = is("-f", "--file");
        let local = |value: Option<&str>| value.is_some_and(|file| !file.contains(':'));
        !is("-t", "--list").is_empty() && files.len() == 1 && files.iter().all(|(_, value)| local(*value))
    })
}
