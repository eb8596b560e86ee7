//! Aliases: one command under several names, such as `npm i`, `git send-pack`, `pip3` and `python3 -m pip`.
//!
//! Rules that hold back look at every name. Nothing here releases a command.

use crate::{Part, programs};

/// Programs that are others, with what they begin with.
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

/// Subcommands that are others of the same program.
const SUBCOMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("git", &["send-pack", "http-push"], &["push"]),
    ("git", &["fetch-pack"], &["fetch"]),
    ("git", &["stage"], &["add"]),
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

/// Programs whose subcommand may be the name of a script: `yarn deploy` is `yarn run deploy`.
const SCRIPTS: [&str; 3] = ["yarn", "pnpm", "bun"];

/// The words of what the command is as well.
pub(crate) fn as_well(part: &Part) -> Vec<Vec<String>> {
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
        let named =
            SUBCOMMANDS.iter().filter(|(name, subs, _)| *name == program && subs.contains(&sub.as_str()));
        found.extend(named.map(|(_, _, named)| line(&[&[program], *named].concat(), rest)));
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
