//! Files that a person's own tools run, or take orders from, without being asked: the table of guarded names.
//!
//! Owns the names and the reason for each. Never looks at a file: the caller passes the names of a path. What
//! writes to one of them asks always, with the reason, and no grant covers it; reading them is not held back.

/// A name that is guarded, and what makes it worth guarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// Names of a path, one after the other. A name `*.x` ends in `.x`.
    pub name: &'static str,
    pub why: &'static str,
}

const fn guarded(name: &'static str, why: &'static str) -> Guarded {
    Guarded { name, why }
}

const GIT_CONFIG: &str = "git reads it in the next command of its owner, and runs what it names";
const GIT_HOOKS: &str = "git runs what lies in it";
const HG: &str = "hg reads it in the next command of its owner, and runs what it names";
const GIT_POINTER: &str = "it says where git takes its configuration and its hooks from";
const EDITOR: &str = "an editor that opens the folder reads it, and runs what it names";
const SHELL: &str = "a shell runs it when it starts";
const DESKTOP: &str = "a desktop runs it, or sets variables by it, when its owner logs in";
const AGENT: &str = "an agent that opens the folder reads it, and runs what it names";
const DEBUGGER: &str = "a tool that starts in the folder runs it";
const ON_ENTRY: &str = "a shell that enters the folder runs it, or sets variables by it";
const PACKAGES: &str = "a package manager reads it in the next command of its owner, and runs what it names";
const PLACE: &str = "programs lie in it that are run by their names";
const KEYS: &str = "it holds keys, or names programs that are run for them";
const REPL: &str = "a tool runs it, or takes orders from it, whenever it starts";
const MULTIPLEXER: &str = "a terminal runs what it names when it starts";
const ON_COMMIT: &str = "git hooks run what it names";

/// Matched at any depth of a path, and whatever comes below: in nested repositories too. Names are compared without
/// regard to case, for some file systems do the same.
const NAMES: &[Guarded] = &[
    // Git, in its folder, in that of a submodule or a worktree, and in bare repositories.
    guarded(".git/config", GIT_CONFIG),
    guarded(".git/config.worktree", GIT_CONFIG),
    guarded(".git/hooks", GIT_HOOKS),
    guarded(".git/info", "git takes attributes, and with them filters, from it"),
    guarded(".git/modules", "it holds the configuration and the hooks of submodules"),
    guarded(".git/worktrees", GIT_POINTER),
    guarded(".git/gitdir", GIT_POINTER),
    // Beside a `HEAD` it makes any folder a repository.
    guarded("commondir", GIT_POINTER),
    guarded(".git/objects/info/alternates", "git reads objects from where it points to"),
    guarded(".git/rebase-merge", "git runs what a rebase that is under way has still to do"),
    guarded(".git/rebase-apply", "git runs what a rebase that is under way has still to do"),
    guarded(".git/sequencer", "git runs what a pick that is under way has still to do"),
    guarded(".git", GIT_POINTER),
    guarded("*.git/config", GIT_CONFIG),
    guarded("*.git/config.worktree", GIT_CONFIG),
    guarded("*.git/hooks", GIT_HOOKS),
    guarded("*.git/info", "git takes attributes, and with them filters, from it"),
    guarded("*.git/modules", "it holds the configuration and the hooks of submodules"),
    guarded("*.git/worktrees", GIT_POINTER),
    guarded(".gitmodules", "it says what git fetches and where it puts it"),
    guarded(
        ".gitattributes",
        "it says which of the configured filters, diffs and merges git runs on which file",
    ),
    guarded(".gitconfig", GIT_CONFIG),
    guarded(".config/git", GIT_CONFIG),
    // What git runs on behalf of others.
    guarded(".husky", ON_COMMIT),
    guarded(".githooks", GIT_HOOKS),
    guarded(".pre-commit-config.yaml", ON_COMMIT),
    guarded(".pre-commit-config.yml", ON_COMMIT),
    guarded("lefthook.yml", ON_COMMIT),
    guarded("lefthook.yaml", ON_COMMIT),
    guarded("lefthook-local.yml", ON_COMMIT),
    guarded(".lefthook.yml", ON_COMMIT),
    guarded(".lefthook.yaml", ON_COMMIT),
    guarded("lefthook.toml", ON_COMMIT),
    guarded("lefthook.json", ON_COMMIT),
    guarded(".lefthook", ON_COMMIT),
    guarded(".overcommit.yml", ON_COMMIT),
    // What runs when somebody enters the folder.
    guarded(".envrc", ON_ENTRY),
    guarded(".direnv", ON_ENTRY),
    guarded("mise.toml", ON_ENTRY),
    guarded("mise.local.toml", ON_ENTRY),
    guarded(".mise.toml", ON_ENTRY),
    guarded(".mise", ON_ENTRY),
    guarded(".tool-versions", "it says which programs run under the names of tools"),
    // It may name a folder of the workspace, whose compiler runs for `rustc --version` too.
    guarded("rust-toolchain.toml", "it says which programs run under the names of tools"),
    guarded("rust-toolchain", "it says which programs run under the names of tools"),
    guarded(".config/mise", ON_ENTRY),
    guarded(".config/direnv", ON_ENTRY),
    guarded(".direnvrc", ON_ENTRY),
    guarded(".rvmrc", ON_ENTRY),
    guarded(".autoenv", ON_ENTRY),
    guarded(".autoenv.zsh", ON_ENTRY),
    guarded(".asdfrc", ON_ENTRY),
    // What everyday commands of package managers take orders from.
    guarded(".npmrc", PACKAGES),
    guarded(".yarnrc", PACKAGES),
    guarded(".yarnrc.yml", PACKAGES),
    guarded(".yarn/plugins", PACKAGES),
    guarded(".yarn/releases", PACKAGES),
    guarded(".pnpmfile.cjs", PACKAGES),
    guarded(".cargo/config.toml", PACKAGES),
    guarded(".cargo/config", PACKAGES),
    guarded(".bundle/config", PACKAGES),
    guarded(".gemrc", PACKAGES),
    guarded(".config/pip", PACKAGES),
    guarded("pip.conf", PACKAGES),
    guarded(".pip", PACKAGES),
    guarded(".gradle/init.gradle", PACKAGES),
    guarded(".gradle/init.d", PACKAGES),
    guarded(".m2/settings.xml", PACKAGES),
    guarded(".mvn/extensions.xml", PACKAGES),
    // Where their programs lie.
    guarded(".cargo/bin", PLACE),
    guarded(".cargo/env", PLACE),
    guarded(".rustup", PLACE),
    guarded(".local/bin", PLACE),
    guarded(".asdf", PLACE),
    guarded(".nvm", PLACE),
    guarded(".pyenv", PLACE),
    guarded(".rbenv", PLACE),
    guarded(".volta", PLACE),
    guarded(".sdkman", PLACE),
    guarded(".deno/bin", PLACE),
    guarded(".bun/bin", PLACE),
    guarded(".npm-global", PLACE),
    // What runs when somebody opens the folder.
    guarded(".vscode", EDITOR),
    guarded("*.code-workspace", EDITOR),
    guarded(".idea", EDITOR),
    guarded(".zed", EDITOR),
    guarded(".vimrc", EDITOR),
    guarded(".exrc", EDITOR),
    guarded(".nvim.lua", EDITOR),
    guarded(".nvimrc", EDITOR),
    guarded(".dir-locals.el", EDITOR),
    guarded(".devcontainer", EDITOR),
    guarded(".devcontainer.json", EDITOR),
    guarded(".vim", EDITOR),
    guarded(".nvim", EDITOR),
    guarded(".emacs", EDITOR),
    guarded(".emacs.d", EDITOR),
    guarded(".config/nvim", EDITOR),
    guarded(".config/vim", EDITOR),
    guarded(".config/emacs", EDITOR),
    guarded(".doom.d", EDITOR),
    guarded(".config/doom", EDITOR),
    guarded(".config/helix", EDITOR),
    guarded(".helix", EDITOR),
    guarded(".config/kak", EDITOR),
    guarded(".kakrc", EDITOR),
    guarded(".config/zed", EDITOR),
    guarded(".config/code", EDITOR),
    guarded(".fleet", EDITOR),
    guarded("*.sublime-project", EDITOR),
    guarded(".gvimrc", EDITOR),
    guarded(".ideavimrc", EDITOR),
    guarded(".nanorc", EDITOR),
    guarded(".config/nano", EDITOR),
    guarded(".mcp.json", AGENT),
    guarded(".claude", AGENT),
    guarded(".cursor", AGENT),
    guarded(".gemini", AGENT),
    guarded(".codex", AGENT),
    guarded(".windsurf", AGENT),
    guarded(".opencode", AGENT),
    guarded(".aider.conf.yml", AGENT),
    guarded(".continue", AGENT),
    guarded(".gdbinit", DEBUGGER),
    guarded(".lldbinit", DEBUGGER),
    guarded(".pdbrc", DEBUGGER),
    guarded(".rprofile", DEBUGGER),
    guarded(".config/gdb", DEBUGGER),
    guarded(".renviron", DEBUGGER),
    guarded(".perldb", DEBUGGER),
    guarded(".ghci", DEBUGGER),
    guarded(".iex.exs", DEBUGGER),
    guarded(".ocamlinit", DEBUGGER),
    guarded(".pryrc", DEBUGGER),
    guarded(".irbrc", DEBUGGER),
    guarded(".sbclrc", DEBUGGER),
    guarded(".hg/hgrc", HG),
    guarded(".hgrc", HG),
    guarded(".config/hg", HG),
    guarded(".jj/repo/config.toml", "jj reads it in the next command of its owner, and runs what it names"),
    guarded(".config/jj", "jj reads it in the next command of its owner, and runs what it names"),
    guarded(".subversion", "svn reads it in the next command of its owner, and runs what it names"),
    // What runs when somebody logs in, where the workspace is a home folder.
    guarded(".bashrc", SHELL),
    guarded(".bash_profile", SHELL),
    guarded(".bash_login", SHELL),
    guarded(".bash_logout", SHELL),
    guarded(".bash_aliases", SHELL),
    guarded(".profile", SHELL),
    guarded(".zshrc", SHELL),
    guarded(".zshenv", SHELL),
    guarded(".zprofile", SHELL),
    guarded(".zlogin", SHELL),
    guarded(".zlogout", SHELL),
    guarded(".kshrc", SHELL),
    guarded(".mkshrc", SHELL),
    guarded(".cshrc", SHELL),
    guarded(".tcshrc", SHELL),
    guarded(".login", SHELL),
    guarded(".logout", SHELL),
    guarded(".inputrc", SHELL),
    guarded(".bash_completion", SHELL),
    guarded(".bash_completion.d", SHELL),
    guarded(".bash_functions", SHELL),
    guarded(".bashrc.d", SHELL),
    guarded(".profile.d", SHELL),
    guarded(".local/share/bash-completion", SHELL),
    guarded(".config/bash", SHELL),
    guarded(".config/zsh", SHELL),
    guarded(".oh-my-zsh", SHELL),
    guarded(".oh-my-bash", SHELL),
    guarded(".zsh", SHELL),
    guarded(".zsh_functions", SHELL),
    guarded(".zinit", SHELL),
    guarded(".zplug", SHELL),
    guarded(".antigen", SHELL),
    guarded(".antigenrc", SHELL),
    guarded(".zimrc", SHELL),
    guarded(".p10k.zsh", SHELL),
    guarded(".fzf.bash", SHELL),
    guarded(".fzf.zsh", SHELL),
    guarded(".config/starship.toml", SHELL),
    guarded(".config/nushell", SHELL),
    guarded(".config/powershell", SHELL),
    guarded(".config/xonsh", SHELL),
    guarded(".xonshrc", SHELL),
    guarded(".local/share/fish", SHELL),
    guarded(".lessfilter", REPL),
    guarded(".lesskey", REPL),
    guarded(".curlrc", REPL),
    guarded(".wgetrc", REPL),
    guarded(".ackrc", REPL),
    guarded(".mailcap", REPL),
    guarded(".pythonrc", REPL),
    guarded(".pythonrc.py", REPL),
    guarded(".pythonstartup", REPL),
    guarded(".psqlrc", REPL),
    guarded(".sqliterc", REPL),
    guarded(".my.cnf", REPL),
    guarded(".octaverc", REPL),
    guarded(".julia/config", REPL),
    guarded(".config/ipython", REPL),
    guarded(".ipython", REPL),
    guarded(".tmux.conf", MULTIPLEXER),
    guarded(".config/tmux", MULTIPLEXER),
    guarded(".screenrc", MULTIPLEXER),
    guarded(".config/kitty", MULTIPLEXER),
    guarded(".config/alacritty", MULTIPLEXER),
    guarded(".config/wezterm", MULTIPLEXER),
    guarded(".wezterm.lua", MULTIPLEXER),
    guarded(".xprofile", DESKTOP),
    guarded(".xsession", DESKTOP),
    guarded(".xsessionrc", DESKTOP),
    guarded(".xinitrc", DESKTOP),
    guarded(".pam_environment", DESKTOP),
    guarded(".config/fish", SHELL),
    guarded(".config/environment.d", DESKTOP),
    guarded(".config/autostart", DESKTOP),
    guarded(".config/autostart-scripts", DESKTOP),
    guarded(".config/plasma-workspace", DESKTOP),
    guarded(".config/i3", DESKTOP),
    guarded(".config/sway", DESKTOP),
    guarded(".config/hypr", DESKTOP),
    guarded(".config/openbox", DESKTOP),
    guarded(".config/awesome", DESKTOP),
    guarded(".xbindkeysrc", DESKTOP),
    guarded(".local/share/applications", DESKTOP),
    guarded(".local/share/dbus-1", DESKTOP),
    guarded(".local/share/systemd", DESKTOP),
    guarded("library/launchagents", DESKTOP),
    guarded(".config/systemd", "the system runs it when its owner logs in"),
    guarded(".ssh", "it says who gets in, and what ssh runs"),
    guarded(".gnupg", KEYS),
    guarded(".docker/config.json", KEYS),
    guarded(".kube/config", KEYS),
    guarded(".aws/config", KEYS),
];

/// Anything else below `.git`: its references, its index, its objects.
pub const BELOW_GIT: Guarded = guarded(".git/*", "git alone writes there");

/// Every guarded name, for the code that keeps them from being written.
pub const fn all() -> &'static [Guarded] {
    NAMES
}

/// The guarded name that a path meets, or lies below. `names` are those of the path, from the workspace or the root;
/// `.` and empty ones are passed over.
pub fn guards<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'static Guarded> {
    let names: Vec<String> =
        names.into_iter().filter(|name| !matches!(*name, "" | ".")).map(str::to_lowercase).collect();
    NAMES.iter().find(|guarded| guarded.is_in(&names))
}

/// Whether the last of these names ends a guarded path. What lies below one is not told: ask for the folder.
pub fn ends_guarded(names: &[impl AsRef<str>]) -> bool {
    let Some(last) = names.last().map(|name| name.as_ref().to_lowercase()) else { return false };
    NAMES.iter().any(|guarded| {
        let mut wanted = guarded.name.rsplit('/');
        let above = names[..names.len() - 1].iter().rev();
        wanted.next().is_some_and(|wanted| fits(&last, wanted))
            && wanted.clone().count() < names.len()
            && wanted.zip(above).all(|(wanted, name)| fits(&name.as_ref().to_lowercase(), wanted))
    })
}

impl Guarded {
    fn is_in(&self, names: &[String]) -> bool {
        let wanted: Vec<&str> = self.name.split('/').collect();
        let fits = |names: &[String]| names.iter().zip(&wanted).all(|(name, wanted)| fits(name, wanted));
        if self.name == ".git" {
            // The file that points elsewhere. What lies below a folder of that name has rows of its own.
            return names.last().is_some_and(|last| last == self.name);
        }
        names.windows(wanted.len()).any(fits)
    }
}

fn fits(name: &str, wanted: &str) -> bool {
    wanted.strip_prefix('*').map_or(name == wanted, |end| name.ends_with(end))
}
