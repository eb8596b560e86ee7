//! Programs that only read and whose grammar does not fit a row of the tables, such as `find`.
//!
//! A form that is not listed here does not count as reading.

use crate::shell::Expansion;
use crate::tables::{Row, one_by_one, part_of_a_grammar};
use crate::{Inner, Part, awk, inner, options, programs};

/// Whether it reads, for a program with a grammar of its own; `None`: it has none.
pub(crate) fn reads(part: &Part) -> Option<bool> {
    let words: Vec<&str> = part.arguments.iter().map(String::as_str).collect();
    let plain = part.expansion() == Expansion::None;
    Some(match part.program.as_str() {
        "test" | "[" => plain && tests(&part.program, &words),
        // The format alone is looked at for options.
        "printf" => !part.expands(0) && !programs::changes_the_shell("printf", &part.arguments),
        // It has no option that does more than print.
        "echo" => true,
        "awk" | "gawk" | "mawk" | "nawk" => awk::only_prints(part.words_and_expansions()),
        "set" => plain && !programs::changes_the_shell("set", &part.arguments),
        "cd" => matches!(words.as_slice(), [folder] if plain && names_a_folder(folder)),
        "find" => finds(&words) && (0..words.len()).all(|at| becomes_no_predicate(part, at)),
        "sed" | "gsed" => {
            let in_place = |word: &&str| word.starts_with("-i") || word.starts_with("--i");
            part.only_edits() && !words.iter().any(in_place)
        }
        "tar" => plain && lists_archive(part),
        "unzip" => {
            plain
                && options::read(&UNZIP, &part.arguments, &part.expansions).is_some_and(|given| {
                    given.options.iter().any(|(name, _)| !matches!(name.as_str(), "-q" | "-qq" | "-1" | "-C"))
                })
        }
        "command" if matches!(words.first(), Some(&"-v" | &"-V")) => true,
        // What they run is a part of its own. Of `xargs` nobody knows with which words.
        "xargs" => xargs_program(&words).is_some_and(programs::only_reads),
        "command" | "time" | "timeout" | "nice" | "env" if !words.is_empty() => {
            matches!(inner(part), Inner::Words(_))
        }
        "sh" | "bash" | "dash" => plain && matches!(inner(part), Inner::Line),
        _ => return None,
    })
}

const UNZIP: Row = one_by_one(&["unzip"], "-l -lv -ql -qql -v -Z -Z1 -t -q -qq -p -1 -C");

/// The program behind the options of `xargs`, where all of them are known.
pub(crate) fn xargs_program<'w>(words: &[&'w str]) -> Option<&'w str> {
    words.get(xargs_options(words)?).copied()
}

/// How many words the options of `xargs` are.
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

/// Tests of files and texts. Of a variable's name (`-v`, `-R`) bash runs what stands in its brackets, and some shells
/// compute what they compare as numbers.
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

/// A folder that the word names: not the one before, nor that of a person. To read there is to read its files by their
/// full name.
fn names_a_folder(folder: &str) -> bool {
    !folder.is_empty() && !folder.starts_with(['-', '~'])
}

/// What a file pattern can not become: `find . -name *.rs` is told apart from an option, for no word of find's has a
/// dot. Files that it becomes too many of are an error.
fn becomes_no_predicate(part: &Part, at: usize) -> bool {
    part.expansions.get(at) != Some(&Expansion::Anything)
        || part.arguments[at].contains('.') && !part.arguments[at].contains('[')
}

/// `find PATHS EXPRESSION`, of tests and of actions that print.
fn finds(words: &[&str]) -> bool {
    const ALONE: &str = "-H -L -P -a -and -o -or -not ! ( ) , -daystart -depth -d -follow -mount -xdev -noleaf -true \
         -false -empty -executable -readable -writable -nouser -nogroup -print -print0 -ls -prune -quit \
         -ignore_readdir_race -noignore_readdir_race -nowarn -warn -xautofs";
    const VALUED: &str = "-name -iname -path -wholename -ipath -iwholename -regex -iregex -regextype -type -xtype -size \
         -perm -user -group -uid -gid -links -inum -samefile -newer -anewer -cnewer -amin -cmin -mmin -atime -ctime \
         -mtime -used -maxdepth -mindepth -fstype -lname -ilname -printf";
    let has = |list: &str, word: &str| list.split_whitespace().any(|each| each == word);
    let mut words = words.iter();
    let mut expression = false;
    while let Some(word) = words.next() {
        let newer = word
            .strip_prefix("-newer")
            .is_some_and(|kinds| kinds.len() == 2 && kinds.chars().all(|c| "aBcmt".contains(c)));
        if has(ALONE, word) {
            expression |= !matches!(*word, "-H" | "-L" | "-P");
        } else if has(VALUED, word) || newer {
            expression = true;
            words.next();
        } else if word.starts_with('-') || expression {
            return false;
        }
    }
    true
}

/// `tar tf x`, `tar -tvzf x`. An archive with a colon in its name is one of another machine.
fn lists_archive(part: &Part) -> bool {
    const TAR: Row = part_of_a_grammar(
        &["tar"],
        "-t -v -f: -z -j -J --list --verbose --file: --gzip --bzip2 --xz --zstd --numeric-owner --full-time",
    );
    let mut words = part.arguments.clone();
    if let Some(first) = words.first_mut().filter(|first| !first.starts_with('-')) {
        // The old form: `f` has to be the last letter, to mean the same in both.
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
