//! An alias is another name by which the same command can be called, such as `npm i`, `git send-pack`, `pip3` or
//! `python3 -m pip`.
//!
//! A rule that asks about or forbids commands is compared with all names of a command. The functions of this module
//! never cause a command to be allowed.

use crate::{Part, programs};

/// Aliases of programs. Each entry has an alias, and the words for which the alias stands.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("docker-compose", &["docker", "compose"]),
    ("podman-compose", &["podman", "compose"]),
    ("npx", &["npm", "exec"]),
    ("pnpx", &["pnpm", "dlx"]),
    ("bunx", &["bun", "x"]),
    ("uvx", &["uv", "tool", "run"]),
    ("yarnpkg", &["yarn"]),
    ("nodejs", &["node"]),
    ("gmake", &["make"]),
    ("gsed", &["sed"]),
    ("gtar", &["tar"]),
    ("sudoedit", &["sudo"]),
];

/// Aliases of subcommands. Each entry has a program, the aliases, and the subcommand for which they stand. `podman` has
/// the same aliases as `docker`.
const SUBCOMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("git", &["send-pack", "http-push"], &["push"]),
    ("git", &["fetch-pack"], &["fetch"]),
    ("git", &["stage"], &["add"]),
    ("docker", &["container exec"], &["exec"]),
    ("docker", &["container run"], &["run"]),
    ("docker", &["container create"], &["create"]),
    ("docker", &["container start"], &["start"]),
    ("docker", &["container stop"], &["stop"]),
    ("docker", &["container kill"], &["kill"]),
    ("docker", &["container cp"], &["cp"]),
    ("docker", &["container rm", "container remove"], &["rm"]),
    ("docker", &["image build", "buildx build", "buildx b", "builder build"], &["build"]),
    ("docker", &["image push"], &["push"]),
    ("docker", &["image pull"], &["pull"]),
    ("docker", &["image rm", "image remove"], &["rmi"]),
    ("cargo", &["b"], &["build"]),
    ("cargo", &["c"], &["check"]),
    ("cargo", &["d"], &["doc"]),
    ("cargo", &["r"], &["run"]),
    ("cargo", &["t"], &["test"]),
    ("cargo", &["rm"], &["remove"]),
    ("npm", &["i", "add", "in", "ins", "inst", "it", "install-test"], &["install"]),
    ("npm", &["r", "rm", "remove", "un", "unlink"], &["uninstall"]),
    ("npm", &["up", "upgrade"], &["update"]),
    ("npm", &["t", "tst", "test", "it"], &["run", "test"]),
    ("npm", &["t", "tst"], &["test"]),
    ("npm", &["start"], &["run", "start"]),
    ("npm", &["stop"], &["run", "stop"]),
    ("npm", &["restart"], &["run", "restart"]),
    ("npm", &["run-script", "rum", "urn"], &["run"]),
    ("npm", &["x"], &["exec"]),
    ("npm", &["c"], &["config"]),
    ("npm", &["ln"], &["link"]),
    ("pnpm", &["i"], &["install"]),
    ("pnpm", &["rm", "un", "uninstall"], &["remove"]),
    ("pnpm", &["up", "upgrade"], &["update"]),
    ("bun", &["i"], &["install"]),
    ("bun", &["a"], &["add"]),
    ("bun", &["rm"], &["remove"]),
];

/// A subcommand that is an alias of another one only if its arguments pass a test. The fields are the programs, the
/// alias, the test, and the subcommand that it replaces.
type Form = (&'static [&'static str], &'static str, fn(&[String]) -> bool, &'static [&'static str]);

const FORMS: &[Form] = &[
    (
        &["terraform", "tofu"],
        "apply",
        |words| {
            words.iter().any(|word| word.split('=').next().is_some_and(|name| name.ends_with("-destroy")))
        },
        &["destroy"],
    ),
    (
        &["git"],
        "branch",
        |words| has(words, 'd', "--delete") && has(words, 'f', "--force") && !has(words, 'D', "-D"),
        &["branch", "-D"],
    ),
    (
        &["git"],
        "push",
        |words| words.iter().any(|word| word.starts_with('+')) && !has(words, 'f', "--force"),
        &["push", "--force"],
    ),
    (
        &["git"],
        "push",
        |words| words.iter().any(|word| word.starts_with(':')) && !has(words, 'd', "--delete"),
        &["push", "--delete"],
    ),
];

/// Returns true if the words of a command contain an option, either as `--long` or as a letter in a word such as `-xl`.
fn has(words: &[String], letter: char, long: &str) -> bool {
    let short = |word: &str| {
        word.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
    };
    words.iter().any(|word| word == long || short(word))
}

/// Programs that accept the name of a script as a subcommand: `yarn deploy` means `yarn run deploy`.
const SCRIPTS: [&str; 3] = ["yarn", "pnpm", "bun"];

/// Returns all other names of the command, each as a list of words.
pub(crate) fn find_aliases(part: &Part) -> Vec<Vec<String>> {
    let all = &part.arguments;
    let words =
        programs::with_subcommands(&part.program).and_then(|known| known.after_options(all)).unwrap_or(all);
    let line = |named: &[&str], rest: &[String]| -> Vec<String> {
        named.iter().map(|&word| word.to_owned()).chain(rest.iter().cloned()).collect()
    };
    let program = part.program.as_str();
    let mut found = Vec::new();
    found.extend(PROGRAMS.iter().filter(|(name, _)| *name == program).map(|(_, named)| line(named, all)));
    if let Some((sub, rest)) = words.split_first() {
        let is_it = |name: &str| name == program || (name == "docker" && program == "podman");
        for (_, subs, named) in SUBCOMMANDS.iter().filter(|(name, _, _)| is_it(name)) {
            let begins = |sub: &&&str| {
                let many = sub.split(' ').count();
                words.len() >= many && sub.split(' ').zip(words).all(|(name, word)| name == word)
            };
            let matching = subs.iter().filter(begins);
            found.extend(
                matching.map(|sub| line(&[&[program], *named].concat(), &words[sub.split(' ').count()..])),
            );
        }
        let forms = FORMS
            .iter()
            .filter(|(programs, name, is_so, _)| programs.contains(&program) && name == sub && is_so(rest));
        found.extend(forms.map(|(_, _, _, named)| line(&[&[program], *named].concat(), rest)));
        if SCRIPTS.contains(&program) && sub != "run" {
            found.push(line(&[program, "run"], words));
        }
    }
    let plain = programs::without_version(program);
    if plain != program && !plain.is_empty() {
        found.push(line(&[plain], all));
    }
    if let ([flag, module, ..], true) = (all.as_slice(), programs::is_interpreter(program))
        && flag == "-m"
    {
        found.push(line(&[module.as_str()], &all[2..]));
    }
    found
}
