//! Programs that run a second program, such as `npx` and `poetry run`, and the words that name the second program.

use crate::programs::with_subcommands;
use crate::{Expansion, Part};

/// Index of the argument at which the second command begins, for a package manager or an environment tool that runs
/// one.
pub(crate) enum Launched {
    No,
    /// The second command, which the package manager or environment tool runs, begins at the argument with this index.
    At(usize),
    /// The second command, which the package manager or environment tool runs, follows options that may take values, so
    /// it is uncertain where it begins.
    Somewhere,
}

pub(crate) fn launched(part: &Part) -> Launched {
    let program = part.program.as_str();
    let all = part.arguments.as_slice();
    let words = with_subcommands(program).and_then(|known| known.after_options(all)).unwrap_or(all);
    let word = |at: usize| words.get(at).map(String::as_str);
    // The name of a host, an image or a pod precedes the command.
    let is_elsewhere = matches!(
        (program, word(0)),
        ("ssh" | "cross-env" | "dotenv" | "foreman", _)
            | ("docker" | "podman" | "kubectl" | "nvm", Some("run" | "exec"))
            | ("npm", Some("explore"))
            | ("meson", Some("devenv"))
            | ("pm2", Some("start"))
    );
    if is_elsewhere {
        return Launched::Somewhere;
    }
    let before = match (program, word(0)) {
        ("npx" | "bunx" | "uvx" | "ldd", _) | ("yarn", Some("node")) => 0,
        // The name of the toolchain precedes the command.
        ("rustup", Some("run")) if !word(1).is_some_and(|word| word.starts_with('-')) => 2,
        ("npm" | "pnpm" | "yarn" | "bun" | "bundle", Some("exec" | "x" | "dlx"))
        | (
            "bun" | "uv" | "poetry" | "pipenv" | "hatch" | "conda" | "mamba" | "micromamba" | "pixi"
            | "honcho" | "pipx" | "pdm" | "rye" | "rustup",
            Some("run"),
        ) => 1,
        ("uv", Some("tool")) if word(1) == Some("run") => 2,
        _ => return Launched::No,
    };
    let before = if word(before) == Some("--") { before + 1 } else { before };
    match word(before) {
        None => Launched::No,
        Some(option) if option.starts_with('-') => Launched::Somewhere,
        Some(_) => Launched::At(all.len() - words.len() + before),
    }
}

/// Returns true if a file pattern in the arguments may expand to an option that runs a second program.
pub(crate) fn may_become_a_launcher(part: &Part) -> bool {
    let runs = match part.program.as_str() {
        "find" | "fd" | "fdfind" | "rg" | "tar" => true,
        "git" => part.subcommand().is_none_or(|sub| {
            let name = sub.split(' ').next().unwrap_or_default();
            matches!(
                name,
                "grep"
                    | "rebase"
                    | "fetch"
                    | "pull"
                    | "push"
                    | "clone"
                    | "ls-remote"
                    | "submodule"
                    | "bisect"
            )
        }),
        _ => false,
    };
    runs && part.expansion() == Expansion::Anything
}
