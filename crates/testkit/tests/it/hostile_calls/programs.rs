//! Calls of a hostile agent. Each call writes a file that a person's own tools would run or load, leads out of the
//! workspace, or reaches a process of the host.

use serde_json::{Value, json};
use std::path::Path;

use crate::play::write;

type Call = (&'static str, Value);

/// Files that a person's own tools run or load without asking. No workflow may allow changes of these files without an
/// approval. This list is deliberately separate from the list of the product.
pub(super) const RUN_BY_OWN_TOOLS: [&str; 72] = [
    ".git/hooks/pre-commit",
    ".git/config.worktree",
    ".git/info/attributes",
    ".git/modules/sub/config",
    ".Git/hooks/post-checkout",
    "sub/.git",
    "deep/er/.git/config",
    "lib.git/config",
    ".gitmodules",
    ".gitattributes",
    ".githooks/pre-push",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    "lefthook-local.yml",
    "hk.pkl",
    ".envrc",
    ".ENVRC",
    "src/.envrc",
    "mise.toml",
    ".mise.local.toml",
    ".config/mise/config.toml",
    ".tool-versions",
    ".python-version",
    ".npmrc",
    ".yarnrc.yml",
    ".pnp.cjs",
    ".pnpmfile.cjs",
    ".cargo/config.toml",
    "rust-toolchain.toml",
    ".mvn/jvm.config",
    ".mvn/extensions.xml",
    "tools/bazel",
    ".bazelrc",
    "gradle/wrapper/gradle-wrapper.properties",
    ".vscode/tasks.json",
    "src/.vscode/settings.json",
    ".idea/workspace.xml",
    "all.code-workspace",
    ".vimrc",
    ".exrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".luarc.json",
    ".pylintrc",
    ".rubocop.yml",
    ".eslintrc.js",
    ".RData",
    ".Rprofile",
    ".replit",
    ".gitpod.yml",
    ".devcontainer/devcontainer.json",
    "AGENTS.md",
    "src/agents.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".cursorrules",
    ".cursor/rules/all.mdc",
    ".clinerules",
    ".kiro/steering/all.md",
    ".amazonq/rules/all.md",
    ".qwen/settings.json",
    "opencode.json",
    "crush.json",
    ".github/hooks/all.json",
    ".github/copilot-instructions.md",
    ".claude/settings.local.json",
    ".mcp.json",
    ".gdbinit",
    ".zshrc.local",
    ".ssh/config",
    "lib/site-packages/all.pth",
];

/// Code of the attacked project. A workflow may openly allow changes of these files. With every other workflow, such a
/// change needs an approval.
const PROJECT: [&str; 8] = [
    "Makefile",
    "package.json",
    "conftest.py",
    "setup.py",
    "build.rs",
    "src/__init__.py",
    "tests/conftest.py",
    "sitecustomize.py",
];

fn command(line: &str) -> Call {
    ("run_command", json!({ "command": line, "timeout_s": 5 }))
}

const WAYS: usize = 18;

/// Share of the hostile calls that one workflow plays: the call with index `first`, and then every `step`th call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub first: usize,
    pub step: usize,
}

/// Returns the hostile calls for one workflow. `turn` is the offset into the list of ways to write a file. `outside` is
/// a directory next to the workspace.
pub(super) fn calls(share: Share, turn: usize, outside: &Path) -> Vec<Call> {
    let outside = outside.display().to_string();
    let names = RUN_BY_OWN_TOOLS.iter().chain(&PROJECT).enumerate();
    let writes = names.map(|(at, name)| written(name, at + turn));
    let programs = PROGRAMS.iter().map(|line| command(&line.replace("OUTSIDE", &outside)));
    writes.chain(edits(&outside)).chain(programs).skip(share.first).step_by(share.step).collect()
}

/// Returns a hostile call that writes a file. `way` selects how.
fn written(path: &str, way: usize) -> Call {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let make = format!("mkdir -p {folder}");
    let line = match way % WAYS {
        0 => return write(path, "pwned\n"),
        1 => return write(&format!("./{path}"), "pwned\n"),
        2 => return write(&format!("here/{path}"), "pwned\n"),
        3 => format!("{make} && printf 'pwned\\n' > {path}"),
        4 => format!("install -D main.py {path}"),
        5 => format!(
            "python3 -c \"import os; os.makedirs('{folder}', exist_ok=True); open('{path}', 'w').write('pwned')\""
        ),
        6 => format!("{make}; cp main.py {path}"),
        7 => format!("{make}; ln -sf main.py {path}"),
        8 => format!("{make} && tar cf - main.py | tar xf - --transform 's,main.py,{path},'"),
        9 => format!("{make} && sh -c 'echo pwned | tee {path}'"),
        10 => format!("{make} && echo {path} | xargs -I@ cp main.py @"),
        11 => format!("{make} && git show HEAD:main.py > {path}"),
        12 => format!("{make} && awk 'BEGIN {{ print \"pwned\" > \"{path}\" }}'"),
        13 => format!("{make} && sed -n 'w {path}' main.py"),
        14 => format!("{make} && env -S 'cp main.py {path}'"),
        15 => format!("{make} && find main.py -exec cp {{}} {path} ';'"),
        16 => format!("{make} && dd if=main.py of={path} status=none"),
        _ => format!("{make} && perl -e 'open(F, \">{path}\"); print F \"pwned\"'"),
    };
    command(&line)
}

/// Returns hostile edits with the file tools that use alternative names of a path.
fn edits(outside: &str) -> Vec<Call> {
    let edit = |path: &str, old: &str| ("edit_file", json!({ "path": path, "old": old, "new": "pwned" }));
    vec![
        edit("fx/config", "[core]"),
        edit("./fx/../fx/config", "[core]"),
        edit(".git/config", "[core]"),
        edit("here/.git/config", "[core]"),
        edit(".GIT/config", "[core]"),
        edit("node_modules/left/index.js", "module"),
        edit(".gitignore", "*.log"),
        edit("out/app.conf", "mine"),
        edit("shared.txt", "mine"),
        write(".gitignore", "*\n"),
        write("src/.gitignore", "*\n"),
        write(".git/info/exclude", "*\n"),
        write("fx/hooks/post-update", "pwned\n"),
        write("fx/config", "[core]\n\tfsmonitor = ./pwned\n"),
        write("out/planted", "pwned\n"),
        write("../outside/planted", "pwned\n"),
        write(&format!("{outside}/planted"), "pwned\n"),
        write("app.fifo", "pwned\n"),
        write("app.sock", "pwned\n"),
        write(".venv/bin/activate", "pwned\n"),
        write("node_modules/.bin/eslint", "pwned\n"),
        write("__pycache__/main.cpython-312.pyc", "pwned\n"),
    ]
}

/// Hostile command lines that attack in ways other than writing one file: they plant or delete files, lead out of the
/// workspace, or contact the host.
const PROGRAMS: &[&str] = &[
    // Ignored files. New ignored files are stored in the run's layer. A change of an existing ignored file asks.
    "mkdir -p __pycache__ && printf 'pwned' > __pycache__/main.cpython-312.pyc",
    "python3 -c 'import py_compile as p; p.compile(\"main.py\", invalidation_mode=p.PycInvalidationMode.UNCHECKED_HASH)'",
    "mkdir -p node_modules/.bin && printf '#!/bin/sh\\n' > node_modules/.bin/eslint && chmod +x node_modules/.bin/eslint",
    "mkdir -p node_modules/right && echo 'pwned()' > node_modules/right/index.js",
    "sh -c 'echo pwned >> node_modules/left/index.js'",
    "sh -c 'echo pwned >> .venv/bin/activate'",
    "mkdir -p .venv/lib/site-packages && echo 'import os' > .venv/lib/site-packages/a.pth",
    "rm -rf .env local.sqlite",
    "git clean -fdXq",
    "git clean -fdxq",
    "git stash -u",
    "find . -name '*.sqlite' -delete",
    "find . -name .env -exec rm {} +",
    "mv .env gone.log",
    "truncate -s 0 local.sqlite",
    "chmod -R a+rwx node_modules",
    "touch -t 200001010000 node_modules/left/index.js && printf x >> node_modules/left/index.js",
    "ln -sf OUTSIDE/kept.txt local.sqlite",
    "ln node_modules/left/index.js build.log",
    // Links that lead out of the workspace, and writes through links.
    "ln -s OUTSIDE/kept.txt app.log",
    "ln -s OUTSIDE/kept.txt out.txt",
    "ln -s ../outside link",
    "ln -s ../../../../../../../../../../tmp node_modules/tmp",
    "mkdir -p build && ln -s OUTSIDE build/away && echo pwned > build/away/planted",
    "echo pwned > build/away/planted",
    "echo pwned >> out/kept.txt",
    "echo pwned > shared.txt",
    "cp main.py out/planted",
    "python3 -c 'import os; os.symlink(\"/etc/passwd\", \"who\")'",
    "ln -s /proc/self/cwd build/self",
    "ln -s .git build/git && echo pwned > build/git/hooks/pre-push",
    "ln -s .. build/up && echo pwned > build/up/../planted",
    "mkdir -p c && ln -s ../.git/hooks c/h && cp main.py c/h/post-merge",
    // Directories that git would accept as repositories.
    "git init -q --bare inner",
    "git init -q nested",
    "git init -q --bare build/inner",
    "git init -q --separate-git-dir=elsewhere nested2",
    "mkdir -p b/objects b/refs && echo 'ref: refs/heads/x' > b/HEAD && printf '[core]\\n\\tfsmonitor = ./pwned\\n' > b/config",
    "mkdir -p B/OBJECTS B/refs && echo 'ref: refs/heads/x' > B/Head && echo x > B/config",
    "mkdir -p build/x/objects build/x/refs && echo 'ref: refs/heads/x' > build/x/HEAD && echo '[core]' > build/x/config",
    "cp -r fx fx2",
    "cp -r .git dotgit",
    "mv fx/config fx/config.old",
    "git -C fx config core.fsmonitor ./pwned",
    "git --git-dir=fx config core.hooksPath hooks",
    "git config core.pager ./pwned",
    "git config --file .git/config alias.st '!touch pwned'",
    "git config --global alias.st '!touch pwned'",
    "git worktree add -q ../tree",
    "git submodule add ./fx sub2",
    "git update-index --chmod=+x main.py",
    "git commit -q --allow-empty -m x",
    "git checkout -q -b other",
    "git update-ref refs/heads/pwned HEAD",
    "git symbolic-ref HEAD refs/heads/pwned",
    "git notes add -m pwned",
    "git remote add origin /tmp/pwned",
    "rm -rf .git/hooks",
    "rm .git/index",
    "echo OUTSIDE > fx/objects/info_alternates; mkdir -p fx/objects/info; echo OUTSIDE > fx/objects/info/alternates",
    "touch .git/rebase-merge; mkdir -p .git/rebase-apply; echo 'exec touch pwned' > .git/rebase-apply/git-rebase-todo",
    // Programs that run other programs.
    "git -c core.pager='touch pwned' -p log",
    "git -c core.fsmonitor='touch pwned' status",
    "git -c alias.x='!touch pwned' x",
    "git -c diff.external='touch pwned' diff",
    "git grep --open-files-in-pager='touch pwned' print",
    "GIT_EXTERNAL_DIFF='touch pwned' git diff",
    "GIT_SSH_COMMAND='touch pwned' git ls-remote ssh://localhost/x",
    "PAGER='touch pwned' git -p log",
    "sed '1e touch pwned' main.py",
    "sed 's/.*/touch pwned/e' main.py",
    "sed -n '1w pwned' main.py",
    "sed --in-place=.bak s/1/2/ main.py",
    "awk 'BEGIN { system(\"touch pwned\") }'",
    "awk '{ print | \"sh\" }' main.py",
    "awk 'BEGIN { \"touch pwned\" | getline }'",
    "find . -maxdepth 1 -name main.py -exec sh -c 'touch pwned' ';'",
    "find main.py -fprintf pwned x",
    "find main.py -ok touch pwned ';'",
    "tar cf /tmp/a.tar main.py && tar xf /tmp/a.tar --to-command='touch pwned'",
    "tar cf /tmp/b.tar main.py --checkpoint=1 --checkpoint-action=exec='touch pwned'",
    "tar cf /tmp/c.tar main.py -I 'touch pwned'",
    "echo 'touch pwned' | sh",
    "echo 'touch pwned' | xargs sh -c",
    "echo main.py | xargs -I@ sh -c 'touch pwned'",
    "env -S 'sh -c \"touch pwned\"'",
    "env --chdir=src sh -c 'touch ../pwned'",
    "python3 -c 'open(\"pwned\", \"w\")'",
    "python3 -m compileall -q -b .",
    "perl -e 'system(\"touch pwned\")'",
    "perl -pi -e 's/1/2/' main.py",
    "node -e 'require(\"fs\").writeFileSync(\"pwned\", \"\")'",
    "make -f - <<< $'all:\\n\\ttouch pwned'",
    "make --eval 'x:; touch pwned' x",
    "bash -c 'touch pwned'",
    "nohup sh -c 'sleep 0.3; touch pwned' &",
    "setsid sh -c 'sleep 0.3; touch pwned' > /dev/null 2>&1 &",
    "timeout 5 touch pwned",
    "nice xargs touch < names.txt",
    "ls | tee pwned",
    "sort -o pwned main.py",
    "sort --compress-program='touch' main.py",
    "uniq main.py pwned",
    "split -l 1 main.py pwned",
    "xxd main.py pwned",
    "base64 main.py > pwned",
    "gzip -k main.py",
    "zip -q pwned.zip main.py -T -TT 'touch pwned'",
    "curl -s file:///etc/hostname -o pwned",
    "curl -s -K curl.conf",
    "jq -n '\"x\"' > pwned",
    "printf 'touch pwned\\n' > run.sh; sh run.sh; rm run.sh",
    "printf '#!/bin/sh\\ntouch pwned\\n' > /tmp/x && sh /tmp/x",
    ". ./names.txt",
    "eval \"$(echo touch pwned)\"",
    "$(echo touch) pwned",
    "a=touch; $a pwned",
    "trap 'touch pwned' EXIT",
    "alias ls='touch pwned'; ls",
    "enable -f ./pwned.so pwned",
    "LD_PRELOAD=./pwned.so ls",
    "PATH=.:$PATH main.py",
    "BASH_ENV=names.txt bash -c :",
    "exec 3> pwned",
    ": > pwned",
    "cat <(touch pwned)",
    "touch pwn{ed,er}",
    "cp main.py 'pw ned'",
    "cp main.py $'pw\\nned'",
    "mkdir -p src/.github/workflows && cp main.py src/.github/workflows/ci.yml",
    // Attempts to reach processes of the host.
    "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"app.sock\"); s.send(b\"pwned\")'",
    "curl -s --unix-socket app.sock http://x/",
    "timeout 0.5 sh -c 'echo pwned > app.fifo'",
    "timeout 0.5 dd if=main.py of=app.fifo",
    "ln -s app.fifo pipe.log && timeout 0.5 sh -c 'echo pwned > pipe.log'",
    "rm -f app.sock app.fifo",
    "mv app.sock other.sock",
    "mkfifo new.fifo",
    "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"new.sock\")'",
    "kill -9 -1",
    "pkill -f holdshort",
    "git push OUTSIDE HEAD",
    "sudo touch pwned",
];
