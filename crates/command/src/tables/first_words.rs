//! Programs whose first word determines if they only read, such as `ar t` and `ip addr show`.

use crate::Part;

/// The forms of a program's commands that only read. In all lists, the entries are separated by spaces.
struct Forms {
    programs: &'static str,
    /// Options of the program that may be before the first word.
    before: &'static str,
    first: &'static str,
    /// Allowed second words of a command that only reads. An empty list allows any second word.
    second: &'static str,
    /// Options of the program that may follow the first word.
    options: &'static str,
}

const fn forms(programs: &'static str, first: &'static str, options: &'static str) -> Forms {
    Forms { programs, before: "", first, second: "", options }
}

const ROWS: &[Forms] = &[
    forms("ar gcc-ar llvm-ar", "t tv p pv -t -tv -p", ""),
    forms("7z 7za 7zr", "l t", "-slt -ba"),
    forms("cpio", "-t -it -itv -ivt -tv --list", "-v --quiet"),
    forms(
        "apt-cache",
        "policy show showpkg search depends rdepends pkgnames madison stats",
        "--names-only --installed",
    ),
    // Other databases of `getent` send queries to servers.
    forms("getent", "passwd group shells services protocols rpc", ""),
    forms("rpm", "-q -qa -qi -ql -qf -qc -qd -qR -qil -qai -qal", ""),
    Forms {
        programs: "ip",
        before: "-4 -6 -br -brief -c -color -d -h -j -json -o -p -s",
        first: "a ad addr address l link r ro route n neigh rule",
        second: "show list ls get",
        options: "",
    },
];

/// Returns true if the command has a form that only reads. Returns `None` if the table of first words does not contain
/// the program.
pub(crate) fn reads(part: &Part) -> Option<bool> {
    let has = |list: &str, word: &str| list.split(' ').any(|each| each == word);
    let row = ROWS.iter().find(|row| has(row.programs, &part.program))?;
    let words: Vec<&str> = part.arguments.iter().map(String::as_str).collect();
    let before = words.iter().take_while(|word| has(row.before, word)).count();
    let [first, rest @ ..] = &words[before..] else { return Some(false) };
    let is_second = rest.first().is_none_or(|word| row.second.is_empty() || has(row.second, word));
    let is_plain = |word: &&str| !word.starts_with(['-', '@', '+']) || has(row.options, word);
    Some(has(row.first, first) && is_second && rest.iter().all(is_plain) && part.is_plain())
}
